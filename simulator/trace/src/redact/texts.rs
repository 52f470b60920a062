//! Redaction of inputs and events.

use super::Salt;
use super::clock::TimeShift;
use orchestrion_kernel::module::{PastRequest, Report};
use orchestrion_kernel::network::NetworkEvent;
use orchestrion_kernel::network::aggregation::AggregateAnswer;
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::policy::RankTable;
use orchestrion_kernel::{ConversationId, Event, Input, Text, Timestamp, TraceId, UserId};

/// The length of a digest in hexadecimal digits.
const DIGEST_HEX: usize = 16;

/// The digits of a digest that has the length of its text.
const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz012345";

/// Replaces texts and names by salted digests.
pub(crate) struct Redactor {
    salt: [u8; 32],
    /// The number of the step with which free texts are salted, if equal ones of different steps get different digests.
    step: Option<u64>,
    times: TimeShift,
    /// Whether a text keeps its length, because the tokens that nodes exchange are counted by it.
    keeps_lengths: bool,
    ranks: RankTable,
    built_in: RankTable,
}

impl Redactor {
    /// Creates a redactor for traces with this rank table.
    pub(crate) fn new(salt: &Salt, ranks: &RankTable) -> Self {
        Self {
            salt: salt.bytes,
            step: salt.differs_by_step.then_some(0),
            times: TimeShift::default(),
            keeps_lengths: false,
            ranks: ranks.clone(),
            built_in: RankTable::built_in(),
        }
    }

    /// Moves to the next step, which has this time. The first one sets the shift of all times.
    pub(super) fn enter_step(&mut self, number: u64, at: Timestamp) {
        self.step = self.step.map(|_| number);
        if number == 1 {
            self.times = TimeShift::from_first(at);
        }
    }

    /// Returns a time relative to the first step.
    pub(super) fn time(&self, time: Timestamp) -> Timestamp {
        self.times.apply(time)
    }

    /// Redacts the rank table: only built-in titles remain.
    pub(super) fn ranks(&self) -> RankTable {
        self.ranks.iter().map(|(name, rank)| (self.title(name), rank)).collect()
    }

    /// Redacts a name that may be in the rank table, so that it is in the redacted table.
    pub(super) fn title(&self, name: &str) -> String {
        match (self.built_in.get(name), self.ranks.get(name)) {
            (Some(_), _) => name.to_owned(),
            (None, Some(_)) => self.name(&name.to_ascii_lowercase()),
            (None, None) => self.name(name),
        }
    }

    /// Returns the length in characters, rounded up to a power of two, and a salted digest. An empty text stays empty.
    pub(super) fn name(&self, text: &str) -> String {
        Self::salted(text, &self.salt)
    }

    fn salted(text: &str, salt: &[u8; 32]) -> String {
        if text.is_empty() {
            return String::new();
        }
        let digest = blake3::keyed_hash(salt, text.as_bytes()).to_hex();
        format!("redacted-{}-{}", text.chars().count().next_power_of_two(), &digest[..DIGEST_HEX])
    }

    /// Redacts a message, an argument or an output. Facts, plans and keys are compared more often, and always stay comparable.
    pub(super) fn free_text(&self, text: &Text) -> Text {
        match self.step {
            Some(step) if !self.keeps_lengths => {
                let salt = blake3::keyed_hash(&self.salt, &step.to_le_bytes());
                Self::salted(text.as_str(), salt.as_bytes()).into()
            }
            Some(_) | None => self.text(text),
        }
    }

    pub(super) fn text(&self, text: &Text) -> Text {
        if self.keeps_lengths { self.text_of_same_length(text.as_str()) } else { self.name(text.as_str()) }
            .into()
    }

    /// Lets the texts from here on keep their lengths. Names do not, because no node exchanges them.
    pub(crate) const fn keep_lengths(&mut self) {
        self.keeps_lengths = true;
    }

    /// Returns a salted digest with as many bytes as the text, alone and in JSON. Of the characters that JSON escapes, only the
    /// number stays.
    fn text_of_same_length(&self, text: &str) -> String {
        let (mut short, mut long) = (0, 0);
        for byte in text.bytes() {
            match byte {
                b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => short += 1,
                0..0x20 => long += 1,
                _ => {}
            }
        }
        let mut digest = vec![0; text.len() - short - long];
        blake3::Hasher::new_keyed(&self.salt).update(text.as_bytes()).finalize_xof().fill(&mut digest);
        let digit = |byte: u8| char::from(DIGITS[usize::from(byte) % DIGITS.len()]);
        let mut redacted: String = digest.into_iter().map(digit).collect();
        redacted.extend(std::iter::repeat_n('\n', short));
        redacted.extend(std::iter::repeat_n('\u{1}', long));
        redacted
    }

    pub(super) fn user(&self, user: &UserId) -> UserId {
        UserId::new(self.title(user.as_str()))
    }

    pub(super) fn trace(&self, TraceId { conversation, request }: &TraceId) -> TraceId {
        TraceId { conversation: ConversationId::new(self.name(conversation.as_str())), request: *request }
    }

