// Every module of a conversation, in Node: node host.mjs SCENARIO [--journal FILE]
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const yes = { pro: { confidence: 0.9, says: "Node agrees" } };
const answers = {
  verify_identity: { locks: { gcp: true, mongodb: true } }, load_context: { context: {} },
  classify: { classified: { similarity: 0 } }, argue: yes, reread: yes, approve: { approved: "go on" },
  draft_plan: { plan: [{ task: 1, do: "Say hello", undo: "Apologise" }] }, run_task: { ok: "hello" },
  undo_task: { ok: "sorry" }, diagnose: { no_repair: {} }, remember: "held", deliver_audit: "delivered",
};

const stdio = ["pipe", "pipe", "inherit"];
const conversation = spawn("orchestrion", ["run", "--stdio", ...process.argv.slice(2)], { stdio });
for await (const line of createInterface({ input: conversation.stdout })) {
  const told = JSON.parse(line);
  const say = (call, answer) =>
    conversation.stdin.write(JSON.stringify({ answer: { call: call.id, with: answer } }) + "\n");
  if (told.call) {
    const { ask } = told.call;
    say(told.call, answers[typeof ask === "string" ? ask : Object.keys(ask)[0]]);
  } else if (told.recover) {
    // Of a call that was out in a crash, this host knows nothing.
    say(told.recover, { fail: "unknown" });
  } else if (told.answered) {
    console.log(told.answered.text);
  }
}
