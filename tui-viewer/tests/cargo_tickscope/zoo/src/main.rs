//! Acts that are hard to instrument. Each prints a result that tests check. `zoo ACT...` runs only these acts.

mod coroutine;
mod signals;
mod vectors;

use std::cell::Cell;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Command, exit};

type Act = (&'static str, fn() -> u64);

const ACTS: [Act; 11] = [
    ("recursion", || fib(15)),
    ("mutual", || u64::from(is_even(1001))),
    ("generic", || generic::<u8>(3) + generic::<u64>(5)),
    ("dynamic", dynamic),
    ("panics", panics),
    ("nested panics", || nested(20)),
    ("drops", drops),
    ("threads", threads),
    ("vectors", vectors::act),
    ("signals", signals::act),
    ("coroutines", coroutine::act),
];

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for (name, act) in ACTS {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            println!("{name}: {}", act());
        }
    }
    match wanted.first().map(String::as_str) {
        Some("child") => child(),
        Some("diverge") => diverge(3),
        Some("overflow") => println!("{}", overflow(1)),
        Some("work") => println!(
            "work: {}",
            work(wanted.get(1).and_then(|n| n.parse().ok()).unwrap_or(100))
        ),
        _ => {}
    }
}

#[inline(never)]
fn fib(n: u64) -> u64 {
    if n < 2 {
        black_box(n)
    } else {
        black_box(fib(n - 1)) + black_box(fib(n - 2))
    }
}

#[inline(never)]
fn is_even(n: u32) -> bool {
    if n == 0 {
        true
    } else {
        black_box(is_odd as fn(u32) -> bool)(n - 1)
    }
}

#[inline(never)]
fn is_odd(n: u32) -> bool {
    if n == 0 {
        false
    } else {
        black_box(is_even as fn(u32) -> bool)(n - 1)
    }
}

#[inline(never)]
fn generic<T: TryFrom<u64> + Into<u64> + Copy>(n: u64) -> u64 {
    (0..black_box(n))
        .filter_map(|i| T::try_from(i).ok())
        .map(Into::into)
        .sum()
}

trait Speaks {
    fn speak(&self) -> u64;
}

struct Dog(u64);
struct Cat(u64);

impl Speaks for Dog {
    #[inline(never)]
    fn speak(&self) -> u64 {
        black_box(self.0) * 2
    }
}

impl Speaks for Cat {
    #[inline(never)]
    fn speak(&self) -> u64 {
        black_box(self.0) * 3
    }
}

#[inline(never)]
fn dynamic() -> u64 {
    let all: [Box<dyn Speaks>; 4] = [
        Box::new(Dog(1)),
        Box::new(Cat(2)),
        Box::new(Dog(3)),
        Box::new(Cat(4)),
    ];
    let add: [fn(u64) -> u64; 2] = [|n| black_box(n) + 1, |n| black_box(n) + 2];
    (0..100).map(|i| all[i % 4].speak() + add[i % 2](1)).sum()
}

/// Panics after `depth` + 1 nested calls.
#[inline(never)]
fn falls(depth: u32) -> u32 {
    if depth == 0 {
        panic!("on purpose");
    }
    black_box(falls as fn(u32) -> u32)(depth - 1) + 1
}

#[inline(never)]
fn panics() -> u64 {
    (0..15).filter(|_| catch_unwind(|| falls(2)).is_err()).count() as u64
}

/// Catches a panic, and then recurses to the next level.
#[inline(never)]
fn nested(depth: u64) -> u64 {
    if depth == 0 {
        return 1;
    }
    match catch_unwind(|| rethrows(depth)) {
        Ok(_) => 0,
        Err(_) => nested(depth - 1) + 1,
    }
}

#[inline(never)]
fn rethrows(depth: u64) -> u64 {
    match catch_unwind(|| falls(black_box(1))) {
        Ok(_) => 0,
        Err(error) if depth > 0 => resume_unwind(error),
        Err(_) => 1,
    }
}

struct Counts<'a>(&'a Cell<u64>);

impl Drop for Counts<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// Drops values while a panic unwinds.
#[inline(never)]
fn drops() -> u64 {
    let count = Cell::new(0);
    for _ in 0..10 {
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let _one = Counts(&count);
            let _two = Counts(&count);
            falls(black_box(3))
        }));
    }
    count.get()
}

#[inline(never)]
fn threads() -> u64 {
    let many = 50;
    let all: Vec<_> = (0..many)
        .map(|n| std::thread::spawn(move || fib(n % 10)))
        .collect();
    all.into_iter().map(|thread| thread.join().unwrap_or(0)).sum()
}

/// Starts this program as a child process.
#[inline(never)]
fn child() {
    let own = std::env::current_exe().and_then(|own| Command::new(own).arg("recursion").status());
    println!("child: {}", own.map_or(-1, |status| status.code().unwrap_or(-2)));
}

#[inline(never)]
fn diverge(depth: u32) -> ! {
    if depth == 0 {
        exit(7);
    }
    black_box(diverge as fn(u32) -> !)(depth - 1)
}

#[inline(never)]
#[allow(unconditional_recursion)]
fn overflow(n: u64) -> u64 {
    let room = [n; 64];
    black_box(overflow as fn(u64) -> u64)(black_box(room)[3] + 1) + 1
}

/// Lets four threads compute for `ms` milliseconds and check their results. Returns the number of wrong results.
#[inline(never)]
fn work(ms: u64) -> u64 {
    let end = std::time::Instant::now() + std::time::Duration::from_millis(ms);
    let all: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(move || {
                let mut wrong = 0;
                while std::time::Instant::now() < end {
                    wrong +=
                        u64::from(fib(12) != 144) + u64::from(dynamic() != 900) + u64::from(panics() != 15);
                    wrong += u64::from(vectors::act() != 660) + u64::from(!is_even(50));
                }
                wrong
            })
        })
        .collect();
    all.into_iter().map(|thread| thread.join().unwrap_or(1)).sum()
}
