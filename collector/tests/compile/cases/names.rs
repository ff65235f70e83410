//! Names and groups that are not constants, or that are not strings.

fn named<const N: usize>(name: &'static str) {
    tickscope::scope!(name);
    tickscope::scope!(group = name);
    drop(tickscope::scope_guard!(name));
    tickscope::time!(name, 1);
    drop(tickscope::future!(name, async {}));
    drop(tickscope::wait!(name, async {}));
    tickscope::count!(name);
    tickscope::value!(name, 1);
    tickscope::gauge!(name, 1);
    tickscope::count!(["a", "b"][N]);
}

fn main() {
    named::<1>("a");
}
