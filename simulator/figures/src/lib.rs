//! Figures of experiments as SVG and PNG, and a page that contains them.
//!
//! [`figures`] selects the figures that fit a result: outcomes by policy, the flows of requests, the trade-off between both
//! kinds of error, lines over one setting, heat maps over two, and trajectories. [`page`] is a self-contained HTML page with figures and tables. Every mean is drawn with its interval,
//! except in heat maps, whose page has the table. Deliberately absent: scripts, and links to other files.

mod axes;
mod chart;
mod drawing;
mod error;
mod figure;
mod flows;
mod heat_map;
mod lines;
mod outcomes;
mod page;
mod tradeoff;
mod trajectories;

pub use drawing::PNG_MARK;
pub use error::FigureError;
pub use figure::{Figure, figures};
pub use page::{PAGE_PREFIX, Page, page};
