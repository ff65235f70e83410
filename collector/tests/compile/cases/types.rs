//! Names that are not strings, and scopes in constants and `const fn`s.

const SCOPED: u8 = tickscope::time!("constant", 1);

const fn counted() {
    tickscope::count!("constant");
}

fn sent<T: Send>(_: T) {}

fn main() {
    tickscope::scope!(7);
    tickscope::scope!(group = 7, "a");
    tickscope::count!('a');
    tickscope::count!(String::new());
    sent(tickscope::scope_guard!("guard"));
    sent(async {
        tickscope::scope!("open");
        std::future::ready(SCOPED).await;
    });
    counted();
}
