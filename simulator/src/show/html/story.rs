//! A request as a reader asks about it: what was asked and answered, how it was debated, what was decided and why, what
//! ran, and what of it stands.

use super::super::page::Ink;
use super::super::page::Line;
use super::super::scene::Scene;
use super::super::{why, words};
use super::draw::{confidence, consensus};
use super::told::{Told, Whole};
use maud::{Markup, html};
use orchestrion_kernel::event::{AuditRecord, EffectEnd, Ending};
use orchestrion_kernel::module::{Argument, Ask, Rating, Ratings, Report, Role, Stance};
use orchestrion_kernel::plan::{Effect, Task};
use orchestrion_kernel::policy::Thresholds;
use orchestrion_kernel::state::{Request, Started};
use orchestrion_kernel::{Event, Phase, RequestId, Revision, Score, TaskId};
use std::collections::BTreeMap;

/// What is kept of a request while its steps are gone through.
pub(super) struct Story {
    id: RequestId,
    user: Line,
    asked: Whole,
    first: u64,
    last: u64,
    passes: Vec<Pass>,
    /// What was said when something was decided, with the step.
    decided: Vec<(u64, Vec<Told>)>,
    /// The tasks that were ever planned, as they were last, in the order of the plan that first had them.
    tasks: Vec<Task>,
    runs: BTreeMap<TaskId, Vec<(u64, Line)>>,
    /// The request as it was last; what is settled by then stands in it.
    request: Option<Request>,
    ending: Option<Ending>,
    audited: Option<(u64, AuditRecord)>,
    undelivered: bool,
    delivered: bool,
    answer: Option<(u64, Whole)>,
}

/// A pass of the debate, or what was said of a repair.
struct Pass {
    title: String,
    voices: Vec<Voice>,
    scores: Vec<Scored>,
}

struct Voice {
    step: u64,
    role: Role,
    argument: Argument,
    text: Whole,
    /// What else there is to say of it: a new plan, a veto.
    remarks: Vec<Line>,
}

struct Scored {
    step: u64,
    score: Score,
    /// What it leads to.
    why: Line,
}

impl Story {
    /// The story that a step begins, if a request does.
    pub(super) fn begun(scene: &Scene<'_>) -> Option<Self> {
        let (id, user, asked) = scene.find(|event| match event {
            Event::UserMsg { request, user, text } => Some((*request, user.clone(), text.clone())),
            _ => None,
        })?;
        Some(Self {
            id,
            user: Line::new().ink(Ink::Who, user),
            asked: Whole::new(asked.as_str()),
            first: scene.step.n,
            last: scene.step.n,
            passes: Vec::new(),
            decided: Vec::new(),
            tasks: Vec::new(),
            runs: BTreeMap::new(),
            request: None,
            ending: None,
            audited: None,
            undelivered: false,
            delivered: false,
            answer: None,
        })
    }

    /// Moves on past a step, with what the timeline told of it.
    pub(super) fn step(&mut self, scene: &Scene<'_>, told: &[Told]) {
        let n = scene.step.n;
        self.last = n;
        let asked = scene.before.waiting.map(|call| call.ask);
        for event in &scene.step.events {
            match event {
                Event::ToolResult { report, .. } => self.answered(scene, asked, report),
                Event::CallFailed { failure, .. } => {
                    if let Some(Ask::RunTask { task, .. }) = asked {
                        self.ran(task, n, words::failed(failure));
                    }
                }
                Event::PlanAdopted { revision, plan } => {
                    for task in plan.tasks() {
                        match self.tasks.iter_mut().find(|known| known.id == task.id) {
                            Some(known) => known.clone_from(task),
                            None => self.tasks.push(task.clone()),
                        }
                    }
                    let brings =
                        *revision != Revision::FIRST && scene.before.phase != Phase::SelfHealingActive;
                    if let Some(voice) = self.voice().filter(|voice| brings && voice.step == n) {
                        let tasks = words::tasks(plan);
                        voice.remarks.push(Line::text(format_args!("brings plan r{revision}, {tasks}")));
                    }
                }
                Event::VetoRaised { .. } => {
                    let said = told.iter().filter_map(|told| match told {
                        Told::More { said, .. } => Some(said.clone()),
                        _ => None,
                    });
                    if let Some(voice) = self.voice().filter(|voice| voice.step == n) {
                        voice.remarks.extend(said);
                    }
                }
                Event::ConsensusScored { revision, score } => {
                    let why = why::scored(scene, *revision, *score);
                    let scored = Scored { step: n, score: *score, why };
                    self.pass(scene).scores.push(scored);
                }
                Event::Decided { .. } => self.decided.push((n, told.to_vec())),
                Event::Concluded { ending } => self.ending = Some(*ending),
                Event::Audited { record } => self.audited = Some((n, record.clone())),
                Event::AuditUndelivered => self.undelivered = true,
                Event::FinalAnswer { text, .. } => self.answer = Some((n, Whole::new(text.as_str()))),
                _ => {}
            }
        }
        // The last batch takes the request away, and what it leaves stood before it.
        let request = scene.after.control.request().or(scene.before.request.as_ref());
        self.request = request.filter(|request| request.id == self.id).cloned().or(self.request.take());
    }

