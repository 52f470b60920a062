//! The debate and the decision: passes, arguments, vetoes, revisions, scores and changed facts, in every order.

use super::log::{Log, Review, con, each, optional, plan, pro, scores};
use orchestrion_kernel::module::{Argument, Operation, Rating, Ratings, Role};
use orchestrion_kernel::plan::EffectKind;
use orchestrion_kernel::{Event, Phase, Policy, Score};

/// The latest arguments of the roles but Security.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    Missing,
    For,
    CriticAgainst,
    Against,
}

/// How the current revision was scored, and whether it is that of the latest arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scoring {
    score: Option<Score>,
    revised: bool,
}

/// The phases in which the kernel waits for no module.
const JUDGING: [Phase; 5] = [
    Phase::MultiPassCheck,
    Phase::Aggregating,
    Phase::CalculatingConsensus,
    Phase::EloDuels,
    Phase::ResolvingDecision,
];

pub(super) fn starts(policy: &Policy) -> Vec<Vec<Event>> {
    let logs = reviewed(policy);
    let rounds = Role::ALL.map(|role| (Phase::Round(role), Operation::Argue(role)));
    let rounds: Vec<_> = rounds.into_iter().chain([(Phase::PlanReview, Operation::ReviewRevision)]).collect();
    let heard = each(logs.clone(), &[Others::Missing, Others::CriticAgainst], |log, others| {
        argue(policy, log, *others)
    });
    let heard = optional(heard, Log::outdate);
    let mut calling = each(heard.clone(), &rounds, |log, (phase, operation)| {
        // The review follows the round of the Optimizer.
        if *phase == Phase::PlanReview {
            log.enter(Phase::Round(Role::Optimizer));
        }
        log.enter(*phase);
        log.call(*operation);
    });
    for arguments in additional(policy) {
        let argued = each(heard.clone(), &[()], |log, ()| argue_additional(policy, log, &arguments));
        let debaters: Vec<u32> = (0..).take(policy.additional_debaters.len()).collect();
        calling.extend(each(argued, &debaters, |log, debater| call_additional(log, *debater)));
    }
    if !policy.additional_debaters.is_empty() {
        calling.extend(each(heard, &[()], |log, ()| repeat_additional_rounds(policy, log)));
    }

    let others = [Others::Missing, Others::For, Others::CriticAgainst, Others::Against];
    let heard = each(logs, &others, |log, others| argue(policy, log, *others));
    let complete: Vec<_> = additional(policy)
        .into_iter()
        .filter(|arguments| arguments.len() == policy.additional_debaters.len())
        .collect();
    let heard = each(heard, &complete, |log, arguments| argue_additional(policy, log, arguments));
    let scorings = [None].into_iter().chain(scores(policy).map(Some));
    let scorings: Vec<Scoring> =
        scorings.flat_map(|score| [false, true].map(|revised| Scoring { score, revised })).collect();
    let scored = each(heard, &scorings, |log, Scoring { score, revised }| {
        score.iter().for_each(|score| log.score(*score));
        if *revised {
            log.adopt(&plan(&[(EffectKind::Pure, None)]));
        }
    });
    let changed = optional(scored, Log::outdate);
    let rated = optional(changed, |log| log.emit(Event::RatingsUpdated { ratings: Ratings::default() }));
    let last = each(rated, &[Role::Critic, Role::Optimizer], |log, role| log.enter(Phase::Round(*role)));
    let judging = each(last, &JUDGING, |log, phase| log.enter(*phase));
    calling.into_iter().chain(judging).map(Log::into_events).collect()
}

/// Every pass, with or without a veto before it, and every argument of Security in it.
fn reviewed(policy: &Policy) -> Vec<Log> {
    let unequal = Rating { elo: 1_450, successes: 3, matches: 4 };
    let ratings = Ratings { critic: unequal, ..Ratings::default() };
    let planned = vec![Log::planned(ratings, &plan(&[(EffectKind::Pure, None)]))];
    let passes: Vec<u32> = (1..=policy.bounds.passes).collect();
    let vetoed = optional(planned, |log| {
        log.argue(policy, Role::Security, con(policy.thresholds.veto_from));
        log.adopt(&plan(&[(EffectKind::Pure, None)]));
    });
    let passes = each(vetoed, &passes, |log, pass| log.enter_pass(*pass));
    each(passes, &Review::ALL, |log, review| {
        review.argument(policy).into_iter().for_each(|argument| log.argue(policy, Role::Security, argument));
    })
}

/// The arguments of the additional debaters: for or against, of the first ones or of all.
fn additional(policy: &Policy) -> Vec<Vec<Argument>> {
    let debaters = policy.additional_debaters.len();
    let first =
        (1..=debaters).flat_map(|argued| [pro(), con(Score::ONE)].map(|argument| vec![argument; argued]));
    [Vec::new()].into_iter().chain(first).collect()
}

fn argue_additional(policy: &Policy, log: &mut Log, arguments: &[Argument]) {
    (0..).zip(arguments).for_each(|(debater, argument)| log.argue_additional(policy, debater, *argument));
}

/// Every additional debater argues, and the next pass calls the first of them again.
fn repeat_additional_rounds(policy: &Policy, log: &mut Log) {
    log.enter(Phase::Round(Role::Optimizer));
    log.agree_additional(policy);
    log.enter(Phase::MultiPassCheck);
    log.enter(Phase::Round(Role::Solution));
    log.argue(policy, Role::Security, pro());
    call_additional(log, 0);
}

/// An additional debater is called. Its round follows that of the Optimizer.
fn call_additional(log: &mut Log, debater: u32) {
    log.enter(Phase::Round(Role::Optimizer));
    log.enter(Phase::AdditionalRounds);
    log.call(Operation::ArgueAdditional { debater });
}

fn argue(policy: &Policy, log: &mut Log, others: Others) {
    let argument = |role: Role| -> Option<Argument> {
        match others {
            Others::Missing => None,
            Others::For => Some(pro()),
            Others::CriticAgainst if role == Role::Critic => Some(con(Score::ONE)),
            Others::CriticAgainst => Some(pro()),
            Others::Against => Some(con(Score::ONE)),
        }
    };
    for role in Role::ALL.into_iter().filter(|role| *role != Role::Security) {
        argument(role).into_iter().for_each(|argument| log.argue(policy, role, argument));
    }
}
