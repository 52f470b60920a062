//! What may be opened, and what is refused.

use super::team::{ScriptedTeam, journal, kept, opened};
use orchestrion_kernel::{ConversationId, Policy};
use orchestrion_runtime::{Conversation, OpenError, TruncatedTail};
use orchestrion_text::StandardContexts;
use orchestrion_trace::{Header, Writer};
use std::fs;

fn refused(path: &std::path::Path, policy: Policy) -> String {
    let error = Conversation::open(path, policy, &StandardContexts).unwrap_err().to_string();
    error.replace(&path.display().to_string(), "office.ndjson")
}

#[tokio::test]
async fn another_policy_or_kernel_is_refused_with_both_digests() {
    let (_folder, path) = journal();
    opened(&path).run_request(&ScriptedTeam::agrees(), "ada", "Order paper").await.unwrap();
    let error = refused(&path, Policy::as_drawn());
    let digests = error.split(|c: char| !c.is_ascii_hexdigit()).filter(|word| word.len() == 32);
    assert_eq!(digests.count(), 2, "{error}");
    assert!(error.starts_with("office.ndjson: its policy is hardened with the digest "), "{error}");

    let mut header = Header::new(ConversationId::new("office"), Policy::hardened(), None);
    header.kernel = "0.0.9".to_owned();
    let older = Writer::new(Vec::new(), &header).unwrap().end().unwrap();
    fs::write(&path, older).unwrap();
    let here = orchestrion_kernel::VERSION;
    assert_eq!(
        refused(&path, Policy::hardened()),
        format!(
            "office.ndjson: its kernel version is 0.0.9, and {here} was given; go on with the one that it was begun \
             with, or begin another journal"
        )
    );
}

#[tokio::test]
async fn a_second_opener_is_refused_until_the_first_is_gone() {
    let (_folder, path) = journal();
    let first = opened(&path);
    let error = Conversation::open(&path, Policy::hardened(), &StandardContexts).unwrap_err();
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    drop(first);
    opened(&path);
}

#[tokio::test]
async fn a_closed_conversation_and_other_files_are_refused_and_left_as_they_are() {
    let (_folder, path) = journal();
    opened(&path).close().await.unwrap();
    assert!(refused(&path, Policy::hardened()).contains("its conversation was closed after 0 steps"));

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
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "it is left as it was");
    }
}

#[tokio::test]
async fn what_was_never_wholly_written_is_dropped_and_told_and_nothing_else_is() {
    let (_folder, path) = journal();
    opened(&path).run_request(&ScriptedTeam::agrees(), "ada", "Order paper").await.unwrap();
    let whole = fs::read(&path).unwrap();
    let lines = whole.iter().filter(|byte| **byte == b'\n').count();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;

    // Torn anywhere in the last line.
    for cut in [last + 1, last + 30, whole.len() - 1] {
        fs::write(&path, &whole[..cut]).unwrap();
        let dropped = opened(&path).dropped();
        assert_eq!(dropped, Some(TruncatedTail { line: lines as u64, bytes: (cut - last) as u64 }));
        assert_eq!(fs::read(&path).unwrap(), &whole[..last], "it is cut to what is whole");
        assert_eq!(kept(&path).len(), lines - 2);
    }
    // Pages that never reached the disk.
    let mut zeros = whole.clone();
    zeros[last + 10..].fill(0);
    zeros.extend_from_slice(b"\n{}\n");
    fs::write(&path, &zeros).unwrap();
    let bytes = (zeros.len() - last) as u64;
    assert_eq!(opened(&path).dropped(), Some(TruncatedTail { line: lines as u64, bytes }));
    // A page in the middle that went bad much later: what follows was kept, so nothing is thrown away.
    let mut damaged = whole.clone();
    damaged[whole.len() / 3..whole.len() / 3 + 20].fill(0);
    fs::write(&path, &damaged).unwrap();
    assert!(refused(&path, Policy::hardened()).starts_with("office.ndjson:"));
    assert_eq!(fs::read(&path).unwrap(), damaged);
    // A letter of several bytes that is cut in two.
    let mut halved = whole[..last].to_vec();
    halved.extend_from_slice("{\"n\":99,\"note\":\"fr\u{fc}".as_bytes());
    halved.pop();
    fs::write(&path, &halved).unwrap();
    assert!(opened(&path).dropped().is_some());
    // Nothing at all but the beginning of a header.
    fs::write(&path, &whole[..40]).unwrap();
    assert_eq!(opened(&path).dropped(), Some(TruncatedTail { line: 1, bytes: 40 }));

    // A line that was changed is no torn one, not even the last.
    let mut changed = whole.clone();
    changed[last + 10] ^= 1;
    fs::write(&path, &changed).unwrap();
    let error = refused(&path, Policy::hardened());
    assert!(error.starts_with(&format!("office.ndjson:{lines}: edited: ")), "{error}");
    assert_eq!(fs::read(&path).unwrap(), changed);
}

#[tokio::test]
async fn a_folder_that_is_not_there_or_no_folder_is_told() {
    let (folder, path) = journal();
    let missing = folder.path().join("none").join("office.ndjson");
    let error = Conversation::open(&missing, Policy::hardened(), &StandardContexts).unwrap_err().to_string();
    assert!(error.contains("none") && error.contains("cannot be opened"), "{error}");
    fs::write(&path, "").unwrap();
    let inside = path.join("office.ndjson");
    assert!(Conversation::open(&inside, Policy::hardened(), &StandardContexts).is_err());
    assert!(Conversation::open(folder.path(), Policy::hardened(), &StandardContexts).is_err());
}
