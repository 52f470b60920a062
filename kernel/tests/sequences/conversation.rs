//! Runs commands against the kernel, and checks every event and state.

use crate::arguments::{Arguments, parse_id, parse_list, parse_text, parse_value, parse_variant};
use crate::canonical::{check_canonical, check_reduced};
use crate::inputs::{change_policy, default_report, parse_input};
use crate::print::{fill_lines, print_event, print_ids, print_item, print_text};
use crate::print_network::{print_assignments, print_nodes};
use orchestrion_claims::{CLAIMS, History, state_violations, step_violations, write_violations};
use orchestrion_kernel::checker::validate_event;
use orchestrion_kernel::context::{ByteMeasure, SelectionStatus, build_context};
use orchestrion_kernel::item::Item;
use orchestrion_kernel::knowledge::Principal;
use orchestrion_kernel::knowledge::compaction::{cluster, is_due};
use orchestrion_kernel::module::{Failure, Role};
use orchestrion_kernel::{
    ConversationId, Events, Input, Phase, Policy, Refusal, State, Text, Timestamp, UserId, decide,
};
use orchestrion_optimizer::ExactSelector;
use std::collections::BTreeMap;
use std::iter::once;

/// The conversation of a file, and the saved ones.
#[derive(Default)]
pub(crate) struct Runner {
    current: Option<Conversation>,
    saved: BTreeMap<String, Conversation>,
}

#[derive(Clone)]
struct Conversation {
    policy: Policy,
    state: State,
    history: History,
}

type Output = Result<Vec<String>, String>;

/// Returns policy and state after lines of commands.
pub(crate) fn state_after(lines: &str) -> (Policy, State) {
    let mut runner = Runner::default();
    lines.lines().for_each(|line| drop(runner.run(line).unwrap()));
    let Conversation { policy, state, .. } = runner.current.unwrap();
    (policy, state)
}

/// Returns the state after each command. A refused command is an error.
pub(crate) fn states_of(commands: &str) -> Vec<State> {
    let mut runner = Runner::default();
    let commands = commands.split(['\n', ';']);
    let states = commands.map(|command| {
        runner.run(&format!("given {}", command.trim_start())).unwrap();
        runner.current.as_ref().unwrap().state.clone()
    });
    states.collect()
}

/// Returns the events of the input in a line.
pub(crate) fn events_of(policy: &Policy, state: &State, line: &str) -> Events {
    let mut args = Arguments::parse_line(line).unwrap().remove(0);
    let command = args.next("a command").unwrap();
    decide(policy, state, state.now(), &parse_input(state, &command, &mut args).unwrap().unwrap()).unwrap()
}

impl Runner {
    /// Runs the commands of a line. An error is an invalid command, or a violated claim.
    pub(crate) fn run(&mut self, line: &str) -> Output {
        let mut output = Vec::new();
        let (is_setup, line) = match line.strip_prefix("given ") {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        for mut args in Arguments::parse_line(line)? {
            let command = args.next("a command")?;
            let lines = self.run_command(&command, &mut args)?;
            args.finish()?;
            let refusal = lines.iter().find(|line| line.contains("refused: "));
            match refusal.filter(|_| is_setup) {
                Some(refusal) => return Err(format!("expected no refusal, found {refusal}")),
                None if is_setup => {}
                None => output.extend(lines),
            }
        }
        Ok(fill_lines(output))
    }

    fn run_command(&mut self, command: &str, args: &mut Arguments) -> Output {
        match command {
            "conversation" => {
                let name = args.next("policy")?;
                let mut policy = Policy::built_in(&name).ok_or_else(|| format!("unknown policy `{name}`"))?;
                change_policy(&mut policy, args)?;
                let state = State::new(ConversationId::new("c"));
                self.current = Some(Conversation { policy, state, history: History::default() });
            }
            "restore" => {
                let name = args.next("name")?;
                let saved = self.saved.get(&name).ok_or_else(|| format!("unknown name `{name}`"))?;
                self.current = Some(saved.clone());
            }
            command => {
                let expected = "no conversation: expected `conversation POLICY` first";
                let current = self.current.as_mut().ok_or(expected)?;
                match command {
                    "save" => drop(self.saved.insert(args.next("name")?, current.clone())),
                    "policy" => change_policy(&mut current.policy, args)?,
                    "advance" => return current.advance(&args.next("phase")?),
                    command => return current.submit_or_query(command, args),
                }
            }
        }
        Ok(Vec::new())
    }
}

impl Conversation {
    fn submit_or_query(&mut self, command: &str, args: &mut Arguments) -> Output {
        let Some(input) = parse_input(&self.state, command, args)? else { return self.query(command, args) };
        let at = args.field("at", parse_value)?.map_or(self.state.now(), Timestamp::from_millis);
        Ok(match self.submit(at, &input)? {
            Ok(events) if events.is_empty() => vec!["no event".to_owned()],
            Ok(events) => events.iter().map(print_event).collect(),
            Err(refusal) => vec![format!("refused: {refusal}")],
        })
    }

