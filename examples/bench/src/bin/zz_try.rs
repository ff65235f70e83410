use std::hint::black_box;
use std::time::{Duration, Instant};
use tickscope_bench::{Plain, Scene, Scoped, render};
fn frames(scene: &Scene, t: Duration, scoped: bool) -> f64 {
    let b = Instant::now();
    let mut n = 0;
    while b.elapsed() < t {
        black_box(if scoped {
            tickscope::scope!("unit");
            render::<Scoped>(scene, 128, 128, 1)
        } else {
            render::<Plain>(scene, 128, 128, 1)
        });
        n += 1;
    }
    b.elapsed().as_nanos() as f64 / n as f64
}
fn main() {
    let scene = Scene::build::<Plain>(6);
    let _s = tickscope::start("try");
    if std::env::args().nth(1).as_deref() == Some("adaptive") {
        tickscope::set_mode(tickscope::Mode::Adaptive);
    }
    frames(&scene, Duration::from_secs(1), true);
    let mut ps = vec![];
    let mut ss = vec![];
    for _ in 0..6 {
        ps.push(frames(&scene, Duration::from_millis(500), false));
        ss.push(frames(&scene, Duration::from_millis(500), true));
    }
    ps.sort_by(f64::total_cmp);
    ss.sort_by(f64::total_cmp);
    tickscope::reset();
    frames(&scene, Duration::from_secs(1), true);
    let before = tickscope::reset();
    let show = |s: &tickscope::Snapshot| {
        let mut m = std::collections::BTreeMap::new();
        let mut all = 0.0;
        for (r, ns) in s.self_nanos().into_iter().enumerate() {
            let site = s.site_of(tickscope_format::ids::NodeId(r as u32)).name.clone();
            let e = m.entry(site).or_insert((0.0, 0u64));
            e.0 += ns as f64;
            e.1 += s.nodes.calls[r];
            all += ns as f64;
        }
        for (k, v) in m {
            print!("{k} {:.1}% {:.0}ns  ", v.0 / all * 100.0, v.0 / v.1 as f64);
        }
        println!();
    };
    show(&before);
    tickscope::measure_cost("*", Duration::from_secs(10)).unwrap();
    let b = Instant::now();
    loop {
        frames(&scene, Duration::from_millis(300), true);
        let s = tickscope::snapshot();
        if let Some(p) = &s.in_place {
            if p.state.is_over() || b.elapsed() > Duration::from_secs(12) {
                println!("{:.1}s {:?} {:?}", b.elapsed().as_secs_f64(), p, s.scope_cost());
                println!("cost share {:?}", s.cost_share());
                show(&s);
                break;
            }
        }
    }
    let calls = before.nodes.calls.iter().sum::<u64>() as f64;
    println!(
        "plain {:.3} ms scoped {:.3} ms slowdown vs plain {:.3}, per scope {:.1} ns (scopes a frame ~{:.0})",
        ps[3] / 1e6,
        ss[3] / 1e6,
        ss[3] / ps[3],
        (ss[3] - ps[3])
            / (calls
                / (before
                    .nodes
                    .calls
                    .iter()
                    .zip(&before.nodes.site)
                    .filter(|(_, s)| before.sites[**s as usize].name == "unit")
                    .map(|(c, _)| *c)
                    .sum::<u64>() as f64)),
        0.0
    );
}
