//! Files of every type in the way of a write or a read, and races.

use crate::{Access, FileKind, Target, TargetSync, WriteError, create, open_locked, read};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Barrier;
use std::thread;

const NOTES: FileKind =
    FileKind { name: "notes", is_start: |start| start.starts_with(b"notes"), last_line: Some("end") };

fn write(path: &Path, text: &str) -> Result<(), WriteError> {
    Target::open(path, &NOTES)?.replace(TargetSync::Durable, |file| file.write_all(text.as_bytes()))
}

fn write_new(path: &Path, text: &str) -> Result<(), WriteError> {
    create(path, Access::Default, |file| file.write_all(text.as_bytes()))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn creation_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/notes");
    write_new(&path, "notes\nend\n").unwrap();
    assert!(matches!(write_new(&path, "other"), Err(WriteError::Exists { .. })));
    assert!(matches!(write_new(&folder.path().join("new"), "other"), Err(WriteError::Exists { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "notes\nend\n");
    // Created by another program after the first check.
    let late = folder.path().join("late");
    let created = create(&late, Access::Default, |file| {
        fs::write(&late, "theirs")?;
        file.write_all(b"ours")
    });
    assert!(matches!(created, Err(WriteError::Exists { .. })), "{created:?}");
    assert_eq!(fs::read_to_string(&late).unwrap(), "theirs");
    assert_eq!(names(folder.path()), ["late", "new"], "no draft stays");
}

#[test]
fn only_finished_file_of_kind_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes");
    for replaceable in ["", "notes\nend\n", "notes\nline\nend of it\n"] {
        fs::write(&path, replaceable).unwrap();
        write(&path, "notes new\nend\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "notes new\nend\n", "{replaceable:?}");
    }
    type IsExpected = fn(&WriteError) -> bool;
    let cases: [(&str, IsExpected); 5] = [
        ("a letter", |error| matches!(error, WriteError::Unrecognized { .. })),
        ("notes\nline\n", |error| matches!(error, WriteError::Unfinished { .. })),
        ("notes\nend", |error| matches!(error, WriteError::Unfinished { .. })),
        ("notes\nend\nline\n", |error| matches!(error, WriteError::Unfinished { .. })),
        ("notes", |error| matches!(error, WriteError::Unfinished { .. })),
    ];
    for (kept, is_expected) in cases {
        fs::write(&path, kept).unwrap();
        let error = write(&path, "notes new\nend\n").unwrap_err();
        assert!(is_expected(&error), "{kept:?}: {error:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), kept);
    }
    assert_eq!(names(folder.path()), ["notes"], "no draft stays");
}

#[test]
fn long_last_line_is_no_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes");
    // The bytes that are read of the last line begin with `end`.
    let line = format!("line{}", "end".repeat(10_000));
    fs::write(&path, format!("notes\n{}{line}\n", " ".repeat(4))).unwrap();
    assert!(matches!(write(&path, ""), Err(WriteError::Unfinished { .. })));
}

#[test]
fn locked_file_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes");
    fs::write(&path, "notes\nend\n").unwrap();
    let locked = open_locked(OpenOptions::new().append(true).read(true), &path).unwrap();
    assert!(matches!(write(&path, "notes\nend\n"), Err(WriteError::Locked { .. })));
    drop(locked);
    let target = Target::open(&path, &NOTES).unwrap();
    let error = open_locked(OpenOptions::new().append(true).read(true), &path).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    drop(target);
    open_locked(OpenOptions::new().append(true).read(true), &path).unwrap();
}

#[test]
fn file_created_meanwhile_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    for (theirs, is_replaced) in [("notes\nend\n", true), ("notes\n", false), ("a letter", false)] {
        let path = folder.path().join("notes");
        let written = Target::open(&path, &NOTES).unwrap().replace(TargetSync::Durable, |file| {
            fs::write(&path, theirs)?;
            file.write_all(b"notes of ours\nend\n")
        });
        assert_eq!(written.is_ok(), is_replaced, "{theirs:?}: {written:?}");
        assert_eq!(fs::read_to_string(&path).unwrap() == theirs, !is_replaced);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn failed_write_preserves_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes");
    fs::write(&path, "notes\nend\n").unwrap();
    let target = Target::open(&path, &NOTES).unwrap();
    let written = target.replace(TargetSync::Durable, |file| {
        file.write_all(b"notes")?;
        Err(io::Error::other("no space"))
    });
    assert!(written.unwrap_err().to_string().contains("no space"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "notes\nend\n");
    assert_eq!(names(folder.path()), ["notes"]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    fn make_pipe(path: &Path) {
        let status = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(status.success());
    }

    #[test]
    fn permissions_and_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("notes"), folder.path().join("link"));
        fs::write(&path, "notes\nend\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        write(&link, "notes by link\nend\n").unwrap();
        assert!(link.is_symlink());
        assert_eq!(
            (fs::read_to_string(&path).unwrap().as_str(), mode(&path)),
            ("notes by link\nend\n", 0o640)
        );
        let private = Target::open_private(&link, &NOTES).unwrap();
        private.replace(TargetSync::Durable, |file| file.write_all(b"notes of one\nend\n")).unwrap();
        assert!(!link.is_symlink(), "a private file replaces a link");
        assert_eq!(mode(&link), 0o600);
        assert_eq!(fs::read_to_string(&path).unwrap(), "notes by link\nend\n");
    }

    #[test]
    fn links_to_no_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (missing, link) = (folder.path().join("missing"), folder.path().join("link"));
        symlink(&missing, &link).unwrap();
        assert!(matches!(write(&link, ""), Err(WriteError::NotAFile { found: "a link to no file", .. })));
        assert!(matches!(write_new(&link, ""), Err(WriteError::Exists { .. })));
        let options = &mut OpenOptions::new();
        let error = open_locked(options.create(true).read(true).write(true), &link).unwrap_err();
        assert!(error.to_string().contains("found a link to no file"), "{error}");
        assert!(!missing.exists() && link.is_symlink());
    }

    /// The names that drafts had before this module: another program could prepare links with them.
    #[test]
    fn drafts_follow_no_links() {
        let folder = tempfile::tempdir().unwrap();
        let (path, victim) = (folder.path().join("notes"), folder.path().join("victim"));
        fs::write(&victim, "precious").unwrap();
        for draft in [format!("notes.{}.draft", std::process::id()), "notes.draft".to_owned()] {
            symlink(&victim, folder.path().join(draft)).unwrap();
        }
        write(&path, "notes\nend\n").unwrap();
        write(&path, "notes again\nend\n").unwrap();
        write_new(&folder.path().join("new"), "notes").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    }

    #[test]
    fn only_files_are_replaced_and_read() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        make_pipe(&pipe);
        for (path, found) in
            [(pipe.as_path(), "a pipe"), (folder.path(), "a folder"), (Path::new("/dev/zero"), "a device")]
        {
            let error = write(path, "").unwrap_err();
            assert!(
                matches!(&error, WriteError::NotAFile { found: other, .. } if *other == found),
                "{error:?}"
            );
            let error = read(path, 10).unwrap_err();
            assert!(error.to_string().contains(&format!("expected a file, found {found}")), "{error}");
            let error = open_locked(OpenOptions::new().create(true).append(true), path).unwrap_err();
            assert!(error.to_string().contains(&format!("expected a file, found {found}")), "{error}");
        }
    }

    #[test]
    fn unreadable_file_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        fs::write(&path, "notes\nend\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        if File::open(&path).is_ok() {
            eprintln!("skipped: this user can read every file");
            return;
        }
        assert!(matches!(write(&path, ""), Err(WriteError::Unreadable { .. })));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "notes\nend\n");
    }
}

