//! The table of faults and of who detects each.

use crate::judges::{Finding, Judge};
use crate::list::NumberedFault;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};

/// What a judge found with a fault, as a line of the file of results.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Judged {
    /// The id of the fault.
    pub fault: String,
    /// The judge.
    pub judge: Judge,
    /// The largest scope at which `check` ran.
    pub scope: String,
    /// What it found.
    pub finding: Finding,
}

/// What each judge found.
#[derive(Clone, Debug)]
pub struct Row {
    /// The fault.
    pub fault: NumberedFault,
    /// The findings of the judges that were asked.
    pub findings: Vec<(Judge, Finding)>,
}

impl Row {
    /// What this judge found, if it was asked.
    fn finding(&self, judge: Judge) -> Option<&Finding> {
        self.findings.iter().find(|(asked, _)| *asked == judge).map(|(_, finding)| finding)
    }

    fn is_detected_by(&self, judge: Judge) -> bool {
        self.finding(judge).is_some_and(Finding::is_detected)
    }

    fn is_equivalent(&self) -> bool {
        self.fault.fault.equivalent.is_some()
    }

    fn is_detected(&self) -> bool {
        self.findings.iter().any(|(_, finding)| finding.is_detected())
    }

    /// The claim that detects the fault, if no other claim does.
    fn only_claim(&self) -> Option<&str> {
        match self.finding(Judge::Check) {
            Some(Finding::Failures(claims)) if claims.len() == 1 => claims.first().map(String::as_str),
            _ => None,
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.fault.id())?;
        for (judge, found) in &self.findings {
            write!(f, "  {}: {}", judge.as_str(), short(found))?;
        }
        if !self.is_detected() {
            let label = if self.is_equivalent() { "equivalent" } else { "NOT DETECTED" };
            write!(f, "  {label}: {}", self.fault.fault.fault.as_str())?;
        }
        Ok(())
    }
}

/// At most four names, and the number of the others.
fn short(found: &Finding) -> String {
    const NAMES_MAX: usize = 4;
    match found {
        Finding::Nothing => "-".to_owned(),
        Finding::Failures(names) => {
            let mut text = names.iter().take(NAMES_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
            if let Some(others @ 1..) = names.len().checked_sub(NAMES_MAX) {
                let _ = write!(text, " and {others} more");
            }
            text
        }
        Finding::Stopped(reason) => format!("stopped: {reason}"),
        Finding::TookTooLong => "took too long".to_owned(),
    }
}

/// All rows.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// In the order of the lists.
    pub rows: Vec<Row>,
}

impl Table {
    /// The rows of faults that are not equivalent.
    fn faults(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !row.is_equivalent())
    }

    fn count(&self, is: impl Fn(&Row) -> bool) -> usize {
        self.faults().filter(|row| is(row)).count()
    }

    /// The counts.
    #[must_use]
    pub fn summary(&self) -> String {
        let all = self.faults().count();
        let equivalent = self.rows.len() - all;
        let by =
            |judge: &Judge| format!("{} {}", judge.as_str(), self.count(|row| row.is_detected_by(*judge)));
        format!(
            "{all} faults, and {equivalent} equivalent ones; detected by {}; by any of them {}",
            self.judges_asked().iter().map(by).collect::<Vec<_>>().join(", "),
            self.count(Row::is_detected),
        )
    }

    /// The judges that were asked about a fault.
    fn judges_asked(&self) -> Vec<Judge> {
        let is_asked = |judge: &Judge| self.rows.iter().any(|row| row.finding(*judge).is_some());
        Judge::ALL.into_iter().filter(is_asked).collect()
    }

    /// Whether every fault is detected, by claims at least nine of ten, and no equivalent one is.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        let all = self.faults().count();
        let by_claims = self.count(|row| row.is_detected_by(Judge::Check));
        let asked_claims = self.rows.iter().any(|row| row.finding(Judge::Check).is_some());
        self.rows.iter().all(|row| row.is_detected() != row.is_equivalent())
            && (!asked_claims || by_claims * 10 >= all * 9)
    }

    /// The page. `scope` is the largest at which `check` ran.
    #[must_use]
    pub fn page(&self, scope: &str) -> String {
        let mut page = String::from("# Faults\n\n");
        let _ = writeln!(
            page,
            "Written by hand in `tests/faults/list`, and switched on one at a time by `orchestrion-faults`. {}. `check` explored \
             scopes up to {scope}.\n",
            self.summary()
        );
        let judges = self.judges_asked();
        let names: String = judges.iter().map(|judge| format!(" {} |", judge.as_str())).collect();
        let _ = writeln!(page, "| fault | clause | the faulty kernel |{names}");
        let _ = writeln!(page, "|---|---|---|{}", "---|".repeat(judges.len()));
        let cell = |row: &Row, judge: Judge| {
            row.finding(judge)
                .map_or_else(|| "not asked".to_owned(), |found| short(found).replace('|', "\\|"))
        };
        for row in &self.rows {
            let fault = &row.fault.fault;
            let sentence = match &fault.equivalent {
                Some(reason) => format!("{} Equivalent: {}", fault.fault.as_str(), reason.as_str()),
                None => fault.fault.as_str().to_owned(),
            };
            let cells: String = judges.iter().map(|judge| format!(" {} |", cell(row, *judge))).collect();
            let _ = writeln!(page, "| {} | {} | {sentence} |{cells}", row.fault.id(), fault.clause.as_str());
        }
        let mut only: Vec<(&str, &str)> =
            self.rows.iter().filter_map(|row| Some((row.only_claim()?, row.fault.id()))).collect();
        only.sort_unstable();
        page.push_str("\nFaults that a single claim detects:\n\n| claim | faults |\n|---|---|\n");
        for same in only.chunk_by(|(claim, _), (next, _)| claim == next) {
            let ids: Vec<&str> = same.iter().map(|(_, id)| *id).collect();
            let _ = writeln!(page, "| {} | {} |", same[0].0, ids.join(", "));
        }
        page
    }
}
