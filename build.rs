//! Tells Cargo what is built into the program besides the Rust code. Nothing is generated.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
    // Cargo takes a missing directory for one that changed, and would compile Kith anew each time. Where
    // none can be made, that is all the harm.
    let _ = std::fs::create_dir_all("web-playground/dist");
    println!("cargo::rerun-if-changed=web-playground/dist");
}
