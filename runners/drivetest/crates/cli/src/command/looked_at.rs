//! What the devices of a load are: found out before the first of them is opened, and again of what was opened.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use drivetest_device::{DeviceError, Identity, Refusal};
use drivetest_load::config::Config;
use drivetest_load::device::Guard;
use drivetest_load::report::side::HostWarning;
use serde_json::Value;

/// A device or file under every name: a device by its number, a file by its file system and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    Device(u64),
    File(u64, u64),
}

impl Node {
    fn of(found: &Metadata) -> Option<Self> {
        if found.file_type().is_block_device() {
            return Some(Self::Device(found.rdev()));
        }
        found.is_file().then(|| Self::File(found.dev(), found.ino()))
    }

    /// None of what is neither a block device nor a file (yet): the load itself has the words for that.
    fn at(path: &Path) -> Option<Self> {
        path.metadata().ok().as_ref().and_then(Self::of)
    }
}

/// Where nothing was there the load may have made a file; a device that came meanwhile was never asked about.
fn is_what_was_seen(seen: Option<Node>, opened: Option<Node>) -> bool {
    match seen {
        Some(_) => opened == seen,
        None => !matches!(opened, Some(Node::Device(_))),
    }
}

/// One device as its path led to it before anything was opened: an exclusive open of our own would look like somebody
/// else's.
struct Look {
    path: PathBuf,
    node: Option<Node>,
    /// The drive that must be there.
    expected_key: Option<String>,
    refusal: Option<String>,
    identity: Option<Identity>,
}

/// The devices in the order of the configuration.
pub struct LookedAt(Vec<Look>);

impl LookedAt {
    /// Looks at every device of a load; `expected_keys` names none of the drives or all of them.
    pub fn before_opening(config: &Config, expected_keys: &[String]) -> Self {
        Self::at(&config.device_names, config.has_writes(), expected_keys)
    }

    /// Looks at devices that shall be written to or only read, all of them together; `expected_keys` as above.
    pub fn at(names: &[String], writes: bool, expected_keys: &[String]) -> Self {
        let nodes: Vec<_> = names.iter().map(|name| Node::at(Path::new(name))).collect();
        let there = names.iter().zip(&nodes).filter(|(_, node)| node.is_some());
        let paths: Vec<_> = there.map(|(name, _)| Path::new(name)).collect();
        let mut identities = drivetest_device::identify_all(&paths).into_iter();
        let expected = expected_keys.iter().cloned().map(Some);
        let expected = expected.chain(std::iter::repeat(None));
        let looks = names.iter().zip(nodes).zip(expected).map(|((name, node), key)| {
            let looked = node.and_then(|_| identities.next());
            Look::of(name, node, key, looked, writes)
        });
        Self(looks.collect()).without_second_names()
    }

    /// A device under two names would be refused as held by another: by ourselves.
    fn without_second_names(mut self) -> Self {
        for ordinal in 1..self.0.len() {
            let (before, rest) = self.0.split_at_mut(ordinal);
            let Some(look) = rest.first_mut() else { continue };
            let same = |other: &&Look| other.node.is_some() && other.node == look.node;
            let first = before.iter().find(same).filter(|other| other.path != look.path);
            let sentence = first.map(|other| {
                let (path, other) = (look.path.display(), other.path.display());
                format!("{path}: is the same device as {other}; name it once, or twice by one name")
            });
            look.refusal = look.refusal.take().or(sentence);
        }
        self
    }
}

impl Look {
    fn of(
        name: &str,
        node: Option<Node>,
        expected_key: Option<String>,
        looked: Option<Result<Identity, DeviceError>>,
        writes: bool,
    ) -> Self {
        let mut look = Self {
            path: PathBuf::from(name),
            node,
            expected_key,
            refusal: None,
            identity: None,
        };
        look.refusal = match &looked {
            Some(Err(error)) => Some(error.to_string()),
            Some(Ok(identity)) => look.unsafe_to_open(identity, writes),
            None => look.unlike_expected("nothing that has a drive"),
        };
        look.identity = looked.and_then(Result::ok);
        look
    }

    fn unsafe_to_open(&self, identity: &Identity, writes: bool) -> Option<String> {
        if Node::at(&self.path) != self.node {
            return Some(self.changed());
        }
        let counts = |refusal: &&Refusal| writes || refusal.id != "read-only";
        let refused = || identity.refusals.iter().find(counts);
        self.unlike_expected(&identity.drive_key)
            .or_else(|| refused().map(|refusal| refusal.sentence.clone()))
    }

    fn unlike_expected(&self, got: &str) -> Option<String> {
        let expected = self.expected_key.as_deref();
        let expected = expected.filter(|key| !drivetest_device::is_same_drive(key, got))?;
        let path = self.path.display();
        Some(format!(
            "{path}: expected drive {expected}, got {got}; nothing was written; check what the path names"
        ))
    }

    fn changed(&self) -> String {
        let path = self.path.display();
        format!(
            "{path}: names another device or file than it did a moment ago; nothing was written; try again"
        )
    }

    /// The path may lead elsewhere by now; what is open cannot.
    fn mismatch(&self, file: &File) -> Option<String> {
        let opened = match file.metadata() {
            Ok(found) => Node::of(&found),
            Err(error) => return Some(self.unknown(&error)),
        };
        if !is_what_was_seen(self.node, opened) {
            return Some(self.changed());
        }
        let expected = self.expected_key.as_ref()?;
        match identify_open(file) {
            Ok(identity) if drivetest_device::is_same_drive(expected, &identity.drive_key) => None,
            Ok(identity) => self.unlike_expected(&identity.drive_key),
            Err(error) => Some(self.unknown(&error)),
        }
    }

