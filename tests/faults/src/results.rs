//! The file of outcomes, one line of JSON each. A later run continues after the outcomes in it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// An open file of outcomes, to which several threads append.
#[derive(Debug)]
pub struct Results(Mutex<File>);

impl Results {
    /// Opens the file, or creates it, and returns it with the outcomes in it. A last line without end, of a run that was killed, is
    /// removed.
    ///
    /// # Errors
    /// The file cannot be read or written, or a line is no outcome.
    pub fn open<T: DeserializeOwned>(path: &Path) -> Result<(Self, Vec<T>), Box<dyn Error>> {
        let in_file = |error: &dyn Error| format!("{}: {error}", path.display());
        let mut file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .map_err(|error| in_file(&error))?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| in_file(&error))?;
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
        file.set_len(text.len() as u64)?;
        file.seek(SeekFrom::End(0))?;
        let parse = |(at, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| {
                format!("{}:{}: {error}: correct or remove the line", path.display(), at + 1).into()
            })
        };
        let outcomes = text.lines().enumerate().map(parse).collect::<Result<_, Box<dyn Error>>>()?;
        Ok((Self(Mutex::new(file)), outcomes))
    }

    /// Replaces the contents of the file by these outcomes, in this order.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn replace(&self, outcomes: &[impl Serialize]) -> io::Result<()> {
        let lines: String = outcomes
            .iter()
            .map(|one| serde_json::to_string(one).map(|line| line + "\n"))
            .collect::<Result<_, _>>()?;
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(lines.as_bytes())
    }

    /// Appends an outcome.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&self, outcome: &impl Serialize) -> io::Result<()> {
        let line = serde_json::to_string(outcome)? + "\n";
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read_up_to_the_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results");
        let (results, none) = Results::open::<u32>(&path).unwrap();
        assert!(none.is_empty());
        [1, 2].iter().for_each(|outcome| results.append(outcome).unwrap());
        std::fs::write(&path, "1\n2\n34").unwrap();
        let (results, outcomes) = Results::open::<u32>(&path).unwrap();
        assert_eq!(outcomes, [1, 2]);
        results.append(&5).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1\n2\n5\n");
        results.replace(&[5, 1]).unwrap();
        results.append(&6).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "5\n1\n6\n");

        std::fs::write(&path, "1\ntwo\n").unwrap();
        let error = Results::open::<u32>(&path).unwrap_err().to_string();
        assert!(error.contains("results:2: ") && error.ends_with("correct or remove the line"), "{error}");
    }
}
