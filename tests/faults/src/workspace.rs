//! A copy of the workspace whose kernel has all faults, each behind a switch.

use crate::list::NumberedFault;
use crate::switch::switch_faults;
use orchestrion_yaml::ReadError;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The environment variable with the number of the active fault. Without it, the kernel has none.
pub const ACTIVE_FAULT: &str = "ORCHESTRION_FAULT";

/// The folders whose code may have faults, with the path of the switch in their crates.
const FAULTY: [(&str, &str); 2] = [
    ("kernel/src/", "crate::fault::is_active"),
    ("kernel/optimizer/src/", "::orchestrion_kernel::fault::is_active"),
];

/// The environment variable with the file to which the kernel writes the numbers of the faults whose code runs.
pub const REACHED_FAULTS: &str = "ORCHESTRION_REACHED_FAULTS";

const SWITCH: &str = include_str!("workspace/fault.rs");

/// Writes the copy. A file that stays equal is not written, so that a second build is short.
///
/// # Errors
/// A fault does not fit its file, or a file cannot be read or written.
pub fn write_faulty_workspace(root: &Path, copy: &Path, faults: &[NumberedFault]) -> Result<(), ReadError> {
    let mut by_file: BTreeMap<&str, Vec<&NumberedFault>> = BTreeMap::new();
    for fault in faults {
        by_file.entry(fault.fault.file.value.as_str()).or_default().push(fault);
    }
    let mut faulty = BTreeMap::new();
    for (file, faults) in by_file {
        let Some(switch) = switch_for(file) else {
            let message = format!("`{file}`: expected a file of kernel/src or kernel/optimizer/src");
            return Err(faults[0].error_at_file(message, "a fault changes code that decides"));
        };
        let source = std::fs::read_to_string(root.join(file)).map_err(|error| {
            faults[0].error_at_file(format!("`{file}`: unreadable file: {error}"), "correct the path")
        })?;
        faulty.insert(root.join(file), switch_faults(&source, &faults, switch)?);
    }
    copy_workspace(root, copy, faulty)
}

/// Copies the workspace with these source texts, by their paths, and with the module that has the switch.
///
/// # Errors
/// A file cannot be read or written.
pub fn copy_workspace(root: &Path, copy: &Path, faulty: BTreeMap<PathBuf, String>) -> Result<(), ReadError> {
    let copier = Copier { copy, faulty };
    copier.copy_folder(root, copy).map_err(|error| {
        let message = format!("{}: the copy of the workspace failed: {error}", copy.display());
        ReadError::for_file(message, "choose another folder with --work-dir")
    })
}

/// The path of the switch in the crate of a file; `None` if the file may have no fault.
#[must_use]
pub fn switch_for(file: &str) -> Option<&'static str> {
    FAULTY.iter().find(|(folder, _)| file.starts_with(folder)).map(|(_, switch)| *switch)
}

struct Copier<'a> {
    copy: &'a Path,
    /// The source texts with faults.
    faulty: BTreeMap<PathBuf, String>,
}

impl Copier<'_> {
    fn copy_folder(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::create_dir_all(to)?;
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            if entry.file_type()?.is_dir() {
                // The copy may lie in the workspace.
                let is_built = entry.file_name() == "target" || entry.file_name() == ".git";
                if !is_built && source != self.copy {
                    self.copy_folder(&source, &target)?;
                }
            } else {
                let mut bytes = match self.faulty.get(&source) {
                    Some(text) => text.clone().into_bytes(),
                    None => std::fs::read(&source)?,
                };
                if source.ends_with("kernel/src/lib.rs") {
                    bytes.extend_from_slice(b"\n#[doc(hidden)]\npub mod fault;\n");
                    write_changed(&to.join("fault.rs"), SWITCH.as_bytes())?;
                }
                write_changed(&target, &bytes)?;
            }
        }
        Ok(())
    }
}

fn write_changed(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match std::fs::read(path) {
        Ok(found) if found == bytes => Ok(()),
        _ => std::fs::write(path, bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::read_faults;
    use orchestrion_yaml::render_error;
    use std::fs;

    fn fault(id: &str, file: &str) -> String {
        format!(
            "- {{id: {id}, clause: 000-1.1, fault: A fault., file: {file}, kind: expression, find: a + b, replace: a - b}}\n"
        )
    }

    #[test]
    fn copy_has_switches_and_is_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let (root, copy, lists) =
            (folder.path().join("root"), folder.path().join("root/copy"), folder.path().join("lists"));
        for made in ["kernel/src", "kernel/optimizer/src", "target", ".git"] {
            fs::create_dir_all(root.join(made)).unwrap();
            fs::write(root.join(made).join("lib.rs"), "fn f() -> u32 { a + b }\n").unwrap();
        }
        fs::create_dir(&lists).unwrap();
        let list = fault("000-01", "kernel/src/sum.rs") + &fault("000-02", "kernel/optimizer/src/lib.rs");
        fs::write(lists.join("000.yaml"), list).unwrap();
        fs::write(root.join("kernel/src/sum.rs"), "fn g() -> u32 { a + b }\n").unwrap();
        let faults = read_faults(&lists).unwrap();
        write_faulty_workspace(&root, &copy, &faults).unwrap();

        let read = |file: &str| fs::read_to_string(copy.join(file)).unwrap();
        assert!(read("kernel/src/lib.rs").ends_with("pub mod fault;\n"));
        assert!(read("kernel/src/fault.rs").contains(ACTIVE_FAULT));
        assert_eq!(
            read("kernel/src/sum.rs"),
            "fn g() -> u32 { (if crate::fault::is_active(1) { a - b } else { a + b }) }\n"
        );
        assert!(read("kernel/optimizer/src/lib.rs").contains("::orchestrion_kernel::fault::is_active(2)"));
        assert!(["target", ".git", "copy"].iter().all(|skipped| !copy.join(skipped).exists()));

        let written = |file: &str| fs::metadata(copy.join(file)).unwrap().modified().unwrap();
        let before = ["kernel/src/lib.rs", "kernel/src/sum.rs", "kernel/src/fault.rs"].map(written);
        std::thread::sleep(std::time::Duration::from_millis(20));
        write_faulty_workspace(&root, &copy, &faults).unwrap();
        assert_eq!(["kernel/src/lib.rs", "kernel/src/sum.rs", "kernel/src/fault.rs"].map(written), before);
    }

    #[test]
    fn other_code_has_no_faults() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("000.yaml"), fault("000-01", "model/src/check.rs")).unwrap();
        let faults = read_faults(folder.path()).unwrap();
        let error = write_faulty_workspace(folder.path(), &folder.path().join("copy"), &faults).unwrap_err();
        let expected = "`model/src/check.rs`: expected a file of kernel/src or kernel/optimizer/src";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn lists_of_the_project_fit_its_kernel() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        let faults = read_faults(&root.join("tests/faults/list")).unwrap();
        assert!(faults.len() >= 60, "{} faults", faults.len());
        let copy = tempfile::tempdir().unwrap();
        let written = write_faulty_workspace(root, copy.path(), &faults);
        assert!(written.is_ok(), "{}", render_error(&written.unwrap_err()));
    }
}
