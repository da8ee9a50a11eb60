//! Tables, JSON and pages about a run.
