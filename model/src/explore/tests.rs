//! Explorations of small models, held against a plain search that shares nothing with the engine.

mod drawn;
