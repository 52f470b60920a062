//! Expectations of claims of the project. What judges these claims reads their files, so it states here what it found.

use super::unmet;
use crate::expect::{ExpectedClaim, ScenarioExpectFile};
use miette::SourceSpan;
use orchestrion_yaml::{ReadError, Source};

/// The claims of the project that a scenario names.
#[derive(Clone, Debug)]
pub struct ProjectClaims {
    expect: ScenarioExpectFile,
    source: Source,
}

impl ProjectClaims {
    pub(super) const fn new(expect: ScenarioExpectFile, source: Source) -> Self {
        Self { expect, source }
    }

    /// The claims with their places, and whether each is expected to hold.
    fn expected(&self) -> impl Iterator<Item = (&str, Option<SourceSpan>, bool)> {
        let lists = [(&self.expect.holds, true), (&self.expect.fails, false)].into_iter();
        let claims = lists.flat_map(|(claims, holds)| claims.iter().map(move |claim| (claim, holds)));
        claims.filter_map(|(claim, holds)| match &claim.value {
            ExpectedClaim::Catalog(_) => None,
            ExpectedClaim::Project(id) => Some((id.as_str(), claim.span(), holds)),
        })
    }

    /// Whether a claim is expected to fail.
    #[must_use]
    pub fn expects_failure(&self, id: &str) -> bool {
        self.expected().any(|(claim, _, holds)| !holds && claim == id)
    }

    /// Returns an error for each claim that is unknown, or that holds against the expectation. `is_violated` returns `None` for an unknown
    /// claim. One that fails against the expectation is a violation, as it is in a scenario that does not name it.
    pub fn unmet(&self, is_violated: impl Fn(&str) -> Option<bool>) -> Vec<ReadError> {
        let judge = |(id, span, holds): (&str, _, bool)| {
            let expected = if holds { "to hold" } else { "to fail" };
            let found = match is_violated(id) {
                None => "no such claim in the project",
                Some(false) if !holds => "it violated in no step",
                Some(_) => return None,
            };
            let error = unmet(&format!("claim {id}"), expected, found, span);
            Some(ReadError::in_source(&self.source, error))
        };
        self.expected().filter_map(judge).collect()
    }
}
