//! Claims of a project while a host runs the conversation.

use crate::host::{Host, agreed, folder, stderr};
use std::fs;

const CLAIMS: &str = "\
claims:
- {id: one-answer, within: conversation, at_most: {limit: 1, of: {event: final_answer}}}
- {id: quiet, never: {event: cancelled}}
";

/// The second answer of the conversation violates a claim, also if the program was killed between the two.
#[test]
fn violations_are_reported_at_their_step() {
    for is_killed in [false, true] {
        let folder = folder();
        fs::write(folder.path().join("claims.yaml"), CLAIMS).unwrap();
        let arguments = ["hello.yaml", "--journal", "hello.ndjson", "--claims", "claims.yaml"];
        let mut other = Vec::new();
        let mut host = Host::of(folder.path(), &arguments);
        let call = host.until("load_context", &mut other);
        host.reply(&call, &agreed(&call));
        // The first request has ended, and its answer is in the journal.
        let call = host.until("verify_identity", &mut other);
        if is_killed {
            host.kill();
            host = Host::of(folder.path(), &[&arguments[..], &["--acknowledged-step", "1"]].concat());
        } else {
            host.reply(&call, &agreed(&call));
        }
        assert_eq!(host.until("nothing", &mut other), "closed");
        let output = host.ends();
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert_eq!(errors.matches("is VIOLATED at step").count(), 1, "{errors}");
        assert!(errors.contains("`one-answer` (claims.yaml:2)"), "{errors}");
    }
}
