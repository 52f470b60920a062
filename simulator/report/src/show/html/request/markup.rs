//! The markup of a request.

use super::super::super::phrases;
use super::super::super::renderer::{Line, TextStyle};
use super::super::blocks::{FullText, PageBlock, step_link};
use super::super::charts::{confidence, consensus};
use super::{ArgumentView, RequestView};
use maud::{Markup, html};
use orchestrion_kernel::TaskId;
use orchestrion_kernel::event::EffectOutcome;
use orchestrion_kernel::module::{Rating, Ratings, Role, Stance};
use orchestrion_kernel::plan::{Effect, Task};
use orchestrion_kernel::policy::Thresholds;
use orchestrion_kernel::state::StartedTask;
use orchestrion_trace::RequestFacts;

/// The most columns of a task in a table.
const TASK_COLUMNS_MAX: usize = 200;

impl RequestView {
    /// Returns the request. `ended` is false if the trace stops before its end.
    pub(in super::super) fn markup(&self, thresholds: &Thresholds, ended: bool) -> Markup {
        let RequestFacts { id, user, text, first_step, conclusion, result, .. } = &self.facts;
        html! {
            article.request id={ "request-" (id) } {
                h2 { "Request " (id) " of " (Line::new().styled(TextStyle::Actor, user)) }
                p.faint { "steps " (step_link(*first_step)) " to " (step_link(self.last_step)) }
                blockquote { (FullText::new(text.as_str())) }
                p.conclusion {
                    @match *conclusion {
                        Some(conclusion) => { (phrases::conclusion(conclusion)) @if !ended { span.warn { " (not ended)" } } }
                        None if ended => { span.faint { "ended without a conclusion" } }
                        None => { span.warn { "not ended when the trace stops" } }
                    }
                }
                @if let Some((n, result)) = result {
                    h3 { "Final answer" }
                    blockquote.answer { (FullText::new(result.text.as_str())) p.faint { "in step " (step_link(*n)) } }
                }
                h3 { "Path" }
                (self.path.figure())
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
                    "A plan may run from a consensus of " (thresholds.proceed_from) ". Below "
                    (thresholds.redebate_below) ", another pass follows while passes are left. The charts show both thresholds."
                }
                @for pass in &self.passes {
                    section.pass {
                        h4 { (pass.title) }
                        ul.arguments {
                            @for argument in &pass.arguments { (argument.markup()) }
                        }
                        @for scored in &pass.scores {
                            div.consensus {
                                span.at { (step_link(scored.step)) }
                                (consensus(scored.score, thresholds))
                                span { "consensus " (scored.reason) }
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
            h3 { "Decision" }
            @if self.decisions.is_empty() {
                p.faint { "No decision." }
            }
            @for (n, blocks) in &self.decisions {
                div.decision {
                    @for block in blocks {
                        @match block {
                            PageBlock::Step { line, .. } => p { (line) },
                            PageBlock::Line { label, line } if label == "decision" => p { (line) },
                            PageBlock::Line { line, .. } => p.reason { (line) },
                            _ => {}
                        }
                    }
                    p.faint { "in step " (step_link(*n)) }
                }
            }
        }
    }

    fn effects(&self) -> Markup {
        let started = |task: &TaskId| self.request.as_ref().and_then(|request| request.ledger.get(*task));
        html! {
            h3 { "Tasks and effects" }
            @if self.tasks.is_empty() {
                p.faint { "No plan." }
            } @else {
                div.scroll tabindex="0" role="region" aria-label={ "Tasks of request " (self.facts.id) } {
                    table {
                        thead { tr { th scope="col" { "Task" } th scope="col" { "Effect" } th scope="col" { "Runs" } th scope="col" { "Outcome" } } }
                        tbody {
                            @for task in &self.tasks {
                                @let id = &task.id;
                                tr {
                                    th scope="row" { (id) ". " (Line::new().shortened(TextStyle::Text, task.text.as_str(), TASK_COLUMNS_MAX)) }
                                    td data-label="Effect" { (effect(task)) }
                                    td data-label="Runs" {
                                        @for (n, result) in self.runs.get(id).into_iter().flatten() {
                                            p { (step_link(*n)) " " (result) }
                                        }
                                        @if !self.runs.contains_key(id) {
                                            @if started(id).is_some() { span.warn { "started, without a result" } }
                                            @else { span.faint { "not run" } }
                                        }
                                    }
                                    td data-label="Outcome" {
                                        // What a task without a result did is not known before the request concludes.
                                        @if started(id).is_some() && !self.runs.contains_key(id) && self.facts.conclusion.is_none() {
                                            span.warn { "unknown" }
                                        } @else { (effect_outcome(started(id))) }
                                    }
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
                div { dt { "Stores" } dd { (phrases::store_statuses(request.store_statuses)) } }
                div { dt { "Audit record" } dd {
                    @match &self.facts.audit_record {
                        Some((n, record)) => {
                            (phrases::conclusion(record.conclusion)) ", in step " (step_link(*n))
                            @for decision in &record.decisions { br; (phrases::decision(decision)) }
                            br; "stores: " (phrases::store_statuses(record.stores))
                            @for task in &record.tasks { br; (phrases::task_record(task)) }
                        }
                        None => { span.warn { "none" } }
                    }
                } }
                div { dt { "Audit sink" } dd {
                    @if self.is_delivered {
                        span.good { "received the record" }
                    } @else if self.is_undelivered {
                        span.bad { "did not receive the record; there is no further attempt" }
                    } @else {
                        span.faint { "no reply" }
                    }
                    @if request.audit_attempts > 1 { span.faint { ", " (request.audit_attempts) " attempts" } }
                } }
            }
        }
    }
}

impl ArgumentView {
    fn markup(&self) -> Markup {
        let stance = match self.argument.stance {
            Stance::Pro => "good",
            Stance::Con => "bad",
        };
        html! {
            li.argument {
                span.actor { (self.debater) }
                span.stance.(stance) { (self.argument.stance) }
                (confidence(self.argument))
                span.at.faint { (step_link(self.step)) }
                div.text {
                    (self.text)
                    @for remark in &self.remarks { p.remark { (remark) } }
                }
            }
        }
    }
}

fn ratings(before: &Ratings, after: &Ratings) -> Markup {
    if before == after {
        return html! { h3 { "Ratings" } p { (phrases::rating_changes(before, after)) ": " (phrases::ratings(before)) } };
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
                            td.number data-label="Before" { (from) }
                            td.number.good[elo > from].bad[elo < from] data-label="After" { (elo) }
                            td.number data-label="Won" { (successes) " of " (matches) }
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
                "undo: " (Line::new().shortened(TextStyle::Text, compensation.as_str(), TASK_COLUMNS_MAX))
            }
            Effect::Irreversible => { span.warn { "irreversible" } }
        }
        @if let Some(scope) = &task.scope { span.faint { (phrases::in_scope(scope)) } }
    }
}

fn effect_outcome(started: Option<&StartedTask>) -> Markup {
    html! {
        @match started.map(|started| started.record().effect) {
            None => { span.faint { "not started" } }
            Some(None) => { span.faint { "no effect" } }
            Some(Some(EffectOutcome::Kept)) => { "kept" }
            Some(Some(outcome)) => { (Line::new().styled(phrases::effect_style(outcome), outcome)) }
        }
    }
}
