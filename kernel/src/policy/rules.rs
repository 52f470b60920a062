//! The rules that depart from 004's drawing.

macro_rules! rules {
    ($($(#[$doc:meta])* $variant:ident, $field:ident, $findings:literal;)*) => {
        /// A rule that departs from 004's drawing. Each may be in force or not.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(#[$doc])* $variant,)*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name in a policy file.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($field),)* }
            }

            /// The findings of the design that it closes; empty if it closes none.
            #[must_use]
            pub const fn findings(self) -> &'static str {
                match self { $(Self::$variant => $findings,)* }
            }
        }

        /// Which rules are in force.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
        pub struct Rules {
            $($(#[$doc])* pub $field: bool,)*
        }

        impl Rules {
            /// All rules in force, or none.
            #[must_use]
            pub const fn all(on: bool) -> Self {
                Self { $($field: on,)* }
            }

            /// Whether a rule is in force.
            #[must_use]
            pub const fn has(&self, rule: Rule) -> bool {
                match rule { $(Rule::$variant => self.$field,)* }
            }

            /// Puts a rule in force or out of it.
            pub const fn set(&mut self, rule: Rule, on: bool) {
                match rule { $(Rule::$variant => self.$field = on,)* }
            }
        }
    };
}

rules! {
    /// An identity mismatch is audited and answered instead of halting.
    AuditedAbort, audited_abort, "F1";
    /// A rollback that is complete is stored and audited instead of being a dead end.
    RollbackEnds, rollback_ends, "F2";
    /// A veto in any pass holds; otherwise Security's latest argument decides.
    StickyVeto, sticky_veto, "F6";
    /// A veto ends the debate instead of leaving it to spend its passes.
    VetoEndsDebate, veto_ends_debate, "F11";
    /// The decision and the audit name Security's objection to the plan that runs.
    NamedObjections, named_objections, "F7";
    /// Proceeding below the line has a label of its own.
    BelowThresholdLabel, below_threshold_label, "F8";
    /// Only a revision that Security read last and the consensus scored may run.
    ClearedRevisions, cleared_revisions, "F9 F10";
    /// The audit says what each store really holds.
    RecordedStores, recorded_stores, "F12";
    /// Blocked, rolled back and aborted requests are stored as such.
    TypedKinds, typed_kinds, "F13";
    /// A call that gives no answer has a row.
    ErrorRows, error_rows, "F14";
    /// The audit lists every started effect.
    EffectsLedger, effects_ledger, "F15";
    /// After the audit the next request is accepted.
    NextRequest, next_request, "F16";
    /// The user may cancel.
    Cancel, cancel, "";
    /// An approver is asked before a plan runs. Off unless a policy wants one.
    Approver, approver, "";
    /// When what is known has grown, several items are summarized in one.
    Compaction, compaction, "";
    /// Constraints are summarized as well. Off unless a policy wants it.
    CompactedConstraints, compacted_constraints, "";
    /// What rested on something that was summarized rests on the summary; without it, on nothing instead (000 §6).
    RepointedDependents, repointed_dependents, "";
}
