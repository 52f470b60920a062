//! The constants of the trust network as policy values, with the design's constants as defaults (decision 0041).

mod routing;
mod validate;

pub use routing::{RoutingOrder, RoutingPolicy};
pub use validate::TrustPolicyError;

use super::millionths::Millionths;
use crate::score::{Score, Weight};

/// The configuration of the trust network.
///
/// ```
/// use orchestrion_kernel::network::TrustPolicy;
///
/// let mut policy = TrustPolicy::default();
/// assert_eq!(policy.routing.preference_bonus.to_string(), "1.20");
/// assert_eq!(policy.validate(), Ok(()));
/// policy.connection.max_weight = policy.connection.min_weight;
/// assert_eq!(policy.validate().unwrap_err().setting, "connection.initial_weight");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
pub struct TrustPolicy {
    /// Connections.
    pub connection: ConnectionPolicy,
    /// New nodes and capabilities.
    pub start: StartPolicy,
    /// Quality from feedback.
    pub feedback: FeedbackPolicy,
    /// The components of trust.
    pub trust: TrustWeights,
    /// The status of nodes.
    pub status: StatusPolicy,
    /// Threat beliefs and signals.
    pub defense: DefensePolicy,
    /// Routing and ensembles.
    pub routing: RoutingPolicy,
    /// Convergence of positions.
    pub convergence: ConvergencePolicy,
    /// Workflows.
    pub workflow: WorkflowPolicy,
}

macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty = $default:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
    };
}

section! {
    /// The constants of one interaction.
    ConnectionPolicy {
        /// The factor of the reinforcement, `γ`.
        reinforcement: Score = score(100_000),
        /// The exponent of the volume, `μ`.
        volume_exponent: Score = score(500_000),
        /// The decay of a weight with each interaction, `α`.
        weight_decay: Score = score(10_000),
        /// The steepness of the reciprocity sigmoid, `β`.
        steepness: Weight = weight(2_000_000),
        /// The share of the old value in each moving average, `λ`.
        smoothing: Score = score(900_000),
        /// The effect of quality on reciprocity, `θ`.
        quality_effect: Score = score(500_000),
        /// The effect of a threat on a weight, `δ`.
        threat_effect: Score = score(200_000),
        /// The smallest ratio, and what is added to the tokens given, `ε`.
        epsilon: Score = score(1_000),
        /// The minimum weight, `W_MIN`.
        min_weight: Score = score(10_000),
        /// The maximum weight, `W_MAX`.
        max_weight: Score = Score::ONE,
        /// The weight of a new connection and of a stranger, `W_INIT`.
        initial_weight: Score = score(300_000),
        /// The quality of a new connection.
        initial_quality: Score = score(500_000),
        /// An interaction above this quality can be an affirmation.
        affirm_quality_above: Score = score(800_000),
        /// An interaction above this tone can be an affirmation.
        affirm_tone_above: Score = score(500_000),
        /// A connection below this quality is a reason for a warning.
        warn_quality_below: Score = score(300_000),
        /// A low quality is a reason after more than this number of interactions.
        warn_after_interactions: u32 = 10,
        /// A connection below this reciprocity is a reason for a warning.
        warn_reciprocity_below: Millionths = Millionths::new(-1_500_000),
        /// A connection below this tone is a reason for a warning.
        warn_tone_below: Millionths = Millionths::new(-500_000),
        /// The idle time after which an active connection is dormant.
        dormant_after_ms: u64 = 100_000,
    }
}

section! {
    /// The values of new nodes and capabilities.
    StartPolicy {
        /// The trust in a new node.
        swift_trust: Score = score(400_000),
        /// The quality of a new capability.
        capability_quality: Score = score(500_000),
    }
}

section! {
    /// The weights that map feedback to quality. Each rating is from 1 to 5.
    FeedbackPolicy {
        /// The weight of help.
        help: Score = score(400_000),
        /// The weight of accuracy.
        accuracy: Score = score(300_000),
        /// The weight of relevance.
        relevance: Score = score(200_000),
        /// The weight of timeliness.
        timeliness: Score = score(100_000),
        /// The factor where the result would be used again.
        reuse: Weight = weight(1_200_000),
        /// The factor where it would not.
        no_reuse: Weight = weight(800_000),
    }
}

