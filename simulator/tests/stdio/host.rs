//! The command `run --stdio`, with the test as its host.

use orchestrion_stdio::protocol;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};

pub(crate) const SCENARIO: &str =
    "description: A greeting, twice.\nuser: ada\nrequests:\n  - text: Greet the office\n  - text: Again\n";

/// A folder with the scenario `hello.yaml`.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("hello.yaml"), SCENARIO).unwrap();
    folder
}

/// The command, with the test as its host.
pub(crate) struct Host {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<std::process::ChildStdout>,
    validator: jsonschema::Validator,
}

/// Starts the command with pipes.
pub(crate) fn start(folder: &Path, args: &[&str]) -> Child {
    start_command(folder, &[&["run", "--stdio"], args].concat())
}

fn start_command(folder: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_orchestrion"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

impl Host {
    pub(crate) fn of(folder: &Path, args: &[&str]) -> Self {
        Self::of_command(folder, &[&["run", "--stdio"], args].concat())
    }

    pub(crate) fn of_command(folder: &Path, args: &[&str]) -> Self {
        let mut child = start_command(folder, args);
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut schema = protocol::schema();
        let message = json!({"$ref": "#/$defs/to_host", "$defs": schema["$defs"].take()});
        Self { child, input, output, validator: jsonschema::validator_for(&message).unwrap() }
    }

    pub(crate) fn send(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        // It may have ended. Its remaining output is read.
        let _ = input.write_all(text.as_bytes()).and_then(|()| input.flush());
    }

    /// Receives the next message, and validates it by the schema.
    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        if line.is_empty() {
            return Value::Null;
        }
        let message: Value = serde_json::from_str(&line).unwrap();
        self.validator.validate(&message).unwrap_or_else(|error| panic!("{error}: {line}"));
        message
    }

    pub(crate) fn reply(&mut self, call: &Value, content: &Value) {
        self.send(&format!("{}\n", json!({"reply": {"call": call["id"], "content": content}})));
    }

    /// Replies to every call until this operation, and returns that call. Collects other messages.
    pub(crate) fn until(&mut self, asked: &str, other: &mut Vec<Value>) -> Value {
        loop {
            let message = self.receive();
            let Some(call) = message.get("call").cloned() else {
                if message.get("recover").is_some() || message.is_null() || message == "closed" {
                    return message;
                }
                other.push(message);
                continue;
            };
            if question(&call) == asked {
                return call;
            }
            self.reply(&call, &agreed(&call));
        }
    }

    /// Kills the command.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn ends(mut self) -> Output {
        self.input = None;
        let mut output = self.child.wait_with_output().unwrap();
        let mut rest = String::new();
        while self.output.read_line(&mut rest).unwrap() > 0 {}
        output.stdout = rest.into_bytes();
        output
    }
}

pub(crate) fn question(call: &Value) -> &str {
    match &call["operation"] {
        Value::String(ask) => ask,
        Value::Object(ask) => ask.keys().next().unwrap(),
        other => panic!("{other}"),
    }
}

pub(crate) fn agreed(call: &Value) -> Value {
    match question(call) {
        "verify_identity" => json!({"locks": {"gcp": true, "mongodb": true}}),
        "load_context" => json!({"context": {}}),
        "classify" => json!({"classification": {"similarity": 0.25}}),
        "draft_plan" => json!({"plan": [{"task": 1, "do": "Order", "undo": "Cancel the order"}]}),
        "argue" | "review_revision" => json!({"pro": {"confidence": 0.9}}),
        "run_task" => json!({"ok": format!("done: {}", call["payload"]["task"]["text"].as_str().unwrap())}),
        "undo_task" => {
            json!({"ok": format!("undone: {}", call["payload"]["task"]["effect"]["undoable"]["compensation"])})
        }
        "diagnose" => json!({"no_repair": {}}),
        "store_memory" => json!("stored"),
        "deliver_audit" => json!("delivered"),
        other => panic!("{other}"),
    }
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
