//! Heddle passes
