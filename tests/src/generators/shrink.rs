//! Simpler actions. Every candidate is strictly shorter or plainer, so shrinking ends.

use super::reports::{empty_text, pure_plan};
use super::{ActionKind, CallSelector, Shrink, TimeShift, UserSelector, WalkAction};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::knowledge::{NewFact, Write};
use orchestrion_kernel::module::{Argument, Failure, Report, Role};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{Phase, Score, Text};

impl Shrink for WalkAction {
    fn shrink_candidates(&self) -> Vec<Self> {
        let at_same_time =
            (self.time != TimeShift::Same).then(|| Self { time: TimeShift::Same, ..self.clone() });
        at_same_time.into_iter().chain(self.simpler_actions()).collect()
    }
}

impl WalkAction {
    /// Returns simpler actions at the same time.
    fn simpler_actions(&self) -> Vec<Self> {
        let with_kinds =
            |kinds: Vec<ActionKind>| kinds.into_iter().map(|kind| Self { kind, ..self.clone() }).collect();
        match &self.kind {
            // An input that is no reply can happen in an earlier phase.
            ActionKind::Step
            | ActionKind::Cancel
            | ActionKind::Resume
            | ActionKind::Tick
            | ActionKind::End
            | ActionKind::Start(UserSelector::Owner) => self.in_earlier_phases(),
            // Facts open scopes, so they are kept longer than what runs in the scopes.
            ActionKind::Write(write) => {
                let simpler = simpler_writes(write).into_iter();
                let simpler: Vec<Self> =
                    with_kinds(simpler.map(|write| ActionKind::Write(Box::new(write))).collect());
                self.in_earlier_phases().into_iter().chain(simpler).collect()
            }
            ActionKind::Reply(call, report) => {
                let calls = earlier_calls(*call).map(|call| ActionKind::Reply(call, report.clone()));
                let reports = simpler_reports(report).into_iter();
                with_kinds(calls.chain(reports.map(|report| ActionKind::Reply(*call, report))).collect())
            }
            // The update and the action records are dropped first.
            ActionKind::ReplyWithExtras(call, report, update, record) => {
                let mut simpler = vec![ActionKind::Reply(*call, report.clone())];
                if update.is_some() && record.is_some() {
                    simpler.push(ActionKind::ReplyWithExtras(*call, report.clone(), update.clone(), None));
                    simpler.push(ActionKind::ReplyWithExtras(*call, report.clone(), None, record.clone()));
                }
                with_kinds(simpler)
            }
            ActionKind::Fail(call, failure) => {
                let calls = earlier_calls(*call).map(|call| ActionKind::Fail(call, *failure));
                let plain = (*failure != Failure::Error).then_some(ActionKind::Fail(*call, Failure::Error));
                with_kinds(calls.chain(plain).collect())
            }
            ActionKind::Start(UserSelector::Stranger) => {
                with_kinds(vec![ActionKind::Start(UserSelector::Owner)])
            }
            ActionKind::Send(user, text, scope) => {
                let global =
                    (*scope != Scope::Global).then(|| ActionKind::Send(*user, text.clone(), Scope::Global));
                let wordless =
                    (*text != empty_text()).then(|| ActionKind::Send(*user, empty_text(), scope.clone()));
                with_kinds(global.into_iter().chain(wordless).collect())
            }
        }
    }

    /// Returns the same action in every earlier phase.
    fn in_earlier_phases(&self) -> Vec<Self> {
        let earlier = Phase::ALL.into_iter().take_while(|phase| *phase != self.phase);
        earlier.map(|phase| Self { phase, ..self.clone() }).collect()
    }
}

/// Returns the pending calls before this one, the first one first.
fn earlier_calls(call: CallSelector) -> impl Iterator<Item = CallSelector> {
    let places = match call {
        CallSelector::Pending(place) => 0..place,
        CallSelector::Earlier(_) | CallSelector::Later(_) => 0..0,
    };
    places.map(CallSelector::Pending)
}

/// Returns the same fact as a global one and without dependencies.
fn simpler_writes(write: &Write) -> Vec<Write> {
    let Write::Fact(fact) = write else { return Vec::new() };
    let global = NewFact { scope: Scope::Global, ..fact.clone() };
    let independent = NewFact { depends_on: Vec::new(), ..fact.clone() };
    [global, independent].into_iter().filter(|simpler| simpler != fact).map(Write::Fact).collect()
}

