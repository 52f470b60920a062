//! The claims that control alone can state, over the variables of the control model; and why the others are not among
//! them.

use super::ast::Condition::{self, Can, Flag, Is, Less, Same};
use super::ast::{BoundName, StepFilter, Term, Var};
use super::effects::{InputClass, objection};
use orchestrion_claims::{CLAIMS, Claim};
use orchestrion_kernel::control::table::{TRANSITIONS, Transition};
use orchestrion_kernel::module::Role;
use orchestrion_kernel::{Phase, Policy, Trigger};

mod transitions;

/// A claim as the control model states it.
#[derive(Debug)]
pub struct ExportedClaim {
    /// The claim.
    pub claim: &'static Claim,
    /// What is to hold.
    pub form: TemporalForm,
}

/// What is to hold of every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemporalForm {
    /// In every state.
    Always(Condition),
    /// Whenever the first holds, the second holds then or later, if kernel and modules are weakly fair.
    LeadsTo(Condition, Condition),
}

impl TemporalForm {
    /// Adds the variables that it reads.
    pub(super) fn reads(&self, vars: &mut Vec<Var>) {
        match self {
            Self::Always(cond) => cond.reads(vars),
            Self::LeadsTo(a, b) => [a, b].into_iter().for_each(|cond| cond.reads(vars)),
        }
    }

    /// Adds those whose steps it asks about.
    pub(super) fn asks(&self, whos: &mut Vec<StepFilter>) {
        match self {
            Self::Always(cond) => cond.asks(whos),
            Self::LeadsTo(a, b) => [a, b].into_iter().for_each(|cond| cond.asks(whos)),
        }
    }
}

impl ExportedClaim {
    /// Its name in both languages, where a hyphen would subtract.
    #[must_use]
    pub fn name(&self) -> String {
        self.claim.id.replace('-', "_")
    }

    /// Whether it takes fairness to hold.
    #[must_use]
    pub const fn is_liveness(&self) -> bool {
        matches!(self.form, TemporalForm::LeadsTo(..))
    }
}

/// The claims that are stated, of those that say something under the policy.
#[must_use]
pub fn exported_claims(policy: &Policy) -> Vec<ExportedClaim> {
    let speaks = |claim: &&Claim| (claim.not_applicable)(policy).is_none();
    let stated = |claim| Some(ExportedClaim { claim, form: form(policy, claim)? });
    CLAIMS.iter().filter(speaks).filter_map(stated).collect()
}

/// The claims that are not stated, and why.
pub const NOT_EXPORTED: &[(&[&str], &str)] = &[
    (
        &["C-12", "C-15", "C-40", "C-45", "C-46", "C-80"],
        "what a record says; control only knows that it is written",
    ),
    (&["C-26"], "which effect is undone; control only counts those that stand"),
    (
        &[
            "C-30", "C-31", "C-32", "C-33", "C-34", "C-35", "C-36", "C-50", "C-51", "C-52", "C-53", "C-54",
            "C-55", "C-56", "C-57", "C-58", "C-59", "C-84", "C-85", "C-86", "C-87", "C-88", "C-89", "C-90",
            "C-91", "C-92", "C-93", "C-95", "C-96", "C-97", "C-98", "C-99", "C-100",
        ],
        "what is known; control reads no item",
    ),
    (&["C-41", "C-48"], "numbers; the consensus is drawn here, and ratings are left out"),
    (&["C-94"], "what a module tells of its actions; control reads no record"),
    (&["C-43"], "revisions by number; control knows only whether something is about the plan as it stands"),
    (
        &["C-60", "C-61", "C-62", "C-63", "C-64", "C-65", "C-66", "C-68", "C-69"],
        "the functions decide and apply; the export says again what they mean",
    ),
];

/// The claims of which only a part is stated, and which.
pub const PARTLY_EXPORTED: &[(&str, &str)] = &[
    ("C-05", "that there is an audit; that it lists every task is about its record"),
    ("C-07", "that the decision names the objection; that the audit does is about its record"),
    ("C-47", "that the tries are bounded; what the answer says of them is about its words"),
    ("C-67", "that some answer is taken; that each is, is about what `decide` lets through"),
    ("C-72", "that the consensus is about the plan; that it is weighed and rated again is about events"),
    ("C-74", "when a run is judged, and as what; that it was reported is about an event"),
    ("C-81", "that none runs after the last or a failure; which task and effect it is, is about the plan"),
];

