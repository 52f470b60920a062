fn main() {
    use orchestrion_kernel::{Policy, claims::CLAIMS};
    use orchestrion_model::{check::*, scopes::*};
    for policy in [Policy::hardened(), Policy::as_drawn()] {
        let mut runs = vec![];
        for m in MODELS {
            let t = std::time::Instant::now();
            let r = explore(&policy, m, &SCOPES[0], &|_| ());
            println!(
                "{} {} states {} products {} {:?}",
                policy.name,
                r.model,
                r.states,
                r.products,
                t.elapsed()
            );
            runs.push(r);
        }
        for (c, v) in CLAIMS.iter().zip(verdicts(&policy, &runs)) {
            println!(
                "{} {:?} {} {}",
                c.id,
                c.finding,
                v.word(),
                match &v {
                    Verdict::Fails { run, inputs } => format!("run {run} {} steps", inputs.len()),
                    _ => String::new(),
                }
            );
        }
    }
}
