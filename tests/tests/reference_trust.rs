//! The trust network agrees with vectors recorded from a running implementation, to 1e-4, and with the examples that its authors
//! print, to the digits printed. Where the design rules otherwise than the recording, the test says so.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::network::aggregation::{
    AggregateAnswer, AggregationStrategy, MemberResult, aggregate,
};
use orchestrion_kernel::network::convergence::{
    ConvergenceStatus, Position, Variance, agree_to_disagree, convergence_score, convergence_status,
};
use orchestrion_kernel::network::defense::{
    Signal, SignalOutcome, decay_priming, forwarded_confidence, raise_belief, receive_signal,
};
use orchestrion_kernel::network::interaction::{
    flow_factor, log_ratio, quality_adjustment, quality_factor, reciprocity_factor, reinforcement,
    tone_factor,
};
use orchestrion_kernel::network::routing::Factors;
use orchestrion_kernel::network::{
    Capability, CapabilityState, Connection, DefenseStatus, Feedback, Interaction, Millionths, Network, Node,
    NodeStatus, Requirements, RoutingResult, TaskConstraints, ThreatBelief, TrustPolicy, compute_trust,
    explain_route, route,
};
use orchestrion_kernel::{CapabilityId, NodeId, Score, Timestamp, Weight};
use serde_json::Value;

const TOLERANCE: f64 = 1e-4;

fn millionths(value: &Value) -> Millionths {
    Millionths::new((value.as_f64().unwrap() * 1e6).round() as i64)
}

fn score(value: &Value) -> Score {
    Score::from_millionths(u32::try_from(millionths(value).get()).unwrap()).unwrap()
}

fn node_id(value: &Value) -> NodeId {
    NodeId::new(value.to_string())
}

fn float(number: impl Into<Millionths>) -> f64 {
    number.into().get() as f64 / 1e6
}

fn agrees(found: impl Into<Millionths>, recorded: &Value, at: &str) {
    let (found, recorded) = (float(found), recorded.as_f64().unwrap());
    assert!((found - recorded).abs() <= TOLERANCE, "{at}: {found}, recorded {recorded}");
}

/// The recorded cases; none where the folder is not given.
fn cases(file: &str, at_least: usize) -> Option<Vec<Value>> {
    let path = orchestrion_tests::recorded_data_dir("trust-reference")?.join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() >= at_least, "only {} cases in {}", cases.len(), path.display());
    println!("{} recorded cases of {file}", cases.len());
    Some(cases)
}

fn list<'a>(case: &'a Value, key: &str) -> &'a [Value] {
    case[key].as_array().unwrap()
}

fn capability(quality: Score, max_capacity: u32) -> CapabilityState {
    CapabilityState::new(Capability::new(CapabilityId::new("c"), max_capacity), quality)
}

#[test]
fn reference_connection_sequences() {
    let Some(cases) = cases("connection_sequences.jsonl", 30) else { return };
    let policy = TrustPolicy::default().connection;
    for case in &cases {
        let mut connection = Connection::new(&policy, Timestamp::default());
        for (i, step) in list(case, "steps").iter().enumerate() {
            connection.record(
                &policy,
                &Interaction {
                    at: Timestamp::from_millis(i as u64),
                    quality: score(&step["quality"]),
                    tone: millionths(&step["tone"]),
                    volume: millionths(&step["volume"]),
                    given: millionths(&step["exchange_out"]),
                    received: millionths(&step["exchange_in"]),
                    threat: score(&step["threat"]),
                    is_flagged: false,
                },
            );
            let (expected, at) = (&step["expected"], format!("case {}, step {i}", case["case"]));
            agrees(connection.reciprocity, &expected["r"], &format!("{at}, r"));
            agrees(connection.quality, &expected["q"], &format!("{at}, q"));
            agrees(connection.tone, &expected["tau"], &format!("{at}, tau"));
            agrees(connection.weight, &expected["w"], &format!("{at}, w"));
            assert_eq!(u64::from(connection.interactions), expected["count"].as_u64().unwrap(), "{at}");
        }
    }
}

