//! Guard against loading the wrong device: identifies devices before they are opened and checks the opened ones again.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::Refusal;
use super::opening::OpenRefusal;
use super::warnings::{Warning, warnings};
use crate::error::DeviceError;
use crate::identity::drive::is_same_drive;
use crate::identity::{Identity, identify_all, identify_in_use};

/// Identifies and checks devices by their index in the configuration.
pub trait Guard {
    /// Refuses a device that must not be opened.
    ///
    /// # Errors
    /// [`OpenRefusal::Unsafe`].
    fn check(&self, ordinal: usize) -> Result<(), OpenRefusal>;
    /// Refuses an opened file that is not the expected device. Called before any write, because the path may name another
    /// device by now.
    ///
    /// # Errors
    /// [`OpenRefusal::Unsafe`].
    fn check_opened(&self, ordinal: usize, file: &File) -> Result<(), OpenRefusal>;
    /// Returns the identity of an opened device. None if it is only known by its path and size.
    fn identity(&self, ordinal: usize, file: &File) -> Option<Identity>;
    /// Returns the identity of a device before it was opened. None if its path did not lead to a device or file.
    fn observed(&self, _ordinal: usize) -> Option<&Identity> {
        None
    }
    /// Returns problems of devices and host that may distort the measurement but do not forbid it.
    /// `temperature_limit_c` replaces the drives' own limits.
    fn warnings(&self, _temperature_limit_c: Option<u32>) -> Vec<Warning> {
        Vec::new()
    }
}

/// A device or file independent of its name: the number of a device, or the file system and inode of a file.
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

    /// Returns None for anything but a block device or an existing file. The load reports those.
    fn at(path: &Path) -> Option<Self> {
        path.metadata().ok().as_ref().and_then(Self::of)
    }
}

/// Returns whether the opened node is the observed one. The load may have created a missing file, but a device that
/// appeared after the observation was never checked.
fn is_observed_node(observed: Option<Node>, opened: Option<Node>) -> bool {
    match observed {
        Some(_) => opened == observed,
        None => !matches!(opened, Some(Node::Device(_))),
    }
}

/// A device as its path led to it before anything was opened. Later, this process itself would hold the device open, and
/// the check could not distinguish that from a use by another process.
struct ObservedDevice {
    path: PathBuf,
    node: Option<Node>,
    /// The drive key that the device must have.
    expected_key: Option<String>,
    refusal: Option<String>,
    identity: Option<Identity>,
}

/// The observed devices in the order of the configuration.
pub struct DeviceGuard(Vec<ObservedDevice>);

impl DeviceGuard {
    /// Observes devices that will be written to, or only read. `expected_keys` has no key or one per device.
    pub fn observe(names: &[String], writes: bool, expected_keys: &[String]) -> Self {
        let nodes: Vec<_> = names.iter().map(|name| Node::at(Path::new(name))).collect();
        let existing = names.iter().zip(&nodes).filter(|(_, node)| node.is_some());
        let paths: Vec<_> = existing.map(|(name, _)| Path::new(name)).collect();
        let mut identities = identify_all(&paths).into_iter();
        let expected = expected_keys.iter().cloned().map(Some);
        let expected = expected.chain(std::iter::repeat(None));
        let observed = names.iter().zip(nodes).zip(expected).map(|((name, node), key)| {
            let identity = node.and_then(|_| identities.next());
            ObservedDevice::of(name, node, key, identity, writes)
        });
        Self(observed.collect()).refuse_duplicates()
    }

    /// Refuses a device that is given under two names. Otherwise its second open would fail as "in use", by this process.
    fn refuse_duplicates(mut self) -> Self {
        for ordinal in 1..self.0.len() {
            let device = &self.0[ordinal];
            let same = |other: &&ObservedDevice| other.node.is_some() && other.node == device.node;
            let first = self.0[..ordinal].iter().find(same);
            if let Some(other) = first.filter(|other| other.path != device.path) {
                let (path, other) = (device.path.display(), other.path.display());
                let sentence = format!(
                    "{path}: is the same device as {other}; name it once, or use the same name twice"
                );
                self.0[ordinal].refusal.get_or_insert(sentence);
            }
        }
        self
    }
}

