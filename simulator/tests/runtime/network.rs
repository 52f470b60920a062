//! Conversations in a network: signed handoffs, keys, and the node of each call.

use crate::team::{ScriptedTeam, journal, opened, read_steps};
use orchestrion_handoff::{KeyFolder, NodeKey, SignedHandoff};
use orchestrion_kernel::event::Cause;
use orchestrion_kernel::module::{ConclusionKind, Failure, Module};
use orchestrion_kernel::network::{
    Capability, CapabilityState, HandoffRefusal, NetworkEvent, NetworkInput, Node, TrustPolicy,
};
use orchestrion_kernel::{Event, Input, NodeId, Score, Text};
use orchestrion_runtime::{
    Call, CallResult, Conversation, Host, JournalFile, Mailbox, NodeKeys, RecoveryResult, RefusedHandoff,
    StepResult,
};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

/// A host that keeps the handoffs that it transmits, and delivers each one again later.
struct Transport {
    team: ScriptedTeam,
    sent: Mutex<Vec<SignedHandoff>>,
    mailbox: Mutex<Mailbox>,
    refused: Mutex<Vec<RefusedHandoff>>,
}

impl Host for Transport {
    async fn execute(&self, call: &Call) -> CallResult {
        let sent = self.sent.lock().unwrap().clone();
        for (number, handoff) in (1..).zip(sent) {
            let mut forged = handoff.clone();
            forged.handoff.operation = Text::from("another operation");
            let mut foreign = handoff.handoff.clone();
            foreign.context.workflow_id = Text::from("another-office/1 r1");
            let foreign = NodeKey::for_simulation(&foreign.from_node).sign(foreign);
            self.mailbox.lock().unwrap().deliver(foreign, None).unwrap();
            self.mailbox.lock().unwrap().deliver(forged, None).unwrap();
            self.mailbox.lock().unwrap().deliver(handoff, Some(number)).unwrap();
        }
        self.team.execute(call).await
    }

    async fn recover(&self, call: &Call) -> RecoveryResult {
        self.team.recover(call).await
    }

    fn transmit(&self, handoff: SignedHandoff) -> Vec<SignedHandoff> {
        self.sent.lock().unwrap().push(handoff.clone());
        vec![handoff]
    }

    fn receive_refusal(&self, refused: &RefusedHandoff) {
        self.refused.lock().unwrap().push(refused.clone());
    }

    async fn sleep(&self, time: Duration) {
        self.team.sleep(time).await;
    }
}

/// Returns a network of an orchestrator that executes every module but the executor, and a worker that executes tasks.
fn network(public_key: impl Fn(&NodeId) -> Vec<u8>) -> NetworkInput {
    let policy = TrustPolicy::default();
    let node = |name: &str, modules: &[Module]| {
        let mut node = Node::new(&policy.start, NodeId::new(name));
        node.public_key = public_key(&node.id);
        for module in modules {
            let capability = Capability::new(module.capability(), 10);
            node.add_capability(CapabilityState::new(capability, Score::ONE));
        }
        node
    };
    let others: Vec<Module> = Module::ALL.into_iter().filter(|module| *module != Module::Executor).collect();
    let nodes = vec![node("office", &others), node("worker", &[Module::Executor])];
    NetworkInput::Create { orchestrator: NodeId::new("office"), policy, nodes }
}

/// Opens a conversation with this network, and runs a request to its end.
async fn run<H: Host>(conversation: &mut Conversation<JournalFile>, host: &H, network: NetworkInput) {
    let created = conversation.run(host).unwrap().submit(&Input::Network(Box::new(network))).unwrap();
    assert_eq!(created, StepResult::Accepted);
    conversation.run_request(host, "ada", "Order paper").await.unwrap();
}

fn network_events(path: &Path) -> Vec<NetworkEvent> {
    let events = read_steps(path).into_iter().flat_map(|step| step.events);
    events
        .filter_map(|event| match event {
            Event::Network(event) => Some(event),
            _ => None,
        })
        .collect()
}

