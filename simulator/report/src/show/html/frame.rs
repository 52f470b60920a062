//! The page around what is told: head, navigation, timeline, states, claims.

use super::super::ShowSummary;
use super::super::claims::Verdict;
use super::super::renderer::Line;
use super::super::text::{count, sanitize};
use super::blocks::PageBlock;
use super::request::link;
use super::{PAGE_BEGINS, PageBuilder};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};
use orchestrion_claims::Claim;
use orchestrion_trace::{Header, TraceError};
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Steps of the timeline under one heading.
#[derive(Default)]
pub(super) struct Group {
    pub(super) title: Option<Line>,
    pub(super) region: Option<String>,
    pub(super) steps: Vec<Markup>,
}

/// What the page says of the trace as a whole.
pub(super) struct Frame<'a> {
    pub(super) header: &'a Header,
    pub(super) file: &'a str,
    pub(super) shown: &'a ShowSummary,
    pub(super) end: &'a [PageBlock],
    pub(super) unread: Option<&'a TraceError>,
}

/// What the page may do: show its own style, run its own script, and nothing else.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

impl Frame<'_> {
    pub(super) fn markup(&self, book: &PageBuilder, verdicts: &[(&'static Claim, Verdict)]) -> Markup {
        let title = sanitize(&format!("Conversation {}", self.header.conversation));
        html! {
            (PreEscaped(PAGE_BEGINS))
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#timeline" { "To the timeline" }
                header {
                    h1 { (title) }
                    (self.facts(verdicts))
                    (self.notes())
                }
                nav aria-label="Parts of this page" {
                    a href="#requests" { "Requests" }
                    a href="#timeline" { "Timeline" }
                    a.js href="#state" { "State" }
                    a href="#claims" { "Claims" }
                }
                main {
                    section #requests aria-label="Requests" {
                        @for request in &book.requests { (request) }
                        @if book.requests.is_empty() { p.faint { "Nobody asked for anything." } }
                        @if book.requests_left_out > 0 {
                            p.note { (book.requests_left_out) " more requests have no room in this page; see them with: orchestrion show " (sanitize(self.file)) }
                        }
                    }
                    div.steps-and-state {
                        (self.timeline(book))
                        (state(book))
                    }
                    (claims(verdicts))
                }
                footer { p.faint { "Written by orchestrion " (env!("CARGO_PKG_VERSION")) " from one recorded trace." } }
                script type="application/json" id="states" { (PreEscaped(book.states.json())) }
                script { (PreEscaped(SCRIPT)) }
            }
            (PreEscaped("</html>"))
        }
    }

    fn facts(&self, verdicts: &[(&'static Claim, Verdict)]) -> Markup {
        let Header { kernel, policy, scenario, .. } = self.header;
        let ShowSummary { steps, requests, refused } = *self.shown;
        let broken = verdicts.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Broken(_))).count();
        html! {
            dl.facts {
                div { dt { "Policy" } dd { (sanitize(&policy.name)) } }
                @if let Some(scenario) = scenario { div { dt { "Scenario" } dd { (sanitize(&scenario.name)) } } }
                div { dt { "Kernel" } dd { (sanitize(kernel)) } }
                div { dt { "Trace" } dd { (sanitize(self.file)) } }
                div { dt { "Steps" } dd { (steps) } }
                div { dt { "Requests" } dd { (requests) } }
                @if refused > 0 { div { dt { "Refused" } dd { (refused) } } }
                div { dt { "Claims" } dd { a href="#claims" {
                    @if broken == 0 { "none broken" } @else { (broken) " broken" }
                } } }
            }
        }
    }

    fn notes(&self) -> Markup {
        html! {
            @if let Some(error) = self.unread {
                p.note role="note" {
                    strong { "This trace is not whole. " }
                    "It is shown as far as it goes: " (sanitize(&error.to_string())) "."
                }
            }
            @for difference in orchestrion_trace::replay::header_differences(self.header, None) {
                p.note role="note" { (sanitize(&difference)) }
            }
        }
    }

    fn timeline(&self, book: &PageBuilder) -> Markup {
        html! {
            section #timeline {
                h2 { "Timeline" }
                @for group in &book.groups {
                    @if let Some(title) = &group.title { h3 { (title) } }
                    @if let Some(region) = &group.region { h4 { (sanitize(region)) } }
                    @if !group.steps.is_empty() { ol.steps { @for step in &group.steps { (step) } } }
                }
                @if let Some(from) = book.left_out_from {
                    p.note { "From step " (from) " on there is no room in this page; see any step with: orchestrion show " (sanitize(self.file)) " --at " (from) }
                }
                div.end {
                    @for told in self.end { @if let PageBlock::Paragraph(line) = told { p { (line) } } }
                }
            }
        }
    }
}

