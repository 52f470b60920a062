//! The policy of a network file: settings that differ from the defaults.

use super::routing_order::RoutingOrderFile;
use super::signed::{Reciprocity, Tone};
use miette::SourceSpan;
use orchestrion_kernel::network::Millionths;
use orchestrion_kernel::network::policy::{
    ConnectionPolicy, ConvergencePolicy, DefensePolicy, FeedbackPolicy, RoutingOrder, RoutingPolicy,
    StartPolicy, StatusPolicy, TrustPolicy, TrustPolicyError, TrustWeights, WorkflowPolicy,
};
use orchestrion_kernel::{Score, Weight};
use orchestrion_yaml::{Decimal, LabeledError, ReadError, Source, Spanned, required_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The value of a setting, as the kernel has it.
trait SettingValue<K> {
    fn to_kernel(self) -> K;
    fn from_kernel(value: K) -> Self;
}

macro_rules! setting_values {
    ($($file:ty = $kernel:ty: $to_kernel:expr, $from_kernel:expr;)*) => {$(
        impl SettingValue<$kernel> for $file {
            fn to_kernel(self) -> $kernel {
                let convert: fn(Self) -> $kernel = $to_kernel;
                convert(self)
            }

            fn from_kernel(value: $kernel) -> Self {
                let convert: fn($kernel) -> Self = $from_kernel;
                convert(value)
            }
        }
    )*};
}

setting_values! {
    Decimal<Score> = Score: |number| number.0, Self;
    Decimal<Weight> = Weight: |number| number.0, Self;
    Reciprocity = Millionths: |number| number.0, Self;
    Tone = Millionths: |number| number.0, Self;
    u32 = u32: |number| number, |number| number;
    u64 = u64: |number| number, |number| number;
    bool = bool: |on| on, |on| on;
    RoutingOrderFile = RoutingOrder: Into::into, Into::into;
}

macro_rules! sections {
    ($($(#[$doc:meta])* $section:ident: $file:ident for $kernel:ident {
        $($(#[$setting_doc:meta])* $setting:ident: $value:ty;)*
    })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
            #[serde(deny_unknown_fields)]
            pub struct $file {
                $(
                    $(#[$setting_doc])*
                    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
                    pub $setting: Option<Spanned<$value>>,
                )*
            }

            impl $file {
                fn apply(&self, policy: &mut $kernel) {
                    // Without `..`, a new setting of the kernel does not compile until it is here too.
                    let $kernel { $($setting),* } = policy;
                    $(if let Some(value) = self.$setting {
                        *$setting = value.value.to_kernel();
                    })*
                }

                /// Returns the settings that differ from the default; `None` if none does.
                fn from_kernel(policy: &$kernel, default: &$kernel) -> Option<Spanned<Self>> {
                    let file = Self {
                        $($setting: Some(policy.$setting)
                            .filter(|value| *value != default.$setting)
                            .map(|value| Spanned::from(<$value>::from_kernel(value))),)*
                    };
                    Some(file).filter(|file| *file != Self::default()).map(Spanned::from)
                }

                fn span(&self, setting: &str) -> Option<SourceSpan> {
                    match setting {
                        $(stringify!($setting) => self.$setting.as_ref().and_then(Spanned::span),)*
                        _ => None,
                    }
                }
            }
        )*

        /// Settings of the trust network that differ from the defaults.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct PolicyFile {
            $(
                $(#[$doc])*
                #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
                pub $section: Option<Spanned<$file>>,
            )*
        }

        /// The path of every setting, such as `routing.order`.
        pub const TRUST_SETTINGS: &[&str] =
            &[$($(concat!(stringify!($section), ".", stringify!($setting)),)*)*];

        impl PolicyFile {
            /// Returns a policy with the settings of this file; not yet validated.
            fn apply_to(self, mut policy: TrustPolicy) -> TrustPolicy {
                let TrustPolicy { $($section),* } = &mut policy;
                $(if let Some(file) = self.$section {
                    file.value.apply($section);
                })*
                policy
            }

            /// Returns the settings of a policy that differ from the defaults.
            pub(super) fn from_policy(policy: &TrustPolicy) -> Self {
                let default = TrustPolicy::default();
                Self { $($section: $file::from_kernel(&policy.$section, &default.$section),)* }
            }

            /// Returns the place of a setting, or of its section; `None` if the file sets neither.
            fn span(&self, path: &str) -> Option<SourceSpan> {
                let (section, setting) = path.split_once('.').unwrap_or((path, ""));
                match section {
                    $(stringify!($section) => {
                        self.$section.as_ref().and_then(|file| match setting {
                            "" => file.span(),
                            setting => file.value.span(setting),
                        })
                    })*
                    _ => None,
                }
            }
        }
    };
}

sections! {
    /// The constants of one interaction.
    connection: ConnectionPolicyFile for ConnectionPolicy {
        /// The factor of the reinforcement, `γ`.
        reinforcement: Decimal<Score>;
        /// The exponent of the volume, `μ`.
        volume_exponent: Decimal<Score>;
        /// The decay of a weight with each interaction, `α`.
        weight_decay: Decimal<Score>;
        /// The steepness of the reciprocity sigmoid, `β`.
        steepness: Decimal<Weight>;
        /// The share of the old value in each moving average, `λ`.
        smoothing: Decimal<Score>;
        /// The effect of quality on reciprocity, `θ`.
        quality_effect: Decimal<Score>;
        /// The effect of a threat on a weight, `δ`.
        threat_effect: Decimal<Score>;
        /// The smallest ratio, and what is added to the tokens given, `ε`.
        epsilon: Decimal<Score>;
        /// The minimum weight, `W_MIN`.
        min_weight: Decimal<Score>;
        /// The maximum weight, `W_MAX`.
        max_weight: Decimal<Score>;
        /// The weight of a new connection and of a stranger, `W_INIT`.
        initial_weight: Decimal<Score>;
        /// The quality of a new connection.
        initial_quality: Decimal<Score>;
        /// An interaction above this quality can be an affirmation.
        affirm_quality_above: Decimal<Score>;
        /// An interaction above this tone can be an affirmation.
        affirm_tone_above: Decimal<Score>;
        /// A connection below this quality is a reason for a warning.
        warn_quality_below: Decimal<Score>;
        /// A low quality is a reason after more than this number of interactions.
        warn_after_interactions: u32;
        /// A connection below this reciprocity is a reason for a warning.
        warn_reciprocity_below: Reciprocity;
        /// A connection below this tone is a reason for a warning.
        warn_tone_below: Tone;
        /// The idle time after which an active connection is dormant.
        dormant_after_ms: u64;
    }
    /// The values of new nodes and capabilities.
    start: StartPolicyFile for StartPolicy {
        /// The trust in a new node.
        swift_trust: Decimal<Score>;
        /// The quality of a new capability.
        capability_quality: Decimal<Score>;
    }
    /// The weights that map feedback to quality. Each rating is from 1 to 5.
    feedback: FeedbackPolicyFile for FeedbackPolicy {
        /// The weight of help.
        help: Decimal<Score>;
        /// The weight of accuracy.
        accuracy: Decimal<Score>;
        /// The weight of relevance.
        relevance: Decimal<Score>;
        /// The weight of timeliness.
        timeliness: Decimal<Score>;
        /// The factor where the result would be used again.
        reuse: Decimal<Weight>;
        /// The factor where it would not.
        no_reuse: Decimal<Weight>;
    }
    /// The weights of the components of trust.
    trust: TrustWeightsFile for TrustWeights {
        /// The weight of quality, `Q_agg`.
        quality: Decimal<Score>;
        /// The weight of reciprocity.
        reciprocity: Decimal<Score>;
        /// The weight of the mean quality of connections, `S`.
        social: Decimal<Score>;
        /// The weight of diversity, `D`.
        diversity: Decimal<Score>;
        /// The trust that is possible above the diversity: `T ≤ D + 0.3`.
        diversity_margin: Decimal<Score>;
        /// The number of latest interactions that diversity counts.
        partner_window: u32;
        /// The quality of a node whose capabilities were never used.
        unused_quality: Decimal<Score>;
    }
    /// The thresholds of the node machine.
    status: StatusPolicyFile for StatusPolicy {
        /// The number of interactions of one probation.
        probation_interactions: u32;
        /// The mean quality that passes a probation.
        probation_quality_from: Decimal<Score>;
        /// The number of failed probations that expels.
        max_failed_probations: u32;
        /// The factor of the trust after a failed probation.
        failed_probation_factor: Decimal<Score>;
        /// The factor of the trust after a passed probation.
        promotion_factor: Decimal<Weight>;
        /// The maximum trust after a passed probation.
        promotion_max: Decimal<Score>;
        /// The number of interactions of an established node.
        established_interactions: u32;
        /// The mean quality of an established node.
        established_quality_from: Decimal<Score>;
        /// The number of connections of a hub.
        hub_connections: u32;
        /// The diversity of a hub.
        hub_diversity_from: Decimal<Score>;
        /// The mean quality of a hub.
        hub_quality_from: Decimal<Score>;
        /// A drop of quality above this value demotes.
        quality_drop_above: Decimal<Score>;
        /// A trust below this value demotes.
        demotion_trust_below: Decimal<Score>;
        /// The factor of the trust after a demotion.
        demotion_factor: Decimal<Score>;
        /// A confirmed threat of this level expels.
        expulsion_threat_from: Decimal<Score>;
    }
    /// The constants of threat beliefs and signals.
    defense: DefensePolicyFile for DefensePolicy {
        /// A signal of this confidence is forwarded.
        propagate_from: Decimal<Score>;
        /// The factor of the confidence for each hop.
        hop_factor: Decimal<Score>;
        /// A forwarded confidence below this value is dropped.
        drop_below: Decimal<Score>;
        /// A signal received with fewer hops is forwarded.
        max_hops: u32;
        /// The priming that a signal of confidence 1 adds.
        priming_gain: Decimal<Score>;
        /// The factor of the priming with each tick.
        priming_decay: Decimal<Score>;
        /// A primed node below this priming returns to normal with a tick.
        primed_from: Decimal<Score>;
        /// A node acts against a threat above this level.
        act_above: Decimal<Score>;
        /// The confidence of a signal that a node sends after an interaction of its own.
        warning_confidence: Decimal<Score>;
    }
    /// The constants and switches of routing.
    routing: RoutingPolicyFile for RoutingPolicy {
        /// What candidates are compared by: score (001 §4.1), quality, or round_robin (the fewest interactions with the routing node).
        order: RoutingOrderFile;
        /// The factor of the score of a preferred node. At most 100, so that scores are compared exactly.
        preference_bonus: Decimal<Weight>;
        /// A capability above this load refuses a task.
        overload_above: Decimal<Score>;
        /// Whether a node that can execute a task executes it itself (001 §4.2). Without it, the node competes as any other.
        local_preference: bool;
        /// Whether a candidate must hold every required capability. 001 §4.3 reads only the first.
        all_capabilities: bool;
    }
    /// The constants of convergence (001 §8.3).
    convergence: ConvergencePolicyFile for ConvergencePolicy {
        /// Above this score positions are converged.
        converged_above: Decimal<Score>;
        /// Above this score they are converging.
        converging_above: Decimal<Score>;
        /// Above this score they are exploring.
        exploring_above: Decimal<Score>;
        /// Above this score they are stuck, else polarized.
        stuck_above: Decimal<Score>;
        /// The share of a node's own position in a deliberation round.
        own_share: Decimal<Score>;
        /// The number of rounds before an agreement to disagree.
        min_rounds: u32;
        /// A score that changes by at most this much does not move.
        movement_above: Decimal<Score>;
        /// Below this criticality nodes may agree to disagree.
        criticality_below: Decimal<Score>;
        /// The trust in a node without a known one.
        unknown_trust: Decimal<Score>;
    }
    /// The constants of workflows (001 §11.3).
    workflow: WorkflowPolicyFile for WorkflowPolicy {
        /// The number of retries of a step, `MAX_RETRIES`.
        max_retries: u32;
    }
}

/// Returns a policy with other values of these settings, by path and as YAML; or the contradiction in it.
///
/// # Errors
/// [`ReadError`] for an unknown path, and for a value that the setting does not accept.
pub fn set_trust_policy(
    policy: &TrustPolicy,
    changed: &[(String, String)],
) -> Result<Result<TrustPolicy, TrustPolicyError>, ReadError> {
    let mut changed_policy = *policy;
    for (path, value) in changed {
        let (section, setting) = path.split_once('.').unwrap_or((path, ""));
        let text = format!("{section}: {{{setting}: {value}}}\n");
        let file: PolicyFile = Source::from_text(path, &text)?.parse()?;
        changed_policy = file.apply_to(changed_policy);
    }
    Ok(changed_policy.validate().map(|()| changed_policy))
}

impl PolicyFile {
    /// Returns the validated policy.
    ///
    /// # Errors
    /// A contradiction, with the settings of the file that take part in it.
    pub(super) fn validate(&self) -> Result<TrustPolicy, LabeledError> {
        let policy = self.apply_to(TrustPolicy::default());
        policy.validate().map_err(|error| self.contradiction(&error))?;
        Ok(policy)
    }

    fn contradiction(&self, found: &TrustPolicyError) -> LabeledError {
        let paths = [Some(found.setting), found.conflicts_with];
        let error = LabeledError::new(
            found.to_string(),
            "change one of the settings; a setting that the file omits has its default",
        );
        paths.into_iter().flatten().fold(error, |error, path| error.with_label(self.span(path), path))
    }
}
