//! How the nodes of a network execute tasks: some well, some worse after a while, and some lie.

use crate::draws::{Draws, Purpose, Stream};
use crate::environment::{Answer, CallScene};
use orchestrion_kernel::module::{Module, Operation, Report};
use orchestrion_kernel::network::{Feedback, InteractionReport};
use orchestrion_kernel::{NodeId, Score, Text};
use std::collections::BTreeMap;

/// The behavior of each node; a node that is not listed executes as well as the plan allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeBehaviors(pub BTreeMap<NodeId, NodeBehavior>);

/// How a node executes tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeBehavior {
    /// The probability that the node does a task well.
    pub success: Score,
    /// The probability from a request on, if it changes.
    pub later: Option<LaterSuccess>,
    /// The probability that the node reports success for a task that it did badly.
    pub lies: Score,
}

/// A probability of success from a request on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaterSuccess {
    /// The first request with this probability, from 1.
    pub from_request: u32,
    /// The probability.
    pub success: Score,
}

impl NodeBehaviors {
    /// Returns whether no node differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the result of a task that succeeds with this probability on a node without a behavior of its own. The caller sees the work
    /// afterwards, also that of a node that lies, and judges it.
    pub(crate) fn execute(
        &self,
        success: Score,
        result: &Text,
        scene: CallScene<'_>,
        draws: &mut impl Draws,
    ) -> Answer {
        let behavior = scene.node.and_then(|node| self.0.get(node));
        let success = match behavior {
            Some(NodeBehavior { later: Some(later), .. }) if scene.request >= later.from_request => {
                later.success
            }
            Some(behavior) => behavior.success,
            None => success,
        };
        let is_good = draws.happens(Stream::module(Module::Executor, Purpose::Error), success);
        let lies = behavior.map_or(Score::ZERO, |behavior| behavior.lies);
        let reports_success = is_good || draws.happens(Stream::module(Module::Executor, Purpose::Lie), lies);
        let rating = if is_good { 5 } else { 1 };
        let feedback = Feedback {
            help: rating,
            accuracy: rating,
            relevance: rating,
            timeliness: rating,
            reuse: is_good,
        };
        let interaction = InteractionReport { feedback: Some(feedback), ..InteractionReport::default() };
        let report = Report::Exit { code: i32::from(!reports_success), text: result.clone(), number: None };
        let is_bad_task = !is_good && matches!(scene.operation, Operation::RunTask { .. });
        Answer { result: Ok(report), interaction: scene.node.map(|_| interaction), is_bad_task }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::RandomDraws;
    use orchestrion_kernel::TaskId;
    use orchestrion_kernel::plan::EffectKind;

    /// Returns the exit code that a node reports in a request, and whether the caller would use the result again.
    fn execute(behavior: NodeBehavior, request: u32) -> (i32, bool) {
        let node = NodeId::new("ana");
        let behaviors = NodeBehaviors(BTreeMap::from([(node.clone(), behavior)]));
        let operation = Operation::RunTask { task: TaskId::FIRST, effect: EffectKind::Pure };
        let scene = CallScene { operation, pass: 1, request, node: Some(&node), cluster: &[] };
        let answer = behaviors.execute(Score::ONE, &Text::from(""), scene, &mut RandomDraws::new(0));
        let Ok(Report::Exit { code, .. }) = answer.result else { panic!("{:?}", answer.result) };
        (code, answer.interaction.unwrap().feedback.unwrap().reuse)
    }

    #[test]
    fn node_degrades_from_its_request_on() {
        let later = Some(LaterSuccess { from_request: 2, success: Score::ZERO });
        let behavior = NodeBehavior { success: Score::ONE, later, lies: Score::ZERO };
        assert_eq!([1, 2, 3].map(|request| execute(behavior, request)), [(0, true), (1, false), (1, false)]);
    }

    #[test]
    fn liar_reports_success_and_is_judged() {
        let liar = NodeBehavior { success: Score::ZERO, later: None, lies: Score::ONE };
        assert_eq!(execute(liar, 1), (0, false));
    }
}