/// Returns simpler reports: an empty text, a round confidence, a shorter plan.
fn simpler_reports(report: &Report) -> Vec<Report> {
    let shorter = |text: &Text| (*text != empty_text()).then(empty_text);
    match report {
        Report::Context { ratings, traces } => {
            let mut all = Vec::new();
            if !traces.is_empty() {
                all.push(Report::Context { ratings: *ratings, traces: Vec::new() });
                let mut global = traces.clone();
                global.iter_mut().for_each(|past| past.scope = Scope::Global);
                if global != *traces {
                    all.push(Report::Context { ratings: *ratings, traces: global });
                }
            }
            if *ratings != Default::default() {
                all.push(Report::Context { ratings: Default::default(), traces: traces.clone() });
                for role in Role::ALL {
                    let mut plain = *ratings;
                    *plain.get_mut(role) = Default::default();
                    if plain != *ratings {
                        all.push(Report::Context { ratings: plain, traces: traces.clone() });
                    }
                }
            }
            all
        }
        Report::Classification { tags, similarity } if !tags.is_empty() || *similarity != Score::ZERO => {
            vec![Report::Classification { tags: Vec::new(), similarity: Score::ZERO }]
        }
        Report::Plan(plan) => simpler_plans(plan).into_iter().map(Report::Plan).collect(),
        Report::Argument { argument, text, plan } => {
            let with = |argument, text: &Text, plan: &Option<Plan>| Report::Argument {
                argument,
                text: text.clone(),
                plan: plan.clone(),
            };
            let mut all: Vec<Report> =
                shorter(text).into_iter().map(|text| with(*argument, &text, plan)).collect();
            if let Some(now) = plan {
                all.push(with(*argument, text, &None));
                all.extend(simpler_plans(now).into_iter().map(|plan| with(*argument, text, &Some(plan))));
            }
            all.extend(simpler_arguments(*argument).into_iter().map(|argument| with(argument, text, plan)));
            all
        }
        Report::Approval { approved, text } => {
            shorter(text).into_iter().map(|text| Report::Approval { approved: *approved, text }).collect()
        }
        Report::Repaired { text, plan } => {
            let texts = shorter(text).into_iter().map(|text| Report::Repaired { text, plan: plan.clone() });
            let plans = simpler_plans(plan).into_iter();
            texts.chain(plans.map(|plan| Report::Repaired { text: text.clone(), plan })).collect()
        }
        Report::NoRepair { text } => {
            shorter(text).into_iter().map(|text| Report::NoRepair { text }).collect()
        }
        Report::Exit { code, text, number: Some(_) } => {
            vec![Report::Exit { code: *code, text: text.clone(), number: None }]
        }
        Report::Exit { code, text, number: None } => {
            let codes = (![0, 1].contains(code)).then_some(Report::Exit {
                code: 1,
                text: text.clone(),
                number: None,
            });
            shorter(text)
                .into_iter()
                .map(|text| Report::Exit { code: *code, text, number: None })
                .chain(codes)
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Returns simpler arguments: certainty first, then round numbers, fewer digits before more.
fn simpler_arguments(argument: Argument) -> Vec<Argument> {
    let now = argument.confidence.millionths();
    let rank = |millionths: u32| match millionths {
        1_000_000 => 0,
        0 => 1,
        round if round % 100_000 == 0 => 2,
        _ => 3,
    };
    let round = now / 100_000 * 100_000;
    let simpler = [1_000_000, 0, round, round.saturating_add(100_000)];
    let simpler = simpler.into_iter().filter(|millionths| rank(*millionths) < rank(now));
    let simpler = simpler.filter_map(Score::from_millionths);
    simpler.map(|confidence| Argument { confidence, ..argument }).collect()
}

/// Returns the plain plan, the plan without aggregation or step options, without scopes, as a sequence, without one of its tasks, with one task in no scope of its
/// own or with fewer dependencies, and with one empty description.
fn simpler_plans(plan: &Plan) -> Vec<Plan> {
    let plain = pure_plan();
    if *plan == plain {
        return Vec::new();
    }
    let tasks = plan.tasks();
    let without = (0..tasks.len()).map(|gone| {
        let mut left = tasks.to_vec();
        let gone = left.remove(gone).id;
        for declared in left.iter_mut().filter_map(|task| task.depends_on.as_mut()) {
            declared.retain(|dependency| *dependency != gone);
        }
        left
    });
    let mut sequence = tasks.to_vec();
    sequence.iter_mut().for_each(|task| task.depends_on = None);
    let mut unscoped = tasks.to_vec();
    unscoped.iter_mut().for_each(|task| task.scope = None);
    let mut stepless = tasks.to_vec();
    stepless.iter_mut().for_each(|task| task.step = StepOptions::default());
    let mut plans: Vec<Vec<Task>> = [stepless, unscoped].into_iter().filter(|other| other != tasks).collect();
    plans.extend(Some(sequence).filter(|sequence| sequence != tasks));
    plans.extend(without);
    for (place, task) in tasks.iter().enumerate() {
        if task.step != StepOptions::default() {
            let mut tasks = tasks.to_vec();
            tasks[place].step = StepOptions::default();
            plans.push(tasks);
        }
        if task.scope.is_some() {
            let mut tasks = tasks.to_vec();
            tasks[place].scope = None;
            plans.push(tasks);
        }
        for gone in 0..task.depends_on.as_ref().map_or(0, Vec::len) {
            let mut tasks = tasks.to_vec();
            if let Some(declared) = &mut tasks[place].depends_on {
                declared.remove(gone);
            }
            plans.push(tasks);
        }
        let effect = match &task.effect {
            Effect::Undoable { .. } => Effect::Undoable { compensation: empty_text() },
            effect => effect.clone(),
        };
        let wordless = Task { text: empty_text(), effect, ..task.clone() };
        if wordless != *task {
            let mut tasks = tasks.to_vec();
            tasks[place] = wordless;
            plans.push(tasks);
        }
    }
    let aggregation = plan.aggregation().copied();
    let with_aggregation = |plan: Plan| match aggregation {
        Some(aggregation) => plan.with_aggregation(aggregation),
        None => plan,
    };
    let unaggregated = Plan::new(tasks.to_vec()).ok().filter(|_| aggregation.is_some());
    let plans = plans.into_iter().filter_map(|tasks| Plan::new(tasks).ok()).map(with_aggregation);
    std::iter::once(plain).chain(unaggregated).chain(plans).collect()
}
