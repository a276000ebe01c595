//! Reader and judge of logs: bytes to histograms, slices, findings and a verdict. No I/O, no clock.
//!
//! A log passes through these layers, and is never completely in memory:
//! bytes -> lines ([`text`]) -> header, whose keys give the family -> blocks of cumulative counts -> slices, the
//! differences of two dumps ([`act`]) -> [`finding`]s and a verdict ([`judge`]).
//!
//! ```
//! use drivetest_logs::reader::{LogReader, Options};
//!
//! let mut reader = LogReader::new(Options::default());
//! reader.push(b"no log of ACT\n");
//! let reading = reader.finish();
//! assert_eq!(reading.error.unwrap().id, "not-an-act-log");
//! ```

#![forbid(unsafe_code)]

/// ACT's logs: header, blocks of cumulative counts, slices, and how a run ended.
pub mod act {
    pub mod blocks;
    pub mod checks;
    pub mod detect;
    /// The grammar of ACT's logs: what each line is, in every version family.
    pub mod grammar {
        pub mod bucket_line;
        pub mod error_messages;
        pub mod family;
        pub mod family_a;
        pub mod line;
    }
    pub mod header;
    pub mod reader;
    pub mod run;
    pub mod run_reader;
    pub mod semantics;
    pub mod side_file;
    pub mod slices;
    pub mod stop;
}
pub mod finding;
pub mod judge;
pub mod read_error;
pub mod reader;
pub mod rule;
pub mod series;
/// Text of a log: bytes to lines, with repairs of changes by terminals, mailers and editors.
pub mod text {
    pub mod decode;
    pub mod line_split;
    /// Repairs of text that a terminal, a mailer, a logger or an editor changed.
    pub mod repair {
        pub mod ansi;
        pub mod header_anchor;
        pub mod line_prefix;
        pub mod noise_limit;
        pub mod prefix_stripper;
        pub mod repairs;
    }
    pub mod stream;

    pub use line_split::{LINE_BYTES_MAX, Line};
}
/// Reader of the outputs of YCSB and go-ycsb: lines to runs, and the validity of a run.
///
/// A file passes through these layers: lines -> their kinds (`line_kind`) -> a fragment for each run in the file
/// (`output`) -> joined fragments of all files of a run (`join`) -> the run (`build_run`) -> its findings (`checks`),
/// which determine whether it is valid. YCSB (`java`) and go-ycsb (`go`) are dialects: each has its own lines, and its own
/// part of a fragment.
pub mod ycsb {
    mod checks;
    mod command;
    /// Modules that the readers of YCSB and go-ycsb share.
    mod common {
        pub mod latencies;
        pub mod number;
        pub mod properties;
        pub mod raw;
        pub mod shell;
        pub mod spectrum;
    }
    mod extra_operations;
    mod fragment;
    /// Reader of go-ycsb's outputs: properties, interval blocks, the final block and single operations.
    ///
    /// Source: github.com/pingcap/go-ycsb, cmd/go-ycsb, pkg/client, pkg/measurement, up to v1.0.1 and after it.
    mod go {
        mod build_run;
        mod checks;
        pub mod fragment;
        mod line_kind;
        pub mod operations;
        pub mod output;
        mod row;
    }
    /// HDR files of YCSB (`hdrhistogram.fileoutput=true`): exact counts, merged, and percentiles of the merged counts alone.
    ///
    /// Source: HdrHistogram, HistogramLogWriter (log format 1.3), AbstractHistogram.encodeIntoCompressedByteBuffer() (V0 to V2).
    pub mod hdr {
        pub mod attach;
        mod decode;
        mod encoding;
        pub mod file;
    }
    /// The outputs of YCSB, which is written in Java: rows, status lines and command lines.
    mod java {
        mod build_run;
        mod checks;
        pub mod fragment;
        mod line_kind;
        mod measurement;
        pub mod metric;
        mod operations;
        pub mod output;
        mod row;
        pub mod status;
    }
    mod join;
    pub mod reader;
    pub mod rules;
    pub mod run;
    mod secrets;
    mod settings;
    pub mod sidecar;

    pub use java::status;
}
