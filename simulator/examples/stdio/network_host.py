"""The nodes of a trust network as processes, in Python: python3 network_host.py SCENARIO [--journal FILE] [--keys DIR]

`orchestrion run --stdio` chooses a node for each call, signs the handoff with the key of the sender, and verifies it with the
public key of the sender. This host passes the call, with its handoff, to the process of the node, and the reply back.
Only the standard library is used.
"""
import json
import subprocess
import sys

AGREE = {"pro": {"confidence": 0.9, "text": "Python agrees"}}
REPLIES = {"verify_identity": {"locks": {"gcp": True, "mongodb": True}}, "load_context": {"context": {}},
           "classify": {"classification": {"similarity": 0}}, "argue": AGREE, "argue_additional": AGREE, "review_revision": AGREE,
           "approve": {"approved": "yes"}, "diagnose": {"no_repair": {}}, "store_memory": "stored", "deliver_audit": "delivered",
           "draft_plan": {"plan": [{"task": 1, "do": "Translate the letter", "requires": "translate"}]}}


def operation(call):
    """The name of the operation: a name, or an object with the name as its key."""
    return call["operation"] if isinstance(call["operation"], str) else next(iter(call["operation"]))


def execute(node, call):
    """What a node does with a call. A node refuses a call of another node."""
    handoff = call.get("handoff", {}).get("handoff")
    receiver = handoff["to_node"] if handoff else call["node"]
    if receiver != node:
        return {"fail": "error"}
    if operation(call) in ("run_task", "undo_task"):
        return {"ok": f"{node} did: {call['payload']['task']['text']}"}
    return REPLIES[operation(call)]


def serve_node(node):
    """The process of a node: a call on each line of standard input, its reply on standard output."""
    for line in sys.stdin:
        print(json.dumps(execute(node, json.loads(line))), flush=True)


def pipe(*command):
    return subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def exchange(process, message):
    print(json.dumps(message), file=process.stdin, flush=True)
    return json.loads(process.stdout.readline())


def serve_conversation(arguments):
    conversation, nodes = pipe("orchestrion", "run", "--stdio", *arguments), {}
    for line in conversation.stdout:
        message = json.loads(line)
        if message == "closed":
            break
        if call := message.get("call"):
            node = call["node"]
            if node not in nodes:
                nodes[node] = pipe(sys.executable, __file__, "--node", node)
            content = exchange(nodes[node], call)
            sender = call["handoff"]["handoff"]["from_node"] if "handoff" in call else node
            print(f"{sender} -> {node}: {call['expects']}" if sender != node else f"{node}: {call['expects']}")
        elif call := message.get("recover"):
            content = {"fail": "outcome_unknown"}  # The processes of the nodes ended with the last host.
        else:
            if "final_answer" in message:
                print(message["final_answer"]["text"])
            elif refused := message.get("handoff_refused"):
                print(refused["reason"])  # The kernel has already chosen another node, if one is left.
            elif reason := next(iter(message.values())).get("reason"):
                print(reason, file=sys.stderr)
            continue
        print(json.dumps({"reply": {"call": call["id"], "content": content}}), file=conversation.stdin, flush=True)
    for node in nodes.values():
        node.stdin.close()
        node.wait()
    return conversation.wait()


if sys.argv[1:2] == ["--node"]:
    serve_node(sys.argv[2])
else:
    sys.exit(serve_conversation(sys.argv[1:]))
