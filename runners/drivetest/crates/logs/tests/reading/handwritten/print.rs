//! Prints logs as the programs of each family do, with counts that are known beforehand.

/// Which program prints.
#[derive(Clone, Copy, PartialEq)]
pub enum Flavour {
    A,
    B,
    C,
}

/// All of them.
pub const FLAVOURS: [Flavour; 3] = [Flavour::A, Flavour::B, Flavour::C];

fn config(flavour: Flavour, version: &str, devices: &[String]) -> String {
    let (names, count) = (devices.join(" "), devices.len());
    let keys = format!("device-names: {names}\nnum-devices: {count}\n");
    let rest = "test-duration-sec: 3\nreport-interval-sec: 1\nmicrosecond-histograms: yes\nread-reqs-per-sec: 1\n\
                write-reqs-per-sec: 5\ncommit-to-device: yes\n\n";
    match flavour {
        Flavour::A => {
            let banner = format!("\nAerospike act version {version} - device IO test\n");
            let title = "\nACT CONFIGURATION\n";
            format!("{banner}Copyright 2011 by Aerospike.\n{title}{keys}num-queues: 2\n{rest}")
        }
        Flavour::B | Flavour::C => {
            let banner =
                format!("\nACT version {version}\nStorage device IO test\n\nACT-STORAGE CONFIGURATION\n");
            let queues = if flavour == Flavour::B {
                "num-queues: 2\n"
            } else {
                ""
            };
            format!("{banner}{keys}{queues}{rest}DERIVED CONFIGURATION\nread-req-threads: 1\n\n")
        }
    }
}

pub fn tags(flavour: Flavour, devices: &[String]) -> Vec<String> {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let of_devices =
        |end: &str| -> Vec<String> { devices.iter().map(|name| format!("{name}{end}")).collect() };
    let padded =
        |names: Vec<String>| -> Vec<String> { names.iter().map(|name| format!("{name:<18}")).collect() };
    match flavour {
        Flavour::A => padded(
            [
                owned(&["LARGE BLOCK READS", "LARGE BLOCK WRITES", "RAW READS"]),
                of_devices(""),
                owned(&["READS", "RAW WRITES"]),
                of_devices(""),
                owned(&["WRITES"]),
            ]
            .concat(),
        ),
        Flavour::B => [
            owned(&["reads", "device-reads"]),
            of_devices("-reads"),
            owned(&[
                "large-block-reads",
                "large-block-writes",
                "writes",
                "device-writes",
            ]),
            of_devices("-writes"),
        ]
        .concat(),
        Flavour::C => [
            owned(&["reads"]),
            of_devices("-reads"),
            owned(&["large-block-reads", "large-block-writes", "writes"]),
            of_devices("-writes"),
        ]
        .concat(),
    }
}

/// Return a block; every histogram has its index as the number of operations, large blocks none.
pub fn block(flavour: Flavour, label_s: u64, devices: &[String]) -> String {
    let (word, queued) = match flavour {
        Flavour::A => ("After", "requests queued: 7\n"),
        Flavour::B => ("after", "requests-queued: 7\n"),
        Flavour::C => ("after", ""),
    };
    let mut text = format!("{word} {label_s} sec:\n{queued}");
    for (tag, place) in tags(flavour, devices).iter().zip(1..) {
        let total: u64 = if tag.to_lowercase().starts_with("large") {
            0
        } else {
            place * label_s
        };
        text.push_str(&format!("{tag} ({total} total)\n"));
        if total > 0 {
            text.push_str(&format!(" (03: {total:010})\n"));
        }
    }
    text + "\n"
}

pub fn header(flavour: Flavour, version: &str, devices: &[String]) -> String {
    let mut text = config(flavour, version, devices);
    for device in devices {
        text.push_str(&format!(
            "{device} size = 1048576 bytes, 8 large blocks, minimum IO size = 512 bytes\n"
        ));
    }
    if flavour != Flavour::A {
        text.push_str(&format!(
            "\nHISTOGRAM NAMES\n{}\n",
            tags(flavour, devices).join("\n")
        ));
    }
    text + "\n"
}

pub fn version_of(flavour: Flavour) -> &'static str {
    match flavour {
        Flavour::A => "4.0",
        Flavour::B => "5.3",
        Flavour::C => "6.3",
    }
}

pub fn log(flavour: Flavour, devices: &[String]) -> String {
    let blocks: String = (1..=3).map(|label_s| block(flavour, label_s, devices)).collect();
    header(flavour, version_of(flavour), devices) + &blocks
}
