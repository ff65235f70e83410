//! A call tree with a known number of nodes. Each node has ten children, and the nodes are numbered level by level.

/// Visits every node of a tree with `nodes` nodes: opens the scopes on the path to it, and calls `work` in the innermost one.
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
