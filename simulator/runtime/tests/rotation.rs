//! Rotation of a journal, and erased texts in its segments.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod office;

use office::{Modules, header};
use orchestrion_kernel::Policy;
use orchestrion_runtime::{Clock, Conversation, Journal as _, JournalFile, OpenError, RotateError, rotate};
use orchestrion_text::StandardContexts;
use orchestrion_trace::replay::replay;
use orchestrion_trace::segments::{EraseError, Erasure, JoinError, Joined, TextSelection, erase_texts, join};
use orchestrion_trace::{Reader, TraceErrorKind};
use std::fs;
use std::path::{Path, PathBuf};

fn open(path: &Path) -> Conversation<JournalFile> {
    Conversation::open(path, Policy::hardened(), &StandardContexts).unwrap()
}

fn run(conversation: &mut Conversation<JournalFile>, requests: std::ops::Range<u32>) {
    let clock = Clock::simulated();
    for number in requests {
        let text = format!("Order paper for room {number}, says Grace Hopper");
        clock
            .block_on(conversation.run_request(&Modules(clock.clone()), "ada", text.as_str()))
            .unwrap()
            .unwrap();
    }
}

/// A folder with the journal `office.ndjson`, rotated after its second and its fourth request, and its files in their order.
fn rotated_twice() -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("office.ndjson");
    let mut files = Vec::new();
    for part in 0..3 {
        run(&mut open(&path), 2 * part..2 * part + 2);
        if part < 2 {
            files.push(rotate(&path, None, &StandardContexts).unwrap().path);
        }
    }
    files.push(path);
    (folder, files)
}

fn segment(path: &Path) -> Reader<std::io::BufReader<fs::File>> {
    let input = std::io::BufReader::new(fs::File::open(path).unwrap());
    Reader::new_segment(input, &path.file_name().unwrap().to_string_lossy()).unwrap()
}

fn joined_to(files: &[&PathBuf], out: Option<&mut Vec<u8>>) -> Result<Joined, JoinError> {
    let mut readers = files.iter().map(|path| segment(path));
    let first = readers.next().unwrap();
    join(first, readers, &StandardContexts, out)
}

fn joined(files: &[&PathBuf]) -> Result<Joined, JoinError> {
    joined_to(files, None)
}

/// Joins the segments to a trace.
fn trace(files: &[&PathBuf]) -> Result<(Joined, Vec<u8>), JoinError> {
    let mut out = Vec::new();
    joined_to(files, Some(&mut out)).map(|joined| (joined, out))
}

fn erase(path: &Path, selection: TextSelection<'_>) -> Result<Erasure, EraseError> {
    let mut out = Vec::new();
    let erasure = erase_texts(fs::read(path).unwrap().as_slice(), "segment", selection, &mut out)?;
    fs::write(path, out).unwrap();
    Ok(erasure)
}

#[test]
fn rotated_journal_continues_the_conversation() {
    let (folder, files) = rotated_twice();
    let never_rotated = folder.path().join("whole/office.ndjson");
    fs::create_dir(never_rotated.parent().unwrap()).unwrap();
    // Opened as often: the first step after each opening records it.
    for part in 0..3 {
        run(&mut open(&never_rotated), 2 * part..2 * part + 2);
    }
    let (rotated, whole) = (open(&files[2]), open(&never_rotated));
    assert_eq!(rotated.steps(), whole.steps());
    assert_eq!(rotated.state(), whole.state());
    drop((rotated, whole));

    // The segments are one conversation again: the same trace as that of the journal that was never rotated.
    let (found, joined) = trace(&[&files[0], &files[1], &files[2]]).unwrap();
    let (_, expected) = trace(&[&never_rotated]).unwrap();
    assert!(found.is_open && found.unverified_steps == 0);
    assert!(joined == expected, "the traces differ");
    assert!(replay(Reader::new(joined.as_slice(), "joined").unwrap(), None, &StandardContexts).is_equal());
    // Each segment replays on its own.
    for path in &files {
        let replayed = replay(segment(path), None, &StandardContexts);
        assert!(replayed.difference.is_none() && replayed.steps > 20, "{replayed:?}");
    }
    let error = Reader::new(fs::read(&files[1]).unwrap().as_slice(), "a").unwrap_err();
    assert!(matches!(error.kind, TraceErrorKind::Segment { .. }), "{error}");
}

