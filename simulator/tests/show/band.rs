//! A band that plays conversations: typed replies to whatever the kernel asks.

use orchestrion_kernel::module::{
    Argument, Failure, Operation, PastRequest, Rating, Ratings, Report, Role, Stance,
};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::{
    CallId, ConversationId, Input, Phase, Policy, RequestId, Score, TaskId, TraceId, UserId,
};
use orchestrion_text::StandardContexts;
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::{Header, ScenarioRef, StepMetadata};

pub(crate) type Said = (Argument, &'static str);
type Tasks = [(u32, &'static str, Option<&'static str>)];

pub(crate) const SHIP: [(u32, &str, Option<&str>); 3] = [
    (1, "Push the image shop:2.4 to the registry", Some("remove the tag shop:2.4")),
    (2, "Roll it out on staging and wait", Some("kubectl rollout undo deployment/shop -n staging")),
    (3, "Tell #releases", None),
];
pub(crate) const SHIP_IT: [(u32, &str, Option<&str>); 3] =
    [SHIP[0], (2, "Roll it out on staging, wait until the old pods are gone", SHIP[1].2), SHIP[2]];
pub(crate) const FASTER: [(u32, &str, Option<&str>); 2] =
    [(1, "Drop the database", None), (4, "Load the backup with eight writers", Some("drop it again"))];
pub(crate) const REPAIR: [(u32, &str, Option<&str>); 2] =
    [(4, "Patch the readiness probe to port 80", Some("patch it back to 8080")), SHIP[1]];

pub(crate) fn pro(millionths: u32, text: &'static str) -> Said {
    (Argument { stance: Stance::Pro, confidence: Score::from_millionths(millionths).unwrap() }, text)
}

pub(crate) fn con(millionths: u32, text: &'static str) -> Said {
    (Argument { stance: Stance::Con, confidence: Score::from_millionths(millionths).unwrap() }, text)
}

pub(crate) fn user(name: &str) -> UserId {
    UserId::new(name)
}

pub(crate) fn task(id: u32, text: &str, effect: Effect) -> Task {
    Task { id: TaskId::new(id), text: text.into(), effect }
}

fn plan(tasks: &Tasks) -> Plan {
    let effect = |undo: Option<&str>| match undo {
        Some(undo) => Effect::Undoable { compensation: undo.into() },
        None => Effect::Irreversible,
    };
    Plan::new(tasks.iter().map(|(id, text, undo)| task(*id, text, effect(*undo))).collect()).unwrap()
}

/// A conversation that is played.
pub(crate) struct TraceBuilder(Recorder<Vec<u8>>);

impl TraceBuilder {
    pub(crate) fn opens(policy: Policy) -> Self {
        let scenario = ScenarioRef { name: "staging".into(), digest: "0".repeat(32) };
        let header = Header::new(ConversationId::new("demo"), policy, Some(scenario));
        let mut band = Self(Recorder::open(Vec::new(), &header, &StandardContexts).unwrap());
        band.submit(Input::SessionStart { user: user("ada") });
        band
    }

    pub(crate) fn trace(self) -> Vec<u8> {
        self.0.close().unwrap()
    }

    /// Submits, whether it is accepted or refused.
    pub(crate) fn submit(&mut self, input: Input) {
        let _ = self.0.submit(&input, &StepMetadata::default()).unwrap();
    }

    fn accepted(&mut self, input: Input) {
        self.0.submit(&input, &StepMetadata::default()).unwrap().unwrap();
    }

    fn waiting(&self) -> Option<(CallId, Operation)> {
        self.0.state().control.pending_call().map(|call| (call.id, call.operation))
    }

    pub(crate) fn asks(&mut self, text: &str) {
        self.accepted(Input::UserMessage { user: user("ada"), text: text.into() });
    }

    pub(crate) fn answers(&mut self, report: Report) {
        let Some((call, _)) = self.waiting() else { return };
        self.accepted(Input::reply(call, report));
    }

    pub(crate) fn fails(&mut self, failure: Failure) {
        let Some((call, _)) = self.waiting() else { return };
        self.submit(Input::CallFailed { call, failure });
    }

    pub(crate) fn late_reply(&mut self) {
        self.submit(Input::reply(CallId::new(3), Report::Delivered));
    }

    /// Every step that control takes by itself.
    pub(crate) fn steps(&mut self) {
        while self.waiting().is_none()
            && self.0.submit(&Input::Step, &StepMetadata::default()).unwrap().is_ok()
        {}
    }

    pub(crate) fn prepares(&mut self) {
        self.answers(Report::Identity { gcp: true, mongodb: true });
        self.steps();
        let ratings =
            Ratings { critic: Rating { elo: 1250, successes: 3, matches: 5 }, ..Ratings::default() };
        let trace = TraceId { conversation: ConversationId::new("monday"), request: RequestId::new(4) };
        let past = PastRequest { trace, text: "Release 2.3 was rolled back: the probe failed.".into() };
        self.answers(Report::Context { ratings, traces: vec![past] });
        let tags = vec!["deploy".into(), "staging".into()];
        self.answers(Report::Classification { tags, similarity: Score::from_millionths(720_000).unwrap() });
    }

    pub(crate) fn plans(&mut self) {
        self.answers(Report::Plan(plan(&SHIP)));
    }

    pub(crate) fn plan(&mut self, tasks: Vec<Task>) {
        self.answers(Report::Plan(Plan::new(tasks).unwrap()));
    }

    pub(crate) fn argues(&mut self, (argument, text): Said) {
        self.answers(Report::Argument { argument, text: text.into(), plan: None });
    }

    pub(crate) fn revises(&mut self, (argument, text): Said, tasks: &Tasks) {
        self.answers(Report::Argument { argument, text: text.into(), plan: Some(plan(tasks)) });
    }

    /// Everybody is for it.
    pub(crate) fn agrees(&mut self) {
        while self.debates() {
            self.argues(pro(850_000, "I have nothing against it."));
        }
        self.steps();
    }

    pub(crate) fn repairs(&mut self, text: &str, tasks: &Tasks) {
        self.answers(Report::Repaired { text: text.into(), plan: plan(tasks) });
    }

    pub(crate) fn exits(&mut self, code: i32, text: &str) {
        self.answers(Report::Exit { code, text: text.into() });
    }

    /// Both stores and the auditor do as they are asked.
    pub(crate) fn stores(&mut self) {
        while let Some((_, ask)) = self.waiting() {
            match ask {
                Operation::StoreMemory { .. } => self.answers(Report::Stored { held: true }),
                _ => self.answers(Report::Delivered),
            }
        }
    }

    pub(crate) fn debates(&self) -> bool {
        matches!(self.0.state().control.phase(), Phase::Round(_) | Phase::PlanReview)
    }

    pub(crate) fn waits_for_security(&self) -> bool {
        self.waiting().is_some_and(|(_, ask)| ask.argued_by() == Some(Role::Security))
    }

    pub(crate) fn runs(&self) -> bool {
        self.0.state().control.phase() == Phase::RunningTasks
    }
}
