//! The modules that are language models: their prompts and their requests. Endpoints speak plain HTTP.

use orchestrion_kernel::module::{Failure, Operation, Role};
use orchestrion_kernel::plan::{Effect, Plan};
use orchestrion_kernel::situation::FieldSchema;
use orchestrion_runtime::{Call, CallError, CallPayload, CallResult, SignedHandoff};
use serde_json::{Value, json};
use std::fmt::Write;
use std::thread;
use std::time::Duration;

/// The deadline of a handoff, in which the node only checks a signature.
const HANDOFF_DEADLINE: Duration = Duration::from_secs(5);

/// The endpoint and the name of the models.
#[derive(Clone, Debug)]
pub(crate) struct Models {
    base_url: String,
    api_key: Option<String>,
    model: String,
    agent: ureq::Agent,
}

impl Models {
    /// The models at this address, named by the environment.
    pub(crate) fn at(base_url: &str) -> Self {
        let mut config = ureq::Agent::config_builder().http_status_as_error(false);
        if base_url.starts_with("http://127.0.0.1:") {
            // No proxy reaches this machine.
            config = config.proxy(None);
        }
        Self {
            base_url: base_url.trim_end_matches('/').to_owned(),
            api_key: std::env::var("OPENAI_API_KEY").ok(),
            model: std::env::var("OPENAI_MODEL").unwrap_or("gpt-4o-mini".to_owned()),
            agent: config.build().into(),
        }
    }

    /// Calls the model of this module. Blocks.
    ///
    /// # Errors
    ///
    /// The reason why there is no reply, with the call.
    pub(crate) fn answer(&self, call: &Call) -> CallResult {
        let said = self.said(call).and_then(|text| orchestrion_scenario::parse_reply(call.operation, &text));
        said.map_err(|CallError { failure, reason: why }| {
            let why = why.unwrap_or(failure.to_string());
            CallError { failure, reason: Some(format!("{call}: {why}")) }
        })
    }

    fn said(&self, call: &Call) -> Result<String, CallError> {
        let asked = json!({
            "model": self.model,
            "messages": [
                { "role": "system", "content": role(call.operation) + &summary(call) },
                { "role": "user", "content": question(call) },
            ],
        });
        let deadline = Duration::from_millis(call.deadline_ms);
        let (mut status, mut body) = self.post("chat/completions", &asked, deadline)?;
        if matches!(status, 429 | 500..=599) {
            thread::sleep(Duration::from_millis(200));
            (status, body) = self.post("chat/completions", &asked, deadline)?;
        }
        if status != 200 {
            return Err(CallError::error(format!("the server answered {status}: {}", start_of(&body))));
        }
        let content = serde_json::from_str::<Value>(&body)
            .ok()
            .and_then(|body| body.pointer("/choices/0/message/content")?.as_str().map(str::to_owned));
        let expected = || format!("the server answered {}; expected a chat completion", start_of(&body));
        content.ok_or_else(|| CallError::malformed(expected()))
    }

    /// Sends a handoff to the node of this endpoint. Blocks. Returns whether the node received it.
    pub(crate) fn hand_off(&self, handoff: &SignedHandoff) -> bool {
        let sent = serde_json::to_value(handoff).ok();
        let sent = sent.and_then(|body| self.post("handoffs", &body, HANDOFF_DEADLINE).ok());
        sent.is_some_and(|(status, _)| status == 200)
    }

    /// Lets the node of this endpoint execute a task. Blocks.
    ///
    /// # Errors
    ///
    /// The reason why the node did not execute it.
    pub(crate) fn run_task(&self, task: &Value, deadline: Duration) -> Result<String, CallError> {
        let (status, body) = self.post("tasks", task, deadline)?;
        let reply: Value = serde_json::from_str(&body).unwrap_or_default();
        match (status, reply["ok"].as_str()) {
            (200, Some(text)) => Ok(text.to_owned()),
            _ => Err(CallError::error(format!("the node answered {status}: {}", start_of(&body)))),
        }
    }

