//! Tells the program which version of the library it was built with.
use std::{env, fs, path::Path};

fn main() {
    let lock = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("Cargo.lock");
    let text = fs::read_to_string(lock).unwrap();
    let (_, after) = text.split_once("name = \"async-openai\"\nversion = \"").unwrap();
    println!("cargo::rustc-env=ASYNC_OPENAI_VERSION={}", after.split('"').next().unwrap());
    println!("cargo::rerun-if-changed=Cargo.lock");
}
