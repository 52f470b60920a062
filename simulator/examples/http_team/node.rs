//! The endpoint of one node: it receives handoffs, verifies their signatures, and executes the tasks of the handoffs that it accepted
//! and its own.

use crate::server;
use orchestrion_handoff::{PublicKey, SignedHandoff, verify};
use orchestrion_kernel::NodeId;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{Error, Write};
use std::path::PathBuf;
use std::thread;
use tiny_http::{Request, Response, Server};

/// A node with what it received.
struct Node {
    name: NodeId,
    public_keys: BTreeMap<NodeId, PublicKey>,
    effects: PathBuf,
    /// The calls whose handoffs it accepted.
    accepted: BTreeSet<u64>,
}

/// Starts the endpoint of a node on a free port, for as long as the program runs.
///
/// # Errors
///
/// The error of the port.
pub(crate) fn start(
    name: NodeId,
    public_keys: BTreeMap<NodeId, PublicKey>,
    effects: PathBuf,
) -> Result<String, Error> {
    let server = Server::http("127.0.0.1:0").map_err(Error::other)?;
    let base_url = format!("http://{}/v1", server.server_addr());
    let mut node = Node { name, public_keys, effects, accepted: BTreeSet::new() };
    thread::spawn(move || {
        for request in server.incoming_requests() {
            // A client that disconnected needs no reply.
            let _gone = node.respond(request);
        }
    });
    Ok(base_url)
}

impl Node {
    fn respond(&mut self, mut request: Request) -> Result<(), Error> {
        let asked: Result<Value, _> = serde_json::from_reader(request.as_reader());
        let (status, body) = match (request.url(), asked) {
            (_, Err(error)) => (400, json!({ "error": error.to_string() })),
            ("/v1/chat/completions", Ok(asked)) => (200, server::completion(&asked)),
            ("/v1/handoffs", Ok(handoff)) => self.receive(handoff),
            ("/v1/tasks", Ok(task)) => self.execute(&task),
            _ => (404, json!({ "error": "expected chat/completions, handoffs or tasks" })),
        };
        request.respond(Response::from_string(body.to_string()).with_status_code(status))
    }

    /// Accepts a handoff to this node that its sender signed.
    fn receive(&mut self, handoff: Value) -> (u16, Value) {
        let refused = |reason: String| (403, json!({ "error": reason }));
        let signed: SignedHandoff = match serde_json::from_value(handoff) {
            Ok(signed) => signed,
            Err(error) => return refused(error.to_string()),
        };
        let handoff = &signed.handoff;
        if handoff.to_node != self.name {
            return refused(format!("handoff to {}: expected one to {}", handoff.to_node, self.name));
        }
        let sender = self.public_keys.get(&handoff.from_node).map_or(&[][..], |key| &key[..]);
        if !verify(&signed, sender).is_valid() {
            return refused(format!("signature of another node than {}", handoff.from_node));
        }
        self.accepted.insert(handoff.call.number());
        (200, json!({ "accepted": handoff.call }))
    }

    /// Executes a task: writes its effect down under the idempotency key of the call. The shop only sells.
    fn execute(&self, task: &Value) -> (u16, Value) {
        let (call, text) = (task["call"].as_u64(), task["text"].as_str().unwrap_or_default());
        let is_own = task["from"].as_str() == Some(self.name.as_str());
        if !is_own && !call.is_some_and(|call| self.accepted.contains(&call)) {
            return (403, json!({ "error": format!("{} got no handoff of this call", self.name) }));
        }
        if self.name.as_str() == "shop" && text.starts_with("Look") {
            return (503, json!({ "error": "the shop cannot see the stock of the office" }));
        }
        if let Some(key) = task["effect_key"].as_str() {
            let line = format!("{key}\t{text}\n");
            let mut file = OpenOptions::new().create(true).append(true).open(&self.effects);
            let written = file.as_mut().map_err(|error| error.to_string()).and_then(|file| {
                file.write_all(line.as_bytes())
                    .and_then(|()| file.sync_data())
                    .map_err(|error| error.to_string())
            });
            if let Err(error) = written {
                return (500, json!({ "error": error }));
            }
        }
        (200, json!({ "ok": format!("{} did: {text}", self.name) }))
    }
}