/// The recording dropped candidates with a load of at least 0.95 before scoring. The design scores every available candidate:
/// these are dropped from the input.
#[test]
fn reference_routing() {
    let Some(cases) = cases("routing.jsonl", 100) else { return };
    let policy = TrustPolicy::default();
    let from = NodeId::new("from");
    let (mut ranked_cases, mut dropped) = (0, 0);
    for case in &cases {
        let mut router = Node::new(&policy.start, from.clone());
        let mut constraints = TaskConstraints::default();
        let mut network = Network::default();
        for candidate in list(case, "candidates") {
            let loads = [&candidate["node_load"], &candidate["cap_load"]];
            if loads.iter().any(|load| load.as_f64().unwrap() >= 0.95) {
                dropped += 1;
                continue;
            }
            let id = node_id(&candidate["id"]);
            let mut node = Node::new(&policy.start, id.clone());
            node.trust = score(&candidate["trust"]);
            node.reported_load = Some(score(&candidate["node_load"]));
            if candidate["expelled"].as_bool().unwrap() {
                node.status = NodeStatus::Expelled;
            }
            if candidate["has_cap"].as_bool().unwrap() {
                let state = capability(score(&candidate["cap_quality"]), 1_000_000);
                let available = candidate["cap_available"].as_bool().unwrap();
                let current_tasks = score(&candidate["cap_load"]).millionths();
                node.add_capability(CapabilityState { available, current_tasks, ..state });
            }
            if !candidate["connection_w"].is_null() {
                let fresh = Connection::new(&policy.connection, Timestamp::default());
                let weight = score(&candidate["connection_w"]);
                router.connections.insert(id.clone(), Connection { weight, ..fresh });
            }
            let level = score(&candidate["threat"]);
            if level > Score::ZERO {
                let belief = ThreatBelief { level, ..ThreatBelief::default() };
                router.threat_beliefs.insert_mut(id.clone(), belief);
            }
            if candidate["preferred"].as_bool().unwrap() {
                constraints.preferred_nodes.push(id.clone());
            }
            if candidate["excluded"].as_bool().unwrap() {
                constraints.excluded_nodes.push(id.clone());
            }
            network.insert(node);
        }
        network.insert(router);
        let minimum = |key: &str| if case[key].is_null() { Score::ZERO } else { score(&case[key]) };
        constraints.min_trust = minimum("min_trust");
        constraints.min_quality = minimum("min_quality");
        let required_capabilities = vec![CapabilityId::new("c")];
        let requirements = Requirements { required_capabilities, constraints, ..Requirements::default() };

        let at = format!("case {}", case["case"]);
        let explanation = explain_route(&policy, &network, &from, &requirements);
        let ranked = list(&case["expected"], "ranked");
        let found: Vec<_> = explanation.candidates.iter().map(|c| c.node.clone()).collect();
        let expected: Vec<_> = ranked.iter().map(|entry| node_id(&entry["id"])).collect();
        assert_eq!(found, expected, "{at}");
        for (candidate, entry) in explanation.candidates.iter().zip(ranked) {
            agrees(candidate.score, &entry["score"], &format!("{at}, node {}", candidate.node));
        }
        assert_eq!(explanation.candidates.len() + explanation.filtered.len(), network.len(), "{at}");
        let result = route(&policy, &network, &from, &requirements);
        assert_eq!(result, explanation.result, "{at}");
        let selected = match result {
            RoutingResult::Selected(candidate) => Some(candidate.node),
            RoutingResult::NoCandidates(none) => {
                assert_eq!(none.removed.values().sum::<u32>() as usize, network.len(), "{at}");
                None
            }
            RoutingResult::Local => panic!("{at}: the routing node has no capability"),
        };
        let recorded = &case["expected"]["selected"];
        assert_eq!(selected, (!recorded.is_null()).then(|| node_id(recorded)), "{at}");
        ranked_cases += usize::from(ranked.len() > 1);
    }
    assert!(ranked_cases > 15, "only {ranked_cases} cases rank several candidates");
    println!("{dropped} candidates with a load of at least 0.95 dropped from the input");
}