    /// Redacts an input.
    pub(crate) fn input(&self, input: &Input) -> Input {
        match input {
            Input::SessionStart { user, identity } => Input::SessionStart {
                user: self.user(user),
                identity: identity.as_ref().map(|identity| Box::new(self.new_identity(identity))),
            },
            Input::UserMessage { user, text, scope } => Input::UserMessage {
                user: self.user(user),
                text: self.free_text(text),
                scope: self.scope(scope),
            },
            Input::Reply { call, report, summary_update, action, interaction } => Input::Reply {
                call: *call,
                report: self.report(report),
                summary_update: summary_update.as_ref().map(|update| self.update(update)),
                action: action.as_ref().map(|record| Box::new(self.record(record))),
                interaction: interaction.clone(),
            },
            Input::Write(write) => Input::Write(Box::new(self.write(write))),
            Input::Network(input) => Input::Network(Box::new(self.network_input(input))),
            Input::SessionEnd
            | Input::CallFailed { .. }
            | Input::Step
            | Input::Cancel
            | Input::Tick
            | Input::Resume => input.clone(),
        }
    }

    fn report(&self, report: &Report) -> Report {
        match report {
            Report::Context { ratings, traces } => {
                let past = |PastRequest { trace, text, scope }: &PastRequest| PastRequest {
                    trace: self.trace(trace),
                    text: self.free_text(text),
                    scope: self.scope(scope),
                };
                Report::Context { ratings: *ratings, traces: traces.iter().map(past).collect() }
            }
            Report::Classification { tags, similarity } => Report::Classification {
                tags: tags.iter().map(|tag| self.text(tag)).collect(),
                similarity: *similarity,
            },
            Report::Summary { text, forgets } => {
                Report::Summary { text: self.free_text(text), forgets: forgets.clone() }
            }
            Report::Plan(plan) => Report::Plan(self.plan(plan)),
            Report::Argument { argument, text, plan } => Report::Argument {
                argument: *argument,
                text: self.free_text(text),
                plan: plan.as_ref().map(|plan| self.plan(plan)),
            },
            Report::Approval { approved, text } => {
                Report::Approval { approved: *approved, text: self.free_text(text) }
            }
            Report::Repaired { text, plan } => {
                Report::Repaired { text: self.free_text(text), plan: self.plan(plan) }
            }
            Report::NoRepair { text } => Report::NoRepair { text: self.free_text(text) },
            // Averages read the number, so it stays.
            Report::Exit { code, text, number } => {
                Report::Exit { code: *code, text: self.free_text(text), number: *number }
            }
            Report::Identity { .. } | Report::Stored { .. } | Report::Delivered => report.clone(),
        }
    }

    fn plan(&self, plan: &Plan) -> Plan {
        let task = |task: &Task| Task {
            id: task.id,
            text: self.text(&task.text),
            effect: match &task.effect {
                Effect::Undoable { compensation } => {
                    Effect::Undoable { compensation: self.text(compensation) }
                }
                Effect::Pure | Effect::Irreversible => task.effect.clone(),
            },
            depends_on: task.depends_on.clone(),
            scope: task.scope.as_ref().map(|scope| self.scope(scope)),
            step: self.step(&task.step),
        };
        let tasks = plan.tasks().iter().map(task).collect();
        let redacted = Plan::new(tasks).expect("unchanged task ids are a valid plan");
        match plan.aggregation() {
            Some(aggregation) => redacted.with_aggregation(*aggregation),
            None => redacted,
        }
    }

    /// Redacts the metadata of a task. The names of nodes and capabilities stay.
    fn step(&self, step: &StepOptions) -> StepOptions {
        let metadata = step.metadata.iter().map(|(key, value)| (key.clone(), self.text(value))).collect();
        StepOptions { metadata, ..step.clone() }
    }

    /// Redacts the names in an event. The kernel creates its other texts.
    pub(super) fn event(&self, mut event: Event) -> Event {
        match &mut event {
            Event::SessionStarted { user } => *user = self.user(user),
            Event::UserMsg { user, text, scope, .. } => {
                *user = self.user(user);
                *text = self.free_text(text);
                *scope = self.scope(scope);
            }
            Event::ToolResult { report, .. } => *report = self.report(report),
            Event::PlanAdopted { plan, .. } => *plan = self.plan(plan),
            Event::ActionRecorded { record, .. } => *record = self.record(record),
            Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => *item = self.item(item),
            Event::Network(NetworkEvent::ResultsAggregated { aggregate }) => {
                if let AggregateAnswer::Text(text) = &mut aggregate.answer {
                    *text = self.text(text);
                }
            }
            Event::FinalAnswer { trace, .. } => *trace = self.trace(trace),
            Event::MemoryRecorded { record } => {
                record.trace = self.trace(&record.trace);
                record.scope = self.scope(&record.scope);
            }
            Event::AuditRecorded { record } => {
                record.trace = self.trace(&record.trace);
                record.user = self.user(&record.user);
            }
            _ => {}
        }
        event
    }
}
