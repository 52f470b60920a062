//! The claims as conditions over the variables of the control model, and the reasons why others are not exported.

use super::ast::Condition::{self, Can, Flag, Is, Less, Same};
use super::ast::{BoundName, StepFilter, Term, Var};
use super::effects::objection;
use super::input_class::InputClass;
use orchestrion_claims::{CLAIMS, Claim};
use orchestrion_kernel::control::table::{TRANSITIONS, Transition};
use orchestrion_kernel::module::Role;
use orchestrion_kernel::{Phase, Policy, Trigger};

mod transitions;

/// A claim over the variables of the control model.
#[derive(Debug)]
pub struct ExportedClaim {
    /// The claim.
    pub claim: &'static Claim,
    /// The property.
    pub form: TemporalForm,
}

/// A temporal property of every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemporalForm {
    /// The condition holds in every state.
    Always(Condition),
    /// Leads-to: whenever the first holds, the second holds then or later, if kernel and modules are weakly fair.
    LeadsTo(Condition, Condition),
}

impl TemporalForm {
    /// Adds the variables that it reads.
    pub(super) fn collect_vars(&self, vars: &mut Vec<Var>) {
        match self {
            Self::Always(cond) => cond.collect_vars(vars),
            Self::LeadsTo(a, b) => [a, b].into_iter().for_each(|cond| cond.collect_vars(vars)),
        }
    }

    /// Adds the step filters that it uses.
    pub(super) fn collect_filters(&self, filters: &mut Vec<StepFilter>) {
        match self {
            Self::Always(cond) => cond.collect_filters(filters),
            Self::LeadsTo(a, b) => [a, b].into_iter().for_each(|cond| cond.collect_filters(filters)),
        }
    }
}

impl ExportedClaim {
    /// Its name in the exported models, where a hyphen is an operator.
    #[must_use]
    pub fn name(&self) -> String {
        self.claim.id.replace('-', "_")
    }

    /// Whether it requires fairness.
    #[must_use]
    pub const fn is_liveness(&self) -> bool {
        matches!(self.form, TemporalForm::LeadsTo(..))
    }
}

/// The exported claims that apply under the policy.
#[must_use]
pub fn exported_claims(policy: &Policy) -> Vec<ExportedClaim> {
    let applies = |claim: &&Claim| (claim.not_applicable)(policy).is_none();
    let export = |claim| Some(ExportedClaim { claim, form: form(policy, claim)? });
    CLAIMS.iter().filter(applies).filter_map(export).collect()
}

/// The claims that are not exported, with the reason.
pub const NOT_EXPORTED: &[(&[&str], &str)] = &[
    (
        &["C-12", "C-15", "C-40", "C-45", "C-46", "C-80", "C-180", "C-181", "C-184", "C-185", "C-187"],
        "contents of records; the model only counts records",
    ),
    (&["C-26", "C-221"], "which effect is undone; the model only counts effects"),
    (
        &[
            "C-213", "C-214", "C-215", "C-216", "C-217", "C-218", "C-219", "C-220", "C-222", "C-223",
            "C-224", "C-225",
        ],
        "what was established in each phase; the claims on transitions that follow from it are exported",
    ),
    (
        &[
            "C-30", "C-31", "C-32", "C-33", "C-34", "C-35", "C-36", "C-50", "C-51", "C-52", "C-53", "C-54",
            "C-55", "C-56", "C-57", "C-58", "C-59", "C-84", "C-85", "C-86", "C-87", "C-88", "C-89", "C-90",
            "C-91", "C-92", "C-93", "C-95", "C-96", "C-97", "C-98", "C-99", "C-100", "C-101", "C-102",
            "C-103", "C-104", "C-105", "C-106", "C-107", "C-108", "C-111", "C-112", "C-113", "C-114",
            "C-161", "C-162", "C-200", "C-201", "C-202", "C-203", "C-204", "C-205", "C-206", "C-207",
            "C-208", "C-209", "C-210", "C-211", "C-212", "C-163", "C-164", "C-165", "C-166", "C-167",
            "C-168", "C-169", "C-170", "C-171", "C-172", "C-175", "C-177", "C-178", "C-179", "C-183",
            "C-230", "C-231", "C-234", "C-236", "C-242", "C-244",
        ],
        "items; control reads none",
    ),
    (&["C-41", "C-48"], "numbers; the model chooses the consensus and omits ratings"),
    (&["C-94", "C-173", "C-174"], "action records; control reads none"),
    (&["C-116", "C-117", "C-118"], "tasks that run in parallel; the plan of the model is a sequence"),
    (
        &[
            "C-119", "C-120", "C-121", "C-122", "C-123", "C-124", "C-125", "C-126", "C-127", "C-128",
            "C-129", "C-130", "C-131", "C-132", "C-133", "C-134", "C-135", "C-136", "C-137", "C-138",
            "C-139", "C-140", "C-141", "C-142", "C-143", "C-144", "C-145", "C-146", "C-147", "C-148",
            "C-149", "C-150", "C-151", "C-152", "C-153", "C-154", "C-155", "C-156", "C-157", "C-158",
            "C-159", "C-160", "C-188", "C-189", "C-191", "C-192", "C-237", "C-239", "C-241", "C-243",
        ],
        "the trust network, which the model does not have",
    ),
    (&["C-235"], "steps while a call is pending; the model has none"),
    (&["C-240"], "numbers of calls and requests; the model has none"),
    (&["C-233"], "versions of tasks; task ids are not modelled"),
    (&["C-109", "C-110", "C-176"], "superseded facts; the model chooses when a plan is outdated"),
    (
        &["C-43", "C-190", "C-193"],
        "revision numbers; the model only has whether a score or an argument is about the current plan",
    ),
    (
        &["C-60", "C-61", "C-62", "C-63", "C-64", "C-65", "C-66", "C-68", "C-69", "C-238"],
        "the functions decide and apply; the model states their effects itself",
    ),
];

