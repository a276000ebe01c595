//! Plan of a clean run, and the form of its output.

use crate::clean::draw::Draw;

/// The releases by their second number.
pub const RELEASES: [u32; 11] = [1, 2, 3, 5, 6, 9, 12, 14, 15, 17, 18];

/// How latencies are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Hdr,
    Histogram,
    Timeseries,
    Raw,
    HdrAndHistogram,
}

/// How the rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exporter {
    Text,
    Json,
    JsonArray,
}

/// What is sent of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sent {
    /// Both streams in one file.
    Merged,
    /// Both streams in one file, one after the other.
    ErrorFirst,
    OutputFirst,
    /// Both streams, each in its file.
    Separate,
    /// The standard output alone.
    OutputAlone,
    /// The standard output, and a file with the command.
    WithCommand,
}

const SENT: [Sent; 8] = [
    Sent::Merged,
    Sent::Merged,
    Sent::ErrorFirst,
    Sent::OutputFirst,
    Sent::Separate,
    Sent::Separate,
    Sent::OutputAlone,
    Sent::WithCommand,
];

/// Requested times: `measurement.interval`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interval {
    Op,
    Intended,
    Both,
}

/// A run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Second number of the release.
    pub release: u32,
    pub kind: Kind,
    pub exporter: Exporter,
    pub sent: Sent,
    pub interval: Interval,
    /// `a` to `f`, or `l` for a load.
    pub letter: char,
    /// The workload is named by upstream's file; else by its proportions.
    pub by_file: bool,
    pub prints_record_count: bool,
    pub distribution: Option<&'static str>,
    pub database: &'static str,
    pub has_options_file: bool,
    pub threads: u64,
    /// Number of random operations; each represents `weight` operations.
    pub samples: u64,
    pub weight: u64,
    /// Target as a share of the maximum rate of the threads.
    pub target_share: Option<f64>,
    pub is_limited: bool,
    pub percentiles: Option<&'static str>,
    pub is_verbose: bool,
    pub buckets: usize,
    /// Status lines, about so many.
    pub status_lines: Option<u64>,
    pub has_comma: bool,
    /// `hdrhistogram.fileoutput`.
    pub has_hdr_files: bool,
}

impl Plan {
    /// Draws a run of any release.
    pub fn draw(draw: &mut Draw) -> Self {
        let release = draw.one(&RELEASES);
        let kind = draw.one(kinds(release));
        let samples = draw.whole(60, if kind == Kind::Raw { 400 } else { 2500 });
        let exporter = draw.one(exporters(release, kind));
        let letter = draw.one(&['a', 'b', 'c', 'd', 'e', 'f', 'l']);
        let by_file = letter == 'l' || draw.chance(0.6);
        let has_intervals = release >= 5 && kind == Kind::Hdr;
        let intervals = [Interval::Op, Interval::Intended, Interval::Both];
        let has_percentiles = release >= 5 && kind == Kind::Hdr && draw.chance(0.6);
        let lists = ["50,95,99", "95,99,99.9", "50,95,99,99.9,99.99", "99.0,50"];
        let has_status = kind != Kind::Raw && kind != Kind::HdrAndHistogram && draw.chance(0.6);
        Self {
            release,
            kind,
            exporter,
            sent: draw.one(&SENT),
            interval: if has_intervals {
                draw.one(&intervals)
            } else {
                Interval::Op
            },
            letter,
            by_file,
            prints_record_count: !by_file || letter == 'l' || draw.chance(0.8),
            distribution: draw.one(&[None, Some("uniform"), Some("zipfian")]),
            database: draw.one(&["BasicDB", "db.rocksdb.RocksDBClient", "db.AerospikeClient"]),
            has_options_file: draw.chance(0.3),
            threads: draw.one(&[1, 2, 4, 8, 16, 32]).min(samples),
            samples,
            weight: if kind == Kind::Raw {
                1
            } else {
                draw.one(&[1, 1, 7, 1000, 100_000])
            },
            target_share: draw.chance(0.4).then(|| 0.3 + 0.6 * draw.unit()),
            is_limited: letter != 'l' && release >= 2 && draw.chance(0.15),
            percentiles: has_percentiles.then(|| draw.one(&lists)),
            is_verbose: draw.chance(0.2),
            buckets: draw.one(&[1000, 1000, 100]),
            status_lines: has_status.then(|| draw.whole(3, 30)),
            has_comma: release >= 5 && draw.chance(0.1),
            has_hdr_files: release >= 14 && kind == Kind::Hdr && draw.chance(0.3),
        }
    }

    /// The name of the release.
    pub fn version(&self) -> String {
        match self.release {
            1 => "0.1.4".to_owned(),
            18 => "0.18.0-SNAPSHOT".to_owned(),
            number => format!("0.{number}.0"),
        }
    }

    /// Up to 0.7 each calls itself 0.1, and prints banner and command line on the standard output.
    pub fn hides_version(&self) -> bool {
        self.release < 8
    }

    pub fn is_load(&self) -> bool {
        self.letter == 'l'
    }

    pub fn has_command(&self) -> bool {
        self.hides_version() || self.sent != Sent::OutputAlone
    }

    pub fn has_stderr(&self) -> bool {
        !matches!(self.sent, Sent::OutputAlone | Sent::WithCommand)
    }

    /// Counts and times of HdrHistogram are doubles up to 0.12.
    pub fn is_in_doubles(&self) -> bool {
        self.release < 13
    }

    /// Rows named by buckets or values.
    pub fn has_cells(&self) -> bool {
        match self.kind {
            Kind::Timeseries => true,
            Kind::Histogram | Kind::HdrAndHistogram => self.is_in_doubles() || self.is_verbose,
            Kind::Hdr => !self.is_in_doubles() && self.is_verbose,
            Kind::Raw => false,
        }
    }

    /// The package of the program.
    pub fn package(&self) -> &'static str {
        if self.release >= 17 {
            "site.ycsb"
        } else {
            "com.yahoo.ycsb"
        }
    }

    /// Operations and the share of each, the update of a read-modify-write under its own name.
    pub fn mix(&self) -> &'static [(&'static str, f64)] {
        match self.letter {
            'a' => &[("READ", 0.5), ("UPDATE", 0.5)],
            'b' => &[("READ", 0.95), ("UPDATE", 0.05)],
            'c' => &[("READ", 1.0)],
            'd' => &[("READ", 0.95), ("INSERT", 0.05)],
            'e' => &[("SCAN", 0.95), ("INSERT", 0.05)],
            'f' => &[("READ", 0.5), ("READ-MODIFY-WRITE", 0.5)],
            _ => &[("INSERT", 1.0)],
        }
    }
}

fn kinds(release: u32) -> &'static [Kind] {
    match release {
        1 => &[Kind::Histogram, Kind::Timeseries],
        2..=9 => &[Kind::Hdr, Kind::Histogram, Kind::Timeseries],
        12 => &[Kind::Hdr, Kind::Histogram, Kind::Timeseries, Kind::Raw],
        _ => &[
            Kind::Hdr,
            Kind::Hdr,
            Kind::Histogram,
            Kind::Timeseries,
            Kind::Raw,
            Kind::HdrAndHistogram,
        ],
    }
}

fn exporters(release: u32, kind: Kind) -> &'static [Exporter] {
    match (release, kind) {
        (_, Kind::Raw) => &[Exporter::Text],
        (1, _) => &[Exporter::Text, Exporter::Json],
        _ => &[
            Exporter::Text,
            Exporter::Text,
            Exporter::Json,
            Exporter::JsonArray,
        ],
    }
}
