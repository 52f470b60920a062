"""Every module of a conversation, in Python: python3 host.py SCENARIO [--journal FILE]"""
import json, subprocess, sys
YES = {"pro": {"confidence": 0.9, "says": "Python agrees"}}
ANSWERS = {"verify_identity": {"locks": {"gcp": True, "mongodb": True}}, "load_context": {"context": {}},
           "classify": {"classified": {"similarity": 0}}, "argue": YES, "reread": YES, "approve": {"approved": "go on"},
           "draft_plan": {"plan": [{"task": 1, "do": "Say hello", "undo": "Apologise"}]}, "run_task": {"ok": "hello"},
           "undo_task": {"ok": "sorry"}, "diagnose": {"no_repair": {}}, "remember": "held", "deliver_audit": "delivered"}

conversation = subprocess.Popen(["orchestrion", "run", "--stdio", *sys.argv[1:]], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in conversation.stdout:
    told = json.loads(line)
    if "call" in told or "recover" in told:  # Of a call that was out in a crash, this host knows nothing.
        call = told["call"] if "call" in told else {**told["recover"], "ask": "unknown"}
        answer = ANSWERS.get(call["ask"] if isinstance(call["ask"], str) else next(iter(call["ask"])), {"fail": "unknown"})
        print(json.dumps({"answer": {"call": call["id"], "with": answer}}), file=conversation.stdin, flush=True)
    elif "answered" in told:
        print(told["answered"]["text"])
