//! Cross-crate tests as one program with one module for each subject.

mod clauses;
mod context;
mod corpora;
mod coverage;
mod crash;
mod cross_check;
mod external_checkers;
mod generated;
mod knowledge;
mod liveness;
mod models;
mod network;
mod network_conversation;
mod network_rules;
mod oracle;
mod payload;
mod properties;
mod reciprocity;
mod reference_consensus;
mod reference_promote;
mod reference_trust;
mod relevance;
mod rules;
mod situation;
mod stateright_reference;
mod terms;
