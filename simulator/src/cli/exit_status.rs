//! Exit codes, defined once.
//!
//! A command over many inputs exits with 1 if one input failed; else with 2 if every input is unusable; else with 3 if
//! one input is unusable or its result incomplete; else with 0.

/// Result of a command, as the process reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitStatus {
    /// Code 0: everything checked holds.
    Success,
    /// Code 1: a check failed.
    Failure,
    /// Code 2: nothing was checked, because of a usage error or an unreadable input.
    Error,
    /// Code 3: nothing failed, but something is unreadable, inconclusive or vacuous, or a waiver expired.
    Incomplete,
}

impl ExitStatus {
    /// Combines the statuses of several inputs.
    pub(super) fn combine(statuses: &[Self]) -> Self {
        let has = |status| statuses.contains(&status);
        if has(Self::Failure) {
            Self::Failure
        } else if !statuses.is_empty() && statuses.iter().all(|status| *status == Self::Error) {
            Self::Error
        } else if has(Self::Incomplete) || has(Self::Error) {
            Self::Incomplete
        } else {
            Self::Success
        }
    }

    /// Returns the exit code.
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Error => 2,
            Self::Incomplete => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ExitStatus::{self, Error, Failure, Incomplete, Success};

    #[test]
    fn statuses_combine_by_precedence() {
        for (statuses, expected) in [
            (&[][..], Success),
            (&[Success, Incomplete, Error, Failure], Failure),
            (&[Error, Error], Error),
            (&[Success, Error], Incomplete),
            (&[Success, Incomplete], Incomplete),
            (&[Success, Success], Success),
        ] {
            assert_eq!(ExitStatus::combine(statuses), expected, "{statuses:?}");
        }
    }
}
