// All modules of a conversation, in Node: node host.mjs SCENARIO [--journal FILE]
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const agree = { pro: { confidence: 0.9, text: "Node agrees" } };
const replies = {
  verify_identity: { locks: { gcp: true, mongodb: true } },
  load_context: { context: {} },
  classify: { classification: { similarity: 0 } },
  argue: agree,
  argue_additional: agree,
  review_revision: agree,
  approve: { approved: "yes" },
  draft_plan: { plan: [{ task: 1, do: "Say hello", undo: "Apologise" }] },
  run_task: { ok: "hello" },
  undo_task: { ok: "sorry" },
  diagnose: { no_repair: {} },
  store_memory: "stored",
  deliver_audit: "delivered",
};

const stdio = ["pipe", "pipe", "inherit"];
const conversation = spawn("orchestrion", ["run", "--stdio", ...process.argv.slice(2)], { stdio });
const reply = (call, content) =>
  conversation.stdin.write(JSON.stringify({ reply: { call: call.id, content } }) + "\n");

const update = ({ fields }) =>
  Object.fromEntries(fields.map((field) => [field.name, `Node on “${field.question}”`.slice(0, field.chars_max)]));

for await (const line of createInterface({ input: conversation.stdout })) {
  const message = JSON.parse(line);
  if (message.call) {
    const { operation, summary_update } = message.call;
    const content = replies[typeof operation === "string" ? operation : Object.keys(operation)[0]];
    reply(message.call, summary_update ? { reply: content, summary_update: update(summary_update) } : content);
  } else if (message.recover) {
    // This host cannot recover the outcome of a call that was in flight during a crash.
    reply(message.recover, { fail: "outcome_unknown" });
  } else if (message.final_answer) {
    console.log(message.final_answer.text);
  }
}
