//! The status of a node: probation, promotion and demotion, by example (decision 0041).

use crate::builders::{connection, interaction, node, score};
use orchestrion_kernel::network::{Connection, ConnectionStatus, Node, NodeStatus, TrustPolicy};
use orchestrion_kernel::{NodeId, Score};
use std::sync::Arc;

/// One more interaction with a rated quality, by a node with this record.
fn interact(mut judged: Node, quality: u32) -> Node {
    let policy = TrustPolicy::default();
    judged.record_interaction(&policy, &NodeId::new("ben"), &interaction(), Some(score(quality)));
    judged
}

#[test]
fn probation_ends_by_its_mean_quality() {
    let mut new = node("ana");
    (new.record.interactions, new.record.quality_sum) = (49, 49 * 600_000);
    let member = interact(new.clone(), 600_000);
    assert_eq!((member.status, member.trust), (NodeStatus::Member, score(600_000)));
    let failed = interact(new.clone(), 599_900);
    assert_eq!((failed.status, failed.trust), (NodeStatus::Probationary, score(320_000)));
    assert_eq!((failed.record.failed_probations, failed.record.interactions), (1, 0));
    new.record.failed_probations = 2;
    assert_eq!(interact(new.clone(), 599_900).status, NodeStatus::Expelled);
    // A probation is judged after 50 interactions.
    new.record.interactions = 48;
    assert_eq!(interact(new, 0).status, NodeStatus::Probationary);
}

#[test]
fn member_with_a_drop_of_quality_is_demoted() {
    let mut member = node("ana");
    member.status = NodeStatus::Member;
    // Without a use of a capability the quality is 0.5.
    for (promoted, expected) in [(900_000, NodeStatus::Member), (900_001, NodeStatus::Probationary)] {
        member.record.promoted_quality = score(promoted);
        Arc::make_mut(&mut member.recent_partners).push(&NodeId::new("cid"), 100);
        let judged = interact(member.clone(), 900_000);
        assert_eq!(judged.status, expected, "{promoted}");
    }
}

/// A removed connection is none of the connections that an established node needs to become a hub.
#[test]
fn hub_has_connections_that_are_not_removed() {
    let mut policy = TrustPolicy::default();
    policy.status.hub_connections = 2;
    (policy.status.hub_diversity_from, policy.status.hub_quality_from) = (Score::ZERO, Score::ZERO);
    for (status, expected) in
        [(ConnectionStatus::Active, NodeStatus::Hub), (ConnectionStatus::Removed, NodeStatus::Established)]
    {
        let mut judged = node("ana");
        judged.status = NodeStatus::Established;
        judged.connections.insert(NodeId::new("cid"), Connection { status, ..connection(500_000) });
        judged.record_interaction(&policy, &NodeId::new("ben"), &interaction(), Some(Score::ONE));
        assert_eq!(judged.status, expected, "{status:?}");
    }
}

/// A member with a trust below the limit is demoted; one at the limit is not.
#[test]
fn member_with_low_trust_is_demoted() {
    let judged = |below| {
        let mut policy = TrustPolicy::default();
        policy.status.demotion_trust_below = score(below);
        let mut member = node("ana");
        member.status = NodeStatus::Member;
        member.record_interaction(&policy, &NodeId::new("ben"), &interaction(), None);
        member.status
    };
    // One partner of 100 gives a diversity of 0.01, which bounds the trust by 0.31.
    assert_eq!([310_000, 310_001].map(judged), [NodeStatus::Member, NodeStatus::Probationary]);
    assert_eq!(judged(1_000_000), NodeStatus::Probationary);
}

/// 200 interactions with a mean quality of at least 0.8 make a member established.
#[test]
fn established_node_has_a_long_record_of_quality() {
    let judged = |mean: u64| {
        let mut member = node("ana");
        member.status = NodeStatus::Member;
        (member.record.interactions, member.record.quality_sum) = (199, 199 * mean);
        interact(member, 800_000).status
    };
    assert_eq!([800_000, 799_990].map(judged), [NodeStatus::Established, NodeStatus::Member]);
}

/// A last probation that has not ended expels no node, however low its quality.
#[test]
fn running_probation_expels_no_node() {
    let mut new = node("ana");
    new.record.failed_probations = 2;
    assert_eq!(interact(new, 0).status, NodeStatus::Probationary);
}
