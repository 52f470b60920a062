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
        by: Vec<Judge>,
    },
    /// No switch can be written around it, or its function must be `const`.
    NotTried,
    /// It does not compile.
    NotCompiling,
}

/// The judges that let a mutant pass, or `None` if no judge can change its outcome.
fn passed(earlier: Option<&Outcome>) -> Option<&[Judge]> {
    match earlier {
        None => Some(&[]),
        Some(Outcome::Missed { by }) => Some(by),
        Some(
            Outcome::Detected { .. }
            | Outcome::TookTooLong { .. }
            | Outcome::NotTried
            | Outcome::NotCompiling,
        ) => None,
    }
}

/// Whether one of these judges was not asked and can change the outcome.
#[must_use]
pub fn is_open(earlier: Option<&Outcome>, suites: &[Suite]) -> bool {
    passed(earlier).is_some_and(|passed| suites.iter().any(|suite| !passed.contains(&suite.judge())))
}

/// A mutant with its outcome.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Judged {
    /// The mutant.
    pub mutant: MutantName,
    /// What happened to it.
    pub outcome: Outcome,
}

/// Asks the judges in their order, until one detects the mutant. Those that let it pass earlier are not asked again.
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
    let mut passed = passed(earlier).unwrap_or_default().to_vec();
    for suite in suites {
        let by = suite.judge();
        if passed.contains(&by) {
            continue;
        }
        match suite.find(mutant.number, Until::FirstFailure)? {
            Finding::Nothing => passed.push(by),
            Finding::Failures(names) => return Ok(Outcome::Detected { by, names }),
            Finding::Stopped(reason) => return Ok(Outcome::Detected { by, names: vec![reason] }),
            Finding::TookTooLong => return Ok(Outcome::TookTooLong { by }),
        }
    }
    Ok(Outcome::Missed { by: passed })
}
