//! Opening journals.

use super::team::{ScriptedTeam, journal, opened, read_steps};
use orchestrion_kernel::{ConversationId, Policy};
use orchestrion_report::show::{View, show};
use orchestrion_runtime::{Conversation, JournalFile, OpenError, TruncatedTail};
use orchestrion_text::StandardContexts;
use orchestrion_trace::replay::replay;
use orchestrion_trace::{Header, PossibleLoss, Reader, Writer};
use std::fs;

fn refused(path: &std::path::Path, policy: Policy) -> String {
    let error = Conversation::open(path, policy, &StandardContexts).unwrap_err().to_string();
    error.replace(&path.display().to_string(), "office.ndjson")
}

#[tokio::test]
async fn header_mismatch_is_refused() {
    let (_folder, path) = journal();
    opened(&path).run_request(&ScriptedTeam::agrees(), "ada", "Order paper").await.unwrap();
    let error = refused(&path, Policy::as_drawn());
    let digests = error.split(|c: char| !c.is_ascii_hexdigit()).filter(|word| word.len() == 32);
    assert_eq!(digests.count(), 2, "{error}");
    assert!(error.starts_with("office.ndjson: policy mismatch: expected hardened (digest "), "{error}");

    let mut header = Header::new(ConversationId::new("office"), Policy::hardened(), None);
    header.kernel = "0.0.9".to_owned();
    let older = Writer::new(Vec::new(), &header).unwrap().end().unwrap();
    fs::write(&path, older).unwrap();
    let here = orchestrion_kernel::VERSION;
    assert_eq!(
        refused(&path, Policy::hardened()),
        format!(
            "office.ndjson: kernel version mismatch: expected 0.0.9 (recorded), found {here}; use the recorded one or upgrade the journal with `orchestrion journal upgrade`"
        )
    );
}

#[tokio::test]
async fn journal_has_one_writer() {
    let (_folder, path) = journal();
    let first = opened(&path);
    let error = Conversation::open(&path, Policy::hardened(), &StandardContexts).unwrap_err();
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    drop(first);
    opened(&path);
}

#[tokio::test]
async fn closed_and_foreign_files_stay_unchanged() {
    let (_folder, path) = journal();
    opened(&path).close().await.unwrap();
    assert!(refused(&path, Policy::hardened()).contains("found its end after 0 steps"));

    let mut changed = fs::read_to_string(&path).unwrap().replacen("hardened", "softened", 1);
    changed.push_str("more\n");
    let zeros = "\0\0\0 ftypmp42";
    let foreign = [
        zeros,
        "{\"level\":\"info\",\"msg\":\"started\"}\n",
        "not json\n",
        "{\"level\":\"info\"}",
        "\n",
        &changed,
    ];
    for text in foreign {
        fs::write(&path, text).unwrap();
        let error = refused(&path, Policy::hardened());
        assert!(error.starts_with("office.ndjson:1: "), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "the file is unchanged");
    }
}