/// 001-3.8: the context of the task travels with it.
#[tokio::test]
async fn host_receives_node_and_signed_handoff() {
    let (folder, path) = journal();
    let keys = KeyFolder::open(folder.path().join("keys")).unwrap();
    let key = keys.create(&NodeId::new("office")).unwrap();
    let secret = std::fs::read_to_string(keys.key_path(&NodeId::new("office")).unwrap()).unwrap();
    let public_key = key.public_key().to_vec();
    let mut conversation = opened(&path).with_keys(NodeKeys::Folder(keys));
    let team = ScriptedTeam::agrees();
    run(&mut conversation, &team, network(|_| public_key.clone())).await;
    conversation.close().await.unwrap();
    for call in team.calls.lock().unwrap().iter() {
        let is_task = call.module == Module::Executor;
        let node = if is_task { "worker" } else { "office" };
        assert_eq!(call.node, Some(NodeId::new(node)), "{call}");
        // The worker routes the later tasks of the sequence to itself.
        assert_eq!(call.handoff.is_some(), call.operation == crate::run(1), "{call}");
    }
    let handoff = team.calls.lock().unwrap().iter().find_map(|call| call.handoff.clone()).unwrap();
    assert!(orchestrion_handoff::verify(&handoff, &public_key).is_valid());
    let context = &handoff.handoff.context;
    assert_eq!((context.workflow_id.as_str(), context.step_index), ("office/1 r1", Some(0)));
    let task = handoff.handoff.task.unwrap();
    assert_eq!(task.text.as_str(), "Look up the price");
    assert_eq!(task.metadata.get(&Text::from("tier")).map(Text::as_str), Some("gold"));
    assert!(!std::fs::read_to_string(&path).unwrap().contains(secret.trim()), "the journal has no secret");
    let accepted = |event: &&NetworkEvent| matches!(event, NetworkEvent::HandoffAccepted { .. });
    assert_eq!(network_events(&path).iter().filter(accepted).count(), 1);
}

#[tokio::test]
async fn forged_and_replayed_handoffs_are_refused() {
    let (_folder, path) = journal();
    let mut conversation = opened(&path);
    let mailbox = Mutex::new(conversation.mailbox());
    let host = Transport {
        team: ScriptedTeam::agrees(),
        sent: Mutex::default(),
        mailbox,
        refused: Mutex::default(),
    };
    run(&mut conversation, &host, network(|_| Vec::new())).await;
    conversation.close().await.unwrap();
    let events = network_events(&path);
    let refused = |wanted: HandoffRefusal| {
        let is_refusal = |event: &&NetworkEvent| matches!(event, NetworkEvent::HandoffRefused { refusal, .. } if *refusal == wanted);
        events.iter().filter(is_refusal).count()
    };
    assert!(refused(HandoffRefusal::InvalidSignature) >= 1);
    assert!(refused(HandoffRefusal::NotExpected) >= 1);
    // The host learns of every recorded refusal, in order.
    let notices = host.refused.lock().unwrap();
    let recorded = events.iter().filter_map(|event| match event {
        NetworkEvent::HandoffRefused { receipt, refusal } => Some((receipt.call, *refusal)),
        _ => None,
    });
    assert!(notices.iter().map(|notice| (notice.call, notice.refusal)).eq(recorded), "{notices:?}");
    for notice in notices.iter() {
        let is_replay = notice.refusal == HandoffRefusal::NotExpected;
        assert_eq!((notice.sequence.is_some(), notice.detail.is_none()), (is_replay, is_replay), "{notice}");
        assert_eq!(notice.repeated_as, None, "the receiver did nothing: {notice}");
    }
    let notes: Vec<String> = read_steps(&path).into_iter().filter_map(|step| step.note).collect();
    assert!(notes.iter().any(|note| note.starts_with("handoff of another conversation")), "{notes:?}");
    let runs = host.team.calls.lock().unwrap().iter().filter(|call| call.module == Module::Executor).count();
    assert_eq!(runs, 3, "each task runs once");
}

#[tokio::test]
async fn missing_key_fails_the_call() {
    let (folder, path) = journal();
    let keys = KeyFolder::open(folder.path().join("keys")).unwrap();
    let public_key = NodeKey::for_simulation(&NodeId::new("office")).public_key();
    let mut conversation = opened(&path).with_keys(NodeKeys::Folder(keys));
    run(&mut conversation, &ScriptedTeam::agrees(), network(|_| public_key.to_vec())).await;
    let conclusion = conversation.last_result().unwrap().conclusion.unwrap();
    assert_eq!(conclusion.kind, ConclusionKind::RolledBack);
    assert!(matches!(
        conclusion.cause,
        Cause::NoRepair | Cause::CallFailed(Module::Executor, Failure::Error)
    ));
    let notes: Vec<String> = read_steps(&path).into_iter().filter_map(|step| step.note).collect();
    assert!(notes.iter().any(|note| note.contains("office.key")), "{notes:?}");
}