    fn answered(&mut self, scene: &Scene<'_>, asked: Option<Ask>, report: &Report) {
        let n = scene.step.n;
        match (asked, report) {
            (Some(Ask::Argue(_) | Ask::Reread), Report::Argument { argument, text, .. }) => {
                let Some(role) = asked.and_then(Ask::arguing) else { return };
                let reads = (asked == Some(Ask::Reread)).then(|| Line::faint("reads the new revision"));
                let voice = Voice {
                    step: n,
                    role,
                    argument: *argument,
                    text: Whole::new(text.as_str()),
                    remarks: reads.into_iter().collect(),
                };
                self.pass(scene).voices.push(voice);
            }
            (Some(Ask::RunTask { task, .. }), Report::Exit { code, text }) => {
                self.ran(task, n, words::exit(*code).and("  ").quote(text.as_str()));
            }
            (Some(Ask::DeliverAudit), Report::Delivered) => self.delivered = true,
            _ => {}
        }
    }

    fn ran(&mut self, task: TaskId, n: u64, how: Line) {
        self.runs.entry(task).or_default().push((n, how));
    }

    fn voice(&mut self) -> Option<&mut Voice> {
        self.passes.last_mut()?.voices.last_mut()
    }

    /// The pass that the step belongs to.
    fn pass(&mut self, scene: &Scene<'_>) -> &mut Pass {
        let repairs = matches!(scene.before.phase, Phase::RepairReread | Phase::RepairScoring);
        let title = match (repairs, scene.judged()) {
            (true, Some(request)) => match &request.plan {
                Some(plan) => format!("The repaired plan r{}", plan.revision),
                None => "The repaired plan".to_string(),
            },
            (false, Some(request)) => {
                format!("Pass {} of {}", request.debate.pass.max(1), scene.policy.bounds.passes)
            }
            (_, None) => "Out of place".to_string(),
        };
        if self.passes.last().is_none_or(|pass| pass.title != title) {
            self.passes.push(Pass { title, voices: Vec::new(), scores: Vec::new() });
        }
        let last = self.passes.len() - 1;
        &mut self.passes[last]
    }

    /// The story in the page. A request that has not ended says so.
    pub(super) fn markup(&self, thresholds: &Thresholds, ended: bool) -> Markup {
        let id = self.id;
        html! {
            article.request id={ "request-" (id) } {
                h2 { "Request " (id) " of " (self.user) }
                p.faint { "steps " (link(self.first)) " to " (link(self.last)) }
                blockquote { (self.asked) }
                p.ending {
                    @match self.ending {
                        Some(ending) => { (words::ending(ending)) @if !ended { span.warn { " (not over yet)" } } }
                        None if ended => { span.faint { "ended, and nothing was concluded" } }
                        None => { span.warn { "still running where the trace stops" } }
                    }
                }
                @if let Some((n, answer)) = &self.answer {
                    h3 { "Answer" }
                    blockquote.answer { (answer) p.faint { "in step " (link(*n)) } }
                }
                (self.debate(thresholds))
                (self.decision())
                (self.effects())
                (self.records())
            }
        }
    }

    fn debate(&self, thresholds: &Thresholds) -> Markup {
        html! {
            @if !self.passes.is_empty() {
                h3 { "Debate" }
                p.faint {
                    "A plan may run from a consensus of " (thresholds.proceed_from) " on; below "
                    (thresholds.redebate_below) " it is debated again while there are passes. Both lines are drawn below."
                }
                @for pass in &self.passes {
                    section.pass {
                        h4 { (pass.title) }
                        ul.voices {
                            @for voice in &pass.voices { (voice.markup()) }
                        }
                        @for scored in &pass.scores {
                            div.consensus {
                                span.at { (link(scored.step)) }
                                (consensus(scored.score, thresholds))
                                span { "consensus " (scored.why) }
                            }
                        }
                    }
                }
            }
            @if let Some(request) = &self.request {
                @if let Some(after) = &request.ratings_after { (ratings(&request.ratings, after)) }
            }
        }
    }

    fn decision(&self) -> Markup {
        html! {
            h3 { "Decision and why" }
            @if self.decided.is_empty() {
                p.faint { "Nothing was decided." }
            }
            @for (n, told) in &self.decided {
                div.decision {
                    @for told in told {
                        @match told {
                            Told::Step { said, .. } => p { (said) },
                            Told::More { said, who } if who == "decision" => p { (said) },
                            Told::More { said, .. } => p.why { (said) },
                            _ => {}
                        }
                    }
                    p.faint { "in step " (link(*n)) }
                }
            }
        }
    }

