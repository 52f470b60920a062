//! The examples, run as a user runs them: their output, their files, kills, and faulty servers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::event::{Cause, Conclusion};
use orchestrion_kernel::module::{ConclusionKind, Failure, Module, Report, Role};
use orchestrion_kernel::situation::SummaryField;
use orchestrion_kernel::{Event, Input, Policy};
use orchestrion_runtime::{Clock, Conversation};
use orchestrion_text::StandardContexts;
use orchestrion_trace::replay::replay;
use orchestrion_trace::{Reader, Step};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use tiny_http::{Request, Response, Server};

/// An example, built by `cargo test` beside this test.
fn example(name: &str) -> Command {
    let here = std::env::current_exe().unwrap();
    let program = here.ancestors().nth(2).unwrap().join("examples").join(name);
    let program = program.with_extension(std::env::consts::EXE_EXTENSION);
    let built = program.metadata().and_then(|file| file.modified()).ok();
    let written = sources(name).iter().filter_map(|source| source.metadata().ok()?.modified().ok()).max();
    assert!(
        built >= written,
        "{} is not there or is older than its source; build it with \
         `cargo build -p orchestrion --examples`",
        program.display()
    );
    let mut command = Command::new(program);
    for setting in ["OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"] {
        command.env_remove(setting);
    }
    command
}

fn sources(name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    match fs::read_dir(folder.join(name)) {
        Ok(files) => files.map(|file| file.unwrap().path()).collect(),
        Err(_) => vec![folder.join(format!("{name}.rs"))],
    }
}

fn printed(output: &Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", output.status);
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Closes a journal and reads it: it must be complete, and replay without a difference.
fn ended(journal: &Path) -> Vec<Step> {
    let conversation = Conversation::open(journal, Policy::hardened(), &StandardContexts).unwrap();
    Clock::real().block_on(conversation.close()).unwrap().unwrap();
    steps(journal)
}

fn steps(trace: &Path) -> Vec<Step> {
    let bytes = fs::read(trace).unwrap();
    let replayed = replay(Reader::new(bytes.as_slice(), "the trace").unwrap(), None, &StandardContexts);
    assert!(replayed.is_equal() && replayed.header_differences.is_empty(), "{replayed:?}");
    Reader::new(bytes.as_slice(), "the trace").unwrap().collect::<Result<_, _>>().unwrap()
}

/// The effects outside. None may have happened twice.
fn effects(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("effects.txt")).unwrap_or_default();
    let doings: Vec<String> = text.lines().map(|line| line.split_once('\t').unwrap().1.to_owned()).collect();
    assert_eq!(doings.iter().collect::<BTreeSet<_>>().len(), doings.len(), "an effect twice: {text}");
    doings
}

fn ending(steps: &[Step]) -> Conclusion {
    let ending = steps.iter().flat_map(|step| &step.events).find_map(|event| match event {
        Event::Concluded { conclusion: ending } => Some(*ending),
        _ => None,
    });
    ending.expect("it was concluded")
}

/// The notes about calls.
fn notes(steps: &[Step]) -> Vec<&str> {
    let of_calls = steps.iter().filter(|step| step.possible_loss.is_none());
    of_calls.filter_map(|step| step.note.as_deref()).collect()
}

const DONE: [&str; 2] = ["Order two packs of paper for at most 20 euros", "Tell the office when it comes"];

/// The line of output that reports the first effect.
const EFFECT_IS_SAID: usize = 15;

#[test]
fn minimal_has_25_lines_and_is_alive() {
    let source = fs::read_to_string(&sources("minimal")[0]).unwrap();
    assert!(source.lines().count() <= 25, "{} lines", source.lines().count());
    let folder = tempfile::tempdir().unwrap();
    for request in 1..=2 {
        let output = example("minimal").current_dir(&folder).output().unwrap();
        assert_eq!(printed(&output), "Two packs of paper arrive on Monday\n", "request {request}");
    }
    let steps = ended(&folder.path().join("minimal.ndjson"));
    let answers = steps.iter().flat_map(|step| &step.events);
    assert_eq!(answers.filter(|event| matches!(event, Event::FinalAnswer { .. })).count(), 2);
}

