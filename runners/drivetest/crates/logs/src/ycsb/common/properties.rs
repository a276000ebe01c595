//! Properties in Java's notation, as in workload files, and as BasicDB prints them.
//!
//! Source: java.util.Properties.load().

/// Names and values, each name once, in the order in which they were first set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties(Vec<(String, String)>);

/// Maximum number of stored properties; real files have a few dozen.
const PROPERTIES_MAX: usize = 2000;

impl Properties {
    /// Set a property; a later value replaces an earlier one.
    pub fn set(&mut self, name: &str, value: &str) {
        if let Some((_, old)) = self.0.iter_mut().find(|(known, _)| known == name) {
            value.clone_into(old);
        } else if self.0.len() < PROPERTIES_MAX {
            self.0.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Set a property from `name=value`; a text without `=` is ignored.
    pub fn set_pair(&mut self, pair: &str) {
        if let Some((name, value)) = pair.split_once('=') {
            self.set(name, value);
        }
    }

    /// Return the value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Set all properties of `others`.
    pub fn set_all(&mut self, others: &Self) {
        others.0.iter().for_each(|(name, value)| self.set(name, value));
    }

    /// Return all properties.
    pub fn into_pairs(self) -> Vec<(String, String)> {
        self.0
    }

    /// Read a file.
    pub fn parse(text: &str) -> Self {
        let mut read = Self::default();
        let mut begun = String::new();
        for line in text.lines().map(str::trim_start) {
            let is_comment = begun.is_empty() && line.starts_with(['#', '!']);
            if is_comment {
                continue;
            }
            begun.push_str(line);
            // An even number of backslashes at the end are backslashes; an odd one joins the next line.
            let slashes_count = begun.len() - begun.trim_end_matches('\\').len();
            if slashes_count % 2 == 1 {
                begun.pop();
                continue;
            }
            read.take(&begun);
            begun.clear();
        }
        read.take(&begun);
        read
    }

    fn take(&mut self, line: &str) {
        let line = line.trim_end_matches('\r');
        let Some(end) = line.find(['=', ':', ' ', '\t']) else {
            return;
        };
        let (name, rest) = line.split_at(end);
        let rest = rest.trim_start();
        let value = rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start();
        if !name.is_empty() {
            self.set(name, &value.replace("\\:", ":").replace("\\=", "="));
        }
    }
}

/// Parse a line of the properties that BasicDB prints: `"name"="value"`.
pub fn printed(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix('"')?.strip_suffix('"')?.split_once("\"=\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_file_is_read_as_java_does() {
        let text = "# Core workload\n! too\n\nrecordcount=1000\nworkload = site.ycsb.workloads.CoreWorkload\r\n\
                    a:b\nlong=one,\\\n   two\nrecordcount=5\n";
        let read = Properties::parse(text);
        assert_eq!(read.get("recordcount"), Some("5"));
        assert_eq!(read.get("workload"), Some("site.ycsb.workloads.CoreWorkload"));
        assert_eq!((read.get("a"), read.get("long")), (Some("b"), Some("one,two")));
        assert_eq!(read.get("# Core"), None);
    }

    #[test]
    fn the_printed_block_is_read() {
        assert_eq!(printed("\"recordcount\"=\"500\""), Some(("recordcount", "500")));
        assert_eq!(printed("recordcount=500"), None);
    }
}