impl ObservedDevice {
    fn of(
        name: &str,
        node: Option<Node>,
        expected_key: Option<String>,
        identity: Option<Result<Identity, DeviceError>>,
        writes: bool,
    ) -> Self {
        let mut device = Self {
            path: PathBuf::from(name),
            node,
            expected_key,
            refusal: None,
            identity: None,
        };
        device.refusal = match &identity {
            Some(Err(error)) => Some(error.to_string()),
            Some(Ok(identity)) => device.refusal_of(identity, writes),
            None => device.unexpected("no drive"),
        };
        device.identity = identity.and_then(Result::ok);
        device
    }

    fn refusal_of(&self, identity: &Identity, writes: bool) -> Option<String> {
        if Node::at(&self.path) != self.node {
            return Some(self.changed());
        }
        let applies = |refusal: &&Refusal| writes || refusal.id != "read-only";
        let refusal = || identity.refusals.iter().find(applies);
        self.unexpected(&identity.drive_key)
            .or_else(|| refusal().map(|refusal| refusal.sentence.clone()))
    }

    fn unexpected(&self, got: &str) -> Option<String> {
        let expected = self.expected_key.as_deref();
        let expected = expected.filter(|key| !is_same_drive(key, got))?;
        let path = self.path.display();
        Some(format!(
            "{path}: expected drive {expected}, got {got}; nothing was written; check the path"
        ))
    }

    fn changed(&self) -> String {
        let path = self.path.display();
        format!(
            "{path}: the path now names another device or file than a moment ago; nothing was written; try again"
        )
    }

    /// Checks the opened file, because the path can change but an open file cannot.
    fn mismatch(&self, file: &File) -> Option<String> {
        let opened = match file.metadata() {
            Ok(found) => Node::of(&found),
            Err(error) => return Some(self.unidentified(&error)),
        };
        if !is_observed_node(self.node, opened) {
            return Some(self.changed());
        }
        let expected = self.expected_key.as_ref()?;
        match identify_open(file) {
            Ok(identity) if is_same_drive(expected, &identity.drive_key) => None,
            Ok(identity) => self.unexpected(&identity.drive_key),
            Err(error) => Some(self.unidentified(&error)),
        }
    }

    fn unidentified(&self, error: &io::Error) -> String {
        format!(
            "{}: cannot identify the opened device: {error}",
            self.path.display()
        )
    }

    /// Returns the current identity with the refusals from before the open: now this process itself uses the device.
    fn identity(&self, file: &File) -> Option<Identity> {
        let before = self.identity.as_ref();
        Some(Identity {
            path: self.path.clone(),
            refusals: before.map_or_else(Vec::new, |identity| identity.refusals.clone()),
            signature: before.and_then(|identity| identity.signature),
            data: before.and_then(|identity| identity.data),
            signature_error: before.and_then(|identity| identity.signature_error.clone()),
            ..identify_open(file).ok()?
        })
    }
}

/// Identifies a device by its descriptor. While it is open, the kernel gives its number to no other device.
fn identify_open(file: &File) -> io::Result<Identity> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    identify_in_use(Path::new(&path)).map_err(io::Error::other)
}

impl Guard for DeviceGuard {
    fn check(&self, ordinal: usize) -> Result<(), OpenRefusal> {
        refuse_if(self.0.get(ordinal).and_then(|device| device.refusal.clone()))
    }

    fn check_opened(&self, ordinal: usize, file: &File) -> Result<(), OpenRefusal> {
        refuse_if(self.0.get(ordinal).and_then(|device| device.mismatch(file)))
    }

    fn identity(&self, ordinal: usize, file: &File) -> Option<Identity> {
        self.0.get(ordinal)?.identity(file)
    }