#[test]
fn the_http_team_is_killed_after_an_effect_and_finds_out_that_it_happened() {
    let folder = tempfile::tempdir().unwrap();
    let output = example("http_team").env("TMPDIR", folder.path()).output().unwrap();
    let printed = printed(&output);
    let trace = Path::new(printed.lines().last().unwrap().strip_prefix("Look: orchestrion show ").unwrap());
    let steps = steps(trace);
    assert_eq!(ending(&steps), Conclusion { kind: ConclusionKind::Outcome, cause: Cause::Completed });
    assert_eq!(effects(trace.parent().unwrap()), DONE);
    assert_eq!(steps.iter().filter(|step| matches!(step.input, Input::Resume)).count(), 1);
    let mut updates = steps.iter().filter_map(|step| match &step.input {
        Input::Reply { summary_update, .. } => summary_update.as_ref()?.0.get("progress"),
        _ => None,
    });
    assert_eq!(updates.next_back().unwrap().as_str(), "the Optimizer has answered");
    for line in [
        "   15  has an effect                            effects.txt: Order two packs of paper for at most 20 euros\n\nKilled",
        "   15  was out when the program died; effects.txt says: it happened\n",
        "The answer to office/1:\n  done: Look how much paper is left\n",
        "Nothing happened twice.\n",
    ] {
        assert!(printed.contains(line), "{line:?} is not in what it printed:\n{printed}");
    }
}

#[test]
fn the_http_team_remembers_what_was_asked_before() {
    let folder = tempfile::tempdir().unwrap();
    let ask =
        |request: &[&str]| printed(&example("http_team").arg(folder.path()).args(request).output().unwrap());
    assert!(ask(&["Order paper"]).contains("0 remembered\n"));
    assert!(ask(&[]).starts_with("\nThe answer to office/1:"), "nothing is asked a second time by itself");
    let second = ask(&["Order paper again"]);
    assert!(second.contains("1 remembered\n") && second.contains("The answer to office/2:"), "{second}");
}

#[test]
fn kill_the_http_team_at_many_moments_and_no_effect_happens_twice() {
    let (mut resumed, mut recovered) = (0, 0);
    for moment in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let mut said = Vec::new();
        // One run that is killed after its first effect, one that is killed soon after, and one that ends.
        for lines in [moment, moment % 4] {
            let mut life = example("http_team");
            if lines == EFFECT_IS_SAID {
                life.env("HTTP_TEAM_STALLS", "yes");
            }
            let mut life = life.arg(folder.path()).stdout(Stdio::piped()).spawn().unwrap();
            let lines = BufReader::new(life.stdout.take().unwrap()).lines().take(lines);
            said.extend(lines.map(Result::unwrap));
            life.kill().unwrap();
            life.wait().unwrap();
            effects(folder.path());
        }
        let last = printed(&example("http_team").arg(folder.path()).output().unwrap());
        assert!(last.contains("The answer to office/1:"), "moment {moment}: {last}");
        said.extend(last.lines().map(str::to_owned));
        recovered += said.iter().filter(|line| line.contains("was out when the program died")).count();
        let steps = ended(&folder.path().join("office.ndjson"));
        assert_eq!(
            ending(&steps),
            Conclusion { kind: ConclusionKind::Outcome, cause: Cause::Completed },
            "moment {moment}"
        );
        assert_eq!(effects(folder.path()), DONE, "moment {moment}");
        resumed += steps.iter().filter(|step| matches!(step.input, Input::Resume)).count();
    }
    println!("{resumed} resumed in the middle of the request, {recovered} while an effect was out");
    assert!(resumed >= 15, "only {resumed} kills hit the middle of the request");
    assert!(recovered >= 1, "no kill hit an effect");
}

