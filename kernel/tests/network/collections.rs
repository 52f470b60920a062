//! The collections of the trust network: nodes, connections and the partners of the latest interactions.

use crate::builders::{self, millionths, score};
use orchestrion_kernel::network::{
    Connection, ConnectionStatus, Connections, Network, Node, NodeStatus, RecentPartners, Requirements,
    RoutingResult, TrustPolicy, route,
};
use orchestrion_kernel::{CapabilityId, NodeId, Score};

fn connection(reciprocity: i64, quality: u32, status: ConnectionStatus) -> Connection {
    let (reciprocity, quality) = (millionths(reciprocity), score(quality));
    Connection { reciprocity, quality, status, ..builders::connection(300_000) }
}

/// The means follow from the connections that are not removed, also after one is replaced.
#[test]
fn removed_connection_is_in_no_mean() {
    let means = |connections: &Connections| {
        (connections.len(), connections.mean_reciprocity().get(), connections.mean_quality())
    };
    let (ana, ben) = (NodeId::new("ana"), NodeId::new("ben"));
    let mut connections = Connections::default();
    assert!(connections.is_empty());
    assert_eq!(means(&connections), (0, 0, Score::ZERO));
    connections.insert(ana.clone(), connection(-200_000, 600_000, ConnectionStatus::Active));
    connections.insert(ben.clone(), connection(600_000, 800_000, ConnectionStatus::Removed));
    assert!(!connections.is_empty());
    assert_eq!(means(&connections), (1, -200_000, score(600_000)));
    connections.insert(ben.clone(), connection(600_000, 800_000, ConnectionStatus::Dormant));
    assert_eq!(means(&connections), (2, 200_000, score(700_000)));
    connections.insert(ana, connection(0, 0, ConnectionStatus::Removed));
    assert_eq!(means(&connections), (1, 600_000, score(800_000)));
    let copied: Connections =
        connections.iter().map(|(partner, connection)| (partner.clone(), connection.clone())).collect();
    assert_eq!(copied, connections);
    let reciprocity = connections.update(
        &ben,
        || connection(0, 0, ConnectionStatus::New),
        |connection| {
            connection.status = ConnectionStatus::Removed;
            connection.reciprocity
        },
    );
    assert_eq!((reciprocity.get(), means(&connections)), (600_000, (0, 0, Score::ZERO)));
    assert!(connections.is_empty());
}

/// The window drops the oldest partner, who counts as long as the window contains another interaction with it.
#[test]
fn window_has_the_latest_partners() {
    let mut partners = RecentPartners::default();
    let mut push = |name: &str| {
        partners.push(&NodeId::new(name), 3);
        let window: Vec<String> = partners.iter().map(ToString::to_string).collect();
        (window.join(" "), partners.distinct())
    };
    assert_eq!(push("ana"), ("ana".to_owned(), 1));
    assert_eq!(push("ben"), ("ana ben".to_owned(), 2));
    assert_eq!(push("ana"), ("ana ben ana".to_owned(), 2));
    assert_eq!(push("cid"), ("ben ana cid".to_owned(), 3));
    assert_eq!(push("cid"), ("ana cid cid".to_owned(), 2));
    assert_eq!(push("cid"), ("cid cid cid".to_owned(), 1));
    assert_eq!(partners.diversity(3), score(333_333));
}

fn node(id: &str, capabilities: &[&str]) -> Node {
    let mut node = builders::node(id);
    capabilities.iter().for_each(|id| node.add_capability(builders::used(id, 1_000_000, 0)));
    node
}

/// The node that gets a task with this capability.
fn receiver(network: &Network, capability: &str) -> Option<String> {
    let requirements = Requirements {
        required_capabilities: vec![CapabilityId::new(capability)],
        ..Requirements::default()
    };
    match route(&TrustPolicy::default(), network, &NodeId::new("desk"), &requirements) {
        RoutingResult::Selected(candidate) => Some(candidate.node.to_string()),
        RoutingResult::Local | RoutingResult::NoCandidates(_) => None,
    }
}

/// 001-10.3: routing reads what a node publishes after its latest change.
#[test]
fn routing_follows_each_change_of_a_node() {
    let (ana, ben) = (NodeId::new("ana"), NodeId::new("ben"));
    let mut network = Network::default();
    assert!(network.is_empty());
    network.insert(node("ben", &["read"]));
    network.insert(node("ana", &["read", "write"]));
    assert_eq!((network.len(), network.is_empty()), (2, false));
    let mut after = |id: &NodeId, change: fn(&mut Node)| {
        network.update(id, change).unwrap();
        assert!(network.iter().map(|node| &node.id).eq([&ana, &ben]));
        (receiver(&network, "read"), receiver(&network, "write"))
    };
    let (to_ana, to_ben) = (Some("ana".to_owned()), Some("ben".to_owned()));
    // Equal scores go to the smaller id.
    assert_eq!(after(&ana, |_| ()), (to_ana.clone(), to_ana.clone()));
    assert_eq!(after(&ben, |ben| ben.trust = Score::ONE), (to_ben.clone(), to_ana.clone()));
    assert_eq!(after(&ben, |ben| ben.status = NodeStatus::Expelled), (to_ana.clone(), to_ana.clone()));
    assert_eq!(after(&ben, |ben| ben.status = NodeStatus::Member), (to_ben.clone(), to_ana.clone()));
    let change = |ana: &mut Node| drop(ana.capabilities.remove(&CapabilityId::new("write")));
    assert_eq!(after(&ana, change), (to_ben.clone(), None));
    // The id of a node is no property that changes.
    assert_eq!(after(&ana, |ana| ana.id = NodeId::new("zoe")), (to_ben.clone(), None));
    assert_eq!(after(&ben, |ben| ben.reported_load = Some(Score::ONE)), (to_ana, None));
    assert!(network.remove(&ana) && !network.remove(&ana));
    assert_eq!((receiver(&network, "read"), network.len()), (to_ben, 1));
}
