//! What happens to a mutant: who detects it, if anything does.

use super::compile::Excluded;
use super::list::{Mutant, MutantName};
use crate::judges::{Finding, Judge};
use crate::suite::{Suite, Until};
use serde::{Deserialize, Serialize};
use std::io;

/// What happened to a mutant.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A judge fails with it: the test, the claims, or the reason why there is no result.
    Detected {
        /// The judge.
        by: Judge,
        /// The failing test or claims.
        names: Vec<String>,
    },
    /// With it, a run of this judge does not end in time.
    TookTooLong {
        /// The judge.
        by: Judge,
    },
    /// Nothing fails.
    Missed {
        /// The judges that were asked.
        judges: Vec<Judge>,
    },
    /// No switch can be written around it, or its function must be `const`.
    NotTried,
    /// It does not compile.
    NotCompiling,
}

/// The judges that were asked and did not detect the mutant, or `None` if its outcome is final.
fn judges_asked(earlier: Option<&Outcome>) -> Option<&[Judge]> {
    match earlier {
        None => Some(&[]),
        Some(Outcome::Missed { judges }) => Some(judges),
        Some(
            Outcome::Detected { .. }
            | Outcome::TookTooLong { .. }
            | Outcome::NotTried
            | Outcome::NotCompiling,
        ) => None,
    }
}

/// Whether the outcome is not final, and one of these judges was not asked.
#[must_use]
pub fn has_judge_to_ask(earlier: Option<&Outcome>, judges: &[Judge]) -> bool {
    judges_asked(earlier).is_some_and(|asked| judges.iter().any(|judge| !asked.contains(judge)))
}

/// A mutant with its outcome.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Judged {
    /// The mutant.
    pub mutant: MutantName,
    /// What happened to it.
    pub outcome: Outcome,
}

/// Asks the judges in their order, until one detects the mutant. Skips those that did not detect it in an earlier run.
///
/// # Errors
/// A program cannot be started.
pub fn judge(
    mutant: &Mutant,
    excluded: &Excluded,
    suites: &[Suite],
    earlier: Option<&Outcome>,
) -> io::Result<Outcome> {
    if excluded.not_compiling.contains(&mutant.number) {
        return Ok(Outcome::NotCompiling);
    }
    if excluded.contains(mutant.number) {
        return Ok(Outcome::NotTried);
    }
    let mut asked = judges_asked(earlier).unwrap_or_default().to_vec();
    for suite in suites {
        let by = suite.judge();
        if asked.contains(&by) {
            continue;
        }
        match suite.find(mutant.number, Until::FirstFailure)? {
            Finding::Nothing => asked.push(by),
            Finding::Failures(names) => return Ok(Outcome::Detected { by, names }),
            Finding::Stopped(reason) => return Ok(Outcome::Detected { by, names: vec![reason] }),
            Finding::TookTooLong => return Ok(Outcome::TookTooLong { by }),
        }
    }
    Ok(Outcome::Missed { judges: asked })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_run_asks_only_other_judges() {
        let (tests, check) = (Judge::KernelTests, Judge::Check);
        assert!(has_judge_to_ask(None, &[tests]));
        let missed = Outcome::Missed { judges: vec![tests] };
        assert!(!has_judge_to_ask(Some(&missed), &[tests]));
        assert!(has_judge_to_ask(Some(&missed), &[tests, check]));
        for end in [
            Outcome::Detected { by: tests, names: Vec::new() },
            Outcome::TookTooLong { by: tests },
            Outcome::NotTried,
            Outcome::NotCompiling,
        ] {
            assert!(!has_judge_to_ask(Some(&end), &[check]), "{end:?}");
        }
    }
}
