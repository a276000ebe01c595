//! Real logs, edited to make a drive look better; also for the tests of the command line.

/// The log with all of its `reads` in their first bucket, the totals and the devices as they were.
pub fn without_slow_reads(log: &str) -> String {
    let mut text = String::new();
    let mut is_total = false;
    for line in log.lines() {
        if let Some(rest) = line.strip_prefix("reads (") {
            let total: u64 = rest.split(' ').next().unwrap().parse().unwrap();
            is_total = true;
            text.push_str(&format!("{line}\n (00: {total:010})\n"));
        } else if !(is_total && line.starts_with(" (")) {
            is_total = false;
            text.push_str(&format!("{line}\n"));
        }
    }
    text
}
