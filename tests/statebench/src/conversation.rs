//! What was said: turns, the tasks that they open and close, and what they state.
//!
//! Only the user states anything; the other side repeats. Who asks states nothing, and what is only supposed is in a scope of
//! its own, where no context looks. An interruption is a task of its own, from its cue to the words that resume the first.

use super::diagnostic::WriteDiagnostic;
use super::import::{Imported, import_on};
use super::ranks;
use super::stems::{Stems, pattern, sentences};
use super::timeline::{Speaker, Turn};
use orchestrion_kernel::item::{Audience, Rank};
use orchestrion_kernel::{ItemId, Timestamp};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// How a turn begins that interrupts what was being done.
static INTERRUPTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(hold on|one moment|one sec|quick interruption|sorry to interrupt|before we continue)\b\s*[-,.:!]",
    )
});

/// What a turn says that resumes it.
static RESUMES: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(back to|returning to|continu(e|ing)\b|resum(e|ing)\b|where were we)"));

/// Words of a supposition or a draft.
static SUPPOSES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(could|might|maybe|perhaps|what if|suppose|hypothetical(ly)?|theoretical(ly)?|tentative(ly)?|draft|brainstorm\w*|exploratory)\b",
    )
});

/// A task of the conversation: 0 is the one that it began with, every interruption opens the next.
pub(super) type Task = usize;

/// The turns so far.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    turns: Vec<TurnRecord>,
    open: Task,
    tasks: Task,
}

/// A turn, as it counts for what is known.
#[derive(Clone, Debug)]
pub struct TurnRecord {
    /// Who spoke.
    pub speaker: Speaker,
    /// When.
    pub at: Timestamp,
    /// What was said, without the speaker's name before it.
    pub text: String,
    /// Its stems.
    pub stems: Stems,
    /// Who may hear it.
    pub audience: Audience,
    /// The rank of whoever said it, if the turn names somebody.
    pub rank: Option<Rank>,
    /// The task in which it was said.
    pub(super) task: Task,
    /// What it states.
    pub(super) statements: Vec<Statement>,
}

/// A sentence that states something: an item of the working set.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) text: String,
    pub(super) stems: Stems,
    /// Under which id it is known, once it was written.
    pub(super) item: Option<ItemId>,
}

impl TurnRecord {
    /// Whether the user said it.
    #[must_use]
    pub fn is_users(&self) -> bool {
        self.speaker == Speaker::User
    }

