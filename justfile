# The commands of CI, one by one. `just` lists them.

default:
    @just --list --unsorted

# Everything that a change must pass: the same as CI.
check:
    .ci/run

# Formats all sources.
format:
    cargo fmt --all

# Formatting, warnings and documents.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo clippy -p tickscope-tests -p tickscope-macros --no-default-features --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
    .ci/acyclic
    .ci/unsafe-files
    .ci/dependencies
    .ci/package

# Builds the viewer and lists the programs that run.
list:
    cargo run --release -- list

# All tests of the workspace, or those that ARGS choose.
test *ARGS:
    cargo test --workspace {{ ARGS }}

# The collector and its macros with fewer features than the workspace gives them.
test-features:
    cargo test -p tickscope-tests -p tickscope-macros --no-default-features
    collector/tests/disabled/check.sh

# The long forms of tests, all or those that STEPS name.
nightly *STEPS:
    .ci/nightly {{ STEPS }}

# The book as HTML, in target/book.
book:
    mdbook build

# What a scope costs.
bench *ARGS:
    cargo run --release -p tickscope-bench -- overhead {{ ARGS }}

# The viewer beside a ray tracer and a service.
demo:
    cargo run --release -- demo