    fn observed(&self, ordinal: usize) -> Option<&Identity> {
        self.0.get(ordinal)?.identity.as_ref()
    }

    /// Returns the warnings of the devices as they were before the load opened them.
    fn warnings(&self, temperature_limit_c: Option<u32>) -> Vec<Warning> {
        let identities = self.0.iter().filter_map(|device| device.identity.clone());
        warnings(
            &identities.collect::<Vec<_>>(),
            temperature_limit_c.map(i64::from),
        )
    }
}

fn refuse_if(sentence: Option<String>) -> Result<(), OpenRefusal> {
    sentence.map_or(Ok(()), |sentence| Err(OpenRefusal::Unsafe(sentence)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns two files.
    fn two_files() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        std::fs::write(&one, "").unwrap();
        std::fs::write(&other, "").unwrap();
        (folder, one, other)
    }

    /// Observes a file that is only read.
    fn observed(path: &Path, expected_keys: &[String]) -> DeviceGuard {
        DeviceGuard::observe(&[path.to_str().unwrap().to_owned()], false, expected_keys)
    }

    fn check_opened(guard: &DeviceGuard, path: &Path) -> Result<(), OpenRefusal> {
        guard.check_opened(0, &File::open(path).unwrap())
    }

    #[test]
    fn a_path_that_changes_between_check_and_open_is_refused() {
        let (_folder, one, other) = two_files();
        let guard = observed(&one, &[]);
        check_opened(&guard, &one).unwrap();
        std::fs::rename(&other, &one).unwrap();
        let refusal = check_opened(&guard, &one).unwrap_err().to_string();
        assert!(refusal.contains("now names another device or file"), "{refusal}");
    }

    #[test]
    fn a_device_that_appears_after_the_check_is_not_loaded() {
        let (device, file) = (Some(Node::Device(7)), Some(Node::File(1, 2)));
        assert!(!is_observed_node(None, device) && is_observed_node(None, file));
        assert!(is_observed_node(device, device) && !is_observed_node(file, device));
        assert!(!is_observed_node(device, Some(Node::Device(8))));
    }

    #[test]
    fn a_device_under_two_names_is_refused_before_it_is_opened() {
        let (folder, one, _other) = two_files();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&one, &link).unwrap();
        let [one, link] = [&one, &link].map(|path| path.to_str().unwrap().to_owned());
        let guard = DeviceGuard::observe(&[one.clone(), link.clone(), one.clone()], true, &[]);
        let refusal = guard.check(1).unwrap_err().to_string();
        assert_eq!(
            refusal,
            format!("{link}: is the same device as {one}; name it once, or use the same name twice")
        );
        guard.check(0).unwrap();
        guard.check(2).unwrap();
    }

    #[test]
    fn the_opened_device_must_be_the_expected_drive() {
        let (_folder, one, other) = two_files();
        let key = crate::identity::identify(&one).unwrap().drive_key;
        let guard = observed(&one, std::slice::from_ref(&key));
        guard.check(0).unwrap();
        check_opened(&guard, &one).unwrap();
        // As if the path had named the other file when its node was read.
        let identity = crate::identity::identify(&one);
        let (name, node) = (one.to_str().unwrap(), Node::at(&one));
        let mut device = ObservedDevice::of(name, node, Some(key.clone()), Some(identity), true);
        device.node = Node::at(&other);
        let refusal = device.mismatch(&File::open(&other).unwrap()).unwrap();
        assert!(
            refusal.contains(&format!("expected drive {key}, got file:")),
            "{refusal}"
        );
    }

    #[test]
    fn a_file_created_by_the_load_has_an_identity() {
        let (_folder, one, _other) = two_files();
        std::fs::remove_file(&one).unwrap();
        let guard = observed(&one, &[]);
        std::fs::write(&one, "12345").unwrap();
        let identity = guard.identity(0, &File::open(&one).unwrap()).unwrap();
        assert_eq!(
            (identity.path, identity.size_bytes, identity.refusals),
            (one, 5, vec![])
        );
    }
}
