//! The command `journal upgrade`: what it shows, asks, writes and refuses.

use super::segments::{orchestrion, refused, requests, stdout};
use super::team::journal;
use std::fs;
use std::path::Path;

/// Prints an upgrade to this policy, and returns the report with its exit code.
fn upgrade(folder: &Path, policy: &str, options: &[&str]) -> (String, Option<i32>) {
    let args = [&["journal", "upgrade", "office.ndjson", "--policy", policy], options].concat();
    let output = orchestrion(folder, &args);
    (stdout(&output), output.status.code())
}

/// The worked example of the help.
#[tokio::test]
async fn upgrade_is_shown_confirmed_and_recorded() {
    let (folder, path) = journal();
    let steps = requests(&path, 1).await;
    let folder = folder.path();
    fs::write(
        folder.join("stricter.yaml"),
        "extends: hardened\nname: stricter\nthresholds: {veto_from: 0.95}\n",
    )
    .unwrap();
    let before = fs::read(&path).unwrap();
    let shown = format!(
        "office.ndjson: {steps} steps, no request runs
  policy   name: before \"hardened\", after \"stricter\"
  policy   thresholds.veto_from: before 0.90, after 0.95
  path     as before in each of {steps} steps
  claims   as before
"
    );
    let (page, code) = upgrade(folder, "stricter.yaml", &[]);
    let asked = "  not written: no terminal for confirmation
  write    orchestrion journal upgrade --yes office.ndjson --policy stricter.yaml
";
    assert_eq!((page, code), (format!("{shown}{asked}"), Some(1)));
    assert_eq!(fs::read(&path).unwrap(), before);

    let (page, code) = upgrade(folder, "stricter.yaml", &["--yes"]);
    let segment = format!("office.{steps}.ndjson");
    let written = format!(
        "  segment  {segment}, up to step {steps}\n  journal  office.ndjson, from step {}\n",
        steps + 1
    );
    assert_eq!((page, code), (format!("{shown}{written}"), Some(0)));
    let (page, code) = upgrade(folder, "stricter.yaml", &["--yes"]);
    assert_eq!(code, Some(0));
    assert!(page.starts_with(&format!("office.ndjson: current, {steps} steps; ")), "{page}");

    let both = ["journal", "join", &segment, "office.ndjson"];
    let joined = stdout(&orchestrion(folder, &both));
    assert_eq!(joined, format!("  joined   2 segments, {steps} steps, open\n  upgraded at 1 segment\n"));
    let trace = refused(folder, &[&both[..], &["--out", "joined.ndjson"]].concat());
    assert!(
        trace.contains("upgraded conversation: expected one kernel and one policy, found an upgrade after"),
        "{trace}"
    );
    assert!(!folder.join("joined.ndjson").exists());
}

/// A policy under which a recorded step would take another transition, and one under which the state violates a claim.
#[tokio::test]
async fn consequences_are_shown_and_lost_claims_refuse_the_upgrade() {
    let (folder, path) = journal();
    requests(&path, 1).await;
    let folder = folder.path();
    let (page, code) = upgrade(folder, "as-drawn", &[]);
    assert_eq!(code, Some(1));
    assert!(page.contains("  path     first at step "), "{page}");
    assert!(page.contains("  claims   as before\n"), "{page}");

    let before = fs::read(&path).unwrap();
    fs::write(
        folder.join("small.yaml"),
        "extends: hardened\nname: small\ncompaction: {session_items_max: 1}\n",
    )
    .unwrap();
    let (page, code) = upgrade(folder, "small.yaml", &["--yes"]);
    assert_eq!(code, Some(1), "{page}");
    assert!(
        page.contains(" would not hold: While no request runs, at most `session_items_max` valid items"),
        "{page}"
    );
    assert!(page.contains("  refused  continue under the recorded policy until"), "{page}");
    assert_eq!(fs::read(&path).unwrap(), before);

    let none = refused(folder, &["journal", "upgrade", "none.ndjson"]);
    assert!(none.contains("none.ndjson: no journal: expected a file"), "{none}");
}
