//! Heddle
