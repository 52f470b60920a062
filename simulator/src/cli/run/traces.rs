//! The files in which the traces of scenarios are recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;
use std::path::{Path, PathBuf};

/// The file of the trace of each scenario.
pub(super) struct TraceFiles<'a> {
    folder: &'a Path,
    /// The name of each scenario's file, with a number if an earlier scenario has the same name.
    names: BTreeMap<&'a Path, String>,
}

impl<'a> TraceFiles<'a> {
    pub(super) fn new(scenarios: &'a [PathBuf], folder: &'a Path) -> Self {
        let (mut names, mut taken) = (BTreeMap::new(), BTreeSet::new());
        for path in scenarios {
            let name = file_stem(path);
            // One of as many names as scenarios is free.
            let numbered = (2..=scenarios.len()).map(|number| format!("{name}.{number}"));
            if let Some(name) = once(name.clone()).chain(numbered).find(|name| taken.insert(name.clone())) {
                names.insert(path.as_path(), name);
            }
        }
        Self { folder, names }
    }

    /// The file of the trace of a scenario. With a seed it has another name, so that the trace of the scenario's own seed remains.
    pub(super) fn of(&self, scenario: &Path, seed: Option<u64>) -> PathBuf {
        let name = self.names.get(scenario).cloned().unwrap_or_else(|| file_stem(scenario));
        let seed = seed.map_or_else(String::new, |seed| format!(".seed-{seed}"));
        self.folder.join(format!("{name}{seed}.trace.ndjson"))
    }
}

fn file_stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_with_equal_names_have_separate_traces() {
        let scenarios = ["a/veto.yaml", "b/veto.yaml", "veto.2.yaml", "happy.yaml"].map(PathBuf::from);
        let traces = TraceFiles::new(&scenarios, Path::new("out"));
        let files = scenarios.each_ref().map(|scenario| traces.of(scenario, None));
        let expected = ["veto", "veto.2", "veto.2.2", "happy"];
        assert_eq!(files, expected.map(|name| PathBuf::from(format!("out/{name}.trace.ndjson"))));
        assert_eq!(traces.of(&scenarios[1], Some(7)), Path::new("out/veto.2.seed-7.trace.ndjson"));
    }
}
