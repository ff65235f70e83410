//! Programs for tests, compiled with sleds by the same compiler that cargo uses.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;
use tickscope_testkit::command::install;

use crate::function_table::origins::{Member, Sources};

/// Source of a program with generics, closures, trait impls, async functions and recursion.
pub(super) const APP: &str = r#"
use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

mod shapes {
    use std::hint::black_box;

    pub struct Sq(pub u64);

    pub trait Shape {
        fn area(&self) -> u64;
        fn twice(&self) -> u64 {
            black_box(self.area()) * 2
        }
    }

    impl Shape for Sq {
        #[inline(never)]
        fn area(&self) -> u64 {
            self.0 * black_box(self.0)
        }
    }

    impl Sq {
        #[inline(never)]
        pub fn new(n: u64) -> Self {
            Sq(black_box(n))
        }
    }

    pub mod deep {
        use std::hint::black_box;

        pub trait Sorted {
            fn sorted(self) -> Self;
        }

        impl Sorted for Vec<super::Sq> {
            #[inline(never)]
            fn sorted(mut self) -> Self {
                self.sort_by(|a, b| black_box(a.0).cmp(&b.0));
                self
            }
        }

        impl super::Sq {
            #[inline(never)]
            pub fn far(&self) -> u64 {
                black_box(self.0 + 1)
            }
        }
    }
}

use shapes::deep::Sorted;
use shapes::{Shape, Sq};

struct Twice(bool);

impl Future for Twice {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

async fn outer() -> u64 { let part = async { Twice(false).await; black_box(7) };
    let part: Pin<Box<dyn Future<Output = u64>>> = Box::pin(part);
    part.await + 1
}

#[inline(never)]
fn block_on<F: Future>(f: F) -> F::Output {
    let mut f = pin!(f);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(v) = f.as_mut().poll(&mut cx) {
            return v;
        }
    }
}

#[inline(never)]
fn fib(n: u64) -> u64 {
    if n < 2 { n } else { fib(n - 1) + fib(black_box(n - 2)) }
}

#[inline(never)]
fn apply<T, F: Fn(T) -> T>(t: T, f: F) -> T {
    black_box(&f);
    f(t)
}

#[inline(never)]
fn with_inner() -> u64 {
    #[inline(never)]
    fn inner(x: u64) -> u64 {
        black_box(x) + 3
    }
    struct Local;
    impl Local {
        #[inline(never)]
        fn go(&self) -> u64 {
            black_box(4)
        }
    }
    inner(2) + Local.go()
}

fn main() {
    let v = vec![Sq::new(3), Sq::new(2)].sorted();
    let s: Box<dyn Shape> = black_box(Box::new(Sq::new(4)));
    let mut heap = dep::Heap::default();
    heap.push(black_box(3u64));
    let f: Vec<Box<dyn Fn(u64) -> u64>> = vec![Box::new(|x| black_box(x) * 3)];
    let guard = tickscope::enter(black_box(1));
    let applied = apply(5u64, |x| black_box(x) + 1);
    let boxed = black_box(Box::new(guard));
    println!(
        "{} {} {} {} {} {} {} {} {}",
        v[0].area(), s.twice(), v[1].far(), block_on(outer()), fib(15), applied, with_inner(), f[0](2), heap.len()
    );
    drop(boxed);
}
"#;

/// Source of a library that is compiled in a folder like the one in which cargo keeps fetched packages.
const DEP: &str = "
#[derive(Default)]
pub struct Heap<T>(Vec<T>);

impl<T> Heap<T> {
    #[inline(never)]
    pub fn push(&mut self, t: T) {
        self.0.push(std::hint::black_box(t));
    }
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
";

/// Source of a library that has the same name as the collector.
const COLLECTOR: &str = "
pub struct Guard(String);

#[inline(never)]
pub fn enter(n: u64) -> Guard {
    Guard(std::hint::black_box(n).to_string())
}
";

/// A program in a temporary folder.
pub(super) struct Program {
    pub(super) folder: TempDir,
    pub(super) path: PathBuf,
    /// The folder in which the program was compiled.
    pub(super) workspace: PathBuf,
}

impl Program {
    /// Runs a copy of the program, and returns its output. Another process writes the copy. If this process wrote it, a
    /// child that another test starts could inherit the open file, and a file that is open for writing cannot be run.
    pub(super) fn run(&self) -> String {
        let copy = self.folder.path().join("running");
        install(&self.path, &copy);
        output(copy, &[])
    }

    pub(super) fn sources(&self) -> Sources {
        Sources {
            workspace_root: self.workspace.clone(),
            members: vec![Member {
                dir: self.workspace.clone(),
                package: "app 0.1.0".into(),
            }],
            ..Sources::default()
        }
    }
}

/// Returns a copy of the program [`APP`], which is compiled only once.
pub(super) fn app() -> Program {
    static COMPILED: OnceLock<(Vec<u8>, PathBuf)> = OnceLock::new();
    let (bytes, workspace) = COMPILED.get_or_init(|| {
        let program = compile(APP, &[]);
        (fs::read(&program.path).unwrap(), program.workspace)
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program");
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Program {
        folder,
        path,
        workspace: workspace.clone(),
    }
}

/// For each library: its name, its source file relative to the folder of the program, and its source text.
const LIBRARIES: [(&str, &str, &str); 2] = [
    ("dep", "registry/src/index-0/dep-1.2.3/src/lib.rs", DEP),
    (
        "tickscope",
        "registry/src/index-0/tickscope-0.1.0/src/lib.rs",
        COLLECTOR,
    ),
];

/// Returns the compiled libraries. They are compiled only once.
fn libraries() -> &'static [Vec<u8>; 2] {
    static COMPILED: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        LIBRARIES.map(|(name, file, text)| {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            rustc(folder.path(), &["--crate-type=rlib", "--crate-name", name], &path);
            fs::read(folder.path().join(format!("lib{name}.rlib"))).unwrap()
        })
    })
}

/// Compiles a program that may use both libraries.
pub(super) fn compile(source: &str, flags: &[&str]) -> Program {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("src")).unwrap();
    fs::write(root.join("src/main.rs"), source).unwrap();
    for ((name, ..), bytes) in LIBRARIES.iter().zip(libraries()) {
        fs::write(root.join(format!("lib{name}.rlib")), bytes).unwrap();
    }
    let program_flags = ["--crate-name=app", "-o", "program", "-L", "."];
    let libraries = ["--extern", "dep", "--extern", "tickscope"];
    rustc(
        root,
        &[&program_flags[..], &libraries, flags].concat(),
        Path::new("src/main.rs"),
    );
    Program {
        path: root.join("program"),
        workspace: root.into(),
        folder,
    }
}

fn rustc(folder: &Path, flags: &[&str], source: &Path) {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .current_dir(folder)
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["--edition=2024", "-Zinstrument-xray=always", "-Copt-level=2"])
        .args(["-Cdebuginfo=1", "-Awarnings"])
        .args(flags)
        .arg(source)
        .output()
        .expect("rustc does not start");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs a command that must succeed, and returns its standard output.
pub(super) fn output(command: impl AsRef<OsStr>, arguments: &[&OsStr]) -> String {
    let command = command.as_ref();
    let output = Command::new(command).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", command.display()));
    assert!(output.status.success(), "{}: {output:?}", command.display());
    String::from_utf8(output.stdout).unwrap()
}
