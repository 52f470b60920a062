//! Turns of a conversation: their statements, and the tasks that they open and close.
//!
//! Only the user makes statements. Questions state nothing, suppositions neither. An interruption is a task of its own, from its
//! cue to the words that resume the first task.

use crate::pattern::compile;
use crate::ranks::rank_of_title;
use crate::stems::{Stems, sentences};
use crate::tagged_text::TaggedText;
use orchestrion_kernel::item::{Audience, Rank};
use orchestrion_kernel::{ItemId, Timestamp};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The beginning of a turn that interrupts the current task.
static INTERRUPTS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^(hold on|one moment|one sec|quick interruption|sorry to interrupt|before we continue)\b\s*[-,.:!]",
    )
});

/// Words that resume the first task.
static RESUMES: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?i)\b(back to|returning to|continu(e|ing)\b|resum(e|ing)\b|where were we)"));

/// Words of a supposition or a draft.
static SUPPOSES: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(could|might|maybe|perhaps|what if|suppose|hypothetical(ly)?|theoretical(ly)?|tentative(ly)?|draft|brainstorm\w*|exploratory)\b",
    )
});

/// The index of a task of the conversation: 0 for the first, the next for each interruption.
pub type TaskIndex = usize;

/// The speaker of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The session user.
    User,
    /// The system.
    Assistant,
}

/// The turns so far.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    turns: Vec<TurnRecord>,
    open: TaskIndex,
    interruptions: usize,
}

/// A turn with its statements.
#[derive(Clone, Debug)]
pub struct TurnRecord {
    /// The speaker.
    pub speaker: Speaker,
    /// The time.
    pub at: Timestamp,
    /// The text without a name before it.
    pub text: String,
    /// The stems of the text.
    pub stems: Stems,
    /// The permitted readers.
    pub audience: Audience,
    /// The rank of the person that the turn names, if any.
    pub rank: Option<Rank>,
    /// The task of the turn.
    pub task: TaskIndex,
    /// The statements.
    pub statements: Vec<Statement>,
}

/// A sentence that states something.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The sentence.
    pub text: String,
    /// The stems of the sentence.
    pub stems: Stems,
    /// The item that holds the statement, once it is written.
    pub item: Option<ItemId>,
}

