//! Turns of the conversation.

use super::{ItemOrigin, RESERVED_PREFIX, Session, user_fact};
use crate::input::TurnInput;
use crate::tagged_text::TaggedText;
use orchestrion_kernel::Text;
use orchestrion_kernel::item::Audience;
use orchestrion_kernel::knowledge::Write;

impl Session<'_> {
    /// Appends a turn, and writes its statements to the working set; those with a restricted audience as facts.
    pub fn add_turn(&mut self, input: TurnInput) {
        let TurnInput { speaker, text, at } = input;
        let mut conversation = std::mem::take(&mut self.conversation);
        let number = conversation.turns().len() + 1;
        let turn = conversation.add_turn(speaker, text, at);
        let (source, audience) = (self.speaker_source(turn.rank), turn.audience.clone());
        for (i, statement) in turn.statements.iter_mut().enumerate() {
            let name = format!("{RESERVED_PREFIX}turn {number}, statement {}", i + 1);
            let key = Text::from(name.as_str());
            let write = if audience == Audience::Everybody {
                let text = Text::from(statement.text.as_str());
                Write::Working { key, text, expires_at: None, depends_on: Vec::new() }
            } else {
                let tagged = TaggedText { audience: audience.clone(), ..TaggedText::parse(&statement.text) };
                Write::Fact(user_fact(key, &tagged, source.clone(), at))
            };
            let origin = ItemOrigin { is_from_user: true, is_quoted: true, ..ItemOrigin::default() };
            statement.item = self.write(&name, &write, origin);
        }
        self.conversation = conversation;
    }
}