/// The claims that are exported in part, with that part.
pub const PARTLY_EXPORTED: &[(&str, &str)] = &[
    ("C-05", "the audit exists; its list of tasks is not modelled"),
    ("C-07", "the decision names the objection; the audit record is not modelled"),
    ("C-47", "the attempts are bounded; the text of the final answer is not modelled"),
    ("C-67", "some reply is accepted; the type check of replies is not modelled"),
    ("C-72", "the consensus is about the current plan; scores and ratings are not modelled"),
    ("C-74", "when a run is evaluated, and the result; the report is not modelled"),
    ("C-81", "no task runs after the last one or after a failure; task ids and effects are not modelled"),
];

/// The property of a claim; none if it is not exported.
#[allow(clippy::too_many_lines, reason = "a table with one entry per claim")]
pub(super) fn form(policy: &Policy, claim: &Claim) -> Option<TemporalForm> {
    let is = Condition::is;
    let runs = || is(Var::Call, "RunTask");
    let started = || is(Var::Request, "running");
    let ended = || is(Var::Request, "ended");
    let counts = |var, number| Same(Term::Of(var), Term::Number(number));
    let within = |var, limit| !Less(Term::Limit(limit), Term::Of(var));
    let enough = || Is(Var::Scored, vec!["between", "above"]);
    let audited = || Less(Term::Number(0), Term::Of(Var::Audits));
    let storing = || Is(Var::Call, vec!["StoreLocal", "StoreCloud"]);
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
        "C-07" => Condition::all([runs(), objection()]).implies(Flag(Var::ObjectionNamed)),
        "C-08" => is(Var::Decision, "ConsensusReached").implies(is(Var::DecidedOn, "above")),
        "C-09" => runs()
            .implies(Condition::all([Flag(Var::Reviewed), Is(Var::Security, vec!["agrees", "objects"])])),
        "C-10" => runs().implies(Condition::all([Flag(Var::ScoreCurrent), enough()])),
        "C-11" => is_redebated(policy).implies(!Flag(Var::Vetoed)),
        "C-13" => {
            Condition::all([storing(), is(Var::Stored, "as_outcome")]).implies(kind_conditions()[2].1.clone())
        }
        "C-14" => Condition::all([
            Condition::any([idle(), Can(StepFilter::System)]),
            (!is(Var::Call, "no_call")).implies(Condition::all([
                Can(StepFilter::Failing(InputClass::OutcomeKnown)),
                Can(StepFilter::Failing(InputClass::OutcomeUnknown)),
            ])),
        ]),
        "C-16" => Is(Var::Phase, vec![Phase::Idle.name(), Phase::Done.name(), Phase::Aborted.name()])
            .implies(Condition::all([
                idle(),
                Flag(Var::Session).implies(Can(StepFilter::User(Trigger::UserMessage))),
            ])),
        "C-18" => Flag(Var::OutcomeUnknown).implies(!runs()),
        "C-19" => runs().implies(Flag(Var::Approved)),
        "C-115" => {
            let additional = |number| Same(Term::Of(Var::Additional), number);
            let all = additional(Term::Limit(BoundName::AdditionalDebaters));
            let called = Condition::is(Var::Call, "ArgueAdditional");
            let is_left = Less(Term::Of(Var::Additional), Term::Limit(BoundName::AdditionalDebaters));
            match policy.additional_debaters.is_empty() {
                true => !called,
                false => Condition::all([
                    called.implies(is_left),
                    Condition::is(Var::Phase, Phase::MultiPassCheck.name()).implies(all),
                ]),
            }
        }
        "C-20" => Condition::any([
            Is(Var::Call, vec!["no_call", "VerifyIdentity", "DeliverAudit"]),
            Flag(Var::Verified),
        ]),
        "C-21" => Condition::all(roles_in_order().chain([within(Var::Pass, BoundName::Passes)])),
        "C-22" => is_redebated(policy).implies(Condition::any([
            Is(Var::Consensus, vec!["below", "between"]),
            is(Var::Decision, "OUTDATED"),
        ])),
        "C-23" => runs().implies(Is(Var::Decision, vec!["ProceedBelowThreshold", "ConsensusReached"])),
        "C-24" => runs().implies(enough()),
        "C-25" => within(Var::Repairs, BoundName::Repairs),
        "C-27" => Less(Term::Number(0), Term::Of(Var::FinalAnswers)).implies(Condition::all([
            counts(Var::Audits, 1),
            Flag(Var::Verified).implies(counts(Var::Stores, 2)),
        ])),
        "C-28" => Condition::all([
            Less(Term::Of(Var::FinalAnswers), Term::Number(2)),
            Condition::all([ended(), !is(Var::Phase, Phase::Aborted.name())])
                .implies(counts(Var::FinalAnswers, 1)),
        ]),
        "C-29" => Flag(Var::Cancelled).implies(!runs()),
        "C-42" => is(Var::Decision, "REJECT").implies(is(Var::DecidedOn, "below")),
        "C-44" => Condition::all([
            storing().implies(matches_conclusion(Var::Stored)),
            audited().implies(matches_conclusion(Var::Conclusion)),
        ]),
        "C-47" => within(Var::Attempts, BoundName::Attempts),
        "C-49" => storing().implies(counts(Var::Memories, 1)),
        "C-67" => (!is(Var::Call, "no_call")).implies(Can(StepFilter::Replying)),
        id => return transitions::form(policy, id).map(TemporalForm::Always),
    }))
}

