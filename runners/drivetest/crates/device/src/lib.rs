//! What a device is, and whether it may be written to.
