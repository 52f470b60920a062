//! Nodes as plain numbers, in millionths.

use orchestrion_kernel::network::{
    CapabilityState, Connection, ConnectionStatus, DefenseStatus, Node, NodeStatus, TrustPolicy,
};
use orchestrion_kernel::{CapabilityId, ClusterId, NodeId};
use std::collections::BTreeMap;

/// The number 1.
pub(super) const ONE: i64 = 1_000_000;

/// The largest accepted difference of two numbers, in millionths.
pub(super) const TOLERANCE: i64 = 2;

/// The network of a conversation.
#[derive(Clone, Debug)]
pub(super) struct OracleNetwork {
    pub(super) policy: TrustPolicy,
    pub(super) orchestrator: NodeId,
    pub(super) nodes: BTreeMap<NodeId, OracleNode>,
}

/// A capability of a node.
#[derive(Clone, Debug)]
pub(super) struct OracleCapability {
    pub(super) quality: i64,
    pub(super) volume: u32,
    pub(super) available: bool,
    pub(super) tasks: u32,
    pub(super) capacity: u32,
    pub(super) input_types: Vec<String>,
    pub(super) output_types: Vec<String>,
    pub(super) max_input_size: Option<u64>,
    pub(super) timeout_ms: Option<u64>,
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub(super) struct OracleEnd {
    pub(super) weight: i64,
    pub(super) reciprocity: i64,
    pub(super) quality: i64,
    pub(super) tone: i64,
    pub(super) status: ConnectionStatus,
    pub(super) last_active: u64,
    pub(super) interactions: u32,
}

/// A belief about a threat.
#[derive(Clone, Debug, Default)]
pub(super) struct OracleBelief {
    pub(super) level: i64,
    pub(super) first_origin: Option<NodeId>,
    pub(super) is_confirmed: bool,
}

/// A node.
#[derive(Clone, Debug)]
pub(super) struct OracleNode {
    pub(super) capabilities: BTreeMap<CapabilityId, OracleCapability>,
    pub(super) connections: BTreeMap<NodeId, OracleEnd>,
    pub(super) beliefs: BTreeMap<NodeId, OracleBelief>,
    pub(super) status: NodeStatus,
    pub(super) trust: i64,
    pub(super) computed_trust: i64,
    pub(super) interactions: u32,
    pub(super) quality_sum: i64,
    pub(super) failed_probations: u32,
    pub(super) promoted_quality: i64,
    pub(super) partners: Vec<NodeId>,
    pub(super) cluster: Option<ClusterId>,
    pub(super) reported_load: Option<i64>,
    pub(super) defense: DefenseStatus,
    pub(super) priming: i64,
}

impl OracleCapability {
    fn read(state: &CapabilityState) -> Self {
        let declared = &state.capability;
        let texts = |texts: &[orchestrion_kernel::Text]| texts.iter().map(ToString::to_string).collect();
        Self {
            quality: state.quality.millionths().into(),
            volume: state.volume,
            available: state.available,
            tasks: state.current_tasks,
            capacity: declared.max_capacity,
            input_types: texts(&declared.input_types),
            output_types: texts(&declared.output_types),
            max_input_size: declared.constraints.max_input_size,
            timeout_ms: declared.constraints.timeout_ms,
        }
    }

    /// The number of tasks by the capacity, at most 1 (001 §7.2).
    pub(super) fn load(&self) -> i64 {
        if self.capacity == 0 {
            return ONE;
        }
        (i64::from(self.tasks) * ONE / i64::from(self.capacity)).min(ONE)
    }
}

impl OracleEnd {
    /// A fresh connection.
    pub(super) fn fresh(now: u64) -> Self {
        Self {
            weight: 300_000,
            reciprocity: 0,
            quality: 500_000,
            tone: 0,
            status: ConnectionStatus::New,
            last_active: now,
            interactions: 0,
        }
    }

    fn read(connection: &Connection) -> Self {
        Self {
            weight: connection.weight.millionths().into(),
            reciprocity: connection.reciprocity.get(),
            quality: connection.quality.millionths().into(),
            tone: connection.tone.get(),
            status: connection.status,
            last_active: connection.last_active.millis(),
            interactions: connection.interactions,
        }
    }

