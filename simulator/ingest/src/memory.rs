//! Memory types of sources (003, memory type classification).

use orchestrion_kernel::item::MemoryType;

/// Returns the memory type of a source; the user's for a source outside the table.
#[must_use]
pub fn memory_of_source(source: &str) -> MemoryType {
    match source {
        "policy" | "system" | "finance_system" | "hr_system" | "document" => MemoryType::Organizational,
        "observation" | "pattern" | "heuristic" => MemoryType::Capability,
        _ => MemoryType::User,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_have_memory_types() {
        assert_eq!(memory_of_source("decision"), MemoryType::User);
        assert_eq!(memory_of_source("hr_system"), MemoryType::Organizational);
        assert_eq!(memory_of_source("heuristic"), MemoryType::Capability);
    }
}