    /// Decides and applies an input at this time. Every event must fit the state, and no claim may be violated.
    fn submit(&mut self, at: Timestamp, input: &Input) -> Result<Result<Events, Refusal>, String> {
        let events = match decide(&self.policy, &self.state, at, input) {
            Ok(events) => events,
            Err(refusal) if at == self.state.now() => {
                let violated = write_violations(&self.policy, &self.state, input, None);
                let wrong = violated.iter().next().map(|claim| CLAIMS[claim].id);
                return wrong.map_or(Ok(Err(refusal)), |id| Err(format!("{id} is violated by a refusal")));
            }
            Err(refusal) => return Ok(Err(refusal)),
        };
        let before = self.state.clone();
        for event in &events {
            validate_event(self.state.semantic(), event)
                .map_err(|error| format!("invalid event: {error}"))?;
            self.state.apply(event);
            if !self.state.semantic().is_consistent() {
                return Err(format!("inconsistent semantic state after {event:?}"));
            }
        }
        check_canonical(&self.state)?;
        check_reduced(&self.policy, &self.state)?;
        let steps = step_violations(&self.policy, &before, input, &events, &self.state, &mut self.history);
        let violations = steps.chain(state_violations(&self.policy, &self.state)).map(|claim| &CLAIMS[claim]);
        let mut violations = violations.filter(|claim| (claim.not_applicable)(&self.policy).is_none());
        // The policy `as-drawn` has the findings.
        match violations.find(|claim| claim.finding.is_none() || self.policy.name != "as-drawn") {
            Some(claim) => Err(format!("{} is violated: {}", claim.id, claim.statement)),
            None => Ok(Ok(events.clone())),
        }
    }

    /// Sends a message in phase `Idle`, then runs steps and successful replies up to a phase. Prints the phases.
    fn advance(&mut self, target: &str) -> Output {
        let target = Phase::from_name(target).ok_or_else(|| format!("unknown phase `{target}`"))?;
        let mut path = vec![self.state.control().phase().to_string()];
        while self.state.control().phase() != target && path.len() < 100 {
            let control = self.state.control();
            let input = match (control.pending_calls().first(), control.session()) {
                (None, Some(user)) if control.phase() == Phase::Idle => {
                    Input::user_message(user.clone(), "what now?".into())
                }
                (None, _) => Input::Step,
                (Some(call), _) if call.not_made.is_some() => {
                    Input::CallFailed { call: call.id, failure: Failure::OverBudget }
                }
                (Some(call), _) => {
                    let report = default_report(call.operation);
                    Input::reply(call.id, report.ok_or_else(|| format!("no default reply to {call:?}"))?)
                }
            };
            if let Err(refusal) = self.submit(self.state.now(), &input)? {
                path.push(format!("refused: {refusal}"));
                break;
            }
            let phase = self.state.control().phase().to_string();
            path.extend((path.last() != Some(&phase)).then_some(phase));
        }
        Ok(vec![path.join(" -> ")])
    }

