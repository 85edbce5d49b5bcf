//! The direct children of a process.

use std::fs;
use std::io;

use super::parse;
use super::procfs::{ATTEMPTS, read_stat};

/// The pids of a process's direct children.
///
/// # Errors
///
/// When there is no such process, or `/proc` cannot be read.
pub fn children(pid: u32) -> io::Result<Vec<u32>> {
    let Ok(mut listed) = children_by_list(pid) else {
        // The kernel may be built without these lists.
        return children_by_scan(pid);
    };
    // The kernel warns that a list may miss a process when another ends while it is written:
    // believe it once it says the same twice.
    for _ in 1..ATTEMPTS {
        let again = children_by_list(pid)?;
        if again == listed {
            break;
        }
        listed = again;
    }
    Ok(listed)
}

/// The kernel keeps one list for each thread.
fn children_by_list(pid: u32) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let path = thread?.path().join("children");
        found.extend(parse::children(&fs::read(path)?));
    }
    Ok(found)
}

/// The same where the kernel keeps no lists, from every process that there is.
///
/// # Errors
///
/// When `/proc` cannot be read.
pub fn children_by_scan(parent: u32) -> io::Result<Vec<u32>> {
    let mut found: Vec<u32> = fs::read_dir("/proc")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|&pid| read_stat(pid).is_ok_and(|stat| stat.parent == parent))
        .collect();
    found.sort_unstable();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::process::id;

    use super::*;
    use crate::kernel::sleeper::Sleeper;

    #[test]
    fn a_scan_finds_the_children_that_the_list_names() {
        let child = Sleeper::start();
        for find in [children_by_list, children_by_scan] {
            assert!(find(id()).expect("children").contains(&child.id()));
            assert!(find(child.id()).expect("children").is_empty());
        }
    }
}
