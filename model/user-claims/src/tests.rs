//! Tests of claim files and monitors.

mod enforce;
mod fields;
mod naive;
mod read;