#[test]
fn reads_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes");
    fs::write(&path, "12345").unwrap();
    assert_eq!(read(&path, 5).unwrap(), b"12345");
    let error = read(&path, 4).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    assert!(error.to_string().contains("at most 4 bytes"), "{error}");
    let secret = "0f".repeat(32) + "\n";
    fs::write(&path, &secret).unwrap();
    let error = read(&path, 100).unwrap_err().to_string();
    assert!(error.contains("found a key file") && !error.contains("0f0f"), "{error}");
    // Zeros without blocks on the disk.
    File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(read(&path, 1 << 20).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
}

/// Each round, two threads write one name. `orchestrion/tests/races.rs` does the same with processes.
#[test]
fn one_of_two_creators_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..500 {
        let path = folder.path().join(format!("notes-{round}"));
        let barrier = Barrier::new(2);
        let results = thread::scope(|scope| {
            let writers = ["first", "second"].map(|text| {
                let (path, barrier) = (&path, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    write_new(path, text).is_ok()
                })
            });
            writers.map(|writer| writer.join().unwrap())
        });
        let text = fs::read_to_string(&path).unwrap();
        let expected = if results[0] { "first" } else { "second" };
        assert_eq!((results[0] ^ results[1], text.as_str()), (true, expected), "round {round}: {results:?}");
    }
}

/// Both of two replacements succeed, and one of both texts stays whole.
#[test]
fn replacements_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes");
    let texts = ["1", "2"].map(|digit| format!("notes {}\nend\n", digit.repeat(10_000)));
    for round in 0..200 {
        if round % 2 == 0 {
            let _ = fs::remove_file(&path);
        }
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            for text in &texts {
                let (path, barrier) = (&path, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    write(path, text).unwrap();
                });
            }
        });
        assert!(texts.contains(&fs::read_to_string(&path).unwrap()), "round {round}");
    }
    assert_eq!(names(folder.path()), ["notes"]);
}
