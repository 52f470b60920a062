//! Paths relative to a folder.

use std::path::{Component, Path, PathBuf};

/// Returns the path to a file as a file in `folder` names it. Both are relative to the current folder, and need not exist.
pub(super) fn relative_to(folder: &Path, file: &Path) -> std::io::Result<PathBuf> {
    let (folder, file) = (normalized(folder)?, normalized(file)?);
    let common = folder.components().zip(file.components()).take_while(|(one, other)| one == other).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    Ok(up.chain(file.components().skip(common)).collect())
}

/// Returns the absolute path without `.` and `..`.
fn normalized(path: &Path) -> std::io::Result<PathBuf> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let mut normalized = PathBuf::new();
    for component in std::path::absolute(path)?.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normalized.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => normalized.push(component),
        }
    }
    Ok(normalized)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_from_folder_to_file() {
        for (folder, file, expected) in [
            ("scenarios", "policies/team.yaml", "../policies/team.yaml"),
            ("./a/b/", "a/team.yaml", "../team.yaml"),
            ("a", "a/team.yaml", "team.yaml"),
            ("../a", "../b/c/team.yaml", "../b/c/team.yaml"),
            ("", "team.yaml", "team.yaml"),
        ] {
            let found = relative_to(Path::new(folder), Path::new(file)).unwrap();
            assert_eq!(found, Path::new(expected), "{folder} {file}");
        }
    }
}