/// Who cannot read a journal can read neither its segments nor its snapshot.
#[test]
fn permissions_of_the_journal_hold_for_its_other_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("office.ndjson");
    run(&mut open(&path), 0..1);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    JournalFile::open(&path).unwrap().write_snapshot(b"snapshot").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("office.ndjson.snapshot")), 0o640);
    let segment = rotate(&path, None, &StandardContexts).unwrap().path;
    assert_eq!((mode(&segment), mode(&path)), (0o640, 0o640));
}

#[test]
fn wrong_segments_are_refused() {
    let (_folder, files) = rotated_twice();
    let refused = |files: &[&PathBuf]| joined(files).unwrap_err().to_string();
    let steps = segment(&files[1]).header().continues.as_ref().unwrap().steps;
    let error = refused(&[&files[0], &files[2]]);
    assert!(
        error.starts_with("office.ndjson: wrong segment: expected a segment that continues step "),
        "{error}"
    );
    assert!(error.contains(&format!("continues step {steps} with the chain ")), "{error}");
    assert!(refused(&[&files[1], &files[2]]).contains("expected the first segment of a conversation, found"));
    assert!(refused(&[&files[0], &files[0]]).contains("wrong segment"));
    // The same conversation, rotated at the same step, with another text: its chain is another.
    let (_other, others) = {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("office.ndjson");
        run(&mut open(&path), 7..9);
        let first = rotate(&path, None, &StandardContexts).unwrap().path;
        (folder, [first, path])
    };
    assert!(refused(&[&files[0], &others[1]]).contains("wrong segment"));
    // The conversation of a closed segment cannot continue.
    let error = Conversation::open_with(
        JournalFile::open(&files[0]).unwrap(),
        &header(Policy::hardened()),
        &StandardContexts,
    );
    assert!(matches!(error.unwrap_err(), OpenError::Closed { .. }));
}

#[test]
fn journal_is_rotated_only_when_it_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("office.ndjson");
    let refused = |path: &Path, segment: Option<&Path>| rotate(path, segment, &StandardContexts).unwrap_err();
    assert!(matches!(refused(&path, None), RotateError::Missing { .. }));
    assert!(!path.exists());
    let mut conversation = open(&path);
    run(&mut conversation, 0..1);
    assert!(matches!(refused(&path, None), RotateError::Open(OpenError::Locked { .. })));
    drop(conversation);

    let before = fs::read(&path).unwrap();
    let taken = folder.path().join("taken.ndjson");
    fs::write(&taken, "mine").unwrap();
    assert!(matches!(refused(&path, Some(&taken)), RotateError::SegmentExists { .. }));
    assert_eq!(fs::read(&taken).unwrap(), b"mine");
    assert_eq!(fs::read(&path).unwrap(), before);

    // An edited line is refused, also where a snapshot would hide it.
    let mut edited = before.clone();
    edited[before.len() / 2] ^= 1;
    fs::write(&path, &edited).unwrap();
    assert!(matches!(refused(&path, None), RotateError::Open(OpenError::Trace(_))));
    assert_eq!(fs::read(&path).unwrap(), edited);

    // A torn tail is truncated, as on opening.
    fs::write(&path, &before[..before.len() - 5]).unwrap();
    let steps = open(&path).steps();
    let rotated = rotate(&path, None, &StandardContexts).unwrap();
    assert_eq!((rotated.steps, rotated.path), (steps, folder.path().join(format!("office.{steps}.ndjson"))));
    assert_eq!(open(&path).steps(), steps);

    let trace = folder.path().join("trace.ndjson");
    let file = JournalFile::open(&trace).unwrap();
    let full = orchestrion_trace::Header {
        format: orchestrion_trace::FORMAT.to_owned(),
        ..header(Policy::hardened())
    };
    let mut conversation = Conversation::open_with(file, &full, &StandardContexts).unwrap();
    run(&mut conversation, 0..1);
    drop(conversation);
    assert!(matches!(refused(&trace, None), RotateError::Format { .. }));
}