section! {
    /// The weights of the components of trust.
    TrustWeights {
        /// The weight of quality, `Q_agg`.
        quality: Score = score(400_000),
        /// The weight of reciprocity.
        reciprocity: Score = score(200_000),
        /// The weight of the mean quality of connections, `S`.
        social: Score = score(200_000),
        /// The weight of diversity, `D`.
        diversity: Score = score(200_000),
        /// The trust that is possible above the diversity: `T ≤ D + 0.3`.
        diversity_margin: Score = score(300_000),
        /// The number of latest interactions that diversity counts.
        partner_window: u32 = 100,
        /// The quality of a node whose capabilities were never used.
        unused_quality: Score = score(500_000),
    }
}

section! {
    /// The thresholds of the node machine.
    StatusPolicy {
        /// The number of interactions of one probation.
        probation_interactions: u32 = 50,
        /// The mean quality that passes a probation.
        probation_quality_from: Score = score(600_000),
        /// The number of failed probations that expels.
        max_failed_probations: u32 = 3,
        /// The factor of the trust after a failed probation.
        failed_probation_factor: Score = score(800_000),
        /// The factor of the trust after a passed probation.
        promotion_factor: Weight = weight(1_500_000),
        /// The maximum trust after a passed probation.
        promotion_max: Score = score(800_000),
        /// The number of interactions of an established node.
        established_interactions: u32 = 200,
        /// The mean quality of an established node.
        established_quality_from: Score = score(800_000),
        /// The number of connections of a hub.
        hub_connections: u32 = 20,
        /// The diversity of a hub.
        hub_diversity_from: Score = score(500_000),
        /// The mean quality of a hub.
        hub_quality_from: Score = score(850_000),
        /// A drop of quality above this value demotes.
        quality_drop_above: Score = score(400_000),
        /// A trust below this value demotes.
        demotion_trust_below: Score = score(300_000),
        /// The factor of the trust after a demotion.
        demotion_factor: Score = score(500_000),
        /// A confirmed threat of this level expels.
        expulsion_threat_from: Score = score(900_000),
    }
}

section! {
    /// The constants of threat beliefs and signals.
    DefensePolicy {
        /// A signal of this confidence is forwarded.
        propagate_from: Score = score(600_000),
        /// The factor of the confidence for each hop.
        hop_factor: Score = score(800_000),
        /// A forwarded confidence below this value is dropped.
        drop_below: Score = score(100_000),
        /// A signal received with fewer hops is forwarded.
        max_hops: u32 = 5,
        /// The priming that a signal of confidence 1 adds.
        priming_gain: Score = score(100_000),
        /// The factor of the priming with each tick.
        priming_decay: Score = score(990_000),
        /// A primed node below this priming returns to normal with a tick.
        primed_from: Score = score(100_000),
        /// A node acts against a threat above this level.
        act_above: Score = score(700_000),
        /// The confidence of a signal that a node sends after an interaction of its own.
        warning_confidence: Score = score(600_000),
    }
}

section! {
    /// The constants of convergence (001 §8.3).
    ConvergencePolicy {
        /// Above this score positions are converged.
        converged_above: Score = score(850_000),
        /// Above this score they are converging.
        converging_above: Score = score(600_000),
        /// Above this score they are exploring.
        exploring_above: Score = score(400_000),
        /// Above this score they are stuck, else polarized.
        stuck_above: Score = score(200_000),
        /// The share of a node's own position in a deliberation round.
        own_share: Score = score(300_000),
        /// The number of rounds before an agreement to disagree.
        min_rounds: u32 = 5,
        /// A score that changes by at most this much does not move.
        movement_above: Score = score(10_000),
        /// Below this criticality nodes may agree to disagree.
        criticality_below: Score = score(800_000),
        /// The trust in a node without a known one.
        unknown_trust: Score = score(500_000),
    }
}

section! {
    /// The constants of workflows (001 §11.3).
    WorkflowPolicy {
        /// The number of retries of a step, `MAX_RETRIES`.
        max_retries: u32 = 2,
    }
}

/// The largest preference bonus with which the exact product of all factors fits 128 bits.
const MAX_PREFERENCE_BONUS: Weight = weight(100_000_000);

/// Converts a literal. Values above 1 count as 1.
const fn score(millionths: u32) -> Score {
    match Score::from_millionths(millionths) {
        Some(score) => score,
        None => Score::ONE,
    }
}

/// Converts a literal. Values above 1000 count as 1000.
const fn weight(millionths: u32) -> Weight {
    match Weight::from_millionths(millionths) {
        Some(weight) => weight,
        None => Weight::MAX,
    }
}
