//! The command `keys`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod runner;

use orchestrion_handoff::{KeyFolder, NodeKey};
use orchestrion_kernel::NodeId;
use orchestrion_network::LoadedNetwork;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const INVOICES: &str = include_str!("../../specs/networks/invoices.yaml");
const NODES: [&str; 5] = ["ana", "ben", "cleo", "dai", "desk"];

/// Creates a folder with a network file.
fn folder(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("net.yaml"), text).unwrap();
    folder
}

fn keys(code: i32, folder: &TempDir, arguments: &[&str]) -> (String, String) {
    runner::run(code, folder.path(), &[&["keys"], arguments].concat())
}

fn load(folder: &Path, node: &str) -> NodeKey {
    KeyFolder::open(folder).unwrap().load(&NodeId::new(node)).unwrap()
}

/// Asserts that the public keys of the network are those of the key files.
fn assert_keys_match(folder: &TempDir, keys: &str, nodes: &[&str]) {
    let network = LoadedNetwork::read(&folder.path().join("net.yaml")).unwrap().network;
    for node in nodes {
        let public_key = load(&folder.path().join(keys), node).public_key();
        assert_eq!(network.node(&NodeId::new(*node)).unwrap().public_key, public_key, "{node}");
    }
}

#[test]
fn keys_are_created_for_every_node() {
    let folder = folder(INVOICES);
    let (out, _) = keys(0, &folder, &["create", "net.yaml"]);
    let lines: String = NODES.iter().map(|node| format!("  created  keys/{node}.key\n")).collect();
    assert_eq!(out, format!("{lines}  wrote    net.yaml\n"));
    assert_keys_match(&folder, "keys", &NODES);
    let text = fs::read_to_string(folder.path().join("net.yaml")).unwrap();
    let rest =
        text.lines().filter(|line| !line.starts_with("    public_key: ")).map(|line| format!("{line}\n"));
    assert_eq!(rest.collect::<String>(), INVOICES);
    let (out, _) = keys(0, &folder, &["create", "net.yaml"]);
    assert!(out.starts_with("every node has a public key; `--all` also creates key files"), "{out}");
    let (out, _) = keys(0, &folder, &["create", "net.yaml", "--all"]);
    assert_eq!(out, "no key is missing; replace one with `orchestrion keys rotate`\n");
    assert_eq!(fs::read_to_string(folder.path().join("net.yaml")).unwrap(), text);
}

#[test]
fn existing_keys_are_kept() {
    let folder = folder(INVOICES);
    let ana = KeyFolder::open(folder.path().join("k")).unwrap().create(&NodeId::new("ana")).unwrap();
    let (out, _) = keys(0, &folder, &["create", "net.yaml", "--keys", "k"]);
    assert!(out.starts_with("  kept     k/ana.key\n  created  k/ben.key\n"), "{out}");
    assert_eq!(load(&folder.path().join("k"), "ana").public_key(), ana.public_key());
    assert_keys_match(&folder, "k", &NODES);
    assert!(!folder.path().join("keys").exists());
}

/// With the key of another node, a node could sign for it.
#[test]
fn copied_keys_are_refused() {
    let folder = folder(INVOICES);
    keys(0, &folder, &["create", "net.yaml"]);
    let text = fs::read_to_string(folder.path().join("net.yaml")).unwrap();
    let copied = folder.path().join("keys/ben.key");
    fs::remove_file(&copied).unwrap();
    fs::copy(folder.path().join("keys/ana.key"), &copied).unwrap();
    // The file has another key than the network.
    let (_, error) = keys(2, &folder, &["create", "net.yaml", "--all"]);
    assert!(error.contains("ben.key: expected a key of its own, found that of the"), "{error}");
    fs::write(folder.path().join("net.yaml"), INVOICES).unwrap();
    keys(2, &folder, &["create", "net.yaml"]);
    assert_eq!(fs::read_to_string(folder.path().join("net.yaml")).unwrap(), INVOICES);
    fs::write(folder.path().join("net.yaml"), &text).unwrap();
    fs::remove_file(&copied).unwrap();
    keys(0, &folder, &["create", "net.yaml", "--all"]);
    assert_keys_match(&folder, "keys", &NODES);
}

