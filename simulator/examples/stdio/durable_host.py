"""A host that survives crashes, in Python: python3 durable_host.py JOURNAL REQUEST...

It loses no input and repeats no effect, although it and `orchestrion` can be killed at any time. Beside the journal it stores, one JSON
value on each line, each executed call with its reply, and the step of each call before it executes the call. Each request has a key, and
is sent until it is acknowledged. Only the standard library is used.
"""
import json
import os
import subprocess
import sys

AGREE = {"pro": {"confidence": 0.9, "text": "Python agrees"}}
REPLIES = {"verify_identity": {"locks": {"gcp": True, "mongodb": True}}, "load_context": {"context": {}},
           "classify": {"classification": {"similarity": 0}}, "argue": AGREE, "argue_additional": AGREE, "review_revision": AGREE,
           "approve": {"approved": "yes"}, "diagnose": {"no_repair": {}}, "store_memory": "stored", "deliver_audit": "delivered",
           "draft_plan": {"plan": [{"task": 1, "do": "Say hello", "undo": "Apologise"}]}}


def operation(call):
    """The name of the operation: a name, or an object with the name as its key."""
    return call["operation"] if isinstance(call["operation"], str) else next(iter(call["operation"]))


def effect(call):
    """What identifies an effect: its request, its operation and its task. The id of the call can change if a disk loses a journal."""
    return json.dumps([call["trace"], call["operation"], call["payload"]["task"]["id"]], sort_keys=True)


class Store:
    """The durable memory of the host. A line that a crash left incomplete is cut off."""

    def __init__(self, path):
        self.step, self.replies = 0, {}
        self.file = open(path, "a+b")
        self.file.seek(0)
        end = 0
        for line in self.file.readlines():
            if not line.endswith(b"\n"):
                break
            entry, end = json.loads(line), end + len(line)
            self.step = max(self.step, entry.get("step", 0))
            if "effect" in entry:
                self.replies[entry["effect"]] = entry["reply"]
        self.file.truncate(end)

    def add(self, entry):
        self.file.write(json.dumps(entry).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())


def execute(call, store):
    """Executes a call. Its effect here is the line in the store, so effect and memory cannot differ."""
    if operation(call) not in ("run_task", "undo_task"):
        return REPLIES[operation(call)]
    store.add({"step": call["step"]})
    reply = {"ok": f"{'done' if operation(call) == 'run_task' else 'undone'}: {call['payload']['task']['text']}"}
    store.replies[effect(call)] = reply
    store.add({"effect": effect(call), "reply": reply})
    return reply


def main(journal, requests):
    store = Store(journal + ".host")
    command = ["orchestrion", "run", "--stdio", "hardened", "--journal", journal, "--acknowledged-step", str(store.step)]
    conversation = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def send(message):
        print(json.dumps(message), file=conversation.stdin, flush=True)

    waiting = [(f"request-{number}", text) for number, text in enumerate(requests)]

    def send_next():
        """A request that was recorded before is acknowledged again, and does not run again."""
        if waiting:
            key, text = waiting[0]
            send({"input": {"idempotency_key": key, "content": {"request": {"user": "ada", "text": text}}}})
        else:
            send("close")

    for line in conversation.stdout:
        message = json.loads(line)
        if message == "closed":
            break
        if opened := message.get("opened"):
            if not opened["unfinished"]:
                send_next()
        elif call := message.get("call"):
            send({"reply": {"call": call["id"], "content": execute(call, store)}})
        elif call := message.get("recover"):
            known = store.replies.get(effect(call))
            send({"reply": {"call": call["id"], "content": known}} if known else {"not_started": {"call": call["id"]}})
        elif notice := message.get("acknowledged"):
            waiting.pop(0)
            if notice["repeated"]:
                send_next()
        elif answer := message.get("final_answer"):
            print(answer["text"], flush=True)
            send_next()
    return conversation.wait()


sys.exit(main(sys.argv[1], sys.argv[2:]))
