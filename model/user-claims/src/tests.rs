//! Tests of claim files and monitors.

mod fields;
mod naive;
mod read;
