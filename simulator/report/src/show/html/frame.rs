//! The frame of a page: head, navigation, timeline, states and claims.

use super::super::claims::Verdict;
use super::super::fold::ShowSummary;
use super::super::network_activity::Drawing;
use super::super::phrases;
use super::ProjectClaim;
use super::blocks::{PageBlock, step_link};
use super::builder::PageBuilder;
use super::charts::bar;
use super::commands;
use super::network;
use crate::text::{count, sanitize};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};
use orchestrion_claims::Claim;
use orchestrion_trace::{Header, TraceError};
use sha2::{Digest, Sha256};

/// The first bytes of every page.
pub const PAGE_PREFIX: &str = "<!DOCTYPE html><html lang=\"en\" class=\"orchestrion-trace\">";

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The facts about a trace as a whole.
pub(super) struct Frame<'a> {
    pub(super) header: &'a Header,
    pub(super) file: &'a str,
    pub(super) summary: &'a ShowSummary,
    pub(super) end: &'a [PageBlock],
    pub(super) drawing: Option<&'a Drawing>,
    pub(super) unread: Option<&'a TraceError>,
    pub(super) project_claims: &'a [ProjectClaim],
}

/// Returns a content security policy that permits only the page's own style and script.
fn content_security_policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

impl Frame<'_> {
    pub(super) fn markup(&self, builder: &PageBuilder, verdicts: &[(&'static Claim, Verdict)]) -> Markup {
        let title = sanitize(&format!("Conversation {}", self.header.conversation));
        html! {
            (PreEscaped(PAGE_PREFIX))
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(content_security_policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#timeline" { "Skip to the timeline" }
                header {
                    h1 { (title) }
                    (self.violations(verdicts))
                    (self.facts(verdicts))
                    (self.notes())
                }
                nav aria-label="Sections of this page" {
                    a href="#requests" { "Requests" }
                    @if self.drawing.is_some() { a href="#network" { "Network" } }
                    a href="#timeline" { "Timeline" }
                    a.js href="#state" { "State" }
                    a href="#claims" { "Claims" }
                }
                main {
                    section #requests aria-label="Requests" {
                        @for request in &builder.requests { (request) }
                        @if builder.requests.is_empty() { p.faint { "No requests." } }
                        @if builder.omitted_requests > 0 {
                            p.note { "This page omits " (builder.omitted_requests) " more requests. To see them: orchestrion show " (sanitize(self.file)) }
                        }
                    }
                    @if let Some(drawing) = self.drawing {
                        section #network aria-label="Network" { h2 { "Network" } (network::figure(drawing)) }
                    }
                    div.steps-and-state {
                        (self.timeline(builder))
                        (state(builder))
                    }
                    (self.claims(verdicts))
                }
                footer { p.faint { "Created by orchestrion " (env!("CARGO_PKG_VERSION")) " from one recorded trace." } }
                script type="application/json" id="states" { (PreEscaped(builder.states.json())) }
                script { (PreEscaped(SCRIPT)) }
            }
            (PreEscaped("</html>"))
        }
    }

    fn facts(&self, verdicts: &[(&'static Claim, Verdict)]) -> Markup {
        let Header { kernel, policy, scenario, lineage, .. } = self.header;
        let ShowSummary { steps, requests, refused, unproven_contexts } = *self.summary;
        let of_project = self.project_claims.iter().filter(|claim| claim.violated_at.is_some()).count();
        let violated = verdicts.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Violated(_))).count();
        let violated = violated + of_project;
        html! {
            dl.facts {
                div { dt { "Policy" } dd { (sanitize(&policy.name)) } }
                @if let Some(scenario) = scenario { div { dt { "Scenario" } dd { (sanitize(&scenario.name)) } } }
                div { dt { "Kernel" } dd { (sanitize(kernel)) } }
                div { dt { "Trace" } dd { (sanitize(self.file)) } }
                @if let Some(lineage) = lineage { div { dt { "Lineage" } dd { (sanitize(&phrases::lineage(lineage))) } } }
                div { dt { "Steps" } dd { (steps) } }
                div { dt { "Requests" } dd { (requests) } }
                @if refused > 0 { div { dt { "Refused" } dd { (refused) } } }
                @if unproven_contexts > 0 {
                    div { dt { "Contexts" } dd { (unproven_contexts) " not proven optimal" } }
                }
                div { dt { "Claims" } dd { a href="#claims" {
                    @if violated == 0 { "none violated" } @else { (violated) " violated" }
                } } }
            }
        }
    }

    fn notes(&self) -> Markup {
        html! {
            @if let Some(error) = self.unread {
                p.note role="note" {
                    strong { "This trace is incomplete. " }
                    "The page shows its readable part: " (sanitize(&error.to_string())) "."
                }
            }
            @for difference in orchestrion_trace::replay::header_differences(self.header, None) {
                p.note role="note" { (sanitize(&difference)) }
            }
        }
    }

    fn timeline(&self, builder: &PageBuilder) -> Markup {
        html! {
            section #timeline {
                h2 { "Timeline" }
                div.js.filter {
                    label for="query" { "Filter" }
                    input type="search" id="query" placeholder="such as: security con";
                    span #found.faint aria-live="polite" {}
                }
                (commands::templates(self.file))
                @for group in &builder.groups {
                    @if let Some(title) = &group.title { h3 { (title) } }
                    @if let Some(region) = &group.region { h4 { (sanitize(region)) } }
                    @if !group.steps.is_empty() { ol.steps { @for step in &group.steps { (step) } } }
                }
                @if let Some(from) = builder.omitted_from {
                    p.note { "This page omits the steps from " (from) ". To see a step: orchestrion show " (sanitize(self.file)) " --step " (from) }
                }
                div.end {
                    @for block in self.end { @if let PageBlock::Paragraph(line) = block { p { (line) } } }
                }
            }
        }
    }

    /// Returns the violated claims, so that a counterexample says at once what it violates; nothing for a trace without one.
    fn violations(&self, verdicts: &[(&'static Claim, Verdict)]) -> Markup {
        let violated = verdicts.iter().filter_map(|(claim, verdict)| match verdict {
            Verdict::Violated(n) => Some((claim, *n)),
            Verdict::Holds(_)
            | Verdict::Inconclusive(_)
            | Verdict::Vacuous
            | Verdict::NotApplicable(_)
            | Verdict::NotCheckable(_) => None,
        });
        let violated: Vec<_> = violated.collect();
        let of_project = self.project_claims.iter().filter_map(|claim| claim.violated_at.map(|n| (claim, n)));
        let of_project: Vec<_> = of_project.collect();
        html! {
            @if !violated.is_empty() || !of_project.is_empty() {
                section.violations aria-label="Violated claims" {
                    @for (claim, n) in of_project {
                        p { strong { (sanitize(&claim.id)) " is violated in step " (step_link(n)) ". " } (sanitize(&claim.sentence)) }
                    }
                    @for (claim, n) in violated {
                        p { strong { (claim.id) " is violated in step " (step_link(n)) ". " } (claim.statement) }
                    }
                }
            }
        }
    }

    fn claims(&self, verdicts: &[(&'static Claim, Verdict)]) -> Markup {
        let select =
            |is: fn(&Verdict) -> bool| verdicts.iter().filter(|(_, verdict)| is(verdict)).collect::<Vec<_>>();
        let groups = [
            ("Violated", "bad", select(|verdict| matches!(verdict, Verdict::Violated(_)))),
            ("Hold in every step", "good", select(|verdict| matches!(verdict, Verdict::Holds(_)))),
            ("Inconclusive", "faint", select(|verdict| matches!(verdict, Verdict::Inconclusive(_)))),
            ("Vacuous: premise not reached", "faint", select(|verdict| matches!(verdict, Verdict::Vacuous))),
            (
                "Not applicable under this policy",
                "faint",
                select(|verdict| matches!(verdict, Verdict::NotApplicable(_))),
            ),
            (
                "Not checkable on one trace",
                "faint",
                select(|verdict| matches!(verdict, Verdict::NotCheckable(_))),
            ),
        ];
        html! {
            section #claims {
                h2 { "Claims" }
                p { "The claims, checked on this trace only. " code { "orchestrion check" } " checks them on all reachable states of its models." }
                @if !self.project_claims.is_empty() {
                    h3 { "Of the project (" (self.project_claims.len()) ")" }
                    ul.claims { @for claim in self.project_claims { (project_claim(claim)) } }
                }
                @for (title, class, group) in &groups {
                    @if !group.is_empty() {
                        h3.(class) { (title) " (" (group.len()) ")" }
                        ul.claims { @for (claim, verdict) in group { (claim_of_catalog(claim, *verdict)) } }
                    }
                }
            }
        }
    }
}

/// Returns the section in which the script shows the full state after a step.
fn state(builder: &PageBuilder) -> Markup {
    let stored = builder.states.stored_steps();
    html! {
        section #state aria-labelledby="state-title" {
            h2 #state-title { "State" }
            noscript { p { "Without scripts, each step of the timeline lists what is new in the state after it." } }
            div.js {
                @if stored > 0 {
                    div.choose {
                        button type="button" id="previous" aria-label="previous step" { "‹" }
                        input type="range" id="range" min="1" max=(stored) value=(stored) aria-label="step";
                        button type="button" id="next" aria-label="next step" { "›" }
                    }
                    p aria-live="polite" { "after step " a #chosen href={ "#s" (stored) } { (stored) } }
                    div #rows {}
                    // The script fills copies of it.
                    template #bar { (bar(0, "")) }
                }
            }
            @if builder.steps() > stored {
                p.note { "This page contains the states after the first " (count(stored, "step")) " only." }
            }
        }
    }
}

fn claim_of_catalog(claim: &Claim, verdict: Verdict) -> Markup {
    html! {
        li {
            details {
                summary {
                    span.id { (claim.id) } " " (claim.statement)
                    @match verdict {
                        Verdict::Violated(n) => { span.bad { " first violated in step " (step_link(n)) } }
                        Verdict::Inconclusive(n) => {
                            span.faint { " first context that is not proven optimal in step " (step_link(n)) }
                        }
                        Verdict::Holds(0) | Verdict::Vacuous => {}
                        Verdict::Holds(n) => { span.faint { " premise first reached in step " (step_link(n)) } }
                        Verdict::NotApplicable(reason) | Verdict::NotCheckable(reason) => { span.faint { " " (reason) } }
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

fn project_claim(claim: &ProjectClaim) -> Markup {
    let class = if claim.violated_at.is_some() { "bad" } else { "faint" };
    html! {
        li {
            details {
                summary {
                    span.id { (sanitize(&claim.id)) } " " (sanitize(&claim.sentence))
                    span.(class) {
                        " " (sanitize(&claim.verdict))
                        @if let Some(n) = claim.violated_at { " in step " (step_link(n)) }
                    }
                }
                p.faint { (sanitize(&claim.place)) }
            }
        }
    }
}