/// A damaged key file is not taken for a key that is there.
#[test]
fn damaged_key_is_refused() {
    let folder = folder(INVOICES);
    keys(0, &folder, &["create", "net.yaml"]);
    let text = fs::read_to_string(folder.path().join("net.yaml")).unwrap();
    for damaged in ["", "xyz\n"] {
        fs::write(folder.path().join("keys/ana.key"), damaged).unwrap();
        let (_, error) = keys(2, &folder, &["create", "net.yaml", "--all"]);
        assert!(error.contains("ana.key: malformed key file"), "{error}");
        assert_eq!(fs::read_to_string(folder.path().join("net.yaml")).unwrap(), text);
    }
}

/// An error quotes the line of a file, but not of a key file.
#[test]
fn key_file_is_no_other_file() {
    let folder = folder(INVOICES);
    keys(0, &folder, &["create", "net.yaml"]);
    let secret = fs::read_to_string(folder.path().join("keys/ana.key")).unwrap();
    fs::write(folder.path().join("orchestrion.yaml"), "claims: [keys/ana.key]\n").unwrap();
    let key = "keys/ana.key";
    for command in [
        &["run", key][..],
        &["run", "--stdio", key],
        &["check", "--policy", key],
        &["check", "--claims", key],
        &["check", "--scope", key],
        &["check", "--model", "debate"],
        &["compare", "hardened", key],
        &["route", key],
        &["explore", "run", key],
        &["export", "policy", "--policy", key],
        &["promote", key, "case", "--from", "debate"],
        &["lint", key],
    ] {
        let (out, err) = runner::run(2, folder.path(), command);
        assert!(!(out.clone() + &err).contains(&secret[..16]), "{command:?}");
        assert!(
            err.split_whitespace().collect::<Vec<_>>().join(" ").contains("a key file"),
            "{command:?}\n{err}"
        );
    }
}

#[test]
fn keys_of_other_machines_are_left_out() {
    let key = "0a".repeat(32);
    let folder = folder(&format!("capabilities: {{}}\nnodes:\n  a: {{public_key: \"{key}\"}}\n  b:\n"));
    let (out, _) = keys(0, &folder, &["create", "net.yaml"]);
    assert_eq!(out, "  created  keys/b.key\n  wrote    net.yaml\n");
    assert!(fs::read_to_string(folder.path().join("net.yaml")).unwrap().contains(&key));
    assert!(!folder.path().join("keys/a.key").exists());
}

#[test]
fn clone_without_keys_gets_new_ones() {
    let folder = folder(INVOICES);
    keys(0, &folder, &["create", "net.yaml"]);
    let before = fs::read_to_string(folder.path().join("net.yaml")).unwrap();
    let kept = load(&folder.path().join("keys"), "ana").public_key();
    for node in &NODES[1..] {
        fs::remove_file(folder.path().join(format!("keys/{node}.key"))).unwrap();
    }
    let (out, _) = keys(0, &folder, &["create", "net.yaml", "--all"]);
    assert!(out.starts_with("  created  keys/ben.key\n") && !out.contains("ana"), "{out}");
    assert_keys_match(&folder, "keys", &NODES);
    assert_eq!(load(&folder.path().join("keys"), "ana").public_key(), kept);
    assert_ne!(fs::read_to_string(folder.path().join("net.yaml")).unwrap(), before);
}

#[test]
fn rotation_replaces_key_and_public_key() {
    let folder = folder(INVOICES);
    keys(0, &folder, &["create", "net.yaml"]);
    let before = load(&folder.path().join("keys"), "ana").public_key();
    let (out, _) = keys(0, &folder, &["rotate", "net.yaml", "ana"]);
    let after = load(&folder.path().join("keys"), "ana").public_key();
    assert_ne!(before, after);
    assert_keys_match(&folder, "keys", &NODES);
    let digits = |key: [u8; 32]| key.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(
        out,
        format!(
            "  rotated  keys/ana.key\n  old      {}\n  new      {}\n  wrote    net.yaml\n",
            digits(before),
            digits(after)
        )
    );
}

