//! Reads and judges logs: bytes to histograms, slices, findings and a verdict. No I/O, no clock.
