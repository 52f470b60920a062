//! A project, from `init` to a promoted counterexample.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs a line in a shell, asserts its exit code, and returns the output of both streams.
fn shell(code: i32, folder: &Path, line: &str) -> String {
    let command = Path::new(env!("CARGO_BIN_EXE_orchestrion")).parent().unwrap();
    let mut path = OsString::from(command);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", path)
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    let printed =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{line}\n{printed}");
    assert!(!printed.contains("panicked"), "{line}\n{printed}");
    printed
}

/// Returns the commands of the README's section on a project.
fn commands_of_the_readme() -> Vec<String> {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    let (_, section) = readme.split_once("\n## Five minutes: verify invariants\n").unwrap();
    let (_, block) = section.split_once("```console\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    block.lines().map(|line| line.strip_prefix("$ ").unwrap().to_string()).collect()
}

#[test]
fn readme_commands_promote_a_counterexample() {
    let folder = tempfile::tempdir().unwrap();
    let demo = folder.path().join("demo");
    let commands = commands_of_the_readme();
    let [init, change, check, show, promote] = &commands[..] else {
        panic!("five commands, found {commands:#?}");
    };
    // The first one enters the folder; the shell of the next one begins there.
    shell(0, folder.path(), init);
    shell(0, &demo, change);
    // The fault is in the debate, and this model alone finds it sooner.
    let check = check.split(" #").next().unwrap();
    let checked = shell(1, &demo, &format!("{check} --model debate"));
    assert!(
        checked.contains("C-06   FAILS         A plan that is vetoed in any pass never runs."),
        "{checked}"
    );
    let timeline = shell(0, &demo, show);
    assert!(timeline.contains("VETO") && timeline.contains("PROCEED"), "{timeline}");
    let kept = shell(0, &demo, promote);
    assert!(kept.contains("wrote    scenarios/veto-survives.yaml"), "{kept}");

    assert!(kept.contains("claims   expected to hold: C-06"), "{kept}");
    assert!(!kept.contains(".ndjson\n") && !kept.contains(".policy.yaml"), "{kept}");

    // The scenario is a test of the project now: it fails until the policy is corrected.
    for command in ["orchestrion run", "orchestrion run --check --quiet"] {
        let played = shell(1, &demo, command);
        assert!(played.contains("claim C-06: expected to hold, found it violated at step "), "{played}");
    }
    let policy = demo.join("policies/team.yaml");
    let faulty = fs::read_to_string(&policy).unwrap();
    fs::write(&policy, faulty.replace("sticky_veto: false", "sticky_veto: true")).unwrap();
    let played = shell(0, &demo, "orchestrion run");
    assert!(played.contains("scenarios/veto-survives.yaml: completed in"), "{played}");
    assert_eq!(played.matches("completed in").count(), 3, "{played}");
    let played = shell(0, &demo, "orchestrion run --check");
    assert!(played.contains("scenarios/veto-survives.yaml: judged by its expectations"), "{played}");
    assert!(played.contains("checked 3 of 3: 2 equal, 1 judged by expectations"), "{played}");
    let replayed = shell(0, &demo, "orchestrion replay");
    assert!(replayed.contains("replayed 2 of 2: 2 equal"), "{replayed}");
    fs::write(&policy, faulty).unwrap();

    // With its policy pinned, the scenario repeats the fault under every policy of the project.
    let pinned = shell(
        0,
        &demo,
        &format!("{} --pin-policy", promote.replace("veto-survives", "pinned").split(" #").next().unwrap()),
    );
    assert!(pinned.contains("wrote    scenarios/pinned.policy.yaml"), "{pinned}");
    assert!(pinned.contains("claims   expected to fail, as recorded: C-06"), "{pinned}");
    shell(0, &demo, "orchestrion run --check scenarios/pinned.yaml");

    // One claim is waived; the waiver of the other one expired.
    let file = demo.join("orchestrion.yaml");
    let project = fs::read_to_string(&file).unwrap();
    let waivers = "\nwaivers:\n  - {claim: C-06, policy: team, reason: known, until: 9999-12-31}\n  \
                   - {claim: C-11, reason: known too, until: 2020-02-29}\n";
    fs::write(&file, project + waivers).unwrap();
    let checked = shell(1, &demo, "orchestrion check --quiet --model debate");
    assert!(checked.contains("C-06   waived") && checked.contains("until 9999-12-31: known  ("), "{checked}");
    assert!(checked.contains("C-11   FAILS") && checked.contains("EXPIRED on 2020-02-29"), "{checked}");
    // The claim of the project about the same fault has no waiver.
    assert!(checked.contains("FAILS         no-task-after-veto  (claims.yaml:4)"), "{checked}");
    let claims = orchestrion_claims::CLAIMS.len() + 2;
    let last = format!("FAILS: 2 of {claims} claims at scope tiny, in debate only; ");
    // The terminal breaks this line.
    let unbroken = checked.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unbroken.contains(&last) && unbroken.contains("; 1 waived; 1 waiver expired; "), "{checked}");
}

