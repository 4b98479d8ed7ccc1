//! File systems that the kernel makes up: no place for tests, but one from which every other folder can be reached.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Their types, as Linux names them.
const KERNEL_TYPES: &[&str] = &[
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "mqueue",
    "proc",
    "pstore",
    "securityfs",
    "selinuxfs",
    "sysfs",
    "tracefs",
];

/// Where devices are, whatever type of file system that is.
const DEVICES: &str = "/dev";

/// What is mounted where.
#[derive(Debug, Default)]
pub(super) struct Mounts {
    types: HashMap<PathBuf, String>,
}

impl Mounts {
    /// Those this process sees; none where there is no such list.
    pub(super) fn of_system() -> Self {
        let text =
            if cfg!(target_os = "linux") { std::fs::read("/proc/self/mounts") } else { Ok(Vec::new()) };
        Self::parse(&String::from_utf8_lossy(&text.unwrap_or_default()))
    }

    /// Reads lines `DEVICE FOLDER TYPE ...`, later ones over earlier ones.
    fn parse(text: &str) -> Self {
        let types = text.lines().filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            Some((PathBuf::from(unescape(words.next()?)), words.next()?.to_owned()))
        });
        Self { types: types.collect() }
    }

    /// The type of the file system a folder is on, if that is the kernel's. The path has no links.
    pub(super) fn kernel_kind(&self, folder: &Path) -> Option<&str> {
        let (at, kind) = folder.ancestors().find_map(|above| Some((above, self.types.get(above)?)))?;
        (KERNEL_TYPES.contains(&kind.as_str()) || at == Path::new(DEVICES)).then_some(kind)
    }
}

/// Replaces `\\040` and the like: blanks, tabs, line breaks and backslashes.
fn unescape(text: &str) -> String {
    let pairs = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_decides() {
        let mounts = Mounts::parse(
            "overlay / overlay rw 0 0\nproc /proc proc rw 0 0\ntmpfs /dev tmpfs rw 0 0\nshm /dev/shm tmpfs rw 0 0\n\
             none /a\\040b sysfs rw 0 0\nproc /mine proc rw 0 0\n/dev/sda /mine ext4 rw 0 0\nbroken\n",
        );
        for (folder, kind) in [
            ("/", None),
            ("/home/me/proc", None),
            ("/proc", Some("proc")),
            ("/proc/1/fd", Some("proc")),
            ("/process", None),
            ("/dev", Some("tmpfs")),
            ("/dev/fd", Some("tmpfs")),
            ("/dev/shm/suite", None),
            ("/a b/c", Some("sysfs")),
            ("/mine", None),
        ] {
            assert_eq!(mounts.kernel_kind(Path::new(folder)), kind, "{folder}");
        }
        assert_eq!(Mounts::default().kernel_kind(Path::new("/proc")), None);
    }
}
