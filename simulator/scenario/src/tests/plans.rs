//! Tests of plans as workflows, of numbers and of interactions.

use super::{HEAD, parse, render_errors};
use crate::convert::FileValue;
use crate::{PlanFile, PlanForm, parse_reply};
use orchestrion_kernel::CapabilityId;
use orchestrion_kernel::module::{Operation, Report};
use orchestrion_kernel::network::aggregation::AggregationStrategy;
use orchestrion_kernel::network::{InteractionReport, Millionths, Priority};
use orchestrion_kernel::plan::{Aggregation, EffectKind, Plan, WorkflowType};
use orchestrion_kernel::{Score, TaskId, Text};
use orchestrion_runtime::Reply;
use orchestrion_yaml::Source;

fn plan(text: &str) -> Plan {
    let source = Source::from_text("plan.yaml", text).unwrap();
    source.parse::<PlanFile>().unwrap().to_kernel().unwrap()
}

fn reply(operation: Operation, text: &str) -> Reply {
    parse_reply(operation, text).unwrap()
}

const RUN: Operation = Operation::RunTask { task: TaskId::FIRST, effect: EffectKind::Pure };

/// Asserts that the file of a plan means the plan.
fn assert_round_trip(plan: &Plan) {
    let file = PlanFile::from_kernel(plan).unwrap();
    let text = serde_saphyr::to_string(&file).unwrap();
    let parsed: PlanForm = Source::from_text("plan.yaml", &text).unwrap().parse().unwrap();
    assert_eq!(PlanFile::from(parsed).to_kernel().unwrap(), *plan, "{text}");
}

#[test]
fn task_has_the_options_of_a_step() {
    let plan = plan(
        "- {task: 1, do: a, requires: c, metadata: {k: v}, optional: true}\n\
         - {task: 2, do: b, requires: [c, d]}\n\
         - {task: 3, do: b, requires: {required_capabilities: [d], input_type: pdf, input_size: 7, constraints: {priority: critical, timeout_ms: 5}}, validates: 2}\n",
    );
    let [one, two, three] = plan.tasks() else { panic!("{plan:?}") };
    assert_eq!((one.step.metadata.len(), one.step.optional, one.step.validates), (1, true, None));
    let required = |at: usize| plan.tasks()[at].step.requirements.clone().unwrap();
    assert_eq!(required(0).required_capabilities, [CapabilityId::new("c")]);
    assert_eq!(required(1).required_capabilities.len(), 2);
    assert_eq!((required(2).constraints.priority, required(2).input_size), (Priority::Critical, 7));
    assert_eq!((two.step.validates, three.step.validates), (None, Some(TaskId::new(2))));
    assert_round_trip(&plan);
}

#[test]
fn aggregation_is_part_of_a_plan() {
    let tasks = "tasks: [{task: 1, do: a, depends_on: []}, {task: 2, do: a, depends_on: []}]";
    let aggregated =
        plan(&format!("{{{tasks}, aggregation: {{strategy: consensus, criticality: 0.7, ensemble: true}}}}"));
    let expected = Aggregation {
        strategy: AggregationStrategy::Consensus,
        criticality: Score::from_millionths(700_000).unwrap(),
        is_ensemble: true,
    };
    assert_eq!(aggregated.aggregation(), Some(&expected));
    assert_round_trip(&aggregated);
    assert_round_trip(&plan(&format!("{{aggregation: {{strategy: best_effort}}, {tasks}}}")));
}

#[test]
fn patterns_are_those_of_the_kernel() {
    let (text, id) = (Text::from("x"), |id: &str| CapabilityId::new(id));
    let chain = plan("{pattern: chain, do: x, capabilities: [a, b]}");
    assert_eq!(chain, Plan::chain(&text, vec![id("a"), id("b")]).unwrap());
    assert_eq!(chain.workflow_type(), WorkflowType::Sequential);
    // The name of the pattern can be anywhere.
    let fan = plan("{do: x, width: 3, capability: a, pattern: fan_out_fan_in, merge: b}");
    assert_eq!(fan, Plan::fan_out_fan_in(&text, &id("a"), 3, id("b")).unwrap());
    let pipeline = plan("{pattern: pipeline_with_validation, do: x, capability: a, validate: b}");
    assert_eq!(pipeline, Plan::pipeline_with_validation(&text, id("a"), id("b")).unwrap());
    let redundant = plan("{pattern: redundant_execution, do: x, capability: a, size: 3}");
    assert_eq!(redundant, Plan::redundant_execution(&text, &id("a"), 3).unwrap());
    [chain, fan, pipeline, redundant].iter().for_each(assert_round_trip);
}

