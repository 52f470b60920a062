//! A server on this machine with the chat-completions interface, for users without a model. Its roles are simple, but
//! read their prompts: the Critic objects until an argument names the cost limit of the order.

use serde_json::{Value, json};
use std::io::Error;
use std::thread;
use tiny_http::{Request, Response, Server};

/// Starts the server on a free port, for as long as the program runs.
///
/// # Errors
///
/// The error of the port.
pub(crate) fn start() -> Result<String, Error> {
    let server = Server::http("127.0.0.1:0").map_err(Error::other)?;
    let base_url = format!("http://{}/v1", server.server_addr());
    thread::spawn(move || {
        for request in server.incoming_requests() {
            // A client that disconnected needs no reply.
            let _gone = respond(request);
        }
    });
    Ok(base_url)
}

fn respond(mut request: Request) -> Result<(), Error> {
    if request.url() != "/v1/chat/completions" {
        return request.respond(Response::empty(404));
    }
    let (status, body) = match serde_json::from_reader(request.as_reader()) {
        Ok(asked) => (200, completion(&asked)),
        Err(error) => (400, json!({ "error": { "message": error.to_string() } })),
    };
    request.respond(Response::from_string(body.to_string()).with_status_code(status))
}

/// The response to a request: as models do, with words around it, and a code fence.
pub(crate) fn completion(asked: &Value) -> Value {
    let message = |n: usize| asked["messages"][n]["content"].as_str().unwrap_or_default();
    let content = format!("Here is my answer.\n\n```json\n{:#}\n```", says(message(0), message(1)));
    json!({ "choices": [{ "message": { "role": "assistant", "content": content } }] })
}

fn says(system: &str, user: &str) -> Value {
    let role = system.strip_prefix("You are ").and_then(|prompt| Some(prompt.split_once(':')?.0));
    let role = role.unwrap_or_default();
    let has_limit = user.contains("for at most");
    let plan = |order: &str| {
        json!([
            { "task": 1, "do": "Look how much paper is left" },
            { "task": 2, "do": order, "undo": "Cancel the order" },
            { "task": 3, "do": "Tell the office when it comes", "irreversible": true },
        ])
    };
    let pro = |confidence: f64, says: &str| json!({ "pro": { "confidence": confidence, "text": says } });
    let answer = match role {
        "the classifier" => json!({ "classification": { "tags": ["office", "order"], "similarity": 0.2 } }),
        "the planner" => json!({ "plan": plan("Order two packs of paper") }),
        "the Analyst" => pro(0.9, "Paper is used up every other week"),
        "Solution" if !has_limit && user.contains("no cost limit") => json!({ "pro": {
            "confidence": 0.9,
            "text": "The Critic is right: 20 euros are enough",
            "plan": plan("Order two packs of paper for at most 20 euros"),
        } }),
        "Solution" => pro(0.85, "Three steps, and the order can be cancelled"),
        "the Critic" if has_limit => pro(0.8, "The price has a limit now"),
        "the Critic" => {
            json!({ "con": { "confidence": 0.85, "text": "The order has no cost limit" } })
        }
        "Security" => pro(0.95, "Nothing but paper is bought"),
        "the Optimizer" => pro(0.8, "Two packs at once save a delivery"),
        _ => json!({ "approved": "As long as it is paper" }),
    };
    if system.contains("\"summary_update\"") {
        json!({ "reply": answer, "summary_update": { "progress": format!("{role} has answered") } })
    } else {
        answer
    }
}