    /// What it states, as one text.
    #[must_use]
    pub fn stated(&self) -> String {
        self.statements.iter().map(|statement| statement.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

impl Conversation {
    /// Every turn, in order.
    #[must_use]
    pub fn turns(&self) -> &[TurnRecord] {
        &self.turns
    }

    /// Whether what was done first was ever interrupted.
    pub(super) const fn was_interrupted(&self) -> bool {
        self.tasks > 0
    }

    /// Hears a turn. What it states is to be written by the caller, who then says the ids.
    ///
    /// # Errors
    /// It says of itself that it does not hold, or is in no known scope: then nobody heard it.
    pub(super) fn add_turn(&mut self, turn: &Turn) -> Result<&mut TurnRecord, WriteDiagnostic> {
        static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\[([^\]]*)\]:\s*"));
        // Tags are read first: one that is taken for the name of whoever speaks would hide nothing.
        let Imported { text: told, audience, scope, retracted, .. } =
            import_on(turn.terms(), "turn", &turn.text)?;
        let named = NAME.captures(&told);
        let text = named.as_ref().map_or(told.as_str(), |found| &told[found[0].len()..]).to_string();
        let rank = named.map(|found| ranks::of_title(&found[1]));
        let opens = INTERRUPTS.is_match(&text);
        let closes = self.open != 0 && RESUMES.is_match(&text);
        if opens {
            self.tasks += 1;
            self.open = self.tasks;
        }
        // What opens or closes a task states nothing, nor does what counts elsewhere or was taken back.
        let counts = scope.is_none() && !retracted;
        let states = turn.speaker == Speaker::User && counts && !opens && !closes;
        let statements = if states { statements(&text) } else { Vec::new() };
        let stems = Stems::of(&text);
        let (speaker, at, task) = (turn.speaker, turn.at.0, self.open);
        let said = TurnRecord { speaker, at, text, stems, audience, rank, task, statements };
        if closes {
            self.open = 0;
        }
        self.turns.push(said);
        let last = self.turns.len() - 1;
        Ok(&mut self.turns[last])
    }

    /// The task that a question is about: the open one, unless the question speaks only of the first; then it resumes that.
    pub(super) fn task_of(&self, question: &Stems) -> Task {
        let mut about = BTreeMap::new();
        for turn in &self.turns {
            *about.entry(turn.task).or_insert(false) |= turn.stems.meet(question);
        }
        let speaks_of = |task: &Task| about.get(task).copied().unwrap_or_default();
        if !speaks_of(&self.open) && speaks_of(&0) { 0 } else { self.open }
    }
}

/// The sentences that state something.
fn statements(text: &str) -> Vec<Statement> {
    let states = |sentence: &&str| !sentence.ends_with('?') && !SUPPOSES.is_match(sentence);
    let statement = |sentence: &str| {
        let stems = Stems::of(sentence);
        (!stems.is_empty()).then(|| Statement { text: sentence.to_string(), stems, item: None })
    };
    sentences(text).into_iter().filter(states).filter_map(statement).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(speaker: Speaker, text: &str) -> Turn {
        let told = serde_json::json!({"ts": "1970-01-01T00:00:00", "speaker": "user", "text": text});
        Turn { speaker, ..serde_json::from_value(told).unwrap() }
    }

    fn heard(texts: &[&str]) -> Conversation {
        let mut conversation = Conversation::default();
        for text in texts {
            conversation.add_turn(&turn(Speaker::User, text)).unwrap();
        }
        conversation
    }

    fn stated(text: &str) -> String {
        heard(&[text]).turns()[0].stated()
    }

    #[test]
    fn an_interruption_opens_a_task_and_is_closed_by_coming_back() {
        let conversation = heard(&[
            "The roof is red",
            "Hold on - the door",
            "Door: blue",
            "Back to the roof",
            "It is steep",
        ]);
        let tasks: Vec<_> = conversation.turns().iter().map(|turn| (turn.task, turn.stated())).collect();
        let cue = String::new();
        let stated = |task: Task, text: &str| (task, text.to_string());
        let expected = [stated(0, "The roof is red"), (1, cue.clone()), stated(1, "Door: blue"), (1, cue)];
        assert_eq!(tasks[..4], expected, "a cue states nothing");
        assert_eq!(tasks[4], stated(0, "It is steep"));
        assert!(conversation.was_interrupted());
    }

    #[test]
    fn words_of_an_interruption_inside_a_sentence_open_nothing() {
        assert!(!heard(&["Please hold on to it", "Hold on to it"]).was_interrupted());
        assert_eq!(stated("Back to the roof"), "Back to the roof", "nothing was open");
    }

    #[test]
    fn a_question_that_speaks_only_of_the_first_task_resumes_it() {
        let conversation = heard(&["The roof is red", "One moment, the door", "Door: blue"]);
        assert_eq!(conversation.task_of(&Stems::of("Which roof?")), 0);
        assert_eq!(conversation.task_of(&Stems::of("Which door?")), 1);
        assert_eq!(conversation.task_of(&Stems::of("Which hat?")), 1);
    }

    #[test]
    fn whoever_asks_states_nothing() {
        assert_eq!(stated("The roof is red. What did Bo pay? It is steep."), "The roof is red. It is steep.");
    }

    #[test]
    fn what_is_only_supposed_is_not_stated() {
        assert_eq!(stated("We could paint it. Paint is cheap."), "Paint is cheap.");
        assert_eq!(stated("Suppose it rains. Hypothetically, we leave."), "");
    }

    #[test]
    fn the_assistant_states_nothing() {
        let mut conversation = Conversation::default();
        assert_eq!(
            conversation.add_turn(&turn(Speaker::Assistant, "The roof is red.")).unwrap().stated(),
            ""
        );
    }

    #[test]
    fn a_tag_before_a_turn_is_no_name() {
        let hr = Audience::Permitted("hr".into());
        for text in ["[RESTRICTED: HR]: Bread is out", "[RESTRICTED: HR] [Bo (Baker)]: Bread is out"] {
            let conversation = heard(&[text]);
            let said = &conversation.turns()[0];
            assert_eq!((said.text.as_str(), &said.audience), ("Bread is out", &hr), "{text}");
        }
        assert_eq!(stated("[SCOPE: what-if]: Bread is out"), "");
    }

    #[test]
    fn the_name_before_a_turn_is_the_speaker() {
        assert_eq!(heard(&["[Bo (Baker)]: Bread is out"]).turns()[0].text, "Bread is out");
    }
}
