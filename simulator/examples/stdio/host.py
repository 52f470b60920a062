"""All modules of a conversation, in Python: python3 host.py SCENARIO [--journal FILE]"""
import json, subprocess, sys
AGREE = {"pro": {"confidence": 0.9, "text": "Python agrees"}}
REPLIES = {"verify_identity": {"locks": {"gcp": True, "mongodb": True}}, "load_context": {"context": {}},
           "classify": {"classification": {"similarity": 0}}, "argue": AGREE, "argue_additional": AGREE, "review_revision": AGREE, "approve": {"approved": "yes"},
           "draft_plan": {"plan": [{"task": 1, "do": "Say hello", "undo": "Apologise"}]}, "run_task": {"ok": "hello"},
           "undo_task": {"ok": "sorry"}, "diagnose": {"no_repair": {}}, "store_memory": "stored", "deliver_audit": "delivered"}

conversation = subprocess.Popen(["orchestrion", "run", "--stdio", *sys.argv[1:]], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in conversation.stdout:
    message = json.loads(line)
    if call := message.get("call") or message.get("recover") if isinstance(message, dict) else None:
        name = call["operation"] if isinstance(call["operation"], str) else next(iter(call["operation"]))
        content = REPLIES[name] if "call" in message else {"fail": "outcome_unknown"}  # This host cannot recover outcomes.
        if "call" in message and (asked := call.get("summary_update")):
            content = {"reply": content, "summary_update": {field["name"]: f"Python on “{field['question']}”"[:field["chars_max"]] for field in asked["fields"]}}
        print(json.dumps({"reply": {"call": call["id"], "content": content}}), file=conversation.stdin, flush=True)
    elif "final_answer" in message:
        print(message["final_answer"]["text"])