    fn query(&self, command: &str, args: &mut Arguments) -> Output {
        let semantic = self.state.semantic();
        let print_value = |item: &Item| format!("#{} {}", item.id, print_text(item.text.as_str()));
        Ok(match command {
            "items" => {
                let ids = args.next_optional().map(|ids| parse_list(parse_id)(&ids)).transpose()?;
                let is_named = |id| ids.as_ref().is_none_or(|ids| ids.contains(id));
                let entries = semantic.entries().filter(|entry| is_named(&entry.item.id));
                let lines: Vec<_> = entries.map(|entry| print_item(&entry.item, &entry.deps)).collect();
                if lines.is_empty() { vec!["no items".to_owned()] } else { lines }
            }
            "ratings" => {
                let request = self.state.control().request().ok_or("no request")?;
                let ratings = request.ratings_after.unwrap_or(request.ratings);
                let print = |role: Role| format!("{role} {}", ratings.get(role).elo);
                vec![format!("ratings {}", Role::ALL.map(print).join(", "))]
            }
            "nodes" => print_nodes(&self.state, args.next_optional().as_deref()),
            "calls" => print_assignments(&self.state),
            "actions" => {
                let actions = self.state.control().request().into_iter().flat_map(|request| &request.actions);
                let iterations: Vec<_> = actions.map(|action| action.iteration.to_string()).collect();
                vec![format!("actions {}", iterations.join(","))]
            }
            "valid_facts" => {
                vec![format!("valid facts {}", print_ids(semantic.read_valid_facts().map(|item| &item.id)))]
            }
            "working_set" => vec![format!("working set {}", print_ids(&semantic.working_set()))],
            "cluster" => {
                let due = if is_due(&self.policy, &self.state) { "due" } else { "not due" };
                vec![format!("cluster {}, {due}", print_ids(&cluster(&self.policy, &self.state)))]
            }
            "current" => {
                let keys = parse_list(|key| Ok(Text::from(key)))(&args.next("keys")?)?;
                let reader = self.parse_reader(args)?;
                let print = |key: &Text| {
                    let value = semantic.get_current_value(key, &reader).map(print_value);
                    match (value, semantic.is_fact_current(key, &reader)) {
                        (Some(value), true) => Ok(format!("{key} is {value}")),
                        (Some(value), false) => Ok(format!("{key} is {value} of another key")),
                        (None, false) => Ok(format!("{key} has no value")),
                        (None, true) => Err(format!("`{key}` is current and has no value")),
                    }
                };
                vec![keys.iter().map(print).collect::<Result<Vec<_>, _>>()?.join("; ")]
            }
            "selectable" => {
                let reader = self.parse_reader(args)?;
                let items: Vec<_> =
                    semantic.selectable(&reader).map(|entry| print_value(&entry.item)).collect();
                vec![format!(
                    "selectable {}",
                    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
                )]
            }
            "context" => {
                let operation = match args.next("operation")?.as_str() {
                    "pending" => {
                        self.state.control().pending_calls().last().ok_or("no pending call")?.operation
                    }
                    name => parse_variant(name)?,
                };
                let selector = ExactSelector::from_policy(&self.policy);
                match build_context(&self.policy, &self.state, operation, &ByteMeasure, &selector) {
                    Err(error) => vec![format!("error: {error}")],
                    Ok(context) if context.status != SelectionStatus::Optimal => {
                        return Err("the selection is not optimal".to_owned());
                    }
                    Ok(context) => {
                        let head = format!("| {} in {} tokens", print_ids(&context.ids), context.cost_tokens);
                        let head = match context.payload_tokens {
                            0 => head,
                            payload => format!("{head}, payload in {payload} tokens"),
                        };
                        once(head).chain(context.text.lines().map(print_context_line)).collect()
                    }
                }
            }
            _ => return Err(format!("unknown command `{command}`: expected one of README.md")),
        })
    }

    /// Returns the principal of the session, with the fields of the command.
    fn parse_reader(&self, args: &mut Arguments) -> Result<Principal, String> {
        let session = self.state.session_principal();
        Ok(Principal {
            user: args.field("user", |name| Ok(UserId::new(name)))?.or(session.user),
            rank: args.field("rank", parse_variant)?.unwrap_or(session.rank),
            permissions: args.field("permissions", parse_list(parse_text))?.unwrap_or(session.permissions),
            scope: args.field("scope", parse_variant)?.unwrap_or(session.scope),
            now: args.field("now", parse_value)?.map_or(session.now, Timestamp::from_millis),
        })
    }
}

/// Prints a line of a context. Output has no empty lines, and no long ones.
fn print_context_line(line: &str) -> String {
    let head: String = line.chars().take(100).collect();
    let end = if head.len() < line.len() {
        format!("… ({} characters)", line.chars().count())
    } else {
        String::new()
    };
    format!("| {head}{end}").trim_end().to_owned()
}
