//! The debate and the decision: passes, arguments, vetoes, revisions, scores and changed facts, in every order.

use super::log::{Log, Review, con, each, plan, pro, scores};
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
    let heard = each(heard, &[false, true], |log, is_outdated| outdate(log, *is_outdated));
    let rounds = each(heard, &rounds, |log, (phase, operation)| {
        log.enter(*phase);
        log.call(*operation);
    });

    let others = [Others::Missing, Others::For, Others::CriticAgainst, Others::Against];
    let heard = each(logs, &others, |log, others| argue(policy, log, *others));
    let scorings = [None].into_iter().chain(scores(policy).map(Some));
    let scorings: Vec<Scoring> =
        scorings.flat_map(|score| [false, true].map(|revised| Scoring { score, revised })).collect();
    let scored = each(heard, &scorings, |log, Scoring { score, revised }| {
        score.iter().for_each(|score| log.score(*score));
        if *revised {
            log.adopt(&plan(&[(EffectKind::Pure, None)]));
        }
    });
    let changed = each(scored, &[false, true], |log, is_outdated| outdate(log, *is_outdated));
    let rated = each(changed, &[false, true], |log, is_rated| {
        if *is_rated {
            log.emit(Event::RatingsUpdated { ratings: Ratings::default() });
        }
    });
    let last = each(rated, &[Role::Critic, Role::Optimizer], |log, role| log.enter(Phase::Round(*role)));
    let judging = each(last, &JUDGING, |log, phase| log.enter(*phase));
    rounds.into_iter().chain(judging).map(Log::into_events).collect()
}

/// Every pass, with or without a veto before it, and every argument of Security in it.
fn reviewed(policy: &Policy) -> Vec<Log> {
    let unequal = Rating { elo: 1_450, successes: 3, matches: 4 };
    let ratings = Ratings { critic: unequal, ..Ratings::default() };
    let planned = vec![Log::planned(ratings, &plan(&[(EffectKind::Pure, None)]))];
    let passes: Vec<u32> = (1..=policy.bounds.passes).collect();
    let vetoed = each(planned, &[false, true], |log, is_vetoed| {
        if *is_vetoed {
            log.argue(policy, Role::Security, con(policy.thresholds.veto_from));
            log.adopt(&plan(&[(EffectKind::Pure, None)]));
        }
    });
    let passes = each(vetoed, &passes, |log, pass| log.enter_pass(*pass));
    each(passes, &Review::ALL, |log, review| {
        review.argument(policy).into_iter().for_each(|argument| log.argue(policy, Role::Security, argument));
    })
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

fn outdate(log: &mut Log, is_outdated: bool) {
    if is_outdated {
        log.outdate();
    }
}
