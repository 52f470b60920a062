//! A band that plays conversations: typed replies to whatever the kernel asks.

use orchestrion::conversation::Conversation;
use orchestrion::trace::{Header, ScenarioRef};
use orchestrion_kernel::module::{Argument, Ask, Failure, PastTrace, Rating, Ratings, Report, Role, Stance};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::{
    CallId, ConversationId, Input, Phase, Policy, RequestId, Score, TaskId, TraceId, UserId,
};

pub type Said = (Argument, &'static str);
type Tasks = [(u32, &'static str, Option<&'static str>)];

pub const SHIP: [(u32, &str, Option<&str>); 3] = [
    (1, "Push the image shop:2.4 to the registry", Some("remove the tag shop:2.4")),
    (2, "Roll it out on staging and wait", Some("kubectl rollout undo deployment/shop -n staging")),
    (3, "Tell #releases", None),
];
pub const SHIP_IT: [(u32, &str, Option<&str>); 3] =
    [SHIP[0], (2, "Roll it out on staging, wait until the old pods are gone", SHIP[1].2), SHIP[2]];
pub const FASTER: [(u32, &str, Option<&str>); 2] =
    [(1, "Drop the database", None), (4, "Load the backup with eight writers", Some("drop it again"))];
pub const REPAIR: [(u32, &str, Option<&str>); 2] =
    [(4, "Patch the readiness probe to port 80", Some("patch it back to 8080")), SHIP[1]];

pub fn pro(millionths: u32, text: &'static str) -> Said {
    (Argument { stance: Stance::Pro, confidence: Score::from_millionths(millionths).unwrap() }, text)
}

pub fn con(millionths: u32, text: &'static str) -> Said {
    (Argument { stance: Stance::Con, confidence: Score::from_millionths(millionths).unwrap() }, text)
}

pub fn user(name: &str) -> UserId {
    UserId::new(name)
}

pub fn task(id: u32, text: &str, effect: Effect) -> Task {
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
pub struct Band(Conversation<Vec<u8>>);

impl Band {
    pub fn opens(policy: Policy) -> Self {
        let scenario = ScenarioRef { name: "staging".into(), digest: "0".repeat(32) };
        let header = Header::new(ConversationId::new("demo"), policy, Some(scenario));
        let mut band = Self(Conversation::open(Vec::new(), &header).unwrap());
        band.submit(Input::SessionStart { user: user("ada") });
        band
    }

    pub fn trace(self) -> Vec<u8> {
        self.0.close()
    }

    /// Submits, whether it is accepted or refused.
    pub fn submit(&mut self, input: Input) {
        let _ = self.0.submit(input).unwrap();
    }

    fn accepted(&mut self, input: Input) {
        self.0.submit(input).unwrap().unwrap();
    }

    fn waiting(&self) -> Option<(CallId, Ask)> {
        self.0.state().control.waiting().map(|call| (call.id, call.ask))
    }

    pub fn asks(&mut self, text: &str) {
        self.accepted(Input::UserMessage { user: user("ada"), text: text.into() });
    }

    pub fn answers(&mut self, report: Report) {
        let Some((call, _)) = self.waiting() else { return };
        self.accepted(Input::Reply { call, report });
    }

    pub fn fails(&mut self, failure: Failure) {
        let Some((call, _)) = self.waiting() else { return };
        self.submit(Input::CallFailed { call, failure });
    }

    pub fn late_reply(&mut self) {
        self.submit(Input::Reply { call: CallId::new(3), report: Report::Delivered });
    }

    /// Every step that control takes by itself.
    pub fn steps(&mut self) {
        while self.waiting().is_none() && self.0.submit(Input::Step).unwrap().is_ok() {}
    }

    pub fn prepares(&mut self) {
        self.answers(Report::Identity { gcp: true, mongodb: true });
        self.steps();
        let ratings =
            Ratings { critic: Rating { elo: 1250, successes: 3, matches: 5 }, ..Ratings::default() };
        let trace = TraceId { conversation: ConversationId::new("monday"), request: RequestId::new(4) };
        let past = PastTrace { trace, text: "Release 2.3 was rolled back: the probe failed.".into() };
        self.answers(Report::Context { ratings, traces: vec![past] });
        let tags = vec!["deploy".into(), "staging".into()];
        self.answers(Report::Classification { tags, similarity: Score::from_millionths(720_000).unwrap() });
    }

    pub fn plans(&mut self) {
        self.answers(Report::Plan(plan(&SHIP)));
    }

    pub fn plan(&mut self, tasks: Vec<Task>) {
        self.answers(Report::Plan(Plan::new(tasks).unwrap()));
    }

    pub fn argues(&mut self, (argument, text): Said) {
        self.answers(Report::Argument { argument, text: text.into(), plan: None });
    }

    pub fn revises(&mut self, (argument, text): Said, tasks: &Tasks) {
        self.answers(Report::Argument { argument, text: text.into(), plan: Some(plan(tasks)) });
    }

    /// Everybody is for it.
    pub fn agrees(&mut self) {
        while self.debates() {
            self.argues(pro(850_000, "I have nothing against it."));
        }
        self.steps();
    }

    pub fn repairs(&mut self, text: &str, tasks: &Tasks) {
        self.answers(Report::Repaired { text: text.into(), plan: plan(tasks) });
    }

    pub fn exits(&mut self, code: i32, text: &str) {
        self.answers(Report::Exit { code, text: text.into() });
    }

    /// Both stores and the auditor do as they are asked.
    pub fn stores(&mut self) {
        while let Some((_, ask)) = self.waiting() {
            match ask {
                Ask::Remember { .. } => self.answers(Report::Stored { held: true }),
                _ => self.answers(Report::Delivered),
            }
        }
    }

    pub fn debates(&self) -> bool {
        matches!(self.0.state().control.phase(), Phase::Round(_) | Phase::PlanReread)
    }

    pub fn waits_for_security(&self) -> bool {
        self.waiting().is_some_and(|(_, ask)| ask.arguing() == Some(Role::Security))
    }

    pub fn runs(&self) -> bool {
        self.0.state().control.phase() == Phase::RunningTasks
    }
}
