//! Readers of files: scenarios, policies, projects, claims, scopes, machines, networks, problems, recorded debates and StateBench.

use orchestrion_kernel::Policy;
use orchestrion_kernel::event::Event;
use orchestrion_kernel::ids::{CallId, RequestId, TaskId, Text, UserId};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::network::routing::route;
use orchestrion_kernel::plan::EffectKind;
use orchestrion_kernel::policy::Bound;
use orchestrion_network::LoadedNetwork;
use orchestrion_optimizer::SearchLimits;
use orchestrion_project::Project;
use orchestrion_project::scope_file::ScopeChoice;
use orchestrion_scenario::promote::{Target, from_debate};
use orchestrion_scenario::run::run_scenario;
use orchestrion_scenario::{Scenario, policy_file};
use orchestrion_selection::{NamedProblem, Solver, solve};
use orchestrion_statebench::read::Reader as TimelineReader;
use orchestrion_statebench::score::{Report, Scorer};
use orchestrion_text::StandardContexts;
use orchestrion_trace::Reader;
use orchestrion_trace::replay::replay;
use orchestrion_user_claims::{ClaimFile, Monitors};
use std::fmt::Display;
use std::path::Path;

/// Returns the value of a readable file. An error has a message.
fn readable<T, E: Display>(read: Result<T, E>) -> Option<T> {
    match read {
        Ok(value) => Some(value),
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error has no message");
            None
        }
    }
}

/// Reads the bytes as a scenario. A readable scenario that has low limits is run, and its trace must replay without
/// divergence.
pub fn scenario(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Scenario::parse("fuzzed.yaml", &text, empty_folder()) {
        Err(error) => {
            assert!(!error.to_string().is_empty(), "expected an error message, found none: {error:?}")
        }
        Ok(scenario) if !has_low_limits(&scenario) => {}
        Ok(scenario) => {
            let policy = scenario.policy.clone();
            let Ok(run) = run_scenario(scenario) else { return };
            let reader =
                Reader::new(run.trace.as_slice(), "scenario").unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(reader.header().policy, policy, "the trace has another policy than its scenario");
            let found = replay(reader, None, &StandardContexts);
            assert!(found.is_equal(), "the trace of a scenario diverges: {found:?}");
        }
    }
}

/// Returns whether the limits of the policy are low. With high limits a scenario may take its maximum of one hundred
/// thousand steps.
fn has_low_limits(scenario: &Scenario) -> bool {
    let bounds = &scenario.policy.bounds;
    let is_low = |limit: u32| limit <= 8;
    scenario.requests.len() <= 8
        && is_low(bounds.passes)
        && is_low(bounds.audit_attempts)
        && matches!(bounds.repairs, Bound::AtMost(limit) if is_low(limit))
}

/// Reads the bytes as a policy file. A readable policy is valid and survives a round trip.
pub fn policy(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match policy_file::parse("fuzzed.yaml", &text, empty_folder()) {
        Err(error) => {
            assert!(!error.to_string().is_empty(), "expected an error message, found none: {error:?}")
        }
        Ok(policy) => {
            assert_eq!(policy.validate(), Ok(()), "a parsed policy is invalid");
            let written = policy_file::write(&policy);
            match policy_file::parse("written.yaml", &written, empty_folder()) {
                Ok(parsed) => {
                    assert_eq!(parsed, policy, "a written policy differs after parsing:\n{written}")
                }
                Err(error) => panic!("cannot parse a written policy: {error}\n{written}"),
            }
        }
    }
}

/// Returns a folder without policy files.
fn empty_folder() -> &'static Path {
    Path::new("/nonexistent")
}

/// Reads the bytes as a project file of the root folder, and what it refers to.
pub fn project(bytes: &[u8]) {
    let path = crate::root().join("orchestrion.yaml");
    let Some(project) = readable(Project::parse(&path, &String::from_utf8_lossy(bytes))) else { return };
    let _ = readable(project.policies());
    let _ = readable(project.scope());
    assert!(
        project.scenarios().iter().chain(&project.traces()).all(|path| path.exists()),
        "a path does not exist"
    );
    assert!(project.waivers().iter().all(|waiver| !waiver.reason.is_empty()), "a waiver has no reason");
}

