//! The two configuration sections of a log, as act_storage and act_index 6.6 print them.

use super::{Config, KEYS, Model};

/// Returns both sections and the empty line after them.
pub fn echo(config: &Config) -> String {
    let mut text = format!("ACT-{} CONFIGURATION\n", config.model.name().to_uppercase());
    let of_model = KEYS.iter().zip(config.values());
    let of_model = of_model.filter(|(key, _)| key.model.is_none_or(|model| model == config.model));
    // Keys of ours begin with `arrivals`. The opening line of the log has them.
    for (key, value) in of_model.take_while(|(key, _)| key.name != "arrivals") {
        match (key.name, value.as_str()) {
            // ACT 6.0 to 6.3 print commit-min-bytes; 6.6 has no such key.
            ("file-size-mbytes" | "commit-min-bytes", "0") => {}
            (name, value) => text += &format!("{name}: {value}\n"),
        }
        if key.name == "device-names" {
            text += &format!("num-devices: {}\n", config.device_names.len());
        }
    }
    text + "\nDERIVED CONFIGURATION\n" + &derived(config) + "\n"
}

fn derived(config: &Config) -> String {
    let derived = &config.derived;
    match config.model {
        Model::Storage => {
            let (least, most) = derived.record_stored_bytes;
            let (large_reads, large_writes) = derived.large_blocks_as_printed(config);
            format!(
                "record-stored-bytes: {least} ... {most}\n\
                 internal-read-reqs-per-sec: {}\n\
                 internal-write-reqs-per-sec: {}\n\
                 large-block-reads-per-sec: {large_reads:.2}\n\
                 large-block-writes-per-sec: {large_writes:.2}\n",
                derived.internal_reads_per_s, derived.internal_writes_per_s
            )
        }
        Model::Index => format!(
            "service-thread-reads-per-sec: {}\ncache-thread-reads-and-writes-per-sec: {}\n",
            derived.service_reads_per_s, derived.cache_per_s
        ),
    }
}