#[test]
fn task_replies_have_numbers() {
    let exit = |text: &str| match reply(RUN, text).report {
        Report::Exit { code, text, number } => (code, text.to_string(), number.map(Millionths::get)),
        other => panic!("{other:?}"),
    };
    assert_eq!(exit("number: {value: 0.70}"), (0, "0.7".to_owned(), Some(700_000)));
    assert_eq!(exit("number: {value: -12.5, text: low}"), (0, "low".to_owned(), Some(-12_500_000)));
    assert_eq!(exit("exit: {code: 3, number: 4}"), (3, String::new(), Some(4_000_000)));
    assert_eq!(exit("ok: \"0.7\""), (0, "0.7".to_owned(), None));
}

#[test]
fn interaction_is_part_of_a_reply() {
    let text = "{reply: {ok: x}, interaction: {feedback: {help: 5, reuse: true}, tone: -0.5, task_feedback: {accuracy: 1}}}";
    let judged = reply(RUN, text).interaction.unwrap();
    let feedback = judged.feedback.unwrap();
    assert_eq!((feedback.help, feedback.accuracy, feedback.reuse), (5, 3, true));
    assert_eq!((judged.tone, judged.task_tone), (Millionths::new(-500_000), Millionths::ZERO));
    assert_eq!(judged.task_feedback.unwrap().accuracy, 1);
    let neutral = reply(RUN, "{reply: {ok: x}, interaction: {}}").interaction;
    assert_eq!(neutral, Some(Box::new(InteractionReport::default())));
    assert_eq!(reply(RUN, "{ok: x}").interaction, None);
}

#[test]
fn plan_without_a_value_is_empty() {
    let error = parse(&format!("{HEAD}modules:\n  planner: {{plan: }}\n")).unwrap_err();
    assert!(error.to_string().contains("empty plan"), "{error}");
}

#[test]
fn invalid_workflows_are_reported() {
    let plan = |plan: &str| format!("modules:\n  planner:\n    plan: {plan}\n");
    let tasks = |task: &str| plan(&format!("[{{task: 1, do: x}}, {{task: 2, do: y, {task}}}]"));
    snapshot!(render_errors(
        HEAD,
        &[
            &plan("3"),
            &plan("{}"),
            &plan("{task: 1, do: x}"),
            &plan("{tasks: [{task: 1, do: x}]}"),
            &plan("{tasks: [], aggregation: {strategy: voting}}"),
            &plan("{tasks: [{task: 1, do: x}], aggregation: {strategy: majority}}"),
            &plan("{tasks: [{task: 1, do: x}], aggregation: {strategy: voting, criticality: 2}}"),
            &plan("{pattern: ring, do: x}"),
            &plan("{pattern: chain, do: x}"),
            &plan("{pattern: chain, do: x, capabilities: []}"),
            &plan("{pattern: chain, do: x, capabilities: [a], width: 2}"),
            &plan("{pattern: fan_out_fan_in, do: x, capability: a, width: 0, merge: b}"),
            &plan("{pattern: fan_out_fan_in, do: x, capability: a, width: 4000000000, merge: b}"),
            &plan("{pattern: redundant_execution, do: x, capability: a, siz: 2}"),
            &tasks("validates: 7"),
            &tasks("depends_on: [], validates: 1"),
            &tasks("requires: 3"),
            &tasks("requires: []"),
            &tasks("requires: {constraints: {}}"),
            &tasks("requires: {required_capabilities: [a], constraints: {priority: urgent}}"),
            &tasks("metadata: {k: 3}"),
            &tasks("optional: maybe"),
            "modules: {tasks: {1: {number: 0.7}}}\n",
            "modules: {tasks: {1: {number: {value: 1e3}}}}\n",
            "modules: {tasks: {1: {number: {value: 0.1234567}}}}\n",
            "modules: {tasks: {1: {ok: x, interaction: {}}}}\n",
            "modules: {tasks: {1: {reply: {fail: error}, interaction: {}}}}\n",
            "modules: {tasks: {1: {reply: {ok: x}, interaction: {feedback: {help: 6}}}}}\n",
            "modules: {tasks: {1: {reply: {ok: x}, interaction: {tone: 1.5}}}}\n",
            "modules: {tasks: {1: {reply: {ok: x}, interaction: {mood: 1}}}}\n",
        ]
    ));
}
