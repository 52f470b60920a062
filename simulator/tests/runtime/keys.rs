//! Idempotency keys in the library.

use super::team::{HostBehavior, ScriptedTeam, journal, opened, read_steps};
use super::{CRITIC, run};
use orchestrion_kernel::knowledge::Write;
use orchestrion_runtime::{
    Acknowledgement, Call, CallResult, Host, IdempotencyKey, KeyResult, NewRequest, RecoveryResult, rotate,
};
use orchestrion_text::StandardContexts;
use std::sync::Mutex;
use std::time::Duration;

/// A host that keeps the notices.
struct Noting(ScriptedTeam, Mutex<Vec<Acknowledgement>>);

impl Noting {
    fn new() -> Self {
        Self(ScriptedTeam::agrees(), Mutex::default())
    }

    fn take(&self) -> Vec<(String, u64, KeyResult)> {
        let notices = std::mem::take(&mut *self.1.lock().unwrap());
        notices.into_iter().map(|notice| (notice.key, notice.step, notice.result)).collect()
    }
}

impl Host for Noting {
    async fn execute(&self, call: &Call) -> CallResult {
        self.0.execute(call).await
    }

    async fn recover(&self, _: &Call) -> RecoveryResult {
        RecoveryResult::NotStarted
    }

    fn acknowledge(&self, notice: &Acknowledgement) {
        self.1.lock().unwrap().push(notice.clone());
    }

    async fn sleep(&self, time: Duration) {
        self.0.sleep(time).await;
    }
}

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::new(text).unwrap()
}

fn request(text: &str) -> NewRequest {
    NewRequest::from(text).with_key(key("r-1"))
}

fn signal(text: &str) -> Write {
    Write::Environment { key: "rain".into(), text: text.into(), supersedes: None }
}

const fn recorded(is_repeated: bool) -> KeyResult {
    KeyResult::Recorded { is_accepted: true, is_repeated }
}

/// The keys survive the process, and the rotation of the journal.
#[tokio::test]
async fn repeated_request_returns_its_result() {
    let (_folder, path) = journal();
    let host = Noting::new();
    let mut conversation = opened(&path);
    conversation.mailbox().write_with_key(key("w-1"), signal("heavy"), None).unwrap();
    let first = conversation.run_request(&host, "ada", request("Order paper")).await.unwrap();
    let notices = host.take();
    assert_eq!(notices, [("w-1".to_owned(), 1, recorded(false)), ("r-1".to_owned(), 3, recorded(false))]);
    drop(conversation);
    for rotated in [false, true] {
        if rotated {
            rotate(&path, None, &StandardContexts).unwrap();
        }
        let mut conversation = opened(&path);
        let steps = conversation.steps();
        let again = conversation.run_request(&host, "ada", request("Order paper")).await.unwrap();
        assert_eq!(again, first);
        let other = conversation.run_request(&host, "ada", request("Order toner")).await.unwrap_err();
        let expected =
            "reused idempotency key `r-1`: expected the input of step 3, found another; choose another key";
        assert_eq!(other.to_string(), expected);
        let notices = host.take();
        assert_eq!(
            notices,
            [("r-1".to_owned(), 3, recorded(true)), ("r-1".to_owned(), 3, KeyResult::KeyReused)]
        );
        assert_eq!(conversation.steps(), steps, "nothing is recorded");
    }
    let mut conversation = opened(&path);
    conversation.run_request(&host, "ada", "Order ink").await.unwrap();
    let earlier = conversation.run_request(&host, "ada", request("Order paper")).await.unwrap_err();
    let expected = "repeated idempotency key `r-1`: expected a new input, found that of step 3 again; it has no second effect";
    assert_eq!(earlier.to_string(), expected);
}

/// The host is notified after the step is durable, also of a write during a call.
#[tokio::test]
async fn write_during_call_is_durable_before_notice() {
    let (_folder, path) = journal();
    let mut conversation = opened(&path);
    let mailbox = conversation.mailbox();
    let mut host = Noting::new();
    host.0 = ScriptedTeam::with_script(move |call| {
        let mut mailbox = mailbox.clone();
        if call.operation == CRITIC {
            for (name, text) in [("w-1", "light"), ("w-2", "heavy"), ("w-1", "light")] {
                mailbox.write_with_key(key(name), signal(text), None).unwrap();
            }
        }
        // The call in flight outlasts the notices.
        let answer = Ok(super::team::agreed(call).into());
        (call.operation == CRITIC).then(|| HostBehavior::ReplyAfter(Duration::from_millis(300), answer))
    });
    let watched = path.clone();
    let (result, seen) = tokio::join!(conversation.run_request(&host, "ada", "Order paper"), async {
        while host.1.lock().unwrap().len() < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        (read_steps(&watched), host.0.operations())
    });
    result.unwrap();
    let (steps, operations) = seen;
    assert!(operations.contains(&CRITIC) && !operations.contains(&run(1)), "{operations:?}");
    let keys: Vec<_> =
        steps.iter().filter_map(|step| step.idempotency.as_ref()).map(|sent| &*sent.key).collect();
    assert_eq!(keys, ["w-1", "w-2"]);
    let results: Vec<_> = host.take().into_iter().map(|(_, _, result)| result).collect();
    assert_eq!(results, [recorded(false), recorded(false), recorded(true)]);
}
