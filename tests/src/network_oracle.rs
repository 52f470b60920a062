//! The trust network a second time: naive floats, written from the clauses. It calls no function of the kernel.

/// The end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct OracleConnection {
    /// `w`
    pub weight: f64,
    /// `r`
    pub reciprocity: f64,
    /// `q`
    pub quality: f64,
    /// `τ`
    pub tone: f64,
}

/// What one end observes.
#[derive(Clone, Copy, Debug)]
pub struct OracleInteraction {
    /// `x`
    pub quality: f64,
    /// `y`
    pub tone: f64,
    /// `v`
    pub volume: f64,
    /// `out`
    pub given: f64,
    /// `in`
    pub received: f64,
    /// `t`
    pub threat: f64,
}

impl OracleConnection {
    /// A fresh connection.
    #[must_use]
    pub fn fresh() -> Self {
        Self { weight: 0.3, reciprocity: 0.0, quality: 0.5, tone: 0.0 }
    }

    /// One interaction, in the order of the equations.
    #[must_use]
    pub fn after(self, seen: OracleInteraction) -> Self {
        let ratio = (seen.received / (seen.given + 0.001)).max(0.001);
        let reciprocity = 0.9 * self.reciprocity + 0.1 * (ratio.ln() + 0.5 * (seen.quality - 0.5));
        let quality = 0.9 * self.quality + 0.1 * seen.quality;
        let tone = 0.9 * self.tone + 0.1 * seen.tone;
        let sigma = 2.0 / (1.0 + (-2.0 * reciprocity).exp()) - 1.0;
        let phi = 0.1 * seen.volume.abs().sqrt() * sigma * (0.5 + quality) * (0.7 + 0.3 * tone);
        let weight = (self.weight + phi - 0.01 * self.weight - 0.2 * seen.threat).clamp(0.01, 1.0);
        Self { weight, reciprocity, quality, tone }
    }
}

/// A node as the routing node sees it, for a task that requires the first capability, or both.
#[derive(Clone, Debug)]
pub struct OracleNode {
    /// The id; ids order as these texts.
    pub id: String,
    /// Whether it is expelled.
    pub is_expelled: bool,
    /// `T`
    pub trust: f64,
    /// The quality, availability and load of each of two capabilities that it may have.
    pub capabilities: [Option<(f64, bool, f64)>; 2],
    /// The weight of the routing node's connection to it.
    pub connection: Option<f64>,
    /// The routing node's belief.
    pub threat: f64,
    /// Whether the task prefers it.
    pub is_preferred: bool,
    /// Whether the task excludes it.
    pub is_excluded: bool,
}

/// The candidates with their scores, best first; ties by id.
#[must_use]
pub fn rank(nodes: &[OracleNode], needs_both: bool, min_trust: f64, min_quality: f64) -> Vec<(String, f64)> {
    let mut ranked = Vec::new();
    for node in nodes {
        let Some((quality, true, _)) = node.capabilities[0] else { continue };
        let lacks_other = needs_both && node.capabilities[1].is_none();
        if node.is_expelled
            || node.is_excluded
            || lacks_other
            || node.trust < min_trust
            || quality < min_quality
        {
            continue;
        }
        let loads = node.capabilities.iter().flatten().map(|(_, _, load)| *load);
        let load = loads.fold(0.0, f64::max);
        let mut score =
            node.trust * quality * (1.0 - load) * node.connection.unwrap_or(0.3) * (1.0 - node.threat);
        if node.is_preferred {
            score *= 1.2;
        }
        ranked.push((node.id.clone(), score));
    }
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    ranked
}