/// The draft of the network file has a longer name than the file: there, it exceeds the longest path.
#[cfg(target_os = "linux")]
#[test]
fn rotation_keeps_key_if_network_is_unwritable() {
    const PATH_MAX: usize = 4_096;
    let folder = folder(INVOICES);
    keys(0, &folder, &["create", "net.yaml"]);
    let mut deep = folder.path().to_path_buf();
    while PATH_MAX - deep.as_os_str().len() > 250 {
        deep.push("d".repeat(200));
    }
    deep.push("d".repeat(PATH_MAX - deep.as_os_str().len() - "//net.yaml/".len()));
    fs::create_dir_all(&deep).unwrap();
    let network = deep.join("net.yaml");
    fs::copy(folder.path().join("net.yaml"), &network).unwrap();
    let before = load(&folder.path().join("keys"), "ana").public_key();
    let (_, error) = keys(2, &folder, &["rotate", network.to_str().unwrap(), "ana", "--keys", "keys"]);
    assert!(error.contains("cannot write") && !error.contains("is replaced"), "{error}");
    assert_eq!(load(&folder.path().join("keys"), "ana").public_key(), before);
}

/// The message about a network file that was not written names this command.
#[test]
fn rotated_key_is_kept_by_create() {
    let folder = folder(INVOICES);
    keys(0, &folder, &["create", "net.yaml"]);
    let text = fs::read(folder.path().join("net.yaml")).unwrap();
    keys(0, &folder, &["rotate", "net.yaml", "ana"]);
    let new = load(&folder.path().join("keys"), "ana").public_key();
    fs::write(folder.path().join("net.yaml"), text).unwrap();
    let (out, _) = keys(0, &folder, &["create", "net.yaml", "--all"]);
    assert_eq!(out, "  kept     keys/ana.key\n  wrote    net.yaml\n");
    assert_eq!(load(&folder.path().join("keys"), "ana").public_key(), new);
    assert_keys_match(&folder, "keys", &NODES);
}

/// `run --keys` would refuse the folder, and only a key file that others could read needs another key.
#[cfg(unix)]
#[test]
fn folders_and_files_open_to_others_are_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder(INVOICES);
    let (path, file) = (folder.path().join("keys"), folder.path().join("keys/ana.key"));
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    fs::create_dir(&path).unwrap();
    set(&path, 0o755);
    let (_, error) = keys(2, &folder, &["create", "net.yaml"]);
    assert!(error.contains("key folder open to others") && error.contains("chmod 700"), "{error}");
    assert!(!error.contains("rotate") && !file.exists(), "{error}");
    set(&path, 0o700);
    keys(0, &folder, &["create", "net.yaml"]);
    set(&path, 0o755);
    keys(2, &folder, &["rotate", "net.yaml", "ana"]);
    set(&path, 0o700);
    set(&file, 0o644);
    let (_, error) = keys(2, &folder, &["create", "net.yaml", "--all"]);
    assert!(error.contains("key file open to others") && error.contains("rotate"), "{error}");
    // The new file is private.
    keys(0, &folder, &["rotate", "net.yaml", "ana"]);
    keys(0, &folder, &["create", "net.yaml", "--all"]);
    assert_keys_match(&folder, "keys", &NODES);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_of_network_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = folder(INVOICES);
    let (file, link) = (folder.path().join("net.yaml"), folder.path().join("link.yaml"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("net.yaml", &link).unwrap();
    keys(0, &folder, &["create", "link.yaml"]);
    assert!(link.is_symlink());
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_keys_match(&folder, "keys", &NODES);
}

#[test]
fn refusals_change_no_file() {
    let mut errors = String::new();
    for (text, arguments) in [
        (INVOICES, &["rotate", "net.yaml", "anna"][..]),
        (INVOICES, &["rotate", "net.yaml", "ana"]),
        (INVOICES, &["create", "missing.yaml"]),
        (INVOICES, &["create", "net.yaml", "--keys", "net.yaml"]),
        ("capabilities: {}\nnodes:\n  a: {}\n  b/c: {}\n", &["create", "net.yaml"]),
        ("capabilities: {}\nnodes:\n  a: {}\n  b: ~\n", &["create", "net.yaml"]),
    ] {
        let folder = folder(text);
        let (out, error) = keys(2, &folder, arguments);
        assert_eq!(out, "");
        assert_eq!(fs::read_to_string(folder.path().join("net.yaml")).unwrap(), text);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{arguments:?}");
        errors.extend(error.lines().map(|line| format!("{}\n", line.trim_end())));
        errors.push_str("----\n");
    }
    insta::assert_snapshot!(errors);
}