#[test]
fn reference_trust() {
    let Some(cases) = cases("trust.jsonl", 75) else { return };
    let policy = TrustPolicy::default();
    for case in &cases {
        let mut node = Node::new(&policy.start, NodeId::new("node"));
        for (i, recorded) in list(case, "capabilities").iter().enumerate() {
            let mut state = capability(score(&recorded["quality"]), 1);
            state.volume = u32::try_from(recorded["volume"].as_u64().unwrap()).unwrap();
            node.capabilities.insert(CapabilityId::new(i.to_string()), state);
        }
        for step in list(case, "outgoing[partner,in,out,quality,tone]") {
            let interaction = Interaction {
                quality: score(&step[3]),
                tone: millionths(&step[4]),
                volume: Millionths::ONE,
                received: millionths(&step[1]),
                given: millionths(&step[2]),
                ..Interaction::default()
            };
            node.record_interaction(&policy, &node_id(&step[0]), &interaction, Some(interaction.quality));
        }
        let (expected, at) = (&case["expected"], format!("case {}", case["case"]));
        let trust = compute_trust(&policy.trust, &node);
        agrees(trust.trust, &expected["computed_trust"], &format!("{at}, computed"));
        agrees(trust.diversity, &expected["diversity"], &format!("{at}, diversity"));
        agrees(node.trust, &expected["stored_trust_after_probation"], &format!("{at}, stored"));
        assert_eq!(format!("{:?}", node.status), expected["status"], "{at}");
        assert_eq!(u64::from(node.record.interactions), expected["probation_count"], "{at}");
    }
}

/// The recorded machine differs from the design, which rules, in two ways: a signal primes a node only from a priming of about 0.3,
/// and from that priming on a signal about another, lower threat ends a defense. So the test compares the status where both act
/// on the subject of the signal, and requires that a node that received a signal is not normal.
#[test]
fn reference_defense() {
    let Some(cases) = cases("defense.jsonl", 40) else { return };
    let policy = TrustPolicy::default();
    let mut defending = 0;
    for case in &cases {
        let mut node = Node::new(&policy.start, NodeId::new("0"));
        for entry in list(case, "connections[id,w]") {
            let fresh = Connection::new(&policy.connection, Timestamp::default());
            node.connections.insert(node_id(&entry[0]), Connection { weight: score(&entry[1]), ..fresh });
        }
        for (i, step) in list(case, "steps").iter().enumerate() {
            let (expected, at) = (&step["expected"], format!("case {}, step {i}", case["case"]));
            if step["op"] == "tick" {
                decay_priming(&policy.defense, &mut node);
                agrees(node.defense.priming, &expected["priming"], &format!("{at}, priming"));
                continue;
            }
            let subject = node_id(&step["threat"]);
            let signal = Signal {
                origin: node_id(&step["origin"]),
                sender: node_id(&step["sender"]),
                subject: subject.clone(),
                confidence: score(&step["confidence"]),
                hops: u32::try_from(step["hops"].as_u64().unwrap()).unwrap(),
            };
            let outcome = receive_signal(&policy, &mut node, &signal);
            agrees(node.defense.priming, &expected["priming"], &format!("{at}, priming"));
            agrees(node.threat_level(&subject), &expected["threat_level"], &format!("{at}, threat"));
            match node.connections.get(&subject) {
                Some(connection) => agrees(connection.weight, &expected["w_to_threat"], &at),
                None => assert!(expected["w_to_threat"].is_null(), "{at}"),
            }
            let forwarded = match outcome {
                SignalOutcome::Ignored => None,
                SignalOutcome::Received { forwarded, .. } => Some(forwarded),
            };
            assert_eq!(forwarded.is_none(), expected["ignored"].as_bool().unwrap(), "{at}");
            let mut confidences: Vec<_> =
                forwarded.iter().flatten().map(|forwarded| forwarded.signal.confidence).collect();
            confidences.sort();
            let recorded = list(expected, "forwarded_confidences_sorted");
            assert_eq!(confidences.len(), recorded.len(), "{at}");
            for (confidence, recorded) in confidences.into_iter().zip(recorded) {
                agrees(confidence, recorded, &format!("{at}, forwarded"));
            }
            let acts = node.threat_level(&subject) > policy.defense.act_above;
            if forwarded.is_some() {
                assert!(!acts || expected["state"] == "Defending", "{at}");
                assert!(!acts || node.defense.status == DefenseStatus::Defending, "{at}");
                assert_ne!(node.defense.status, DefenseStatus::Normal, "{at}");
                defending += usize::from(acts);
            }
        }
    }
    assert!(defending > 10, "only {defending} recorded signals lead to a defense");
}