/// A crash between the two renames leaves the segment and the journal with the same lines.
#[test]
fn interrupted_rotation_is_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("office.ndjson");
    run(&mut open(&path), 0..2);
    let before = fs::read(&path).unwrap();
    let rotated = rotate(&path, None, &StandardContexts).unwrap();
    let after = fs::read(&path).unwrap();
    fs::write(&path, &before).unwrap();
    fs::write(folder.path().join("office.ndjson.draft"), &after[..after.len() / 2]).unwrap();
    assert_eq!(rotate(&path, None, &StandardContexts).unwrap(), rotated);
    assert_eq!(fs::read(&path).unwrap(), after);
}

#[test]
fn erased_texts_leave_the_chain_intact() {
    let (_folder, files) = rotated_twice();
    let needle = "Grace Hopper";
    let contains = |path: &PathBuf| fs::read_to_string(path).unwrap().contains(needle);
    let whole = joined(&[&files[0], &files[1], &files[2]]).unwrap();
    assert!(contains(&files[0]));
    let selection = TextSelection { before: None, containing: Some(needle) };
    let erased = erase(&files[0], selection).unwrap();
    assert_eq!((erased.texts, erased.steps, erased.has_erased_state), (2, 2, false));
    assert!(!contains(&files[0]));
    // Nothing is left to erase, and the file stays the same.
    let bytes = fs::read(&files[0]).unwrap();
    assert_eq!(erase(&files[0], selection).unwrap(), Erasure::default());
    assert_eq!(fs::read(&files[0]).unwrap(), bytes);

    let replayed = replay(segment(&files[0]), None, &StandardContexts);
    assert_eq!(replayed.difference, None);
    assert_eq!(replayed.erased_texts, 2);
    assert!(
        replayed.unverified_steps > 2 && replayed.unverified_steps < replayed.steps && !replayed.is_equal()
    );
    let found = joined(&[&files[0], &files[1], &files[2]]).unwrap();
    assert_eq!((found.steps, found.erased_texts), (whole.steps, 2));
    assert!(found.unverified_steps >= replayed.unverified_steps);
    // A trace of placeholders would replay as equal, although no call had its contexts.
    let error = trace(&[&files[0], &files[1], &files[2]]).unwrap_err();
    assert!(matches!(error, JoinError::Erased { step: 1.., .. }), "{error}");

    // Any other change of the segment is still detected.
    let text = fs::read_to_string(&files[0]).unwrap();
    let marker = text.find("$erased").unwrap();
    for at in [marker + 3, marker + 12, marker + 43, marker + 46] {
        let mut edited = text.clone().into_bytes();
        edited[at] ^= 1;
        let error =
            Reader::new(edited.as_slice(), "a").and_then(|reader| reader.collect::<Result<Vec<_>, _>>());
        assert!(error.is_err(), "byte {at}");
    }
}

#[test]
fn erased_state_needs_the_segments_before() {
    let (_folder, files) = rotated_twice();
    let all = TextSelection { before: Some(u64::MAX), containing: None };
    assert!(erase(&files[1], all).unwrap().has_erased_state);
    let error = replay(segment(&files[1]), None, &StandardContexts).read_error.unwrap();
    assert!(matches!(error.kind, TraceErrorKind::StateErased), "{error}");
    let found = joined(&[&files[0], &files[1], &files[2]]).unwrap();
    assert!(found.is_open && found.erased_texts > 10 && found.unverified_steps > 10, "{found:?}");
    // The live journal needs its texts.
    assert!(matches!(erase(&files[2], all).unwrap_err(), EraseError::Open { .. }));
}