#[test]
fn http_team_in_network_calls_each_node() {
    let folder = tempfile::tempdir().unwrap();
    let output = example("http_team").arg("--network").arg(folder.path()).output().unwrap();
    let printed = printed(&output);
    for line in [
        // The shop fails the task without an effect, and the next-best node gets it.
        "office → shop: the executor's task result",
        // The first handoff arrives twice.
        "       shop refuses the handoff of call ",
        " from office: no such handoff is expected\n",
        "the node answered 503: ",
        "office → depot: the executor's task result",
        // The node that executed a task routes the next one of a sequential plan, here to itself.
        "  depot: the executor's task result  ",
        "  depot did: Look how much paper is left\n  depot did: Order two packs of paper for at most 20 euros\n",
        "\nWho executed which call:\n  depot: the executor's task result, the executor's task result, the executor's task result\n  \
         office: the identity guard's two locks, ",
    ] {
        assert!(printed.contains(line), "{line:?} is not in what it printed:\n{printed}");
    }
    assert_eq!(effects(folder.path()), DONE);
    let steps = ended(&folder.path().join("network.ndjson"));
    assert_eq!(ending(&steps), Conclusion { kind: ConclusionKind::Outcome, cause: Cause::Completed });
    let text = fs::read_to_string(folder.path().join("network.ndjson")).unwrap();
    for node in ["office", "shop", "depot"] {
        let secret = fs::read_to_string(folder.path().join(format!("keys/{node}.key"))).unwrap();
        assert!(!text.contains(secret.trim()), "the journal contains the secret key of {node}");
    }
}

/// A chat-completions server. The test chooses its response to each request; with `None` it never responds.
struct Chat {
    base_url: String,
    /// The received requests: headers as lines, and the body.
    asked: Receiver<(String, Value)>,
}

impl Chat {
    fn that(does: impl Fn(&str, usize) -> Option<(u16, String)> + Send + 'static) -> Self {
        let server = Server::http("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", server.server_addr());
        let (sender, asked) = channel();
        thread::spawn(move || {
            let mut never_answered: Vec<Request> = Vec::new();
            for (nth, mut request) in server.incoming_requests().enumerate() {
                assert_eq!(request.url(), "/v1/chat/completions");
                let body: Value = serde_json::from_reader(request.as_reader()).unwrap();
                let headers = request.headers().iter().map(|header| format!("{header}\n")).collect();
                let answer = does(body["messages"][0]["content"].as_str().unwrap(), nth);
                sender.send((headers, body)).unwrap();
                match answer {
                    None => never_answered.push(request),
                    Some((status, body)) => {
                        request.respond(Response::from_string(body).with_status_code(status)).unwrap();
                    }
                }
            }
        });
        Self { base_url, asked }
    }

    /// Runs the team with this server, and returns the steps of the trace.
    fn talks(&self, deadline_ms: u32) -> Vec<Step> {
        let folder = tempfile::tempdir().unwrap();
        let mut command = example("http_team");
        command.arg(folder.path()).env("OPENAI_BASE_URL", &self.base_url);
        command.env("OPENAI_API_KEY", "not-a-key").env("OPENAI_MODEL", "a-model");
        command.env("HTTP_TEAM_DEADLINE_MS", deadline_ms.to_string());
        assert!(printed(&command.output().unwrap()).contains("The answer to office/1:"));
        ended(&folder.path().join("office.ndjson"))
    }
}

fn said(content: &str) -> (u16, String) {
    (200, json!({ "choices": [{ "message": { "role": "assistant", "content": content } }] }).to_string())
}

fn agrees(system: &str) -> (u16, String) {
    said(match system {
        system if system.starts_with("You are the classifier") => {
            r#"{"classification": {"similarity": 0.1}}"#
        }
        system if system.starts_with("You are the planner") => r#"{"plan": [{"task": 1, "do": "Wait"}]}"#,
        _ => r#"{"pro": {"confidence": 0.9, "text": "7183, as was said over the wire"}}"#,
    })
}