/// What a claim comes to over the variables; none if it is left out.
#[allow(clippy::too_many_lines, reason = "a table: one entry a claim")]
pub(super) fn form(policy: &Policy, claim: &Claim) -> Option<TemporalForm> {
    let is = Condition::is;
    let runs = || is(Var::Asked, "RunTask");
    let started = || is(Var::Request, "running");
    let ended = || is(Var::Request, "ended");
    let counts = |var, number| Same(Term::Of(var), Term::Number(number));
    let within = |var, limit| !Less(Term::Limit(limit), Term::Of(var));
    let enough = || Is(Var::Scored, vec!["between", "above"]);
    let audited = || Less(Term::Number(0), Term::Of(Var::Audits));
    let storing = || Is(Var::Asked, vec!["RememberLocal", "RememberCloud"]);
    let idle = || is(Var::Phase, Phase::Idle.name());
    Some(TemporalForm::Always(match claim.id {
        "C-01" => ended().implies(counts(Var::Audits, 1)),
        "C-02" => Flag(Var::RolledBack).implies(Condition::all([
            Condition::any([idle(), Can(StepFilter::System)]),
            storing().implies(is(Var::Stored, "as_rolled_back")),
            ended().implies(Condition::all([counts(Var::Audits, 1), counts(Var::Stores, 2)])),
        ])),
        "C-03" => return Some(TemporalForm::LeadsTo(started(), ended())),
        "C-04" => {
            let aborted = is(Var::Phase, Phase::Aborted.name());
            return Some(TemporalForm::LeadsTo(started(), Condition::any([audited(), aborted])));
        }
        "C-05" => return Some(TemporalForm::LeadsTo(Flag(Var::Ran), audited())),
        "C-06" => runs().implies(!Flag(Var::Vetoed)),
        "C-07" => Condition::all([runs(), objection()]).implies(Flag(Var::Named)),
        "C-08" => is(Var::Decision, "ConsensusReached").implies(is(Var::DecidedOn, "above")),
        "C-09" => {
            runs().implies(Condition::all([Flag(Var::Read), Is(Var::Security, vec!["agrees", "objects"])]))
        }
        "C-10" => runs().implies(Condition::all([Flag(Var::Current), enough()])),
        "C-11" => redebated().implies(!Flag(Var::Vetoed)),
        "C-13" => Condition::all([storing(), is(Var::Stored, "as_outcome")]).implies(happened()[2].1.clone()),
        "C-14" => Condition::all([
            Condition::any([idle(), Can(StepFilter::System)]),
            (!is(Var::Asked, "nobody")).implies(Condition::all([
                Can(StepFilter::Failing(InputClass::OutcomeKnown)),
                Can(StepFilter::Failing(InputClass::FateUnknown)),
            ])),
        ]),
        "C-16" => Is(Var::Phase, vec![Phase::Idle.name(), Phase::Done.name(), Phase::Aborted.name()])
            .implies(Condition::all([
                idle(),
                Flag(Var::Session).implies(Can(StepFilter::User(Trigger::UserMessage))),
            ])),
        "C-18" => Flag(Var::Lost).implies(!runs()),
        "C-19" => runs().implies(Flag(Var::Approved)),
        "C-20" => Condition::any([
            Is(Var::Asked, vec!["nobody", "VerifyIdentity", "DeliverAudit"]),
            Flag(Var::Verified),
        ]),
        "C-21" => Condition::all(in_order().chain([within(Var::Pass, BoundName::Passes)])),
        "C-22" => redebated().implies(Is(Var::Consensus, vec!["below", "between"])),
        "C-23" => runs().implies(Is(Var::Decision, vec!["ProceedBelowLine", "ConsensusReached"])),
        "C-24" => runs().implies(enough()),
        "C-25" => within(Var::Repairs, BoundName::Repairs),
        "C-27" => Less(Term::Number(0), Term::Of(Var::Answers)).implies(Condition::all([
            counts(Var::Audits, 1),
            Flag(Var::Verified).implies(counts(Var::Stores, 2)),
        ])),
        "C-28" => Condition::all([
            Less(Term::Of(Var::Answers), Term::Number(2)),
            Condition::all([ended(), !is(Var::Phase, Phase::Aborted.name())])
                .implies(counts(Var::Answers, 1)),
        ]),
        "C-29" => Flag(Var::Cancelled).implies(!runs()),
        "C-42" => is(Var::Decision, "REJECT").implies(is(Var::DecidedOn, "below")),
        "C-44" => Condition::all([
            storing().implies(says_what_happened(Var::Stored)),
            audited().implies(says_what_happened(Var::Ending)),
        ]),
        "C-47" => within(Var::Tries, BoundName::Attempts),
        "C-49" => storing().implies(counts(Var::Memories, 1)),
        "C-67" => (!is(Var::Asked, "nobody")).implies(Can(StepFilter::Answering)),
        id => return transitions::form(policy, id).map(TemporalForm::Always),
    }))
}

/// The debate was just taken up again.
fn redebated() -> Condition {
    let again =
        |row: &&Transition| row.from.contains(Phase::MultiPassCheck) && matches!(row.to, Phase::Round(_));
    Is(Var::Row, TRANSITIONS.iter().filter(again).map(|row| row.id).collect())
}

/// Each role argues when all those before it did, and none after.
fn in_order() -> impl Iterator<Item = Condition> {
    (0..).zip(Role::ALL).map(|(before, role)| {
        let heard = Same(Term::Of(Var::Heard), Term::Number(before));
        Condition::is(Var::Phase, Phase::Round(role).name()).implies(heard)
    })
}

/// What happened to the request, by kind.
fn happened() -> [(&'static str, Condition); 4] {
    let [rolled_back, blocked, succeeded] = [Var::RolledBack, Var::Blocked, Var::Succeeded].map(Flag);
    let stopped = Condition::any([rolled_back.clone(), blocked.clone()]);
    [
        ("as_rolled_back", rolled_back.clone()),
        ("as_blocked", Condition::all([!rolled_back, blocked])),
        ("as_outcome", Condition::all([!stopped.clone(), succeeded.clone()])),
        ("as_aborted", !Condition::any([stopped, succeeded])),
    ]
}

fn says_what_happened(var: Var) -> Condition {
    Condition::all(happened().into_iter().map(|(kind, happened)| happened.implies(Condition::is(var, kind))))
}
