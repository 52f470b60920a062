//! Every verb on files that are none, or far too large: it refuses them at once, in little memory, and says the limit.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_trace::digest;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SPECS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs");

/// The most memory that a verb needs for a hostile file, in kilobytes, and the most time.
const MEMORY_KILOBYTES_MAX: u64 = 256 * 1000;
const TIME_MAX: Duration = Duration::from_secs(10);

/// Every reader of a file, as a command line; `@` is the hostile file.
const READERS: [&[&str]; 41] = [
    &["explore", "exact", "@"],
    &["explore", "report", "@"],
    &["explore", "run", "@"],
    &["explore", "merge", "@"],
    &["run", "@"],
    &["run", "--stdio", "@"],
    &["run", "--stdio", "hardened", "--journal", "@"],
    &["run", "--config", "@"],
    &["show", "@"],
    &["show", "@", "--html", "page.html"],
    &["show", "@", "--redact", "redacted.ndjson"],
    &["replay", "@"],
    &["replay", "@", "--update"],
    &["promote", "@", "case"],
    &["promote", "@", "case", "--from", "debate"],
    &["check", "--policy", "@", "--scope", "tiny"],
    &["check", "--scope", "@"],
    &["check", "--config", "@"],
    &["check", "--claims", "@", "--scope", "tiny"],
    &["compare", "@", "hardened", "--scope", "tiny"],
    &["compare", "hardened", "as-drawn", "--scope", "@"],
    &["run", "@", "--runs", "2"],
    &["lint", "@"],
    &["diff", "@", "TRACE"],
    &["diff", "TRACE", "@"],
    &["fork", "@", "--step", "3", "--set", "call.error=timeout"],
    &["fork", "TRACE", "--step", "3", "--set", "call.error=timeout", "--scenario", "@"],
    &["migrate", "@"],
    &["route", "@"],
    &["route", "NETWORK", "--task", "@"],
    &["keys", "create", "@"],
    &["context", "solve", "@"],
    &["context", "explain", "@"],
    &["context", "curve", "@"],
    &["context", "verify", "PROBLEM", "@"],
    &["export", "base", "@"],
    &["export", "itf", "@"],
    &["journal", "rotate", "@"],
    &["journal", "upgrade", "@"],
    &["journal", "erase", "@", "--before", "3"],
    &["journal", "join", "@"],
];

/// A hostile file, and a part of the error: one of these, because readers differ.
struct Hostile<'a> {
    name: &'a str,
    path: String,
    errors: &'a [&'a str],
}

#[test]
fn hostile_files_are_refused_in_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(path("folder")).unwrap();
    assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
    fs::write(path("nested"), "[".repeat(100_000)).unwrap();
    fs::write(path("nested.ndjson"), "[".repeat(100_000) + "\n").unwrap();
    File::create(path("sparse")).unwrap().set_len(1 << 30).unwrap();
    let refused = |name, errors| Hostile { name, path: path(name), errors };
    // A policy and a scope may be a name, and a journal is looked for.
    const NAMES: [&str; 3] = ["unknown policy", "unknown scope", "no journal"];
    let device = |name| Hostile {
        name,
        path: name.to_owned(),
        errors: &["found a device", NAMES[0], NAMES[1], NAMES[2]],
    };
    let files = [
        refused("empty", &["empty", "no journal", "expected", "missing"]),
        refused("pipe", &["found a pipe", NAMES[0], NAMES[1], NAMES[2]]),
        device("/dev/zero"),
        device("/dev/null"),
        refused("nested", &["nest", "expected", "recursion", "not a trace"]),
        refused("nested.ndjson", &["nest", "expected", "recursion", "not a trace"]),
        refused("sparse", &["too large", "at most", "not a trace"]),
        refused("folder", &["found a folder", "no trace", "no scenario found", NAMES[0], NAMES[1], NAMES[2]]),
    ];
    check(folder.path(), &files);
}

#[test]
#[ignore = "300 MB for each reader; .ci/nightly runs it"]
fn long_lines_are_refused_in_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("line");
    let mut file = File::create(&path).unwrap();
    let part = vec![b'a'; 1 << 20];
    (0..300).for_each(|_| file.write_all(&part).unwrap());
    let errors: &[&str] = &["too large", "at most", "not a trace"];
    check(
        folder.path(),
        &[Hostile { name: "a line of 300 MB", path: path.to_str().unwrap().to_owned(), errors }],
    );
}

