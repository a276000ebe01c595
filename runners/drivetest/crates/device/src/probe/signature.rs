//! Recognition of data on a device: partition tables, file systems and members of volumes.

use std::io;

/// Recognised data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// The public name in `drivecert.identity/1`. It never changes, because the register compares consents with it.
    pub name: &'static str,
    /// The exact type for people, such as `an ext4 file system`.
    pub exact: &'static str,
}

impl Signature {
    /// Returns data whose public name is exact.
    pub(crate) const fn of(name: &'static str) -> Self {
        Self { name, exact: name }
    }
}

/// Number of bytes at the start of a device that contain all signatures below.
pub const SIGNATURES_BYTES: usize = 256 * 1024;

/// Name, offset and bytes. Source: libblkid's probes, util-linux libblkid/src; aerospike-server,
/// as/include/storage/drv_common.h (DRV_HEADER_MAGIC and DRV_HEADER_OLD_MAGIC, as x86 and ARM write them).
const SIGNATURES: &[(&str, usize, &[u8])] = &[
    ("a GUID partition table", 512, b"EFI PART"),
    ("a GUID partition table", 4_096, b"EFI PART"),
    ("an LVM volume", 536, b"LVM2 001"),
    ("an encrypted volume", 0, b"LUKS\xba\xbe"),
    ("an XFS file system", 0, b"XFSB\0\0"),
    ("a Btrfs file system", 65_600, b"_BHRfS_M"),
    ("an F2FS file system", 1_024, b"\x10\x20\xf5\xf2\x01\0"),
    ("an NTFS file system", 3, b"NTFS    "),
    ("an exFAT file system", 3, b"EXFAT   "),
    ("a FAT file system", 54, b"FAT16   "),
    ("a FAT file system", 82, b"FAT32   "),
    ("a SquashFS file system", 0, b"hsqs"),
    ("a CD image", 32_769, b"CD001"),
    ("swap space", 4_086, b"SWAPSPACE2"),
    ("a member of a RAID", 0, b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
    ("a member of a RAID", 4_096, b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
    (
        "a bcache device",
        4_120,
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
    ),
    (
        "a bcachefs file system",
        4_120,
        b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef",
    ),
    ("an Aerospike device", 0, b"\x22\x03\x73\x75\x72\x74\x49\x43"),
    ("an Aerospike device", 0, b"\x07\x07\x73\x75\x72\x74\x49\x43"),
    ("a Ceph BlueStore device", 0, b"bluestore block device"),
];

/// A ring of uberblocks in the byte order of the host. The newest can be anywhere in it.
/// Source: OpenZFS, include/sys/uberblock_impl.h and vdev_impl.h.
const ZFS_UBERBLOCKS: std::ops::Range<usize> = 128 * 1024..256 * 1024;
const ZFS_UBERBLOCK_BYTES_LEAST: usize = 1_024;
const ZFS_MAGIC: u64 = 0x00ba_b10c;

/// Number of bytes to read at each of the offsets of [`ends`].
pub const END_BYTES: usize = 4_096;
/// RAID metadata at the end of a device: versions 0.90, in the byte order of the host, and 1.0.
/// Source: linux/raid/md_p.h.
const END_SIGNATURES: [&[u8]; 3] = [
    b"\xfc\x4e\x2b\xa9\0\0\0\0\x5a\0\0\0",
    b"\xa9\x2b\x4e\xfc\0\0\0\0\0\0\0\x5a",
    b"\xfc\x4e\x2b\xa9\x01\0\0\0",
];

/// Returns the offsets of RAID metadata at the end of a device: version 0.90 in the last whole 64 KiB, 1.0 at least 8
/// KiB before the end. Source: linux/raid/md_p.h, MD_NEW_SIZE_SECTORS; drivers/md/md.c, super_1_load().
pub fn ends(size_bytes: u64) -> impl Iterator<Item = u64> {
    let version_0 = (size_bytes / 65_536 * 65_536).checked_sub(65_536);
    let version_1 = size_bytes.checked_sub(8_192).map(|at| at / 4_096 * 4_096);
    [version_0, version_1].into_iter().flatten()
}

/// Reads the relevant parts of a drive of that size and returns the recognised data, or None.
///
/// `read_at` fills a buffer from an offset. Both are multiples of 4096, which every drive accepts for direct I/O.
///
/// # Errors
/// The errors of `read_at`.
pub fn found(
    size_bytes: u64,
    mut read_at: impl FnMut(usize, u64) -> io::Result<Vec<u8>>,
) -> io::Result<Option<Signature>> {
    let head_bytes = (SIGNATURES_BYTES as u64).min(size_bytes) as usize / END_BYTES * END_BYTES;
    if let Some(what) = recognise(&read_at(head_bytes, 0)?) {
        return Ok(Some(what));
    }
    for offset in ends(size_bytes) {
        if let Some(what) = recognise_end(&read_at(END_BYTES, offset)?) {
            return Ok(Some(what));
        }
    }
    Ok(None)
}

/// Returns what the block at an offset of [`ends`] is.
pub fn recognise_end(block: &[u8]) -> Option<Signature> {
    END_SIGNATURES
        .iter()
        .any(|bytes| has(block, 0, bytes))
        .then_some(Signature::of("a member of a RAID"))
}

/// Returns what the first bytes of a device belong to; None for zeros and random data.
pub fn recognise(head: &[u8]) -> Option<Signature> {
    let listed = SIGNATURES
        .iter()
        .find(|(_, offset, bytes)| has(head, *offset, bytes))
        .map(|(what, ..)| Signature::of(what));
    listed
        .or_else(|| is_ext(head).then(|| ext(head)))
        .or_else(|| is_zfs(head).then_some(Signature::of("a ZFS pool")))
        .or_else(|| is_mbr(head).then_some(Signature::of("a partition table")))
}

fn has(head: &[u8], offset: usize, bytes: &[u8]) -> bool {
    head.get(offset..offset + bytes.len()) == Some(bytes)
}

/// Returns whether there is an ext superblock. Its two magic bytes match random data once in 65536 devices, so block
/// size and state must be valid as well.
fn is_ext(head: &[u8]) -> bool {
    has(head, 1_080, b"\x53\xef") && has(head, 1_049, b"\0\0\0") && has(head, 1_083, b"\0")
}

/// Incompatible features that ext3 has: filetype, recover and meta_bg.
const EXT3_INCOMPATIBLE: u32 = 0x2 | 0x4 | 0x10;
/// Read-only compatible features that ext3 has: sparse_super, large_file and btree_dir.
const EXT3_READ_ONLY: u32 = 0x1 | 0x2 | 0x4;
const EXT_HAS_JOURNAL: u32 = 0x4;

/// Returns the type of an ext file system: ext4 has features that ext3 does not know, and ext3 has a journal.
/// Source: util-linux, libblkid/src/superblocks/ext.c; Linux, fs/ext4/ext4.h, struct ext4_super_block.
fn ext(head: &[u8]) -> Signature {
    let features = |offset: usize| {
        let field = head.get(1_024 + offset..).and_then(|rest| rest.first_chunk());
        field.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    };
    let (compatible, incompatible, read_only) = (features(0x5c), features(0x60), features(0x64));
    let exact = match () {
        () if incompatible & !EXT3_INCOMPATIBLE != 0 || read_only & !EXT3_READ_ONLY != 0 => {
            "an ext4 file system"
        }
        () if compatible & EXT_HAS_JOURNAL != 0 => "an ext3 file system",
        () => "an ext2 file system",
    };
    Signature {
        name: "an ext2, ext3 or ext4 file system",
        exact,
    }
}

fn is_zfs(head: &[u8]) -> bool {
    let mut places = ZFS_UBERBLOCKS.step_by(ZFS_UBERBLOCK_BYTES_LEAST);
    places.any(|at| has(head, at, &ZFS_MAGIC.to_le_bytes()) || has(head, at, &ZFS_MAGIC.to_be_bytes()))
}

/// Returns whether there is a partition table: each of the four entries starts with 0x00 or 0x80, and one has a type.
fn is_mbr(head: &[u8]) -> bool {
    let entries = || [446, 462, 478, 494].into_iter();
    let flags_are_sound = entries().all(|at| matches!(head.get(at), Some(0x00 | 0x80)));
    has(head, 510, b"\x55\xaa")
        && flags_are_sound
        && entries().any(|at| head.get(at + 4).is_some_and(|kind| *kind != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(head: &[u8]) -> Option<&'static str> {
        recognise(head).map(|found| found.name)
    }

    fn with(parts: &[(usize, &[u8])]) -> Vec<u8> {
        let mut head = vec![0; SIGNATURES_BYTES];
        for (offset, bytes) in parts {
            head[*offset..offset + bytes.len()].copy_from_slice(bytes);
        }
        head
    }

    #[test]
    fn every_listed_signature_is_found_where_it_belongs() {
        for (what, offset, bytes) in SIGNATURES {
            assert_eq!(name_of(&with(&[(*offset, bytes)])), Some(*what));
            assert_eq!(name_of(&with(&[(*offset + 8, bytes)])), None, "{what}");
        }
    }

    #[test]
    fn an_old_partition_table_needs_a_partition() {
        assert_eq!(
            name_of(&with(&[(510, b"\x55\xaa"), (450, b"\x83")])),
            Some("a partition table")
        );
        assert_eq!(name_of(&with(&[(510, b"\x55\xaa")])), None);
        assert_eq!(
            name_of(&with(&[(510, b"\x55\xaa"), (450, b"\x83"), (462, b"\x17")])),
            None
        );
    }

    #[test]
    fn an_ext_superblock_must_be_valid() {
        let sound: [(usize, &[u8]); 2] = [(1_080, b"\x53\xef"), (1_048, b"\x02")];
        assert_eq!(name_of(&with(&sound)), Some("an ext2, ext3 or ext4 file system"));
        assert_eq!(
            name_of(&with(&[(1_080, b"\x53\xef"), (1_048, b"\x02\x07")])),
            None
        );
    }

    /// The features are those that mke2fs 1.47 writes with `-t TYPE`.
    #[test]
    fn the_features_of_a_superblock_show_the_type_of_an_ext_file_system() {
        for (compatible, incompatible, read_only, exact) in [
            (0x38_u32, 0x2_u32, 0x3_u32, "an ext2 file system"),
            (0x3c, 0x2, 0x3, "an ext3 file system"),
            (0x3c, 0x2c2, 0x46b, "an ext4 file system"),
            // Without extents, but with huge files.
            (0x3c, 0x2, 0xb, "an ext4 file system"),
            // Without a journal.
            (0x38, 0x2c2, 0x46b, "an ext4 file system"),
        ] {
            let features: Vec<u8> = [compatible, incompatible, read_only]
                .into_iter()
                .flat_map(u32::to_le_bytes)
                .collect();
            let head = with(&[(1_080, b"\x53\xef"), (1_024 + 0x5c, &features)]);
            let found = recognise(&head).unwrap();
            assert_eq!(
                (found.name, found.exact),
                ("an ext2, ext3 or ext4 file system", exact)
            );
        }
    }

    #[test]
    fn an_uberblock_is_found_anywhere_in_its_ring_in_either_byte_order() {
        let little: &[u8] = b"\x0c\xb1\xba\0\0\0\0\0";
        let big: &[u8] = b"\0\0\0\0\0\xba\xb1\x0c";
        for (offset, bytes, expected) in [
            (131_072, little, Some("a ZFS pool")),
            (131_072 + 4_096, big, Some("a ZFS pool")),
            (262_144 - 1_024, little, Some("a ZFS pool")),
            (131_072 - 1_024, little, None),
            (131_072 + 512, little, None),
        ] {
            assert_eq!(name_of(&with(&[(offset, bytes)])), expected, "{offset}");
        }
    }

    #[test]
    fn raid_metadata_is_where_md_writes_it() {
        // A device of 1,000,000 KiB + 512 bytes: md.c gives sectors 1999872 and 1999984.
        assert_eq!(
            ends(1_024_000_512).collect::<Vec<_>>(),
            [1_999_872 * 512, 1_999_984 * 512]
        );
        assert_eq!(ends(65_536).collect::<Vec<_>>(), [0, 57_344]);
        assert_eq!(ends(4_096).count(), 0);
        assert_eq!(
            recognise_end(END_SIGNATURES[0]),
            Some(Signature::of("a member of a RAID"))
        );
        assert_eq!(recognise_end(b"\xfc\x4e\x2b\xa9\x02\0\0\0"), None);
    }

    #[test]
    fn zeros_and_random_data_are_nothing() {
        // Knuth's MMIX generator; its upper bytes are random enough.
        let mut state = 5_u64;
        let random: Vec<u8> = (0..SIGNATURES_BYTES)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect();
        assert_eq!(
            (name_of(&random), name_of(&with(&[])), name_of(&[])),
            (None, None, None)
        );
    }
}
