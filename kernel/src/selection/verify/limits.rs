//! The limits of a certificate, which bound the time and memory of `verify`.

/// The maximum number of slopes.
pub const SLOPES_MAX: usize = 8;
/// The maximum number of table cells in one certificate.
pub const CELLS_MAX: usize = 1 << 29;
/// The maximum number of cells in one table row.
pub const ROW_MAX: usize = 1 << 22;
