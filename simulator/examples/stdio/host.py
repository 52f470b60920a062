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
    if "call" in told:
        ask = told["call"]["ask"]
        answer = {"call": told["call"]["id"], "with": ANSWERS[ask if isinstance(ask, str) else next(iter(ask))]}
        print(json.dumps({"answer": answer}), file=conversation.stdin, flush=True)
    elif "answered" in told:
        print(told["answered"]["text"])
