//! What is wrong with an object.

/// An object that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a usable Heddle object: {0}")]
pub struct ObjectError(pub String);