#[test]
fn a_server_that_the_environment_names_speaks_in_the_debate() {
    let chat = Chat::that(|system, _| Some(agrees(system)));
    let steps = chat.talks(60_000);
    let heard = steps.iter().filter(|step| match &step.input {
        Input::Reply { report: Report::Argument { text, .. }, .. } => text.as_str().starts_with("7183, as"),
        _ => false,
    });
    assert_eq!(heard.count(), 5);
    let asked: Vec<(String, Value)> = chat.asked.try_iter().collect();
    assert_eq!(asked.len(), 7, "the classifier, the planner, five voices");
    for (headers, body) in &asked {
        assert!(headers.to_lowercase().contains("authorization: bearer not-a-key\n"), "{headers}");
        assert_eq!(body["model"], "a-model");
    }
    let system = |nth: usize| asked[nth].1["messages"][0]["content"].as_str().unwrap();
    assert!(!system(0).contains("summary_update"), "the classifier does not reason");
    for field in SummaryField::ALL {
        let line = format!("\"{field}\": {} (at most 1000 characters)", field.question());
        assert!(system(1).contains(&line), "{line}: {}", system(1));
    }
    let critic = asked[4].1["messages"][1]["content"].as_str().unwrap();
    assert!(critic.contains("Order two packs of paper"), "{critic}");
    assert!(critic.contains("1. Wait (leaves nothing behind)"), "{critic}");
    assert!(critic.contains("7183, as was said over the wire"), "what the others said: {critic}");
}

#[test]
fn a_server_that_is_busy_once_is_asked_again() {
    for status in [429, 503] {
        let chat = Chat::that(move |system, nth| match nth {
            3 => Some((status, "busy".to_owned())),
            _ => Some(agrees(system)),
        });
        let steps = chat.talks(60_000);
        assert_eq!(ending(&steps).kind, ConclusionKind::Outcome);
        assert!(notes(&steps).is_empty());
        assert_eq!(chat.asked.try_iter().count(), 8);
    }
}

#[test]
fn a_server_that_misbehaves_ends_the_request_as_the_rows_say() {
    type Does = fn() -> Option<(u16, String)>;
    let cases: [(Does, u32, Failure, &str); 6] = [
        (
            || Some((500, "out of order".to_owned())),
            60_000,
            Failure::Error,
            "the server answered 500: \"out of order\"",
        ),
        (
            || Some((401, "who are you".to_owned())),
            60_000,
            Failure::Error,
            "the server answered 401: \"who are you\"",
        ),
        (
            || Some((200, "<html>Welcome</html>".to_owned())),
            60_000,
            Failure::Malformed,
            "the server answered \"<html>Welcome</html>\"; expected a chat completion",
        ),
        (
            || Some((200, "{\"choices\": []}".to_owned())),
            60_000,
            Failure::Malformed,
            "the server answered \"{\\\"choices\\\": []}\"; expected a chat completion",
        ),
        (|| Some(said("I am just a model")), 60_000, Failure::Malformed, "expected"),
        (|| None, 400, Failure::Timeout, "within 400ms"),
    ];
    for (does, deadline_ms, failure, why) in cases {
        let chat = Chat::that(move |system, _| match system.starts_with("You are the Critic") {
            true => does(),
            false => Some(agrees(system)),
        });
        let steps = chat.talks(deadline_ms);
        assert_eq!(ending(&steps).cause, Cause::CallFailed(Module::Debater(Role::Critic), failure));
        let notes = notes(&steps);
        // The client and the runtime have the same deadline: on a slow machine both report it.
        assert!((1..=1 + usize::from(failure == Failure::Timeout)).contains(&notes.len()), "{notes:?}");
        for note in notes {
            assert!(note.contains("call 7 (the Critic's argument)"), "{note}");
            assert!(note.contains(why), "{note}");
        }
    }
}

#[test]
fn a_server_that_is_not_there_ends_the_request_as_the_rows_say() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let unreachable = Chat { base_url: format!("http://127.0.0.1:{port}/v1"), asked: channel().1 };
    let steps = unreachable.talks(60_000);
    let [note] = notes(&steps)[..] else { panic!("{:?}", notes(&steps)) };
    let url = format!("{}/chat/completions", unreachable.base_url);
    assert!(
        note.starts_with(&format!("call 3 (the classifier's tags): {url} cannot be reached: ")),
        "{note}"
    );
    assert_eq!(ending(&steps).cause, Cause::CallFailed(Module::Classifier, Failure::Error));
}
