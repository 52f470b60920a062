//! Key files: form, permissions, refusals and rotation.

use crate::{KeyError, KeyFolder, NodeKey, RotatedKeys, verify};
use orchestrion_kernel::NodeId;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn folder() -> (TempDir, KeyFolder) {
    let root = tempfile::tempdir().unwrap();
    let keys = KeyFolder::open(root.path().join("keys")).unwrap();
    (root, keys)
}

fn ana() -> NodeId {
    NodeId::new("ana")
}

fn rotate(keys: &KeyFolder, node: &NodeId) -> Result<RotatedKeys, KeyError> {
    let rotation = keys.prepare_rotation(node)?;
    let rotated = rotation.keys();
    rotation.replace().map(|()| rotated)
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn created_key_is_loaded() {
    let (root, keys) = folder();
    let created = keys.create(&ana()).unwrap();
    assert_eq!(names(&root.path().join("keys")), ["ana.key"]);
    let text = fs::read_to_string(keys.key_path(&ana()).unwrap()).unwrap();
    assert_eq!((text.len(), text.ends_with('\n')), (65, true));
    let signed = keys.load(&ana()).unwrap().sign(super::full_handoff());
    assert!(verify(&signed, &created.public_key()).is_valid());
}

#[cfg(unix)]
#[test]
fn key_files_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let (root, keys) = folder();
    keys.create(&ana()).unwrap();
    assert_eq!(mode(&root.path().join("keys")), 0o700);
    assert_eq!(mode(&root.path().join("keys/ana.key")), 0o600);
    rotate(&keys, &ana()).unwrap();
    assert_eq!(mode(&root.path().join("keys/ana.key")), 0o600);
}

#[test]
fn existing_key_is_not_overwritten() {
    let (root, keys) = folder();
    let first = keys.create(&ana()).unwrap().public_key();
    assert!(matches!(keys.create(&ana()), Err(KeyError::Exists { .. })));
    assert_eq!(keys.load(&ana()).unwrap().public_key(), first);
    let path = root.path().join("keys/ben.key");
    fs::write(&path, "notes").unwrap();
    assert!(matches!(keys.create(&NodeId::new("ben")), Err(KeyError::Exists { .. })));
    assert_eq!(fs::read_to_string(path).unwrap(), "notes");
}

#[test]
fn rotation_replaces_key() {
    let (root, keys) = folder();
    let old = keys.create(&ana()).unwrap().public_key();
    let rotated = rotate(&keys, &ana()).unwrap();
    assert_eq!(rotated.old, old);
    assert_ne!(rotated.new, old);
    assert_eq!(keys.load(&ana()).unwrap().public_key(), rotated.new);
    assert_eq!(names(&root.path().join("keys")), ["ana.key"], "no temporary file stays");
    let signed = keys.load(&ana()).unwrap().sign(super::full_handoff());
    assert!(verify(&signed, &rotated.new).is_valid());
    assert!(!verify(&signed, &rotated.old).is_valid());
}

#[test]
fn prepared_rotation_changes_nothing() {
    let (root, keys) = folder();
    let old = keys.create(&ana()).unwrap().public_key();
    let rotation = keys.prepare_rotation(&ana()).unwrap();
    let new = rotation.keys().new;
    assert_eq!((rotation.keys().old, keys.load(&ana()).unwrap().public_key()), (old, old));
    drop(rotation);
    assert_eq!(keys.load(&ana()).unwrap().public_key(), old);
    assert_ne!(old, new);
    assert_eq!(names(&root.path().join("keys")), ["ana.key"]);
}

/// Only a key file that others could read needs another key.
#[cfg(unix)]
#[test]
fn folders_and_files_open_to_others_are_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let (root, keys) = folder();
    let old = keys.create(&ana()).unwrap().public_key();
    let (folder, file) = (root.path().join("keys"), root.path().join("keys/ana.key"));
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for mode in [0o755, 0o710, 0o701, 0o720] {
        set(&folder, mode);
        let error = KeyFolder::open(&folder).unwrap_err();
        assert!(matches!(error, KeyError::OpenFolder { found, .. } if found == mode), "{error}");
        assert!(!error.to_string().contains("rotate"), "{error}");
    }
    set(&folder, 0o700);
    for mode in [0o644, 0o640, 0o604, 0o620] {
        set(&file, mode);
        let error = KeyFolder::open(&folder).unwrap().load(&ana()).unwrap_err();
        assert!(matches!(error, KeyError::OpenFile { found, .. } if found == mode), "{error}");
        assert!(error.to_string().contains("rotate"), "{error}");
    }
    assert_eq!(rotate(&keys, &ana()).unwrap().old, old);
    assert!(keys.load(&ana()).is_ok(), "the new key file is private");
}

