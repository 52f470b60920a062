//! The example of a host that survives crashes.

use crate::{is_there, root};
use orchestrion_kernel::Input;
use orchestrion_trace::Reader;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

const REQUESTS: [&str; 3] = ["Greet the office", "Greet the guests", "Greet the cat"];

fn host(folder: &Path) -> Command {
    let bin = Path::new(env!("CARGO_BIN_EXE_orchestrion")).parent().unwrap();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(bin.to_path_buf()).chain(std::env::split_paths(&others));
    let mut host = Command::new("python3");
    host.args(["-I", "-S"]).arg(root().join("examples/stdio/durable_host.py")).arg("office.ndjson");
    host.args(REQUESTS).env("PATH", std::env::join_paths(folders).unwrap()).current_dir(folder);
    host
}

/// The host is killed again and again. Every request runs once, and every effect happens once.
#[test]
fn killed_durable_host_repeats_nothing() {
    if !is_there("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for kill in 0..12 {
        let mut child = host(folder.path()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(40 + kill * 37 % 150));
        child.kill().unwrap();
        child.wait().unwrap();
        // The command ends with its standard input, and then unlocks the journal.
        thread::sleep(Duration::from_millis(200));
    }
    // The kills may have left nothing to do, and then the journal is closed.
    let output = host(folder.path()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() || errors.contains("closed conversation"), "{errors}");
    let journal = fs::read(folder.path().join("office.ndjson")).unwrap();
    let reader = Reader::new(journal.as_slice(), "office.ndjson").unwrap();
    let requests: Vec<_> = reader
        .map(Result::unwrap)
        .filter_map(|step| match step.input {
            Input::UserMessage { text, .. } => Some(text.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(requests, REQUESTS);
    let stored = fs::read_to_string(folder.path().join("office.ndjson.host")).unwrap();
    let entries = stored.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let effects: Vec<_> = entries.filter_map(|entry| Some(entry.get("effect")?.to_string())).collect();
    assert_eq!(effects.len(), effects.iter().collect::<BTreeSet<_>>().len(), "{effects:?}");
    assert!(effects.len() >= REQUESTS.len(), "{effects:?}");
}
