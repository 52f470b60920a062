//! Notes of the working set (003 layer 3).

use super::{ItemOrigin, RESERVED_PREFIX, Session, user_fact};
use crate::input::NoteInput;
use crate::stems::Stems;
use orchestrion_kernel::Text;
use orchestrion_kernel::item::ItemKey;
use orchestrion_kernel::knowledge::Write;

impl Session<'_> {
    /// Writes a note. It replaces the note with its key.
    pub fn write_note(&mut self, input: &NoteInput) {
        let NoteInput { key, text, at, expires_at } = input;
        let is_public = text.is_public();
        let (note_key, fact_key) =
            (Text::from(key.as_str()), Text::from(format!("{RESERVED_PREFIX}working set: {key}")));
        let (note, fact) = (ItemKey::Working(note_key.clone()), ItemKey::Fact(fact_key.clone()));
        let replaced = [self.valid(&note), self.valid(&fact)];
        let write = if is_public {
            let text = Text::from(text.text.as_str());
            Write::Working { key: note_key, text, expires_at: *expires_at, depends_on: Vec::new() }
        } else {
            if let Err(diagnostic) = self.check_expiry(*expires_at) {
                return self.report(key, diagnostic);
            }
            Write::Fact(user_fact(fact_key, text, self.speaker_source(None), *at))
        };
        let stems = Stems::from_text(&text.text);
        self.write(key, &write, ItemOrigin { is_quoted: !is_public, stems, ..ItemOrigin::default() });
        let item = if is_public { note } else { fact };
        if !is_public {
            self.set_key_expiry(&item, *expires_at);
        }
        self.replace(&replaced, &item, text.is_retracted);
    }
}