impl TurnRecord {
    /// The statements as one text.
    #[must_use]
    pub fn stated_text(&self) -> String {
        self.statements.iter().map(|statement| statement.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

impl Conversation {
    /// The turns, in order.
    #[must_use]
    pub fn turns(&self) -> &[TurnRecord] {
        &self.turns
    }

    /// Whether the first task was interrupted.
    #[must_use]
    pub const fn has_interruption(&self) -> bool {
        self.interruptions > 0
    }

    /// Returns the task that a query concerns: the open one, unless only turns of the first task share a word with the query.
    #[must_use]
    pub fn task_of(&self, query: &Stems) -> TaskIndex {
        let mut is_mentioned = BTreeMap::new();
        for turn in &self.turns {
            *is_mentioned.entry(turn.task).or_insert(false) |= turn.stems.intersects(query);
        }
        let is_mentioned = |task: &TaskIndex| is_mentioned.get(task).copied().unwrap_or_default();
        if !is_mentioned(&self.open) && is_mentioned(&0) { 0 } else { self.open }
    }

    /// Appends a turn. The caller writes the statements and sets their items.
    pub(crate) fn add_turn(
        &mut self,
        speaker: Speaker,
        tagged: TaggedText,
        at: Timestamp,
    ) -> &mut TurnRecord {
        static NAME: LazyLock<Regex> = LazyLock::new(|| compile(r"^\[([^\]]*)\]:\s*"));
        // Tags are parsed before the name. A restriction that were taken for a name would have no effect.
        let TaggedText { text: full, audience, scope, is_retracted, .. } = tagged;
        let name = NAME.captures(&full);
        let text = name.as_ref().map_or(full.as_str(), |found| &full[found[0].len()..]).to_string();
        let rank = name.map(|found| rank_of_title(&found[1]));
        let opens = INTERRUPTS.is_match(&text);
        let closes = self.open != 0 && RESUMES.is_match(&text);
        if opens {
            self.interruptions += 1;
            self.open = self.interruptions;
        }
        let is_cue = opens || closes;
        let states = speaker == Speaker::User && scope.is_none() && !is_retracted && !is_cue;
        let statements = if states { statements(&text) } else { Vec::new() };
        let stems = Stems::from_text(&text);
        let task = self.open;
        if closes {
            self.open = 0;
        }
        self.turns.push(TurnRecord { speaker, at, text, stems, audience, rank, task, statements });
        let last = self.turns.len() - 1;
        &mut self.turns[last]
    }
}

/// Returns the sentences that state something.
fn statements(text: &str) -> Vec<Statement> {
    let states = |sentence: &&str| !sentence.ends_with('?') && !SUPPOSES.is_match(sentence);
    let statement = |sentence: &str| {
        let stems = Stems::from_text(sentence);
        (!stems.is_empty()).then(|| Statement { text: sentence.to_string(), stems, item: None })
    };
    sentences(text).into_iter().filter(states).filter_map(statement).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(texts: &[&str]) -> Conversation {
        let mut conversation = Conversation::default();
        for text in texts {
            conversation.add_turn(Speaker::User, TaggedText::parse(text), Timestamp::default());
        }
        conversation
    }

    fn stated(text: &str) -> String {
        conversation(&[text]).turns()[0].stated_text()
    }

    #[test]
    fn interruption_opens_a_task_until_resumed() {
        let conversation = conversation(&[
            "The roof is red",
            "Hold on - the door",
            "Door: blue",
            "Back to the roof",
            "It is steep",
        ]);
        let tasks: Vec<_> = conversation.turns().iter().map(|turn| (turn.task, turn.stated_text())).collect();
        let expected = [(0, "The roof is red"), (1, ""), (1, "Door: blue"), (1, ""), (0, "It is steep")];
        assert_eq!(tasks, expected.map(|(task, text)| (task, text.to_string())));
        assert!(conversation.has_interruption());
    }

    #[test]
    fn cue_words_inside_a_sentence_open_no_task() {
        assert!(!conversation(&["Please hold on to it", "Hold on to it"]).has_interruption());
        assert_eq!(stated("Back to the roof"), "Back to the roof", "no task was interrupted");
    }

    #[test]
    fn question_about_first_task_resumes_it() {
        let conversation = conversation(&["The roof is red", "One moment, the door", "Door: blue"]);
        assert_eq!(conversation.task_of(&Stems::from_text("Which roof?")), 0);
        assert_eq!(conversation.task_of(&Stems::from_text("Which door?")), 1);
        assert_eq!(conversation.task_of(&Stems::from_text("Which hat?")), 1);
    }

    #[test]
    fn questions_and_suppositions_state_nothing() {
        assert_eq!(stated("The roof is red. What did Bo pay? It is steep."), "The roof is red. It is steep.");
        assert_eq!(stated("We could paint it. Paint is cheap."), "Paint is cheap.");
        assert_eq!(stated("Suppose it rains. Hypothetically, we leave."), "");
        assert_eq!(stated("[SCOPE: what-if]: Bread is out"), "");
    }

    #[test]
    fn assistant_states_nothing() {
        let mut conversation = Conversation::default();
        let text = TaggedText::parse("The roof is red.");
        assert!(conversation.add_turn(Speaker::Assistant, text, Timestamp::default()).statements.is_empty());
    }

    #[test]
    fn tag_before_a_turn_is_no_name() {
        let hr = Audience::Permitted("hr".into());
        for text in ["[RESTRICTED: HR]: Bread is out", "[RESTRICTED: HR] [Bo (Baker)]: Bread is out"] {
            let conversation = conversation(&[text]);
            let turn = &conversation.turns()[0];
            assert_eq!((turn.text.as_str(), &turn.audience), ("Bread is out", &hr), "{text}");
        }
        let named = conversation(&["[Bo (Baker)]: Bread is out"]);
        assert_eq!(
            (named.turns()[0].text.as_str(), named.turns()[0].rank),
            ("Bread is out", Some(Rank::Employee))
        );
    }
}
