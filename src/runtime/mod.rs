//! The host side: buffers, arguments, launches, case files.
