//! Tests of claim files and monitors.

mod naive;
mod read;