#[cfg(unix)]
#[test]
fn rotation_does_not_follow_links() {
    let (root, keys) = folder();
    keys.create(&NodeId::new("ben")).unwrap();
    let (link, target) = (root.path().join("keys/ana.key"), root.path().join("keys/ben.key"));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let before = fs::read(&target).unwrap();
    assert!(matches!(keys.create(&ana()), Err(KeyError::Exists { .. })));
    rotate(&keys, &ana()).unwrap();
    assert_eq!(fs::read(target).unwrap(), before);
    assert!(!link.is_symlink());
}

#[test]
fn failed_rotation_preserves_files() {
    let (root, keys) = folder();
    keys.create(&NodeId::new("ben")).unwrap();
    let path = root.path().join("keys/ana.key");
    assert!(matches!(rotate(&keys, &ana()), Err(KeyError::Missing { .. })));
    fs::write(&path, "abc\n").unwrap();
    assert!(matches!(rotate(&keys, &ana()), Err(KeyError::Malformed { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "abc\n");
    assert_eq!(names(&root.path().join("keys")), ["ana.key", "ben.key"]);
}

#[test]
fn unsafe_names_are_refused() {
    let (root, keys) = folder();
    for name in ["", ".", "..", "/", "../ana", "a/b", "a\\b", "c:", "a\0", "a\nb", "\u{7f}", "\u{85}"] {
        let node = NodeId::new(name);
        assert!(matches!(keys.create(&node), Err(KeyError::UnsafeName { .. })), "{name:?}");
        assert!(matches!(keys.load(&node), Err(KeyError::UnsafeName { .. })), "{name:?}");
        assert!(matches!(rotate(&keys, &node), Err(KeyError::UnsafeName { .. })), "{name:?}");
    }
    assert!(!root.path().join("keys").exists(), "a refusal creates no folder");
    for name in ["ana", "Ana Ré", ".a", "...", "a.key"] {
        assert!(keys.create(&NodeId::new(name)).is_ok(), "{name:?}");
    }
}

#[test]
fn errors_name_place_and_help() {
    let (root, keys) = folder();
    let mut errors: Vec<KeyError> = Vec::new();
    errors.push(keys.load(&ana()).unwrap_err());
    errors.push(keys.create(&NodeId::new("a/b")).unwrap_err());
    keys.create(&ana()).unwrap();
    errors.push(keys.create(&ana()).unwrap_err());
    errors.push(KeyFolder::open(root.path().join("keys/ana.key")).unwrap_err());
    let path = root.path().join("keys/ana.key");
    for content in [
        "",
        "\n",
        "abc",
        "5ec7e7\n",
        &"5EC7E7".repeat(11),
        &format!("{}g\n", "5".repeat(63)),
        &"5".repeat(900),
    ] {
        fs::write(&path, content).unwrap();
        let error = keys.load(&ana()).unwrap_err();
        assert!(!error.to_string().to_lowercase().contains("5ec7e7"), "{error}");
        errors.push(error);
    }
    let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
    // The path of the temporary folder differs in each run.
    insta::assert_snapshot!(texts.join("\n").replace(&root.path().display().to_string(), "ROOT"));
}

#[test]
fn secret_of_key_is_not_in_errors() {
    let (root, keys) = folder();
    keys.create(&ana()).unwrap();
    let path = root.path().join("keys/ana.key");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.to_uppercase()).unwrap();
    let error = keys.load(&ana()).unwrap_err();
    let shown = format!("{error} {error:?}").to_lowercase();
    assert!(!shown.contains(&text[..8]), "{shown}");
}

#[test]
fn stored_key_has_text_of_secret() {
    let (root, keys) = folder();
    keys.create(&ana()).unwrap();
    let text = fs::read(root.path().join("keys/ana.key")).unwrap();
    let key = NodeKey::from_hex(text.strip_suffix(b"\n").unwrap()).unwrap();
    assert_eq!(key.public_key(), keys.load(&ana()).unwrap().public_key());
}
