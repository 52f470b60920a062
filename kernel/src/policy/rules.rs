//! Rules: the switchable departures from 004's drawing.

macro_rules! rules {
    ($($(#[$doc:meta])* $variant:ident, $field:ident, $findings:literal;)*) => {
        /// A switchable departure from 004's drawing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(#[$doc])* $variant,)*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the name in a policy file.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($field),)* }
            }

            /// Returns the findings that it prevents, separated by spaces; empty if none.
            #[must_use]
            pub const fn findings(self) -> &'static str {
                match self { $(Self::$variant => $findings,)* }
            }
        }

        /// The enabled rules.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
        pub struct Rules {
            $($(#[$doc])* pub $field: bool,)*
        }

        impl Rules {
            /// Enables all rules, or none.
            #[must_use]
            pub const fn all(on: bool) -> Self {
                Self { $($field: on,)* }
            }

            /// Returns whether a rule is enabled.
            #[must_use]
            pub const fn has(&self, rule: Rule) -> bool {
                match rule { $(Rule::$variant => self.$field,)* }
            }

            /// Enables or disables a rule.
            pub const fn set(&mut self, rule: Rule, on: bool) {
                match rule { $(Rule::$variant => self.$field = on,)* }
            }
        }
    };
}

rules! {
    /// An identity mismatch is audited and reported instead of halting.
    AuditedAbort, audited_abort, "F1";
    /// A complete rollback is stored and audited instead of being a dead end.
    RollbackEnds, rollback_ends, "F2";
    /// A veto in any pass persists; otherwise Security's latest argument decides.
    StickyVeto, sticky_veto, "F6";
    /// A veto ends the debate; otherwise the remaining passes run.
    VetoEndsDebate, veto_ends_debate, "F11";
    /// The decision and the audit name Security's objection to the plan that runs.
    NamedObjections, named_objections, "F7";
    /// Proceeding below `redebate_below` has its own label.
    BelowThresholdLabel, below_threshold_label, "F8";
    /// Only a revision that Security's latest argument and the consensus refer to may run.
    ClearedRevisions, cleared_revisions, "F9 F10";
    /// A task starts only if no fact that the request can read was superseded since Security's latest review of the plan.
    CurrentFacts, current_facts, "F18";
    /// The audit records the actual status of each store.
    RecordedStores, recorded_stores, "F12";
    /// Blocked, rolled back and aborted requests have their own kinds in the stores.
    TypedKinds, typed_kinds, "F13";
    /// A failed call has a transition.
    ErrorRows, error_rows, "F14";
    /// The audit lists every started effect.
    EffectsLedger, effects_ledger, "F15";
    /// After the audit the next request is accepted.
    NextRequest, next_request, "F16";
    /// The user can cancel a request.
    Cancel, cancel, "";
    /// An approver decides before a plan runs. Off in both built-in policies.
    Approver, approver, "";
    /// The semantic state is compacted when it reaches its limits.
    Compaction, compaction, "";
    /// Compaction includes constraints. Off in both built-in policies.
    CompactedConstraints, compacted_constraints, "";
    /// Dependents of summarized items depend on the summary; otherwise these dependencies are dropped (000 §6).
    RepointedDependents, repointed_dependents, "";
}
