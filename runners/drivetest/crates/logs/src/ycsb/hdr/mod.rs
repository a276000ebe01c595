//! HDR files of YCSB (`hdrhistogram.fileoutput=true`): exact counts, merged, and percentiles of the merged counts alone.
//!
//! Source: HdrHistogram, HistogramLogWriter (log format 1.3), AbstractHistogram.encodeIntoCompressedByteBuffer() (V0 to V2).

pub mod attach;
mod decode;
mod encoding;
pub mod file;
