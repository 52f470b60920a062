//! The page of events and fields.

use crate::event_kind::EventKind;
use crate::fields::FIELDS;
use std::fmt::Write as _;

/// What `enforce` and `shadow` do.
const ENFORCEMENT: &str = "
## Enforcement

| key | a call that would violate the claim |
|---|---|
| none | is made, and violates the claim |
| `shadow: true` | is made, and is reported |
| `enforce: true` | is not made: it fails as `forbidden`, and the row of its operation for failures is taken |

Both keys need a claim that calls alone violate, and at once: `never`, `always`, `precedes` or `at_most`, whose judged events are
`{event: tool_call, …}`, without `between`, and with an assumption that needs no event. A call that is not made does not count for
such claims. `request.running_tasks` counts it until it has failed. A call with which a claim needs more than 64 combinations of values is
not made.
";

/// Returns the page in Markdown.
#[must_use]
pub fn fields_page() -> String {
    let mut page =
        String::from("# Fields of claims\n\nA claim file matches events by their kind and their fields.\n\n");
    page.push_str("## Events\n\n| event | when | fields |\n|---|---|---|\n");
    for kind in EventKind::ALL {
        let of_kind = FIELDS.iter().filter(|field| !field.events.is_empty() && field.is_of(*kind));
        let fields = of_kind.map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ");
        let _ = writeln!(page, "| `{}` | {} | {fields} |", kind.name(), kind.meaning());
    }
    page.push_str("\n## Fields of events\n\n| field | content | meaning |\n|---|---|---|\n");
    let row = |page: &mut String, field: &crate::Field| {
        let _ = writeln!(page, "| `{}` | {} | {} |", field.name, field.kind.describe(), field.meaning);
    };
    FIELDS.iter().filter(|field| !field.events.is_empty()).for_each(|field| row(&mut page, field));
    page.push_str(
        "\n## Fields of the running request\n\nEvery event has them. They describe the request after the event.\n\n\
         | field | content | meaning |\n|---|---|---|\n",
    );
    FIELDS.iter().filter(|field| field.events.is_empty()).for_each(|field| row(&mut page, field));
    page.push_str(ENFORCEMENT);
    page
}
