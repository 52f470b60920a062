//! Both exports hold the whole table, and nothing that depends on the order of anything.
#[test]
fn nothing() {
    use super::*;
    let dir = std::path::Path::new("/tmp/t-peers/out");
    for policy in [orchestrion_kernel::Policy::hardened(), orchestrion_kernel::Policy::as_drawn()] {
        let control = Control::of(&policy);
        let at = dir.join(&policy.name);
        std::fs::create_dir_all(&at).unwrap();
        std::fs::write(at.join("control.pml"), promela::promela(&control)).unwrap();
        std::fs::write(at.join("Control.tla"), tla::module(&control)).unwrap();
        std::fs::write(at.join("Control.cfg"), tla::config(&control, |_| true)).unwrap();
    }
}
