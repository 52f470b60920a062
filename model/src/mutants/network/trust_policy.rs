//! Faults in the constants of the trust network: each number halved, or one more, each switch toggled.

use crate::kernel_under_test::TrustPolicyMutation;
use orchestrion_kernel::network::policy::RoutingOrder;
use orchestrion_kernel::network::{Millionths, TrustPolicy};
use orchestrion_kernel::{Score, Weight};

/// A number with a wrong value.
trait Wrong {
    /// Changes the number to another one.
    fn spoil(&mut self);
}

impl Wrong for Score {
    fn spoil(&mut self) {
        let halved = if *self == Self::ZERO { 500_000 } else { self.millionths() / 2 };
        *self = Self::from_millionths(halved).unwrap_or(Self::ZERO);
    }
}

impl Wrong for Weight {
    fn spoil(&mut self) {
        *self = Self::from_millionths(self.millionths() / 2).unwrap_or(Self::ZERO);
    }
}

impl Wrong for Millionths {
    fn spoil(&mut self) {
        *self = Self::new(self.get() / 2);
    }
}

impl Wrong for u32 {
    fn spoil(&mut self) {
        *self = self.checked_add(1).unwrap_or(1);
    }
}

impl Wrong for u64 {
    fn spoil(&mut self) {
        *self = self.saturating_add(1);
    }
}

impl Wrong for RoutingOrder {
    fn spoil(&mut self) {
        *self = match self {
            Self::Score => Self::Quality,
            Self::Quality => Self::RoundRobin,
            Self::RoundRobin => Self::Score,
        };
    }
}

impl Wrong for bool {
    fn spoil(&mut self) {
        *self = !*self;
    }
}

/// A wrong value of each of these settings.
macro_rules! wrong {
    ($($section:ident.$setting:ident),* $(,)?) => {
        &[$((
            concat!(stringify!($section), ".", stringify!($setting)),
            "has another value",
            (|policy: &mut TrustPolicy| policy.$section.$setting.spoil()) as TrustPolicyMutation,
        )),*]
    };
}

/// Every setting that a conversation reads.
pub(super) const FAULTS: &[(&str, &str, TrustPolicyMutation)] = wrong![
    connection.reinforcement,
    connection.volume_exponent,
    connection.weight_decay,
    connection.steepness,
    connection.smoothing,
    connection.quality_effect,
    connection.threat_effect,
    connection.epsilon,
    connection.min_weight,
    connection.max_weight,
    connection.initial_weight,
    connection.initial_quality,
    connection.affirm_quality_above,
    connection.affirm_tone_above,
    connection.warn_quality_below,
    connection.warn_after_interactions,
    connection.warn_reciprocity_below,
    connection.warn_tone_below,
    connection.dormant_after_ms,
    feedback.help,
    feedback.accuracy,
    feedback.relevance,
    feedback.timeliness,
    feedback.reuse,
    feedback.no_reuse,
    trust.quality,
    trust.reciprocity,
    trust.social,
    trust.diversity,
    trust.diversity_margin,
    trust.partner_window,
    trust.unused_quality,
    status.probation_interactions,
    status.probation_quality_from,
    status.max_failed_probations,
    status.failed_probation_factor,
    status.promotion_factor,
    status.promotion_max,
    status.established_interactions,
    status.established_quality_from,
    status.hub_connections,
    status.hub_diversity_from,
    status.hub_quality_from,
    status.quality_drop_above,
    status.demotion_trust_below,
    status.demotion_factor,
    status.expulsion_threat_from,
    defense.propagate_from,
    defense.hop_factor,
    defense.drop_below,
    defense.max_hops,
    defense.priming_gain,
    defense.priming_decay,
    defense.primed_from,
    defense.act_above,
    defense.warning_confidence,
    routing.order,
    routing.preference_bonus,
    routing.overload_above,
    routing.local_preference,
    routing.all_capabilities,
    workflow.max_retries,
];