    fn post(&self, path: &str, body: &Value, deadline: Duration) -> Result<(u16, String), CallError> {
        let url = format!("{}/{path}", self.base_url);
        let mut request = self.agent.post(&url).content_type("application/json");
        if let Some(key) = &self.api_key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let request = request.config().timeout_global(Some(deadline)).build();
        let answered = request
            .send(body.to_string())
            .and_then(|mut response| Ok((response.status().as_u16(), response.body_mut().read_to_string()?)));
        answered.map_err(|error| match error {
            ureq::Error::Timeout(_) => CallError {
                failure: Failure::Timeout,
                reason: Some(format!("{url} did not answer within {deadline:?}")),
            },
            error => CallError::error(format!("{url} cannot be reached: {error}")),
        })
    }
}

/// Returns the start of a server's response, for a message.
fn start_of(body: &str) -> String {
    format!("{:?}", body.chars().take(80).collect::<String>())
}

/// The role of a model and the format of its reply: that of scenario files, as JSON.
fn role(ask: Operation) -> String {
    const VOICE: &str = r#"{"pro": {"confidence": 0.9, "text": "…"}}, or "con" for "pro""#;
    const REVISER: &str = r#"{"pro": {"confidence": 0.9, "text": "…"}}, or "con" for "pro"; with "plan": PLAN beside "text" if the plan is to change"#;
    const PLAN: &str = r#"[{"task": 1, "do": "…"}, {"task": 2, "do": "…", "undo": "what takes it back"}, {"task": 3, "do": "…", "irreversible": true}]"#;
    let (who, form) = match ask {
        Operation::Classify => (
            "the classifier: you tag requests, and say how near the nearest past one is",
            r#"{"classification": {"tags": ["…"], "similarity": 0.3}}"#,
        ),
        Operation::DraftPlan => ("the planner: you split a request into few tasks", r#"{"plan": PLAN}"#),
        Operation::Argue(Role::Analyst) => {
            ("the Analyst: you say whether the plan fits what is known", VOICE)
        }
        Operation::Argue(Role::Solution) => {
            ("Solution: you defend the plan, or mend it as others ask", REVISER)
        }
        Operation::Argue(Role::Critic) => ("the Critic: you look for what is wrong with the plan", VOICE),
        Operation::Argue(Role::Security) | Operation::ReviewRevision => {
            ("Security: you object to what does harm", VOICE)
        }
        Operation::Argue(Role::Optimizer) => ("the Optimizer: you make the plan cheaper or quicker", REVISER),
        Operation::ArgueAdditional { .. } => ("the debater that the request names", VOICE),
        Operation::Diagnose => (
            "the Critic: a task failed, and you say whether that can be repaired",
            r#"{"repair": {"text": "…", "plan": PLAN}} or {"no_repair": {"text": "…"}}"#,
        ),
        _ => ("the approver: you say whether the plan may run", r#"{"approved": "…"} or {"denied": "…"}"#),
    };
    format!(
        "You are {who}. Answer with JSON alone, in this form: {form}. Confidences and similarities are from 0 to 1. A PLAN \
         is written {PLAN}; tasks that leave nothing behind have neither \"undo\" nor \"irreversible\"."
    )
}

/// The part of the prompt that asks for a summary update; empty if the call asks for none.
fn summary(call: &Call) -> String {
    let Some(asked) = &call.summary_update else { return String::new() };
    let mut text = " Write this JSON as {\"reply\": JSON, \"summary_update\": {…}}, where the update keeps the summary of the \
                    request up to date. Its keys, each with a text, are:"
        .to_owned();
    for FieldSchema { name, question, chars_max } in &asked.fields {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n\"{name}\": {question} (at most {chars_max} characters)");
    }
    text
}

/// The prompt of a call.
fn question(call: &Call) -> String {
    let mut text = format!("The request of {}: {}\n", call.user, call.request);
    if let Some(debater) = &call.debater {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "You are the debater {debater}.");
    }
    if let Some(CallPayload::Plan(plan)) = &call.payload {
        let _ = write!(text, "\nThe plan, in pass {} of the debate:\n{}", call.pass, written(plan));
    }
    if let Some(context) = &call.context {
        let _ = write!(text, "\nWhat is known:\n{}", context.text);
    }
    text
}

fn written(plan: &Plan) -> String {
    let tasks = plan.tasks().iter().map(|task| {
        let effect = match &task.effect {
            Effect::Pure => "leaves nothing behind".to_owned(),
            Effect::Undoable { compensation } => format!("can be undone: {compensation}"),
            Effect::Irreversible => "cannot be undone".to_owned(),
        };
        format!("{}. {} ({effect})\n", task.id, task.text)
    });
    tasks.collect()
}
