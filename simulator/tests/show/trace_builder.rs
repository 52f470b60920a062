//! Builds traces: submits inputs to a recorder and replies to its pending calls.

use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{
    Argument, Failure, Operation, PastRequest, Rating, Ratings, Report, Role, Stance,
};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{
    CallId, ConversationId, Input, Phase, Policy, RequestId, Score, TaskId, TraceId, UserId,
};
use orchestrion_text::StandardContexts;
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::{Header, ScenarioRef, StepMetadata};

pub(crate) type ArgumentText = (Argument, &'static str);
type Tasks = [(u32, &'static str, Option<&'static str>)];

pub(crate) const RELEASE: [(u32, &str, Option<&str>); 3] = [
    (1, "Push the image shop:2.4 to the registry", Some("remove the tag shop:2.4")),
    (2, "Roll it out on staging and wait", Some("kubectl rollout undo deployment/shop -n staging")),
    (3, "Tell #releases", None),
];
pub(crate) const REVISED: [(u32, &str, Option<&str>); 3] =
    [RELEASE[0], (2, "Roll it out on staging, wait until the old pods are gone", RELEASE[1].2), RELEASE[2]];
pub(crate) const FASTER: [(u32, &str, Option<&str>); 2] =
    [(1, "Drop the database", None), (4, "Load the backup with eight writers", Some("drop it again"))];
pub(crate) const REPAIR: [(u32, &str, Option<&str>); 2] =
    [(4, "Patch the readiness probe to port 80", Some("patch it back to 8080")), RELEASE[1]];

pub(crate) fn pro(millionths: u32, text: &'static str) -> ArgumentText {
    (Argument { stance: Stance::Pro, confidence: Score::from_millionths(millionths).unwrap() }, text)
}

pub(crate) fn con(millionths: u32, text: &'static str) -> ArgumentText {
    (Argument { stance: Stance::Con, confidence: Score::from_millionths(millionths).unwrap() }, text)
}

pub(crate) fn user(name: &str) -> UserId {
    UserId::new(name)
}

pub(crate) fn task(id: u32, text: &str, effect: Effect) -> Task {
    let step = StepOptions::default();
    Task { id: TaskId::new(id), text: text.into(), effect, depends_on: None, scope: None, step }
}

fn plan(tasks: &Tasks) -> Plan {
    let effect = |undo: Option<&str>| match undo {
        Some(undo) => Effect::Undoable { compensation: undo.into() },
        None => Effect::Irreversible,
    };
    Plan::new(tasks.iter().map(|(id, text, undo)| task(*id, text, effect(*undo))).collect()).unwrap()
}

/// A recorder with shorthands for inputs.
pub(crate) struct TraceBuilder(Recorder<Vec<u8>>);

impl TraceBuilder {
    pub(crate) fn new(policy: Policy) -> Self {
        let scenario = ScenarioRef { name: "staging".into(), digest: "0".repeat(32), seed: None };
        let header = Header::new(ConversationId::new("demo"), policy, Some(scenario));
        let mut builder = Self(Recorder::open(Vec::new(), &header, &StandardContexts).unwrap());
        builder.submit(Input::session_start(user("ada")));
        builder
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0.close().unwrap()
    }

    /// Submits an input that may be refused.
    pub(crate) fn submit(&mut self, input: Input) {
        let _ = self.0.submit(&input, &StepMetadata::default()).unwrap();
    }

    fn submit_accepted(&mut self, input: Input) {
        self.0.submit(&input, &StepMetadata::default()).unwrap().unwrap();
    }

    fn pending(&self) -> Option<(CallId, Operation)> {
        self.0.state().control().pending_calls().first().map(|call| (call.id, call.operation))
    }

    pub(crate) fn send_message(&mut self, text: &str) {
        self.submit_accepted(Input::user_message(user("ada"), text.into()));
    }

    pub(crate) fn reply(&mut self, report: Report) {
        let Some((call, _)) = self.pending() else { return };
        self.submit_accepted(Input::reply(call, report));
    }

    pub(crate) fn fail(&mut self, failure: Failure) {
        let Some((call, _)) = self.pending() else { return };
        self.submit(Input::CallFailed { call, failure });
    }

    pub(crate) fn reply_late(&mut self) {
        self.submit(Input::reply(CallId::new(3), Report::Delivered));
    }

    /// Submits internal steps until a call is pending or a step is refused.
    pub(crate) fn run_steps(&mut self) {
        while self.pending().is_none()
            && self.0.submit(&Input::Step, &StepMetadata::default()).unwrap().is_ok()
        {}
    }

    pub(crate) fn prepare(&mut self) {
        self.reply(Report::Identity { gcp: true, mongodb: true });
        self.run_steps();
        let ratings =
            Ratings { critic: Rating { elo: 1250, successes: 3, matches: 5 }, ..Ratings::default() };
        let trace = TraceId { conversation: ConversationId::new("monday"), request: RequestId::new(4) };
        let past = PastRequest {
            trace,
            text: "Release 2.3 was rolled back: the probe failed.".into(),
            scope: Scope::Global,
        };
        self.reply(Report::Context { ratings, traces: vec![past] });
        let tags = vec!["deploy".into(), "staging".into()];
        self.reply(Report::Classification { tags, similarity: Score::from_millionths(720_000).unwrap() });
    }

    pub(crate) fn reply_plan(&mut self) {
        self.reply(Report::Plan(plan(&RELEASE)));
    }

    pub(crate) fn reply_tasks(&mut self, tasks: Vec<Task>) {
        self.reply(Report::Plan(Plan::new(tasks).unwrap()));
    }

    pub(crate) fn argue(&mut self, (argument, text): ArgumentText) {
        self.reply(Report::Argument { argument, text: text.into(), plan: None });
    }

    pub(crate) fn revise(&mut self, (argument, text): ArgumentText, tasks: &Tasks) {
        self.reply(Report::Argument { argument, text: text.into(), plan: Some(plan(tasks)) });
    }

    /// Finishes the debate with PRO arguments.
    pub(crate) fn agree(&mut self) {
        while self.is_debating() {
            self.argue(pro(850_000, "I have nothing against it."));
        }
        self.run_steps();
    }

    pub(crate) fn repair(&mut self, text: &str, tasks: &Tasks) {
        self.reply(Report::Repaired { text: text.into(), plan: plan(tasks) });
    }

    pub(crate) fn exit(&mut self, code: i32, text: &str) {
        self.reply(Report::Exit { code, text: text.into(), number: None });
    }

    /// Replies for both stores and the audit sink.
    pub(crate) fn store(&mut self) {
        while let Some((_, operation)) = self.pending() {
            match operation {
                Operation::StoreMemory { .. } => self.reply(Report::Stored { held: true }),
                _ => self.reply(Report::Delivered),
            }
        }
    }

    pub(crate) fn is_debating(&self) -> bool {
        matches!(self.0.state().control().phase(), Phase::Round(_) | Phase::PlanReview)
    }

    pub(crate) fn is_security_pending(&self) -> bool {
        self.pending().is_some_and(|(_, operation)| operation.arguing_role() == Some(Role::Security))
    }

    pub(crate) fn is_running(&self) -> bool {
        self.0.state().control().phase() == Phase::RunningTasks
    }
}
