//! Argument of `--set`: what the fork changes.

use miette::{Report, Result, miette};
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{Input, Policy, State};
use orchestrion_report::text::sanitize;
use orchestrion_runtime::CallError;
use orchestrion_scenario::policy_file::{self, setting};
use orchestrion_scenario::{parse_reply, parse_write};

/// How a key makes a change of its value.
type NewChange = fn(String) -> Change;

/// The keys of inputs.
const KEYS: [(&str, NewChange); 4] = [
    ("call.reply", Change::Reply),
    ("call.error", Change::Error),
    ("message.text", Change::Message),
    ("write", Change::Write),
];

/// What a fork sets.
pub(super) struct Settings {
    /// The policy of the fork.
    pub(super) policy: Policy,
    /// The input of the step, unless it stays.
    pub(super) change: Option<Change>,
}

/// Another input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Reply(String),
    Error(String),
    Message(String),
    Write(String),
}

impl Settings {
    /// Parses the arguments, each `KEY=VALUE`, for a trace under this policy.
    ///
    /// # Errors
    /// An argument without `=`, an unknown key, two inputs, or a policy that is not valid.
    pub(super) fn parse(arguments: &[String], policy: &Policy) -> Result<Self> {
        let (mut changed, mut change) = (Vec::<(String, String)>::new(), None);
        for text in arguments {
            let Some((key, value)) = text.split_once('=') else {
                return Err(miette!(
                    help = "such as: --set call.error=timeout",
                    "--set {}: expected KEY=VALUE, found no `=`",
                    sanitize(text)
                ));
            };
            let key = key.trim();
            if let Some(name) = key.strip_prefix("policy.") {
                let path = policy_path(name)?;
                if changed.iter().any(|(known, _)| *known == path) {
                    return Err(miette!(
                        help = "a policy has one value of each setting",
                        "--set policy.{path}: expected one value, found two"
                    ));
                }
                changed.push((path, policy_value(name, value)?));
                continue;
            }
            let Some((_, new)) = KEYS.iter().find(|(known, _)| *known == key) else {
                let known: Vec<&str> = KEYS.iter().map(|(known, _)| *known).collect();
                return Err(miette!(
                    help = "`orchestrion fork --help` describes them",
                    "--set: unknown key `{}`: expected one of {}, policy.NAME",
                    sanitize(key),
                    known.join(", ")
                ));
            };
            if change.replace(new(value.to_owned())).is_some() {
                return Err(miette!(
                    help = "fork the fork to set another step",
                    "--set {}: expected one input for the step, found two",
                    sanitize(key)
                ));
            }
        }
        Ok(Self { policy: new_policy(policy, &changed)?, change })
    }
}

fn policy_path(name: &str) -> Result<String> {
    setting(name)
        .map_err(|(message, help)| miette!(help = help, "--set policy.{}: {message}", sanitize(name)))
}

/// Returns the value of a setting, which the policy file parses. It is one line, so that it sets nothing else.
fn policy_value(name: &str, value: &str) -> Result<String> {
    let value = value.trim();
    if value.is_empty() || value.chars().any(char::is_control) {
        return Err(miette!(
            help = "write a value of a policy file, such as 3, 0.5, true or unbounded",
            "--set policy.{}: expected a value on one line, found `{}`",
            sanitize(name),
            sanitize(value)
        ));
    }
    Ok(value.to_owned())
}

/// Returns the policy with other settings, and with another name if they differ.
fn new_policy(policy: &Policy, changed: &[(String, String)]) -> Result<Policy> {
    if changed.is_empty() {
        return Ok(policy.clone());
    }
    let set = |name: &str| -> Result<Policy> {
        let set = policy_file::set(policy, name, changed)
            .map_err(|error| Report::new(error).wrap_err("--set policy: the value does not fit"))?;
        set.map_err(|error| {
            miette!(
                help = "set the other value too, or choose another",
                "--set policy: invalid policy: {error}"
            )
        })
    };
    if set(&policy.name)? == *policy {
        return Ok(policy.clone());
    }
    match policy.name.ends_with(" forked") {
        true => set(&policy.name),
        false => set(&format!("{} forked", policy.name)),
    }
}

impl Change {
    /// Returns the new input of a step, in the state before it.
    ///
    /// # Errors
    /// The step has no such input, or the value has a wrong type.
    pub(super) fn apply(&self, step: u64, state: &State, recorded: &Input) -> Result<Input> {
        match (self, recorded) {
            (Self::Reply(text), _) => {
                let call = answered_call("call.reply", step, state, recorded)?;
                match parse_reply(call.operation, text) {
                    Ok(reply) => Ok(reply.into_input(call.id)),
                    Err(CallError { reason: Some(reason), .. }) => Err(miette!(
                        help = format!(
                            "the step answers call {}: write {}",
                            call.id,
                            call.operation.expected_reply()
                        ),
                        "--set call.reply: {}",
                        sanitize(&reason)
                    )),
                    Err(CallError { failure, reason: None }) => {
                        Ok(Input::CallFailed { call: call.id, failure })
                    }
                }
            }
            (Self::Error(name), _) => {
                let call = answered_call("call.error", step, state, recorded)?;
                Ok(Input::CallFailed { call: call.id, failure: failure(name)? })
            }
            (Self::Message(text), Input::UserMessage { user, scope, .. }) => Ok(Input::UserMessage {
                user: user.clone(),
                text: text.as_str().into(),
                scope: scope.clone(),
            }),
            (Self::Write(text), Input::Write(_)) => {
                let write = parse_write(text).map_err(|error| {
                    miette!(
                        help = "write it as in a scenario, such as: write={fact: {key: price, text: $80}}",
                        "--set write: {}",
                        sanitize(&error)
                    )
                })?;
                Ok(Input::Write(Box::new(write)))
            }
            (Self::Message(_), _) => Err(wrong_step("message.text", "a user message", step, recorded)),
            (Self::Write(_), _) => Err(wrong_step("write", "a write", step, recorded)),
        }
    }
}

/// Returns the pending call that a step answers.
fn answered_call(key: &str, step: u64, state: &State, recorded: &Input) -> Result<Call> {
    let call = state.control().answered_call(recorded);
    call.ok_or_else(|| wrong_step(key, "a step that answers a call", step, recorded))
}

fn wrong_step(key: &str, expected: &str, step: u64, recorded: &Input) -> Report {
    miette!(
        help = "choose another step: `orchestrion show TRACE` lists them",
        "--set {key} at step {step}: expected {expected}, found the input `{}`",
        recorded.trigger()
    )
}

fn failure(name: &str) -> Result<Failure> {
    let key = |failure: Failure| {
        serde_json::to_value(failure).ok().and_then(|key| key.as_str().map(str::to_owned)).unwrap_or_default()
    };
    Failure::ALL.into_iter().find(|failure| key(*failure) == name.trim()).ok_or_else(|| {
        let known: Vec<String> = Failure::ALL.into_iter().map(key).collect();
        miette!(
            help = "such as: --set call.error=timeout",
            "--set call.error: expected one of {}, found `{}`",
            known.join(", "),
            sanitize(name)
        )
    })
}
