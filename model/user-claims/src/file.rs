//! Reading claim files.

use crate::claim::{MAX_CLAIMS, UserClaim};
use crate::format::ClaimsFormat;
use orchestrion_yaml::{LabeledError, ReadError, Source, schema_of};
use std::path::Path;

/// A claim file that was read.
#[derive(Debug)]
pub struct ClaimFile {
    source: Source,
    /// The claims, in the order of the file.
    pub claims: Vec<UserClaim>,
}

impl ClaimFile {
    /// Reads a claim file.
    ///
    /// # Errors
    /// The file cannot be read, or is not valid.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        Self::from_source(Source::read(path)?)
    }

    /// Reads claims from a text. `name` is the path for errors.
    ///
    /// # Errors
    /// The text is no valid claim file.
    pub fn parse(name: &str, text: &str) -> Result<Self, ReadError> {
        Self::from_source(Source::from_text(name, text)?)
    }

    fn from_source(source: Source) -> Result<Self, ReadError> {
        let format: ClaimsFormat = source.parse()?;
        match build(&source, &format) {
            Ok(claims) => Ok(Self { source, claims }),
            Err(error) => Err(ReadError::in_source(&source, error)),
        }
    }

    /// Returns an error in this file.
    #[must_use]
    pub fn error(&self, error: LabeledError) -> ReadError {
        ReadError::in_source(&self.source, error)
    }
}

fn build(source: &Source, format: &ClaimsFormat) -> Result<Vec<UserClaim>, LabeledError> {
    let list = &format.claims;
    if list.value.is_empty() || list.value.len() > MAX_CLAIMS {
        let error = LabeledError::new(
            format!("expected 1 to {MAX_CLAIMS} claims, found {}", list.value.len()),
            "write a claim, or remove the file; more claims need a second project",
        );
        return Err(error.with_label(list.span(), "claims"));
    }
    let mut claims: Vec<UserClaim> = Vec::new();
    for claim in &list.value {
        let line = claim.value.id.span().map_or(0, |span| source.line(span.offset()));
        let built = UserClaim::build(&claim.value, format!("{}:{line}", source.name()))?;
        if let Some(twin) = claims.iter().find(|known| known.id == built.id) {
            let error = LabeledError::new(format!("duplicate id `{}`", built.id), "rename one of the two");
            return Err(error.with_label(twin.span, "first").with_label(built.span, "second"));
        }
        claims.push(built);
    }
    Ok(claims)
}

/// Returns the JSON Schema of claim files.
#[must_use]
pub fn claim_schema() -> serde_json::Value {
    schema_of::<ClaimsFormat>("Orchestrion claims")
}
