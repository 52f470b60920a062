//! A self-contained page with the figures and the tables of a result.

use crate::error::FigureError;
use crate::figure::Figure;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use orchestrion_experiment::statistics::Estimate;
use orchestrion_experiment::{Metric, Report};

/// The first bytes of every page.
pub const PAGE_PREFIX: &str = "<!DOCTYPE html><!-- an experiment of orchestrion -->";

/// The policies of the table; the others are in the file of the result.
const ROWS_MAX: usize = 200;

/// What a page contains.
pub struct Page<'a> {
    /// The statistics.
    pub report: &'a Report,
    /// The figures, in their order.
    pub figures: &'a [Figure],
    /// The metrics of the table.
    pub metrics: &'a [&'static Metric],
    /// The question of the experiment.
    pub description: &'a str,
    /// The command that repeats the experiment.
    pub command: &'a str,
}

/// Returns the page of a result.
///
/// # Errors
/// [`FigureError`], which is a bug.
pub fn page(page: &Page<'_>) -> Result<String, FigureError> {
    let Page { report, figures, metrics, description, command } = *page;
    let figures: Vec<Markup> = figures.iter().map(figure_markup).collect::<Result<_, _>>()?;
    let used = report.used(metrics);
    let body = html! {
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (report.experiment) }
                style { (PreEscaped(include_str!("page.css"))) }
            }
            body {
                header {
                    h1 { (report.experiment) }
                    p { (description) }
                    p.meta {
                        (report.runs) " runs of " (report.policies.len()) " policies"
                        @if report.requests > 1 { ", " (report.requests) " requests each" }
                        @if report.missing_runs > 0 { ", " (report.missing_runs) " runs missing" }
                        ". Intervals contain the true value with a confidence of 95 %."
                    }
                    pre { (command) }
                }
                main {
                    section.figures { @for figure in &figures { (figure) } }
                    section {
                        h2 { "Policies" }
                        (table(report, &used))
                    }
                    @if !report.sensitivities.is_empty() { (sensitivities(report, &used)) }
                    section {
                        h2 { "Metrics" }
                        dl { @for metric in &used { dt { code { (metric.name) } } dd { (metric.meaning.trim()) } } }
                    }
                }
                footer { "Digest of all rows: " code { (report.rows_digest) } }
            }
        }
    };
    let page = html! { (DOCTYPE) (PreEscaped("<!-- an experiment of orchestrion -->")) (body) };
    Ok(page.into_string())
}

/// Returns a figure whose texts and axes have the color of the page's text.
fn figure_markup(figure: &Figure) -> Result<Markup, FigureError> {
    let svg = figure.svg()?.replace("#000000", "currentColor");
    let labelled =
        svg.replacen("<svg ", &format!("<svg role=\"img\" aria-label=\"{}\" ", escaped(&figure.title)), 1);
    Ok(html! { figure id=(figure.name) { (PreEscaped(labelled)) figcaption { (figure.title) } } })
}

fn escaped(text: &str) -> String {
    html! { (text) }.into_string().replace('"', "&quot;")
}

fn table(report: &Report, used: &[&'static Metric]) -> Markup {
    html! {
        div.scroll {
            table {
                thead { tr { th { "policy" } @for metric in used { th { (metric.name) } } } }
                tbody {
                    @for (position, policy) in report.policies.iter().enumerate().take(ROWS_MAX) {
                        tr class=[report.pareto_front.contains(&position).then_some("front")] {
                            th scope="row" { (policy.policy) }
                            @for metric in used { td { @if let Some(found) = policy.metrics.get(metric.name) { (cell(metric, &found.mean)) } } }
                        }
                    }
                }
            }
        }
        @if report.policies.len() > ROWS_MAX { p { (report.policies.len() - ROWS_MAX) " more policies are in the file of the result." } }
        p.meta { "A marked row: no other policy has both fewer harmful plans that run and fewer acceptable plans that are blocked." }
    }
}

fn cell(metric: &Metric, estimate: &Estimate) -> Markup {
    html! { (metric.format(estimate.mean)) br; small { (estimate.format_interval(metric)) } }
}

fn sensitivities(report: &Report, used: &[&'static Metric]) -> Markup {
    let is_used = |name: &str| used.iter().any(|metric| metric.name == name);
    html! {
        section {
            h2 { "Which settings matter" }
            p.meta { "Share of the variance between policies that a setting explains alone, and alone or together with others." }
            div.scroll {
                table {
                    thead { tr { th { "metric" } th { "setting" } th { "alone" } th { "with others" } } }
                    tbody {
                        @for found in report.sensitivities.iter().filter(|found| is_used(&found.metric)) {
                            @for setting in &found.settings {
                                tr {
                                    th scope="row" { (found.metric) }
                                    td { (setting.setting) }
                                    td { (format!("{:.2}", setting.first_order)) }
                                    td { (format!("{:.2}", setting.total)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