#[tokio::test]
async fn torn_tail_is_truncated() {
    let (_folder, path) = journal();
    opened(&path).run_request(&ScriptedTeam::agrees(), "ada", "Order paper").await.unwrap();
    let whole = fs::read(&path).unwrap();
    let lines = whole.iter().filter(|byte| **byte == b'\n').count();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;

    // Any incomplete last line.
    for cut in [last + 1, last + 30, whole.len() - 1] {
        fs::write(&path, &whole[..cut]).unwrap();
        let tail = opened(&path).truncated_tail().unwrap();
        assert_eq!(tail, TruncatedTail { line: lines as u64, bytes: (cut - last) as u64 });
        assert_eq!(fs::read(&path).unwrap()[..last], whole[..last], "the complete lines stay");
        let steps = read_steps(&path);
        assert_eq!(steps.len(), lines - 1);
        let replacing = steps.last().unwrap();
        assert!(
            replacing.possible_loss == Some(PossibleLoss::Steps) && replacing.refused.is_some(),
            "{replacing:?}"
        );
        assert_eq!(replacing.note, Some(tail.to_string()));
        let (mut shown, journal) = (Vec::new(), fs::read(&path).unwrap());
        let reader = Reader::new(journal.as_slice(), "office.ndjson").unwrap();
        assert!(show(reader, &View::default(), &mut shown).is_err(), "the journal is open");
        let shown = String::from_utf8(shown).unwrap();
        assert!(shown.contains("journal          torn tail truncated: "), "{shown}");
        // It is recorded once.
        let once = fs::read(&path).unwrap();
        assert_eq!(opened(&path).truncated_tail(), None);
        assert_eq!(fs::read(&path).unwrap(), once);
    }
    // Pages that were never written.
    let mut zeros = whole.clone();
    zeros[last + 10..].fill(0);
    zeros.extend_from_slice(b"\n{}\n");
    fs::write(&path, &zeros).unwrap();
    let bytes = (zeros.len() - last) as u64;
    assert_eq!(opened(&path).truncated_tail(), Some(TruncatedTail { line: lines as u64, bytes }));
    // A page in the middle that was damaged later: the lines after it were durable, so nothing is truncated.
    let mut damaged = whole.clone();
    damaged[whole.len() / 3..whole.len() / 3 + 20].fill(0);
    fs::write(&path, &damaged).unwrap();
    assert!(refused(&path, Policy::hardened()).starts_with("office.ndjson:"));
    assert_eq!(fs::read(&path).unwrap(), damaged);
    // An incomplete multi-byte character.
    let mut halved = whole[..last].to_vec();
    halved.extend_from_slice("{\"n\":99,\"note\":\"fr\u{fc}".as_bytes());
    halved.pop();
    fs::write(&path, &halved).unwrap();
    assert!(opened(&path).truncated_tail().is_some());
    // An incomplete header.
    fs::write(&path, &whole[..40]).unwrap();
    assert_eq!(opened(&path).truncated_tail(), Some(TruncatedTail { line: 1, bytes: 40 }));

    // An edited line is not torn.
    let mut changed = whole.clone();
    changed[last + 10] ^= 1;
    fs::write(&path, &changed).unwrap();
    let error = refused(&path, Policy::hardened());
    assert!(error.starts_with(&format!("office.ndjson:{lines}: chain mismatch: ")), "{error}");
    assert_eq!(fs::read(&path).unwrap(), changed);
}

#[tokio::test]
async fn missing_directory_is_an_error() {
    let (folder, path) = journal();
    let missing = folder.path().join("none").join("office.ndjson");
    let error = Conversation::open(&missing, Policy::hardened(), &StandardContexts).unwrap_err().to_string();
    assert!(error.contains("none") && error.contains("unreadable journal"), "{error}");
    fs::write(&path, "").unwrap();
    let inside = path.join("office.ndjson");
    assert!(Conversation::open(&inside, Policy::hardened(), &StandardContexts).is_err());
    assert!(Conversation::open(folder.path(), Policy::hardened(), &StandardContexts).is_err());
}

#[tokio::test]
async fn old_format_is_refused_with_remedy() {
    let (_folder, path) = journal();
    opened(&path).close().await.unwrap();
    let old = fs::read_to_string(&path).unwrap().replacen("orchestrion-trace/5", "orchestrion-trace/2", 1);
    fs::write(&path, &old).unwrap();
    let error = refused(&path, Policy::hardened());
    assert!(
        error.starts_with(
            "office.ndjson:1: unsupported trace format: expected orchestrion-trace/5, found orchestrion-trace/2-journal; "
        ),
        "{error}"
    );
    assert!(error.contains("use the version that wrote it"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), old);
}

/// A text recorded before a crash is referenced after it. A journal with all events keeps this form.
#[tokio::test]
async fn resumed_journal_keeps_text_references() {
    let (_folder, path) = journal();
    let text = "Order two packs of paper for the office on the second floor";
    let header = Header::new(ConversationId::new("office"), Policy::hardened(), None);
    let file = JournalFile::open(&path).unwrap();
    let mut conversation = Conversation::open_with(file, &header, &StandardContexts).unwrap();
    conversation.run_request(&ScriptedTeam::agrees(), "ada", text).await.unwrap();
    drop(conversation);
    let before = fs::read_to_string(&path).unwrap();
    let mut conversation = opened(&path);
    conversation.run_request(&ScriptedTeam::agrees(), "ada", text).await.unwrap();
    conversation.close().await.unwrap();
    let after = fs::read_to_string(&path).unwrap();
    assert!(before.matches(text).count() == 1 && after.matches(text).count() == 1, "{after}");
    assert!(after.len() - before.len() < before.len());
    assert!(replay(Reader::new(after.as_bytes(), "office").unwrap(), None, &StandardContexts).is_equal());
}
