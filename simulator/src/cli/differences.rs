//! Reports of changed decisions, which `replay` and `run` share.

use super::output::write_hanging;
use orchestrion_kernel::Policy;
use orchestrion_kernel::network::NetworkInput;
use orchestrion_scenario::changed_network;
use orchestrion_scenario::policy_file::{ChangedSetting, changed_settings};
use orchestrion_trace::replay::Difference;
use orchestrion_trace::{ChangedDecision, RequestEnding};
use std::io::{self, Write};

pub(super) use orchestrion_trace::replay::excerpts;

/// The column of the values of a difference.
const VALUE_COLUMN: usize = 13;
/// The column of the text of a labelled line.
pub(super) const TEXT_COLUMN: usize = 11;
/// Changed settings that are listed.
const SETTINGS_MAX: usize = 8;

/// What the two sides of a difference are called.
#[derive(Clone, Copy)]
pub(super) struct Sides {
    pub(super) recorded: &'static str,
    pub(super) current: &'static str,
}

/// A golden trace and a new run.
pub(super) const GOLDEN: Sides = Sides { recorded: "golden", current: "now" };

impl Sides {
    /// Writes two values, each wrapped below its side.
    pub(super) fn write(
        self,
        recorded: &str,
        current: &str,
        width: usize,
        out: &mut impl Write,
    ) -> io::Result<()> {
        write_hanging(VALUE_COLUMN, &format!("    {}", self.recorded), recorded, width, out)?;
        write_hanging(VALUE_COLUMN, &format!("    {}", self.current), current, width, out)
    }
}

/// Writes the settings that differ between two policies; nothing for equal policies.
pub(super) fn write_settings(
    recorded: &Policy,
    current: &Policy,
    sides: Sides,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    write_changed("  policy", &changed_settings(recorded, current), sides, width, out)
}

/// Writes the settings that differ between the networks of a difference. Returns whether there are any.
pub(super) fn write_network(
    networks: Option<&[NetworkInput; 2]>,
    sides: Sides,
    width: usize,
    out: &mut impl Write,
) -> io::Result<bool> {
    let changed = network_changes(networks);
    write_changed("  network", &changed, sides, width, out)?;
    Ok(!changed.is_empty())
}

/// Returns the settings that differ between the networks of a difference, one text for each.
pub(super) fn network_texts(networks: Option<&[NetworkInput; 2]>, sides: Sides) -> Vec<String> {
    setting_texts(&network_changes(networks), sides).map(|text| format!("network {text}")).collect()
}

fn network_changes(networks: Option<&[NetworkInput; 2]>) -> Vec<ChangedSetting> {
    networks.map_or_else(Vec::new, |[recorded, current]| changed_network(recorded, current))
}

fn write_changed(
    label: &str,
    changed: &[ChangedSetting],
    sides: Sides,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    setting_texts(changed, sides).try_for_each(|text| write_hanging(TEXT_COLUMN, label, &text, width, out))
}

/// Returns the first changed settings as texts, and how many there are beside them.
fn setting_texts(changed: &[ChangedSetting], sides: Sides) -> impl Iterator<Item = String> {
    let further = match changed.len().saturating_sub(SETTINGS_MAX) {
        0 => None,
        1 => Some("and 1 further setting".to_owned()),
        further => Some(format!("and {further} further settings")),
    };
    changed.iter().take(SETTINGS_MAX).map(move |setting| setting_text(setting, sides)).chain(further)
}

/// Returns a changed setting as text.
pub(super) fn setting_text(setting: &ChangedSetting, sides: Sides) -> String {
    let ChangedSetting { path, before, after } = setting;
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "absent".to_owned());
    format!("{path}: {} {}, {} {}", sides.recorded, value(before), sides.current, value(after))
}

/// Writes the first decision on the path of control that differs: where it is, and the transition that each side takes.
pub(super) fn write_decision(
    changed: &ChangedDecision,
    sides: Sides,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let ChangedDecision { from, recorded, current } = changed;
    let step = recorded.step().or_else(|| current.step()).unwrap_or_default();
    write_hanging(TEXT_COLUMN, "  path", &format!("first at step {step}, from {from}"), width, out)?;
    sides.write(&recorded.to_string(), &current.to_string(), width, out)
}

/// Returns a difference in one line.
pub(super) fn difference_text(difference: &Difference, sides: Sides) -> String {
    let Difference { step, subject, recorded, replayed } = difference;
    let (recorded, replayed) = excerpts(recorded, replayed);
    format!("step {step}, {subject}: {} {recorded}, {} {replayed}", sides.recorded, sides.current)
}

/// Returns the first decision on the path of control that differs, in one line.
pub(super) fn changed_text(changed: &ChangedDecision, sides: Sides) -> String {
    let ChangedDecision { from, recorded, current } = changed;
    format!("from {from}: {} {recorded}, {} {current}", sides.recorded, sides.current)
}

/// Returns the first endings that differ, in one line; or that none does.
pub(super) fn endings_text(recorded: &[RequestEnding], current: &[RequestEnding], sides: Sides) -> String {
    match first_changed_ending(recorded, current) {
        None => "as before".to_owned(),
        Some((request, recorded, current)) => {
            format!("of request {request}: {} {recorded}, {} {current}", sides.recorded, sides.current)
        }
    }
}

/// Returns the number of the first request whose endings differ, and both endings as texts.
fn first_changed_ending(
    recorded: &[RequestEnding],
    current: &[RequestEnding],
) -> Option<(usize, String, String)> {
    let requests = recorded.len().max(current.len());
    let request = (0..requests).find(|request| recorded.get(*request) != current.get(*request))?;
    let text = |endings: &[RequestEnding]| {
        endings.get(request).map_or_else(|| "there is no such request".to_owned(), ToString::to_string)
    };
    Some((request + 1, text(recorded), text(current)))
}

/// Writes the first endings that differ, or that every request ends equally.
pub(super) fn write_endings(
    recorded: &[RequestEnding],
    current: &[RequestEnding],
    sides: Sides,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some((request, recorded_ending, current_ending)) = first_changed_ending(recorded, current) else {
        let text = match recorded {
            [] => "no request".to_owned(),
            [ending] => format!("as before: {ending}"),
            many => format!("as before in each of {} requests", many.len()),
        };
        return write_hanging(TEXT_COLUMN, "  ending", &text, width, out);
    };
    write_hanging(TEXT_COLUMN, "  ending", &format!("of request {request}"), width, out)?;
    sides.write(&recorded_ending, &current_ending, width, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_listed_up_to_a_limit() {
        let mut out = Vec::new();
        write_settings(&Policy::hardened(), &Policy::hardened(), GOLDEN, 80, &mut out).unwrap();
        assert!(out.is_empty());
        write_settings(&Policy::hardened(), &Policy::as_drawn(), GOLDEN, 80, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("  policy   name: golden \"hardened\", now \"as-drawn\"\n"), "{text}");
        assert_eq!(text.lines().count(), SETTINGS_MAX + 1, "{text}");
        assert!(text.ends_with(" further settings\n"), "{text}");
    }
}
