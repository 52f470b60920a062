//! The settings in which two networks differ, by their paths in a network file.

use crate::policy_file::{ChangedSetting, changed_values};
use orchestrion_kernel::network::NetworkInput;
use orchestrion_network::NetworkFile;
use serde_json::Value;

/// Returns the settings in which the created networks differ; none if no file means one of them, as with a node that has a history.
/// A setting that has its default is absent.
#[must_use]
pub fn changed_network(before: &NetworkInput, after: &NetworkInput) -> Vec<ChangedSetting> {
    match (values(before), values(after)) {
        (Some(before), Some(after)) => changed_values(&before, &after),
        (None, _) | (_, None) => Vec::new(),
    }
}

/// Returns each value of the network's file, by its path.
fn values(network: &NetworkInput) -> Option<Vec<(String, String)>> {
    let file = serde_json::to_value(NetworkFile::from_kernel(network, &[])?).ok()?;
    let mut values = Vec::new();
    collect_values(String::new(), &file, &mut values);
    Some(values)
}

fn collect_values(path: String, value: &Value, values: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                collect_values(path, value, values);
            }
        }
        Value::Object(_)
        | Value::Array(_)
        | Value::String(_)
        | Value::Number(_)
        | Value::Bool(_)
        | Value::Null => values.push((path, value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrion_network::LoadedNetwork;

    const NETWORK: &str = "\
orchestrator: office
capabilities:
  send: {name: Send, category: transformation}
nodes:
  office: {trust: 0.6, connections: {ana: {w: 0.8}}}
  ana: {trust: 0.8, capabilities: {send: {quality: 0.9}}}
";

    fn check(from: &str, to: &str, expected: &[(&str, Option<&str>, Option<&str>)]) {
        let network =
            |text: &str| LoadedNetwork::parse("n.yaml", text).unwrap().conversation_input().unwrap();
        assert!(NETWORK.contains(from), "{from}");
        let changed = changed_network(&network(NETWORK), &network(&NETWORK.replace(from, to)));
        let changed: Vec<_> = changed
            .iter()
            .map(|setting| (&setting.path[..], setting.before.as_deref(), setting.after.as_deref()))
            .collect();
        assert_eq!(changed, expected);
    }

    #[test]
    fn changed_values_have_the_notation_of_files() {
        check("trust: 0.8", "trust: 0.75", &[("nodes.ana.trust", Some("0.8"), Some("0.75"))]);
        check("w: 0.8", "w: 0.7", &[("nodes.office.connections.ana.w", Some("0.8"), Some("0.7"))]);
        check("name: Send", "name: Post", &[("capabilities.send.name", Some("\"Send\""), Some("\"Post\""))]);
        check(
            "orchestrator",
            "policy: {routing: {local_preference: false}}\norchestrator",
            &[("policy.routing.local_preference", None, Some("false"))],
        );
        check("nodes:\n", "nodes:\n  ben: {trust: 0.5}\n", &[("nodes.ben.trust", None, Some("0.5"))]);
        check("trust", "trust", &[]);
    }
}
