//! Compiles `flush_delay.c` into the shared object that `src/lib.rs` embeds.

use std::env;
use std::fs;
use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=flush_delay.c");
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let library = out_dir.join("flush_delay.so");

    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        // Elsewhere there is no such library; the emptiness is what callers test for.
        fs::write(&library, []).expect("OUT_DIR can be written");
        return;
    }
    // `cc` only finds the compiler and the target's flags: it builds archives, and what a
    // server preloads is a shared object.
    let compiler =
        cc::Build::new().cargo_metadata(false).opt_level(2).debug(false).pic(true).get_compiler();
    let status = compiler
        .to_command()
        .args(["-std=gnu11", "-shared", "-fPIC", "-O2"])
        // Some compilers add what a debugger reads, with paths of this machine, unless told not to.
        .args(["-g0", "-s"])
        .args(["-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&library)
        .args(["flush_delay.c", "-ldl"])
        .status()
        .expect("a C compiler (cc, gcc or clang) is installed");
    assert!(status.success(), "flush_delay.c does not compile: {status}");
}
