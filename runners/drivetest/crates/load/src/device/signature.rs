//! Recognises what somebody may have put on a device: a partition table, a file system, a member of a volume.

/// How much of a device's beginning holds every signature below.
pub(super) const SIGNATURES_BYTES: usize = 128 * 1024;

/// What, where, which bytes. Source: libblkid's probes, util-linux libblkid/src.
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
    ("a member of a RAID", 4_096, b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
];

/// Returns what the first bytes of a device are the beginning of; None for zeros and random data.
pub(super) fn recognise(head: &[u8]) -> Option<&'static str> {
    let listed = SIGNATURES
        .iter()
        .find(|(_, offset, bytes)| has(head, *offset, bytes))
        .map(|(what, ..)| *what);
    listed
        .or_else(|| is_ext(head).then_some("an ext2, ext3 or ext4 file system"))
        .or_else(|| is_mbr(head).then_some("a partition table"))
}

fn has(head: &[u8], offset: usize, bytes: &[u8]) -> bool {
    head.get(offset..offset + bytes.len()) == Some(bytes)
}

/// Two bytes of magic meet random data once in 65536 devices: the block size and state must make sense as well.
fn is_ext(head: &[u8]) -> bool {
    has(head, 1_080, b"\x53\xef") && has(head, 1_049, b"\0\0\0") && has(head, 1_083, b"\0")
}

/// Likewise: each of the four entries begins with 0x00 or 0x80, and one has a type.
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
    use crate::draws::Draws;

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
            assert_eq!(recognise(&with(&[(*offset, bytes)])), Some(*what));
            assert_eq!(recognise(&with(&[(*offset + 8, bytes)])), None, "{what}");
        }
    }

    #[test]
    fn an_old_partition_table_needs_a_partition() {
        assert_eq!(
            recognise(&with(&[(510, b"\x55\xaa"), (450, b"\x83")])),
            Some("a partition table")
        );
        assert_eq!(recognise(&with(&[(510, b"\x55\xaa")])), None);
        assert_eq!(
            recognise(&with(&[(510, b"\x55\xaa"), (450, b"\x83"), (462, b"\x17")])),
            None
        );
    }

    #[test]
    fn an_ext_superblock_must_make_sense() {
        let sound: [(usize, &[u8]); 2] = [(1_080, b"\x53\xef"), (1_048, b"\x02")];
        assert!(recognise(&with(&sound)).is_some_and(|what| what.contains("ext4")));
        assert_eq!(
            recognise(&with(&[(1_080, b"\x53\xef"), (1_048, b"\x02\x07")])),
            None
        );
    }

    #[test]
    fn zeros_and_random_data_are_nothing() {
        let mut draws = Draws::new(5, 0, 0);
        let random: Vec<u8> = (0..SIGNATURES_BYTES / 8)
            .flat_map(|_| draws.next_bits().to_le_bytes())
            .collect();
        assert_eq!(
            (recognise(&random), recognise(&with(&[])), recognise(&[])),
            (None, None, None)
        );
    }
}