#[test]
fn ci_steps_pass_after_init() {
    let folder = tempfile::tempdir().unwrap();
    shell(0, folder.path(), "orchestrion init");
    let file = fs::read_to_string(folder.path().join(".github/workflows/orchestrion.yaml")).unwrap();
    let workflow: serde_json::Value = serde_saphyr::from_str(&file).unwrap();
    let steps = workflow["jobs"]["orchestrion"]["steps"].as_array().unwrap();
    let commands: Vec<&str> = steps.iter().filter_map(|step| step["run"].as_str()).collect();
    let [install, commands_of_ci @ ..] = &commands[..] else { panic!("no commands in {file}") };
    assert!(install.starts_with("cargo install --locked "), "{install}");
    assert_eq!(
        commands_of_ci,
        ["check", "run --check --quiet", "replay --quiet"]
            .map(|command| format!("orchestrion {command} --format github"))
    );
    let [check, others @ ..] = commands_of_ci else { panic!("no check in {file}") };
    // All models take a minute, and the test of the README explores them.
    shell(0, folder.path(), &format!("{check} --model debate --model lifecycle"));
    for command in others {
        shell(0, folder.path(), command);
    }
    let again = shell(2, folder.path(), "orchestrion init");
    assert!(again.contains("no file was written: orchestrion.yaml, policies/team.yaml, "), "{again}");
    assert!(again.contains("help:"), "{again}");
}

#[test]
fn project_is_found_from_subfolders_and_config() {
    let folder = tempfile::tempdir().unwrap();
    shell(0, folder.path(), "orchestrion init demo");
    let below = folder.path().join("demo/a/b");
    fs::create_dir_all(&below).unwrap();
    let replayed = shell(0, &below, "orchestrion replay");
    assert!(replayed.contains("../../scenarios/first-request.ndjson: equal"), "{replayed}");
    let played = shell(0, &below, "orchestrion run");
    assert!(played.contains("../../scenarios/first-request.yaml: completed in"), "{played}");
    shell(0, folder.path(), "orchestrion replay --config demo/orchestrion.yaml");
    // Arguments override the project file, and exclude --config.
    shell(0, &below, "orchestrion replay ../../scenarios");
    shell(2, &below, "orchestrion replay ../../scenarios --config ../../orchestrion.yaml");
    let missing = shell(2, folder.path(), "orchestrion replay --config nowhere.yaml");
    assert!(missing.contains("nowhere.yaml: unreadable file"), "{missing}");
}

#[test]
fn missing_inputs_are_reported_with_help() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| fs::write(folder.path().join("orchestrion.yaml"), text).unwrap();
    let mut report = String::new();
    let mut run = |line: &str| {
        let printed = shell(2, folder.path(), line);
        report.push_str(&format!("$ {line}\n{printed}\n"));
    };
    run("orchestrion run");
    run("orchestrion replay");
    write("policies: [hardened]\n");
    run("orchestrion run");
    run("orchestrion replay");
    fs::create_dir(folder.path().join("scenarios")).unwrap();
    write("scenarios: [scenarios]\ntraces: [scenarios]\n");
    run("orchestrion run");
    run("orchestrion replay");
    write("scenarios: [scenario]\n");
    run("orchestrion check");
    write("waivers:\n  - {claim: C-6, reason: known, until: 2027-01-31}\n");
    run("orchestrion check");
    run("orchestrion export completions");
    run("orchestrion export claims --output here");
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(report) });
}

#[test]
fn completions_and_manual_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |line: &str| shell(0, folder.path(), line);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = lines(&format!("orchestrion export completions --shell {shell}"));
        assert!(script.contains("promote") && script.contains("fail-fast"), "{shell}: {script}");
    }
    if Command::new("bash").arg("--version").output().is_ok() {
        lines("orchestrion export completions --shell bash | bash -n");
    } else {
        eprintln!("skipped: there is no bash here to parse its completions");
    }
    lines("orchestrion export man --output man1");
    let names = [
        "init",
        "check",
        "compare",
        "lint",
        "run",
        "replay",
        "diff",
        "fork",
        "migrate",
        "show",
        "promote",
        "context",
        "context-solve",
        "context-explain",
        "context-curve",
        "context-verify",
        "route",
        "explore",
        "explore-run",
        "explore-exact",
        "explore-merge",
        "explore-report",
        "keys",
        "keys-create",
        "keys-rotate",
        "journal",
        "journal-rotate",
        "journal-upgrade",
        "journal-erase",
        "journal-join",
        "export",
    ];
    let names = names.map(|name| format!("orchestrion-{name}.1"));
    let all: String = std::iter::once("orchestrion.1".to_string())
        .chain(names)
        .map(|name| fs::read_to_string(folder.path().join("man1").join(&name)).unwrap())
        .collect();
    assert_eq!(lines("orchestrion export man"), all);
    if Command::new("man").arg("--version").output().is_ok() {
        let page = lines("MANWIDTH=160 man -l man1/orchestrion-replay.1 2>&1");
        assert!(page.contains("orchestrion replay specs/scenarios --quiet         all *.ndjson"), "{page}");
        assert!(!page.contains("warning"), "{page}");
    } else {
        eprintln!("skipped: there is no man here to render the manual");
    }
    let again = shell(2, folder.path(), "orchestrion export man --output man1");
    assert!(again.contains("man1/orchestrion.1 exists already"), "{again}");
}