    fn unknown(&self, error: &io::Error) -> String {
        format!("{}: cannot be identified once open: {error}", self.path.display())
    }

    /// As it is now, with the refusals from before: by now it is held and open, by this process.
    fn identity(&self, file: &File) -> Option<Value> {
        let before = self.identity.as_ref();
        let identity = Identity {
            path: self.path.clone(),
            refusals: before.map_or_else(Vec::new, |identity| identity.refusals.clone()),
            signature: before.and_then(|identity| identity.signature),
            signature_error: before.and_then(|identity| identity.signature_error.clone()),
            ..identify_open(file).ok()?
        };
        serde_json::to_value(identity).ok()
    }
}

/// Identifies by descriptor: as long as that is open, the kernel gives its number to no other device.
fn identify_open(file: &File) -> io::Result<Identity> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    drivetest_device::identify_in_use(Path::new(&path)).map_err(io::Error::other)
}

impl Guard for LookedAt {
    fn refusal(&self, ordinal: usize) -> Option<String> {
        self.0.get(ordinal)?.refusal.clone()
    }

    fn mismatch(&self, ordinal: usize, file: &File) -> Option<String> {
        self.0.get(ordinal)?.mismatch(file)
    }

    fn identity(&self, ordinal: usize, file: &File) -> Option<Value> {
        self.0.get(ordinal)?.identity(file)
    }

    /// Of the devices as they were before the load opened them.
    fn warnings(&self, temperature_limit_c: Option<u32>) -> Vec<HostWarning> {
        let identities: Vec<_> = self.0.iter().filter_map(|look| look.identity.clone()).collect();
        let found = drivetest_device::warnings(&identities, temperature_limit_c.map(i64::from));
        let warning = |found: drivetest_device::Warning| HostWarning {
            id: found.id.to_owned(),
            sentence: found.sentence,
        };
        found.into_iter().map(warning).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test whose files cannot be made fails")]
mod tests {
    use super::*;

    /// Two files, and a load on the first of them.
    fn two_files() -> (tempfile::TempDir, PathBuf, PathBuf, Config) {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        std::fs::write(&one, "").unwrap();
        std::fs::write(&other, "").unwrap();
        let text = format!(
            "device-names: {}\ntest-duration-sec: 1\nfile-size-mbytes: 1\nread-reqs-per-sec: 1\n",
            one.display()
        );
        let (config, _) = Config::read(&text, 1).unwrap();
        (folder, one, other, config)
    }

    #[test]
    fn a_path_that_changes_between_look_and_open_is_told() {
        let (_folder, one, other, config) = two_files();
        let looked_at = LookedAt::before_opening(&config, &[]);
        assert_eq!(looked_at.mismatch(0, &File::open(&one).unwrap()), None);
        std::fs::rename(&other, &one).unwrap();
        let told = looked_at.mismatch(0, &File::open(&one).unwrap()).unwrap();
        assert!(told.contains("names another device or file"), "{told}");
    }

    #[test]
    fn a_device_that_was_not_there_when_looked_at_is_not_loaded() {
        let (device, file) = (Some(Node::Device(7)), Some(Node::File(1, 2)));
        assert!(!is_what_was_seen(None, device) && is_what_was_seen(None, file));
        assert!(is_what_was_seen(device, device) && !is_what_was_seen(file, device));
        assert!(!is_what_was_seen(device, Some(Node::Device(8))));
    }

    #[test]
    fn a_device_under_two_names_is_told_before_it_is_opened() {
        let (folder, one, _other, _) = two_files();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&one, &link).unwrap();
        let [one, link] = [&one, &link].map(|path| path.to_str().unwrap().to_owned());
        let looked_at = LookedAt::at(&[one.clone(), link.clone(), one.clone()], true, &[]);
        let told = looked_at.refusal(1).unwrap();
        assert_eq!(
            told,
            format!("{link}: is the same device as {one}; name it once, or twice by one name")
        );
        assert_eq!((looked_at.refusal(0), looked_at.refusal(2)), (None, None));
    }

    #[test]
    fn what_was_opened_must_be_the_drive_that_is_expected() {
        let (_folder, one, other, config) = two_files();
        let key = drivetest_device::identify(&one).unwrap().drive_key;
        let looked_at = LookedAt::before_opening(&config, std::slice::from_ref(&key));
        assert_eq!(looked_at.refusal(0), None);
        assert_eq!(looked_at.mismatch(0, &File::open(&one).unwrap()), None);
        // As if the path had named the other file while it was looked at for its node.
        let identity = drivetest_device::identify(&one);
        let (name, node) = (one.to_str().unwrap(), Node::at(&one));
        let mut look = Look::of(name, node, Some(key.clone()), Some(identity), true);
        look.node = Node::at(&other);
        let told = look.mismatch(&File::open(&other).unwrap()).unwrap();
        assert!(
            told.contains(&format!("expected drive {key}, got file:")),
            "{told}"
        );
    }

    #[test]
    fn a_file_that_was_not_there_has_an_identity_once_open() {
        let (_folder, one, _other, config) = two_files();
        std::fs::remove_file(&one).unwrap();
        let looked_at = LookedAt::before_opening(&config, &[]);
        std::fs::write(&one, "12345").unwrap();
        let identity = looked_at.identity(0, &File::open(&one).unwrap()).unwrap();
        assert_eq!(identity["path"], one.to_str().unwrap());
        assert_eq!(
            (&identity["size_bytes"], &identity["refusals"]),
            (&5.into(), &Value::Array(vec![]))
        );
    }
}