/// Networks at the limits of entries and values: many nodes, nodes with many values, many connections, and connections with many values.
#[test]
#[ignore = "takes minutes, and has its time limit in release builds; .ci/nightly runs it"]
fn largest_networks_stay_in_bounds() {
    const NODES: usize = 50_000;
    let network = |count: usize, node: &dyn Fn(usize) -> String| {
        let nodes: String = (0..count).map(|number| format!("  n{number}: {{{}}}\n", node(number))).collect();
        format!("capabilities:\n  c: {{name: See, category: analysis}}\nnodes:\n{nodes}")
    };
    let connections = |count: usize, number: usize, values: &str| {
        let others = (0..count).filter(|other| *other != number);
        format!(
            "connections: {{{}}}",
            others.map(|other| format!("n{other}: {values}, ")).collect::<String>()
        )
    };
    // One node has no key: `keys create` writes a durable file for each such node, which takes long for thousands.
    let key = |number: usize| match number {
        0 => String::new(),
        number => format!("public_key: \"{number:064x}\""),
    };
    let values =
        |number| format!("trust: 0.654321, status: hub, cluster: lisbon, load: 0.25, {}", key(number));
    let connection = "{w: 0.9, r: -0.5, q: 0.75, tau: -0.5, interactions: 2}";
    let networks = [
        ("nodes with values", network(NODES, &values)),
        (
            "nodes with a capability",
            network(NODES, &|number| format!("capabilities: {{c: }}, {}", key(number))),
        ),
        ("connections", network(700, &|number| connections(700, number, ""))),
        ("connections with values", network(280, &|number| connections(280, number, connection))),
        ("too many nodes", network(NODES + 1, &|_| String::new())),
        ("too many connections", network(710, &|number| connections(710, number, ""))),
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut failures = Vec::new();
    for (name, text) in networks {
        let path = folder.path().join(format!("{}.yaml", name.replace(' ', "-")));
        let file = Hostile { name, path: path.to_str().unwrap().to_owned(), errors: &[] };
        fs::write(&path, &text).unwrap();
        let readers: [&[&str]; 3] =
            [&["route", "@", "--capability", "c"], &["keys", "create", "@"], &["keys", "rotate", "@", "n0"]];
        for reader in readers {
            match measure(folder.path(), &file, reader) {
                Ok((code, text)) if name.starts_with("too many") && code != Some(2) => {
                    failures.push(format!("{name} {reader:?}: exit code {code:?}: {text}"));
                }
                Ok(_) => {}
                Err(failure) => failures.push(format!("{name} {reader:?}: {failure}")),
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// Lines of almost the maximum size, with a valid chain, and lines of too many values.
#[test]
#[ignore = "takes a minute; .ci/nightly runs it"]
fn long_lines_of_trace_stay_in_bounds() {
    const LINE_BYTES: usize = 15 << 20;
    /// Each has five values and keys, and the limit is 400,000.
    const EVENTS: usize = 79_000;
    const NUMBERS: usize = 390_000;
    let start = r#"{"n":1,"at_ms":1767225600000,"input":"#;
    let session = r#"{"session_start":{"user":"ada"}}"#;
    let fill = |part: &str| part.repeat(LINE_BYTES / part.len());
    let event = r#"{"transitioned":{"row":"S01"}},"#;
    let bodies = [
        (
            "text",
            format!(r#"{start}{{"user_message":{{"user":"ada","text":"{}"}}}},"events":[]}}"#, fill("a")),
        ),
        (
            "escapes",
            format!(r#"{start}{{"user_message":{{"user":"ada","text":"{}"}}}},"events":[]}}"#, fill("\\n")),
        ),
        (
            "events",
            format!(
                r#"{start}{session},"events":[{}{}]}}"#,
                event.repeat(EVENTS),
                event.trim_end_matches(',')
            ),
        ),
        (
            "context",
            format!(
                r#"{start}{session},"events":[],"context":{{"call":1,"items":[{}0]}}}}"#,
                "1,".repeat(NUMBERS)
            ),
        ),
        (
            "too many events",
            format!(r#"{start}{session},"events":[{}{}]}}"#, fill(event), event.trim_end_matches(',')),
        ),
        ("too many numbers", format!(r#"{start}{session},"events":[{}0]}}"#, fill("0,"))),
        ("too many brackets", format!(r#"{start}{session},"events":{}}}"#, fill("["))),
        (
            "too long context",
            format!(r#"{start}{session},"events":[],"context":{{"call":1,"items":[{}0]}}}}"#, fill("1,")),
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut failures = Vec::new();
    for (name, body) in bodies {
        let path = folder.path().join(format!("{name}.ndjson"));
        fs::write(&path, chained(&body)).unwrap();
        let file = Hostile { name, path: path.to_str().unwrap().to_owned(), errors: &[] };
        for reader in READERS.iter().filter(|reader| reader[0] != "check" && reader[0] != "run") {
            if let Err(failure) = measure(folder.path(), &file, reader) {
                failures.push(format!("{name} {reader:?}: {failure}"));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// A trace with the header of a recorded one, this step, and valid chains.
fn chained(body: &str) -> String {
    let golden = fs::read_to_string(format!("{SPECS}/scenarios/happy.ndjson")).unwrap();
    let header = golden.lines().next().unwrap();
    let (before, rest) = header.split_once("\"kernel\":").unwrap();
    let (after, _) = rest[rest.find("\"conversation\":").unwrap()..].split_once(",\"chain\"").unwrap();
    // The chain of the steps does not depend on the kernel and the table.
    let seed = digest(format!("{before}{after}}}").as_bytes());
    let chain = digest(format!("{seed}{body}").as_bytes());
    format!("{header}\n{},\"chain\":\"{chain}\"}}\n", body.strip_suffix('}').unwrap())
}

fn check(folder: &Path, files: &[Hostile<'_>]) {
    let mut failures = Vec::new();
    for file in files {
        for reader in READERS {
            if let Err(failure) = check_reader(folder, file, reader) {
                failures.push(format!("{} {reader:?}: {failure}", file.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn check_reader(folder: &Path, file: &Hostile<'_>, reader: &[&str]) -> Result<(), String> {
    // An empty journal is a new one.
    let is_valid = matches!(
        (reader, file.name),
        (["run", "--stdio", "hardened", ..] | ["journal", "erase", ..], "empty")
    );
    if file.name == "empty" {
        // A verb may have written a journal to it.
        File::create(&file.path).unwrap();
    }
    let (code, text) = measure(folder, file, reader)?;
    let shown: String = text.chars().take(300).collect();
    if !is_valid && code != Some(2) {
        return Err(format!("exit code {code:?}: {shown}"));
    }
    if !is_valid && !file.errors.iter().any(|error| text.contains(error)) {
        return Err(format!("expected one of {:?}: {shown}", file.errors));
    }
    Ok(())
}

/// Runs a verb within the limits of memory and time, and returns its exit code and its output.
fn measure(folder: &Path, file: &Hostile<'_>, reader: &[&str]) -> Result<(Option<i32>, String), String> {
    let arguments: Vec<String> = reader
        .iter()
        .map(|argument| match *argument {
            "@" => file.path.clone(),
            "NETWORK" => format!("{SPECS}/networks/invoices.yaml"),
            "TRACE" => format!("{SPECS}/scenarios/happy.ndjson"),
            "PROBLEM" => format!("{SPECS}/problems/lookup.json"),
            other => other.to_owned(),
        })
        .collect();
    let started = Instant::now();
    let output = Command::new("/usr/bin/time")
        .args(["-f", "%M kilobytes", "-o", "memory", "timeout", "20", env!("CARGO_BIN_EXE_orchestrion")])
        .args(&arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("/usr/bin/time: {error}"))?;
    let time = started.elapsed();
    let memory = fs::read_to_string(folder.join("memory")).unwrap();
    let kilobytes: u64 = memory.lines().last().unwrap().split(' ').next().unwrap().parse().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    // Messages are wrapped.
    let text = text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    let shown: String = text.chars().take(300).collect();
    if time > TIME_MAX || kilobytes > MEMORY_KILOBYTES_MAX {
        return Err(format!("{time:?}, {kilobytes} kilobytes: {shown}"));
    }
    Ok((output.status.code(), text))
}