#[test]
fn reference_convergence() {
    let Some(cases) = cases("convergence.jsonl", 60) else { return };
    let policy = TrustPolicy::default().convergence;
    for case in &cases {
        let max_variance = Variance::from_millionths(millionths(&case["max_variance"]));
        let position = |recorded: &Value| Position {
            node: node_id(&recorded["id"]),
            value: millionths(&recorded["value"]),
            trust: (!recorded["trust"].is_null()).then(|| score(&recorded["trust"])),
            quality: Score::ONE,
        };
        let positions: Vec<_> = list(case, "positions").iter().map(position).collect();
        let (expected, at) = (&case["expected"], format!("case {}", case["case"]));
        for (i, recorded) in list(expected, "score_after_each").iter().enumerate() {
            agrees(
                convergence_score(&positions[..=i], max_variance),
                recorded,
                &format!("{at}, position {i}"),
            );
        }
        let score = convergence_score(&positions, max_variance);
        agrees(score, &expected["final_score"], &at);
        assert_eq!(format!("{:?}", convergence_status(&policy, score)), expected["state"], "{at}");
        let disagreement = agree_to_disagree(&policy, &positions);
        let recorded = &expected["atd"];
        agrees(disagreement.answer, &recorded["chosen"], &format!("{at}, answer"));
        agrees(disagreement.confidence, &recorded["confidence"], &format!("{at}, confidence"));
        let sorted = |nodes: &[NodeId]| {
            let mut nodes: Vec<_> = nodes.iter().map(ToString::to_string).collect();
            nodes.sort();
            nodes
        };
        let ids = |key: &str| list(recorded, key).iter().map(node_id).collect::<Vec<_>>();
        assert_eq!(sorted(&disagreement.agreeing), sorted(&ids("agree")), "{at}");
        assert_eq!(sorted(&disagreement.dissenting), sorted(&ids("dissent")), "{at}");
    }
}

#[test]
fn reference_feedback_quality() {
    let Some(cases) = cases("feedback_quality.jsonl", 50) else { return };
    let policy = TrustPolicy::default().feedback;
    for case in &cases {
        let rating = |key: &str| u8::try_from(case[key].as_u64().unwrap()).unwrap();
        let feedback = Feedback {
            help: rating("h"),
            accuracy: rating("a"),
            relevance: rating("r"),
            timeliness: rating("t"),
            reuse: case["reuse"].as_bool().unwrap(),
        };
        agrees(feedback.quality(&policy), &case["expected_quality"], &case.to_string());
    }
}

/// A printed number, to the digits printed.
#[track_caller]
fn prints(found: f64, printed: &Value, what: &str) {
    let digits = printed.to_string().split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let half_digit = 0.5 * 10_f64.powi(-i32::try_from(digits).unwrap());
    let printed = printed.as_f64().unwrap();
    // A half may be rounded either way.
    assert!((found - printed).abs() <= half_digit + 2e-6, "{what}: {found}, printed {printed}");
}