/// A line of a step in the timeline.
pub(super) fn line(told: &PageBlock) -> Markup {
    html! {
        @match told {
            PageBlock::Step { who, said } => { span.by { (who) } div.said { (said) } }
            PageBlock::Asked { who, text } => { span.by { (who) } div.said { (text) } }
            PageBlock::More { who, said } => { span.by.faint { (sanitize(who)) } div.said.more { (said) } }
            PageBlock::Answer(text) => { div.said.more { (text) } }
            PageBlock::Paragraph(line) => { div.said.more.sum { (line) } }
            _ => {}
        }
    }
}

/// What was told of one step, under its names.
pub(super) fn sections(told: &[PageBlock]) -> Markup {
    let mut sections: Vec<(&str, Vec<Markup>)> = Vec::new();
    for told in told {
        let (name, markup) = match told {
            PageBlock::Section { name, line } => (name.as_str(), html! { p { (line) } }),
            PageBlock::Event { section, name, line } => {
                (section.as_str(), html! { p.event { code { (name) } " " (line) } })
            }
            PageBlock::Task(line) => ("", html! { p { (line) } }),
            PageBlock::Whole(text) => ("", html! { (text) }),
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

/// Where the script shows any state whole.
fn state(book: &PageBuilder) -> Markup {
    let kept = book.states.kept();
    html! {
        section #state aria-labelledby="state-title" {
            h2 #state-title { "State" }
            noscript { p { "Without scripts, every step of the timeline lists what is new in the state after it." } }
            div.js {
                @if kept > 0 {
                    div.choose {
                        button type="button" id="back" aria-label="the step before" { "‹" }
                        input type="range" id="at" min="1" max=(kept) value=(kept) aria-label="step";
                        button type="button" id="on" aria-label="the step after" { "›" }
                    }
                    p aria-live="polite" { "after step " a #chosen href={ "#s" (kept) } { (kept) } }
                    div #rows {}
                }
            }
            @if book.steps() > kept {
                p.note { "Only the states after the first " (count(kept, "step")) " have room in this page." }
            }
        }
    }
}

fn claims(verdicts: &[(&'static Claim, Verdict)]) -> Markup {
    let of =
        |is: fn(&Verdict) -> bool| verdicts.iter().filter(|(_, verdict)| is(verdict)).collect::<Vec<_>>();
    let parts = [
        ("Broken", "bad", of(|verdict| matches!(verdict, Verdict::Broken(_)))),
        ("Held in every step", "good", of(|verdict| matches!(verdict, Verdict::Held(_)))),
        (
            "Not met: nothing came that they are about",
            "faint",
            of(|verdict| matches!(verdict, Verdict::Vacuous)),
        ),
        ("Silent under this policy", "faint", of(|verdict| matches!(verdict, Verdict::NotApplicable(_)))),
        ("Not to be told from one trace", "faint", of(|verdict| matches!(verdict, Verdict::NotJudged(_)))),
    ];
    html! {
        section #claims {
            h2 { "Claims" }
            p { "Every claim of the kernel, held against this trace. That one holds here proves nothing of other traces; " code { "orchestrion check" } " does." }
            @for (title, ink, part) in &parts {
                @if !part.is_empty() {
                    h3.(ink) { (title) " (" (part.len()) ")" }
                    ul.claims { @for (claim, verdict) in part { (self::claim(claim, *verdict)) } }
                }
            }
        }
    }
}

fn claim(claim: &Claim, verdict: Verdict) -> Markup {
    html! {
        li {
            details {
                summary {
                    span.id { (claim.id) } " " (claim.statement)
                    @match verdict {
                        Verdict::Broken(n) => { span.bad { " broken first in step " (link(n)) } }
                        Verdict::Held(0) => {}
                        Verdict::Held(n) => { span.faint { " met first in step " (link(n)) } }
                        Verdict::NotApplicable(why) | Verdict::NotJudged(why) => { span.faint { " " (why) } }
                        Verdict::Vacuous => {}
                    }
                }
                p.formula { (claim.formula) }
                p.faint {
                    (claim.clause) ", " (claim.check.kind())
                    @if let Some(finding) = claim.finding { ", finding " (finding) }
                }
            }
        }
    }
}