/// The last step started another pass of the debate.
fn is_redebated(policy: &Policy) -> Condition {
    let again = |row: &&Transition| {
        [Phase::MultiPassCheck, Phase::ResolvingDecision].into_iter().any(|from| row.from.contains(from))
            && matches!(row.to, Phase::Round(_))
            && row.switch.is_on(policy)
    };
    Is(Var::Row, TRANSITIONS.iter().filter(again).map(|row| row.id).collect())
}

/// Each role argues after exactly the roles before it.
fn roles_in_order() -> impl Iterator<Item = Condition> {
    (0..).zip(Role::ALL).map(|(before, role)| {
        let argued = Same(Term::Of(Var::Argued), Term::Number(before));
        Condition::is(Var::Phase, Phase::Round(role).name()).implies(argued)
    })
}

/// The condition of each kind of conclusion.
fn kind_conditions() -> [(&'static str, Condition); 4] {
    let [rolled_back, blocked, succeeded] = [Var::RolledBack, Var::Blocked, Var::Succeeded].map(Flag);
    let stopped = Condition::any([rolled_back.clone(), blocked.clone()]);
    [
        ("as_rolled_back", rolled_back.clone()),
        ("as_blocked", Condition::all([!rolled_back, blocked])),
        ("as_outcome", Condition::all([!stopped.clone(), succeeded.clone()])),
        ("as_aborted", !Condition::any([stopped, succeeded])),
    ]
}

fn matches_conclusion(var: Var) -> Condition {
    Condition::all(
        kind_conditions().into_iter().map(|(kind, condition)| condition.implies(Condition::is(var, kind))),
    )
}
