//! A step of the timeline as markup: its lines, and its details in a fold.

use super::super::detail;
use super::super::renderer::Line;
use super::super::step_view::StepView;
use super::blocks::{PageBlock, PageBlocks};
use super::commands::settable;
use super::states::States;
use crate::text::sanitize;
use maud::{Markup, html};
use std::io;

/// Steps of the timeline under one heading.
#[derive(Default)]
pub(super) struct Group {
    pub(super) title: Option<Line>,
    pub(super) region: Option<String>,
    pub(super) steps: Vec<Markup>,
}

/// Returns a step with its lines in the timeline, and adds the state after it to `states`.
pub(super) fn step(view: &StepView<'_>, lines: &[PageBlock], states: &mut States) -> Markup {
    let n = view.step.n;
    let timed = if view.elapsed().is_some() { " timed" } else { "" };
    let class = format!("step{}{timed}", settable(&view.step.input));
    html! {
        li class=(class) id={ "s" (n) } {
            a.n href={ "#s" (n) } { (n) }
            @for block in lines { (line(block)) }
            (details(view, states))
        }
    }
}

/// Returns input, transition, events and context of a step, and the changes of the state.
fn details(view: &StepView<'_>, states: &mut States) -> Markup {
    let n = view.step.n;
    let (mut detail, mut state) = (PageBlocks::default(), PageBlocks::default());
    // Writing to memory does not fail.
    let _: io::Result<()> = detail::write_decision(&mut detail, view);
    let _: io::Result<Option<String>> = detail::write_context_summary(&mut detail, view);
    let _: io::Result<()> = detail::state::write(&mut state, view);
    let new = states.push(state);
    html! {
        details.detail {
            summary aria-label={ "details of " (n) } {
                @if let Some(time) = view.elapsed() { span.time { (time) } }
                span.row { (view.transition().map_or("", |row| row.id)) }
            }
            (sections(&detail.0))
            @if view.step.refused.is_none() {
                h4 { "New in the state" }
                @if new.is_empty() {
                    p.faint { "nothing" }
                } @else {
                    dl { @for (name, line) in &new { div { dt { (name) } dd { (line) } } } }
                }
            }
        }
    }
}

/// Returns a line of a step in the timeline.
fn line(block: &PageBlock) -> Markup {
    html! {
        @match block {
            PageBlock::Step { actor, line } => { span.by { (actor) } div.text { (line) } }
            PageBlock::Message { actor, text } => { span.by { (actor) } div.text { (text) } }
            PageBlock::Line { label, line } => { span.by.faint { (sanitize(label)) } div.text { (line) } }
            PageBlock::Answer(text) => { div.text { (text) } }
            PageBlock::Paragraph(line) => { div.text { (line) } }
            _ => {}
        }
    }
}

/// Returns the sections of one step, each under its name.
fn sections(blocks: &[PageBlock]) -> Markup {
    let mut sections: Vec<(&str, Vec<Markup>)> = Vec::new();
    for block in blocks {
        let (name, markup) = match block {
            PageBlock::Section { name, line } => (name.as_str(), html! { p { (line) } }),
            PageBlock::Event { section, name, line } => {
                (section.as_str(), html! { p { code { (name) } " " (line) } })
            }
            PageBlock::Task(line) => ("", html! { p { (line) } }),
            PageBlock::Text(text) => ("", html! { (text) }),
            _ => continue,
        };
        match sections.last_mut() {
            Some((_, markups)) if name.is_empty() => markups.push(markup),
            _ => sections.push((name, vec![markup])),
        }
    }
    html! {
        dl { @for (name, markups) in sections { div { dt { (name) } dd { @for markup in markups { (markup) } } } } }
    }
}
