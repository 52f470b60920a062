//! Predicates outside of a claim file: a matcher of events alone.

use crate::claim::{SegmentRule, UserClaim, Window, kinds};
use crate::enforcement::Enforcement;
use crate::format::{MatcherFormat, PatternFormat};
use crate::pattern::Pattern;
use crate::sentence::sentence;
use orchestrion_yaml::{ReadError, Source};

impl UserClaim {
    /// Reads a matcher, in the syntax of claim files, as the claim that no event of a conversation matches it. A violation is then a witness
    /// of the matcher. `name` is what errors call the text.
    ///
    /// # Errors
    /// The text is no matcher, or names an unknown event, field or value.
    pub fn never(name: &str, text: &str) -> Result<Self, ReadError> {
        let source = Source::from_text(name, text)?;
        let format: MatcherFormat = source.parse()?;
        let span = format.span();
        let pattern = Pattern::build(&PatternFormat::Never(format))
            .map_err(|error| ReadError::in_source(&source, error))?;
        let (window, segment) = (Window::Conversation, SegmentRule::All);
        Ok(Self {
            id: "never".to_owned(),
            sentence: sentence(Enforcement::None, window, &segment, None, &pattern),
            why: None,
            span,
            place: name.to_owned(),
            enforcement: Enforcement::None,
            kinds: kinds(window, &segment, None, &pattern),
            window,
            segment,
            assume: None,
            pattern,
        })
    }
}