/// `social_proof` and `r_trust_doc_variant` are of a variant that is superseded.
#[test]
fn reference_printed_examples() {
    let Some(folder) = orchestrion_tests::recorded_data_dir("trust-reference") else { return };
    let text = std::fs::read_to_string(folder.join("doc_examples.json")).unwrap();
    let examples: Value = serde_json::from_str(&text).unwrap();
    let policy = TrustPolicy::default();
    let connection = &policy.connection;
    let pairs = |key: &str, found: &dyn Fn(&Value) -> f64| {
        for pair in list(&examples, key) {
            prints(found(&pair[0]), &pair[1], key);
        }
    };
    pairs("reciprocity_sigmoid", &|r| float(reciprocity_factor(connection, millionths(r))));
    pairs("quality_multiplier", &|q| float(quality_factor(score(q))));
    pairs("tone_multiplier", &|tone| float(tone_factor(millionths(tone))));
    pairs("flow_factor", &|volume| float(flow_factor(connection, millionths(volume))));
    pairs("ln_rho", &|ratio| float(log_ratio(connection, Millionths::ONE, millionths(ratio))));
    pairs("quality_adjust", &|quality| float(quality_adjustment(connection, score(quality))));
    for example in list(&examples, "phi[Q,r,q,tau,phi]") {
        let number = |i: usize| millionths(&example[i]);
        let found = reinforcement(connection, number(0), number(1), score(&example[2]), number(3));
        prints(float(found), &example[4], "phi");
    }

    // The weight of an observation by age: one observation of 1, then only observations of 0.
    let smoothing = policy.connection.smoothing;
    for example in list(&examples, "ema_weight_percent_by_age") {
        let mut state = Connection::new(connection, Timestamp::default());
        state.quality = Score::ZERO;
        let mut record = |quality| {
            state.record(connection, &Interaction { quality, ..Interaction::default() });
            float(state.quality) * 100.0
        };
        let mut percent = record(Score::ONE);
        for _ in 0..example[0].as_u64().unwrap() {
            percent = record(Score::ZERO);
        }
        prints(percent, &example[1], &format!("ema {smoothing}"));
    }

    let capped = &examples["diversity_cap"][0];
    let mut node = Node::new(&policy.start, NodeId::new("a"));
    for partner in 0..40 {
        let interaction = Interaction {
            quality: Score::ONE,
            given: Millionths::ONE,
            received: Millionths::new(1_000_000_000_000),
            ..Interaction::default()
        };
        for _ in 0..50 {
            let partner = NodeId::new(partner.to_string());
            node.record_interaction(&policy, &partner, &interaction, Some(Score::ONE));
        }
    }
    for i in 0..100 {
        let partner = NodeId::new((i % 40).to_string());
        node.record_interaction(
            &policy,
            &partner,
            &Interaction { quality: Score::ONE, ..Interaction::default() },
            Some(Score::ONE),
        );
    }
    node.add_capability(CapabilityState { volume: 1, ..capability(Score::ONE, 1) });
    let trust = compute_trust(&policy.trust, &node);
    prints(float(trust.diversity), &capped["D"], "diversity");
    prints(float(trust.trust), &capped["expected"], "diversity cap");

    for example in list(&examples, "routing") {
        let factors = Factors {
            trust: score(&example["T"]),
            quality: score(&example["q_cap"]),
            availability: score(&example["one_minus_load"]),
            connection: score(&example["w"]),
            safety: score(&example["one_minus_threat"]),
            preference: Weight::ONE,
        };
        prints(float(factors.score()), &example["expected"], "routing");
    }
    for example in list(&examples, "hop_decay") {
        let hops = 0..example[0].as_u64().unwrap();
        let found = hops.fold(Score::ONE, |c, _| forwarded_confidence(&policy.defense, c, Score::ONE));
        prints(float(found), &example[1], "hop decay");
    }
    let beliefs = |weights: Vec<(Score, Score)>, printed: &[Value], what: &str| {
        let mut belief = Score::ZERO;
        for ((weight, confidence), printed) in weights.into_iter().zip(printed) {
            belief = raise_belief(belief, weight, confidence);
            prints(float(belief), printed, what);
        }
    };
    let bayes = &examples["bayes_weights_to_belief"];
    let weights = list(bayes, "weights").iter().map(|weight| (score(weight), Score::ONE)).collect();
    beliefs(weights, list(bayes, "beliefs"), "bayes");
    let sources = &examples["multi_source"];
    let weights = list(sources, "T_conf").iter().map(|pair| (score(&pair[0]), score(&pair[1]))).collect();
    beliefs(weights, list(sources, "beliefs"), "multi source");

    let vote = &examples["weighted_vote"];
    let results: Vec<_> = list(vote, "votes")
        .iter()
        .enumerate()
        .map(|(i, vote)| MemberResult {
            node: NodeId::new(i.to_string()),
            answer: vote[0].as_str().unwrap().into(),
            number: None,
            trust: score(&vote[1]),
            quality: score(&vote[2]),
        })
        .collect();
    let answer = aggregate(&policy.convergence, AggregationStrategy::Voting, &results, Score::ZERO).unwrap();
    assert_eq!(answer.answer, AggregateAnswer::Text(vote["winner"].as_str().unwrap().into()));
    prints(float(answer.confidence), &vote["confidence"], "vote");
    assert_eq!(convergence_status(&policy.convergence, Score::ONE), ConvergenceStatus::Converged);
}
