//! A call tree with a known number of nodes: ten children per node, numbered level by level.

/// Calls every node of a tree of `nodes` nodes once, and the nodes above it on its path. `work` runs in each of them.
pub(crate) fn visit(nodes: usize, work: &dyn Fn(usize)) {
    for node in 1..=nodes {
        let mut way = Vec::new();
        let mut at = node;
        while at > 0 {
            way.push((at - 1) % 10);
            at = (at - 1) / 10;
        }
        way.reverse();
        walk(&way, node, work);
    }
}

fn walk(way: &[usize], node: usize, work: &dyn Fn(usize)) {
    let Some((first, rest)) = way.split_first() else {
        return work(node);
    };
    macro_rules! step {
        ($name:literal) => {{
            tickscope::scope!($name);
            walk(rest, node, work)
        }};
    }
    match first {
        0 => step!("zero"),
        1 => step!("one"),
        2 => step!("two"),
        3 => step!("three"),
        4 => step!("four"),
        5 => step!("five"),
        6 => step!("six"),
        7 => step!("seven"),
        8 => step!("eight"),
        _ => step!("nine"),
    }
}
