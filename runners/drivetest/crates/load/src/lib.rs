//! Loads a device as ACT does, on even arrivals, and writes the log.