    /// A removed connection counts in no mean and forwards no signal.
    pub(super) fn is_removed(&self) -> bool {
        self.status == ConnectionStatus::Removed
    }
}

impl OracleNode {
    /// Reads a node.
    pub(super) fn read(node: &Node) -> Self {
        let belief = |belief: &orchestrion_kernel::network::ThreatBelief| OracleBelief {
            level: belief.level.millionths().into(),
            first_origin: belief.first_origin.clone(),
            is_confirmed: belief.is_confirmed,
        };
        let capabilities = node.capabilities.iter();
        let connections = node.connections.iter();
        Self {
            capabilities: capabilities
                .map(|(id, state)| (id.clone(), OracleCapability::read(state)))
                .collect(),
            connections: connections.map(|(id, end)| (id.clone(), OracleEnd::read(end))).collect(),
            beliefs: node.threat_beliefs.iter().map(|(id, held)| (id.clone(), belief(held))).collect(),
            status: node.status,
            trust: node.trust.millionths().into(),
            computed_trust: node.computed_trust.millionths().into(),
            interactions: node.record.interactions,
            quality_sum: i64::try_from(node.record.quality_sum).unwrap_or(i64::MAX),
            failed_probations: node.record.failed_probations,
            promoted_quality: node.record.promoted_quality.millionths().into(),
            partners: node.recent_partners.iter().cloned().collect(),
            cluster: node.cluster.clone(),
            reported_load: node.reported_load.map(|load| load.millionths().into()),
            defense: node.defense.status,
            priming: node.defense.priming.millionths().into(),
        }
    }

    /// The reported load, else the largest load of the capabilities.
    pub(super) fn load(&self) -> i64 {
        let largest = self.capabilities.values().map(OracleCapability::load).max().unwrap_or(0);
        self.reported_load.unwrap_or(largest)
    }

    /// The believed threat of another node.
    pub(super) fn threat(&self, subject: &NodeId) -> i64 {
        self.beliefs.get(subject).map_or(0, |belief| belief.level)
    }

    /// Numbers that may differ slightly.
    fn numbers(&self) -> BTreeMap<String, i64> {
        let mut numbers = BTreeMap::from([
            ("trust".to_owned(), self.trust),
            ("computed trust".to_owned(), self.computed_trust),
            ("load".to_owned(), self.load()),
            ("priming".to_owned(), self.priming),
            ("promoted quality".to_owned(), self.promoted_quality),
        ]);
        for (id, capability) in &self.capabilities {
            numbers.insert(format!("quality of {id}"), capability.quality);
        }
        for (id, end) in &self.connections {
            numbers.insert(format!("weight of {id}"), end.weight);
            numbers.insert(format!("reciprocity of {id}"), end.reciprocity);
            numbers.insert(format!("quality of {id} as partner"), end.quality);
            numbers.insert(format!("tone of {id}"), end.tone);
        }
        for (id, belief) in &self.beliefs {
            numbers.insert(format!("threat of {id}"), belief.level);
        }
        numbers
    }

    /// The failed probations, which matter on probation only.
    fn open_failures(&self) -> u32 {
        if self.status == NodeStatus::Probationary { self.failed_probations } else { 0 }
    }

    /// Values that must be equal.
    fn facts(&self) -> BTreeMap<String, String> {
        let mut facts = BTreeMap::from([
            ("status".to_owned(), format!("{:?}", self.status)),
            ("failed probations".to_owned(), self.open_failures().to_string()),
            ("interactions".to_owned(), self.interactions.to_string()),
            ("partners".to_owned(), format!("{:?}", self.partners)),
            ("defense".to_owned(), format!("{:?}", self.defense)),
        ]);
        for (id, capability) in &self.capabilities {
            let OracleCapability { volume, available, tasks, .. } = capability;
            facts.insert(format!("capability {id}"), format!("{volume} {available} {tasks}"));
        }
        for (id, end) in &self.connections {
            let OracleEnd { status, last_active, interactions, .. } = end;
            facts.insert(format!("connection {id}"), format!("{status:?} {last_active} {interactions}"));
        }
        for (id, belief) in &self.beliefs {
            let OracleBelief { first_origin, is_confirmed, .. } = belief;
            facts.insert(format!("belief {id}"), format!("{first_origin:?} {is_confirmed}"));
        }
        facts
    }

    /// Compares this node with the one that was found, and names each difference.
    pub(super) fn compare(&self, found: &Self) -> Result<(), String> {
        let mut differences = Vec::new();
        let (expected, numbers) = (self.numbers(), found.numbers());
        for (name, number) in &expected {
            match numbers.get(name) {
                Some(other) if (other - number).abs() <= TOLERANCE => {}
                other => differences.push(format!("{name}: expected {number}, found {other:?}")),
            }
        }
        let (facts, found_facts) = (self.facts(), found.facts());
        for (name, fact) in &facts {
            if found_facts.get(name) != Some(fact) {
                differences.push(format!("{name}: expected {fact}, found {:?}", found_facts.get(name)));
            }
        }
        let extra = numbers.keys().filter(|name| !expected.contains_key(*name));
        differences.extend(extra.map(|name| format!("{name}: expected none")));
        if differences.is_empty() {
            Ok(())
        } else {
            Err(format!("{}\nexpected {self:?}\nfound {found:?}", differences.join("; ")))
        }
    }
}
