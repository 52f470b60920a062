//! A story as markup.

use super::super::super::phrases;
use super::super::super::renderer::{Line, TextStyle};
use super::super::blocks::PageBlock;
use super::super::charts::{confidence, consensus};
use super::{ArgumentView, RequestView};
use maud::{Markup, html};
use orchestrion_kernel::TaskId;
use orchestrion_kernel::event::EffectOutcome;
use orchestrion_kernel::module::{Rating, Ratings, Role, Stance};
use orchestrion_kernel::plan::{Effect, Task};
use orchestrion_kernel::policy::Thresholds;
use orchestrion_kernel::state::StartedTask;

impl RequestView {
    /// The story in the page. A request that has not ended says so.
    pub(in super::super) fn markup(&self, thresholds: &Thresholds, ended: bool) -> Markup {
        let id = self.id;
        html! {
            article.request id={ "request-" (id) } {
                h2 { "Request " (id) " of " (self.user) }
                p.faint { "steps " (link(self.first)) " to " (link(self.last)) }
                blockquote { (self.asked) }
                p.ending {
                    @match self.ending {
                        Some(ending) => { (phrases::ending(ending)) @if !ended { span.warn { " (not over yet)" } } }
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
                            PageBlock::Step { said, .. } => p { (said) },
                            PageBlock::More { said, who } if who == "decision" => p { (said) },
                            PageBlock::More { said, .. } => p.why { (said) },
                            _ => {}
                        }
                    }
                    p.faint { "in step " (link(*n)) }
                }
            }
        }
    }

    fn effects(&self) -> Markup {
        let ledger: &[StartedTask] = self.request.as_ref().map_or(&[], |request| &request.ledger);
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
                                    th scope="row" { (id) ". " (Line::new().first(TextStyle::Text, task.text.as_str(), 200)) }
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
                div { dt { "Stores" } dd { (phrases::holdings(request.store_statuses)) } }
                div { dt { "Audit record" } dd {
                    @match &self.audited {
                        Some((n, record)) => {
                            (phrases::ending(record.conclusion)) ", in step " (link(*n))
                            @for decision in &record.decisions { br; (phrases::decision(decision)) }
                            br; "stores: " (phrases::holdings(record.stores))
                            @for task in &record.tasks { br; (phrases::task_record(task)) }
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

impl ArgumentView {
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
        return html! { h3 { "Ratings" } p { (phrases::moved(before, after)) "; they stand at: " (phrases::standing(before)) } };
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
                "undone by: " (Line::new().first(TextStyle::Text, compensation.as_str(), 200))
            }
            Effect::Irreversible => { span.warn { "irreversible" } }
        }
    }
}

fn stands(started: Option<&StartedTask>) -> Markup {
    html! {
        @match started.map(|started| (started.record().effect, started.outcome)) {
            None => { span.faint { "nothing" } }
            Some((None, _)) => { span.faint { "no effect" } }
            Some((Some(EffectOutcome::Kept), _)) => { "kept" }
            Some((Some(end), _)) => { (Line::new().ink(phrases::effect_end(end), end)) }
        }
    }
}

/// A link to a step of the timeline.
pub(in super::super) fn link(n: u64) -> Markup {
    html! { a href={ "#s" (n) } { (n) } }
}
