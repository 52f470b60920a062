//! A call and its result as an interaction of two nodes (001 §6.3, §10.2).

use super::cursor::Cursor;
use super::interaction::{float, round};
use super::nodes::TOLERANCE;
use super::{Assignment, NetworkConversationOracle};
use orchestrion_kernel::NodeId;
use orchestrion_kernel::network::{Exchange, Feedback, InteractionReport, NetworkEvent};

/// The quality of feedback: the mean rating times the factor of reuse, mapped from 0.8 to 6 on 0 to 1.
fn quality(feedback: &Feedback) -> i64 {
    let rating = |rating: u8| f64::from(rating.clamp(1, 5));
    let mean = 0.4 * rating(feedback.help)
        + 0.3 * rating(feedback.accuracy)
        + 0.2 * rating(feedback.relevance)
        + 0.1 * rating(feedback.timeliness);
    let factor = if feedback.reuse { 1.2 } else { 0.8 };
    round((mean * factor - 0.8) / 5.2)
}

fn check(name: &str, expected: i64, found: i64) -> Result<(), String> {
    if (expected - found).abs() <= TOLERANCE {
        return Ok(());
    }
    Err(format!("{name} of the exchange: expected {expected}, found {found}"))
}

impl NetworkConversationOracle {
    /// Reads the exchange of a call that ended, with a report, or `None` after a failure.
    pub(super) fn read_exchange(
        &mut self,
        cursor: &mut Cursor,
        call: &Assignment,
        report: Option<&InteractionReport>,
    ) -> Result<(), String> {
        let exchange = match cursor.network("an exchange")? {
            NetworkEvent::Exchanged(exchange) => *exchange,
            other => return Err(format!("expected an exchange, found {other:?}")),
        };
        let Exchange { at, sender, receiver, capability, task, result, volume } = &exchange;
        if (at.millis(), sender, receiver, capability) != (self.now, &call.from, &call.to, &call.capability) {
            return Err(format!("exchange: expected {call:?} at {}, found {exchange:?}", self.now));
        }
        let (expected_quality, expected_tone) = report
            .map_or((0, 0), |report| (quality(&report.feedback.unwrap_or_default()), report.tone.get()));
        let task_feedback = report.and_then(|report| report.task_feedback.as_ref());
        let task_quality = task_feedback.map_or(500_000, quality);
        // The quality of a node's own part counts in its record if its partner judged it: with feedback, or by a failure.
        let is_rated = [task_feedback.is_some(), report.is_none_or(|report| report.feedback.is_some())];
        if is_rated != [task.is_rated, result.is_rated] {
            return Err(format!(
                "exchange: expected task and result to be rated {is_rated:?}, found {exchange:?}"
            ));
        }
        check("quality", expected_quality, result.quality.millionths().into())?;
        check("tone", expected_tone, result.tone.get())?;
        check("task quality", task_quality, task.quality.millionths().into())?;
        let task_tone = report.map_or(0, |report| report.task_tone.get());
        check("task tone", task_tone, task.tone.get())?;
        let tokens = float(task.tokens.get()) + float(result.tokens.get());
        check("volume", round(tokens / 1000.0), volume.get())?;
        if report.is_none() {
            check("result tokens", 0, result.tokens.get())?;
        }
        self.apply_exchange(cursor, &exchange)
    }

    fn apply_exchange(&mut self, cursor: &mut Cursor, exchange: &Exchange) -> Result<(), String> {
        let now = self.now;
        let Some(network) = &mut self.network else { return Ok(()) };
        let policy = network.policy;
        let Exchange { sender, receiver, capability, task, result, volume, .. } = exchange;
        let quality = i64::from(result.quality.millionths());
        let used = network.nodes.get_mut(receiver).and_then(|node| node.capabilities.get_mut(capability));
        if let Some(used) = used {
            used.volume += 1;
            if sender != receiver {
                used.quality = round(0.9 * float(used.quality) + 0.1 * float(quality));
            }
        }
        if sender == receiver {
            return Ok(());
        }
        let mut ends: Vec<(NodeId, NodeId, super::interaction::Effects)> = Vec::new();
        let ends_of = [(sender, receiver, result, task), (receiver, sender, task, result)];
        for (own, partner, seen, given) in ends_of {
            let Some(node) = network.nodes.get_mut(own) else { continue };
            let observation = super::interaction::Observation {
                quality: seen.quality.millionths().into(),
                tone: seen.tone.get(),
                volume: volume.get(),
                given: given.tokens.get(),
                received: seen.tokens.get(),
            };
            let counted = given.is_rated.then(|| i64::from(given.quality.millionths()));
            let effects = node.interact(&policy, partner, observation, counted, now);
            ends.push((own.clone(), partner.clone(), effects));
        }
        for (node, partner, effects) in &ends {
            if effects.affirms {
                let (node, partner) = (node.clone(), partner.clone());
                cursor.expect(&NetworkEvent::Affirmed { node, partner })?;
            }
        }
        for (node, partner, effects) in &ends {
            if effects.warns {
                let delivered = network.warn(node, partner);
                super::changes::expect_signals(cursor, delivered)?;
            }
        }
        Ok(())
    }
}
