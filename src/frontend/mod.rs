//! The front end: drives clang, links the built-in library.