    fn effects(&self) -> Markup {
        let ledger: &[Started] = self.request.as_ref().map_or(&[], |request| &request.ledger);
        let end = |task: &TaskId| ledger.iter().find(|started| started.task == *task);
        html! {
            h3 { "Tasks and effects" }
            @if self.tasks.is_empty() {
                p.faint { "There was no plan." }
            } @else {
                div.scroll tabindex="0" role="region" aria-label={ "Tasks of request " (self.id) } {
                    table {
                        thead { tr { th scope="col" { "Task" } th scope="col" { "Effect" } th scope="col" { "Runs" } th scope="col" { "What stands" } } }
                        tbody {
                            @for task in &self.tasks {
                                @let id = &task.id;
                                tr {
                                    th scope="row" { (id) ". " (Line::new().first(Ink::Text, task.text.as_str(), 200)) }
                                    td { (effect(task)) }
                                    td {
                                        @for (n, how) in self.runs.get(id).into_iter().flatten() {
                                            p { (link(*n)) " " (how) }
                                        }
                                        @if !self.runs.contains_key(id) { span.faint { "not run" } }
                                    }
                                    td { (stands(end(id))) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn records(&self) -> Markup {
        let Some(request) = &self.request else { return html! {} };
        html! {
            h3 { "Stores and audit" }
            dl.records {
                div { dt { "Stores" } dd { (words::holdings(request.holdings)) } }
                div { dt { "Audit record" } dd {
                    @match &self.audited {
                        Some((n, record)) => {
                            (words::ending(record.ending)) ", in step " (link(*n))
                            @for decision in &record.decisions { br; (words::decision(decision)) }
                            br; "stores: " (words::holdings(record.stores))
                            @for task in &record.tasks { br; (words::task_record(task)) }
                        }
                        None => { span.warn { "none so far" } }
                    }
                } }
                div { dt { "Audit sink" } dd {
                    @if self.delivered {
                        span.good { "took the record" }
                    } @else if self.undelivered {
                        span.bad { "did not take the record, and will not be asked again" }
                    } @else {
                        span.faint { "has not answered" }
                    }
                    @if request.audit_attempts > 1 { span.faint { ", asked " (request.audit_attempts) " times" } }
                } }
            }
        }
    }
}

impl Voice {
    fn markup(&self) -> Markup {
        let stance = match self.argument.stance {
            Stance::Pro => "good",
            Stance::Con => "bad",
        };
        html! {
            li.voice {
                span.who { (self.role) }
                span.stance.(stance) { (self.argument.stance) }
                (confidence(self.argument))
                span.at.faint { (link(self.step)) }
                div.said {
                    (self.text)
                    @for remark in &self.remarks { p.remark { (remark) } }
                }
            }
        }
    }
}

fn ratings(before: &Ratings, after: &Ratings) -> Markup {
    if before == after {
        return html! { h3 { "Ratings" } p { (words::moved(before, after)) "; they stand at: " (words::standing(before)) } };
    }
    html! {
        h3 { "Ratings" }
        div.scroll tabindex="0" role="region" aria-label="Ratings" {
            table {
                thead { tr { th scope="col" { "Role" } th scope="col" { "Before" } th scope="col" { "After" } th scope="col" { "Won" } } }
                tbody {
                    @for role in Role::ALL {
                        @let Rating { elo, successes, matches } = *after.get(role);
                        @let from = before.get(role).elo;
                        tr {
                            th scope="row" { (role) }
                            td.number { (from) }
                            td.number.good[elo > from].bad[elo < from] { (elo) }
                            td.number { (successes) " of " (matches) }
                        }
                    }
                }
            }
        }
    }
}

fn effect(task: &Task) -> Markup {
    html! {
        @match &task.effect {
            Effect::Pure => { span.faint { "pure" } }
            Effect::Undoable { compensation } => {
                "undone by: " (Line::new().first(Ink::Text, compensation.as_str(), 200))
            }
            Effect::Irreversible => { span.warn { "irreversible" } }
        }
    }
}

fn stands(started: Option<&Started>) -> Markup {
    html! {
        @match started.map(|started| (started.record().effect, started.end)) {
            None => { span.faint { "nothing" } }
            Some((None, _)) => { span.faint { "no effect" } }
            Some((Some(EffectEnd::Kept), _)) => { "kept" }
            Some((Some(end), _)) => { (Line::new().ink(words::effect_end(end), end)) }
        }
    }
}

/// A link to a step of the timeline.
pub(super) fn link(n: u64) -> Markup {
    html! { a href={ "#s" (n) } { (n) } }
}