/// Reads the bytes as a scope file.
pub fn scope(bytes: &[u8]) {
    let _ = readable(ScopeChoice::parse("fuzzed.yaml", &String::from_utf8_lossy(bytes)));
}

/// Reads the bytes as a claim file, and takes the events of a plan with its tasks. A claim has a sentence.
pub fn claims(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(file) = readable(ClaimFile::parse("fuzzed.yaml", &text)) else { return };
    assert!(file.claims.iter().all(|claim| claim.sentence.ends_with('.')), "a claim has no sentence");
    let monitors = Monitors::new(file.claims.as_slice());
    let mut states = monitors.start();
    let run = |task| Event::ToolCall {
        call: CallId::FIRST,
        operation: Operation::RunTask { task: TaskId::new(task), effect: EffectKind::Undoable },
    };
    let message = Event::UserMsg {
        request: RequestId::FIRST,
        user: UserId::new("ada"),
        text: Text::from("a"),
        scope: Scope::Global,
    };
    let tasks = (1..100).map(run);
    let events = [message].into_iter().chain(tasks).chain([Event::Cancelled, Event::SessionEnded]);
    for event in events {
        monitors.step(&mut states, &Policy::hardened(), &event, |_| {});
    }
    let _verdicts = monitors.verdicts(&states);
}

/// Reads the bytes as a state machine, as a table and as a page of diagrams, and checks it. A diagnostic refers to a line.
pub fn machine(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for name in ["fuzzed.yaml", "fuzzed.md", "fuzzed.mmd"] {
        let Some(machines) = readable(orchestrion_lint::parse::parse(name, &text)) else { continue };
        for parsed in machines {
            let _found = orchestrion_lint::lint(&parsed.machine);
        }
    }
}

/// Reads the bytes as a network, and after a line `---` as a task. A readable network routes the task, and creates a conversation.
pub fn network(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (network, task) = text.split_once("\n---\n").unwrap_or((&text, ""));
    let Some(loaded) = readable(LoadedNetwork::parse("fuzzed.yaml", network)) else { return };
    let _ = loaded.conversation_input();
    let Some(requirements) = readable(loaded.parse_task("fuzzed.task.yaml", task)) else { return };
    for node in loaded.network.iter() {
        let _routed = route(&loaded.policy, &loaded.network, &node.id, &requirements);
    }
}

/// Reads the bytes as a problem. The solver returns only valid selections, and none that is better than its bound.
pub fn problem(bytes: &[u8]) {
    let Some(problem) = readable(NamedProblem::from_bytes("fuzzed.json", bytes)) else { return };
    match solve(&problem, Solver::Native, SearchLimits::from_nodes(2_000)) {
        Ok(result) => assert!(result.selection.utility <= result.bound, "a solution exceeds its bound"),
        Err(error) => panic!("the solver returns an invalid selection: {error}"),
    }
}

/// Reads the bytes as a recorded debate. A readable one is promoted: its scenario runs.
pub fn debate(bytes: &[u8]) {
    let Some(target) = readable(Target::new("fuzzed", empty_folder())) else { return };
    let _ = readable(from_debate("fuzzed.json", &String::from_utf8_lossy(bytes), &target));
}

/// Reads the bytes as StateBench timelines, and scores them.
pub fn statebench(bytes: &[u8]) {
    let (scorer, mut report) = (Scorer::default(), Report::default());
    for case in TimelineReader::new(bytes, "fuzzed.jsonl") {
        match case {
            Ok(case) => scorer.score("fuzzed.jsonl", &case, &mut report),
            Err(diagnostic) => report.add_diagnostics([diagnostic]),
        }
    }
    assert!(!report.summary().is_empty(), "a report has no summary");
}
