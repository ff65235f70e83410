//! Functions of all kinds, with each attribute and macro of tickscope. `check.sh` compares the warnings of this file
//! and of a copy from which the attributes and macros are removed line by line. So each attribute has a line of its
//! own, and a macro call that encloses an expression extends to the end of its line.

use core::fmt;
use core::future::{Future, ready};
use core::pin::Pin;

/// A future in a box.
type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An error.
#[derive(Debug)]
pub struct Failure;

impl From<core::num::ParseIntError> for Failure {
    fn from(_: core::num::ParseIntError) -> Self {
        Self
    }
}

#[tickscope::profile]
pub fn plain(left: u32, right: u32) -> u32 {
    left.wrapping_add(right)
}

#[tickscope::profile(name = "n", group = "g", watch)]
pub fn returns(left: u32) -> u32 {
    return left;
}

#[tickscope::profile]
pub fn nothing() {}

#[tickscope::profile]
pub fn early(values: &[u32]) -> Option<u32> {
    let first = values.first()?;
    if *first > 3 {
        return None;
    }
    Some(*first)
}

#[tickscope::profile]
pub fn items_first() -> u32 {
    const THREE: u32 = 3;
    fn four() -> u32 {
        4
    }
    THREE.wrapping_add(four())
}

#[tickscope::profile]
pub fn fails(text: &str) -> Result<u32, Failure> {
    Ok(text.parse()?)
}

#[tickscope::profile]
pub fn generic<T: Clone + fmt::Debug, const N: usize>(values: [T; N]) -> Vec<T>
where
    T: Send,
{
    values.to_vec()
}

#[tickscope::profile]
pub fn lifetimes<'a>(left: &'a str, _right: &str) -> &'a str {
    left
}

#[tickscope::profile]
pub fn unused(value: u32, mut count: u32) {
    let _ = &mut count;
}

#[tickscope::profile]
pub unsafe fn contract(pointer: *const u8) -> u8 {
    // SAFETY: the caller upholds the contract.
    unsafe { *pointer }
}

#[tickscope::profile]
#[must_use]
pub fn must_use(value: u8) -> u8 {
    value
}

#[tickscope::profile]
#[inline]
pub async fn later(value: u32) -> u32 {
    ready(value).await
}

#[tickscope::profile]
pub async fn later_nothing() {}

#[tickscope::profile]
pub async fn later_unit(value: u32) {
    drop(later(value).await);
}

#[tickscope::profile]
pub async fn later_returns(value: u32) -> u32 {
    return later(value).await;
}

#[tickscope::profile]
pub async fn later_early(text: &str, mut more: u32) -> Result<u32, Failure> {
    let value: u32 = text.parse()?;
    if value > 3 {
        return Err(Failure);
    }
    more = more.wrapping_add(value);
    Ok(later(more).await)
}

#[tickscope::profile]
pub async fn later_items() -> u32 {
    const THREE: u32 = 3;
    later(THREE).await
}

#[tickscope::profile]
pub async fn later_patterns((left, right): (u32, u32), [first, ..]: [u32; 2], _: String, ref by: u32) -> u32 {
    later(left.wrapping_add(right).wrapping_add(first).wrapping_add(*by)).await
}

#[tickscope::profile]
pub async fn later_unused(value: String, flag: bool, items: Vec<u32>, _more: &mut u32) {}

#[tickscope::profile]
pub async fn later_borrows<'a>(left: &'a str, _right: &str) -> &'a str {
    later(1).await;
    left
}

#[tickscope::profile]
pub async fn later_impl(values: impl Iterator<Item = u32>) -> impl Iterator<Item = u32> {
    values.map(|value| value.wrapping_add(1))
}

#[tickscope::profile]
pub async fn later_diverges() -> u32 {
    loop {
        later(1).await;
    }
}

#[tickscope::profile]
pub async fn never() -> ! {
    loop {
        later(1).await;
    }
}

#[tickscope::profile]
#[must_use]
pub async fn later_must_use(value: u32) -> u32 {
    later(value).await
}

#[tickscope::profile]
pub async fn not_sent(value: std::rc::Rc<u32>) -> u32 {
    later(1).await;
    *value
}

#[tickscope::profile]
pub async fn cloned(mut values: Vec<u32>, unit: ()) -> Vec<u32> {
    let shadow = values.clone();
    values.extend(shadow);
    later(1).await;
    let values = values;
    drop(unit);
    values
}

#[tickscope::profile(task)]
pub async fn task(value: u32) -> u32 {
    later(value).await
}

#[tickscope::profile]
pub async fn closures(value: u32) -> Box<dyn Fn(u32) -> u32 + Send> {
    later(1).await;
    Box::new(move |more| value.wrapping_add(more))
}

#[tickscope::profile]
pub fn built(value: u32) -> impl Future<Output = u32> + Send {
    async move { later(value).await }
}

#[tickscope::profile]
pub fn built_behind(values: &[u32]) -> impl Future<Output = u32> + use<> {
    let sum: u32 = values.iter().sum();
    async move { later(sum).await }
}

#[tickscope::profile]
pub fn boxed(value: &u32) -> Pin<Box<dyn Future<Output = u32> + Send + '_>> {
    Box::pin(async move { later(*value).await })
}

#[tickscope::profile]
pub fn boxed_alias(value: u32) -> Boxed<'static, u32> {
    if value > 3 {
        return Box::pin(async { 3 });
    }
    Box::pin(later(value))
}

#[tickscope::profile]
pub fn boxed_match(value: u32) -> Pin<Box<dyn Future<Output = u32> + Send>> {
    match value {
        0 => Box::pin(later(1)),
        _ => Box::pin(ready(1)),
    }
}

#[tickscope::profile]
pub fn promised(value: u32) -> impl Future<Output = u32> {
    later(value)
}

#[tickscope::profile]
pub fn promised_return(value: u32) -> impl Future<Output = u32> {
    return later(value);
}

/// A thing.
#[derive(Debug)]
pub struct Thing {
    /// Value of the thing.
    pub value: u32,
}

#[tickscope::profile(group = "g")]
impl Thing {
    pub fn new(value: u32) -> Self {
        Self { value }
    }

    pub const fn constant(&self) -> u32 {
        self.value
    }

    pub fn get(&self) -> u32 {
        self.value
    }

    pub fn set(&mut self, value: u32) {
        self.value = value;
    }

    pub async fn add(&mut self, value: u32) -> u32 {
        self.value = self.value.wrapping_add(value);
        later(self.value).await
    }

    pub async fn consume(self) -> u32 {
        later(self.value).await
    }

    pub async fn unused_self(&self, flag: bool) -> u32 {
        later(1).await
    }

    pub fn soon(&self) -> impl Future<Output = u32> + Send + '_ {
        async move { later(self.value).await }
    }
}

/// A trait.
pub trait Shape {
    /// Returns the area.
    fn area(&self) -> u32;

    /// Returns twice the area.
    fn twice(&self) -> u32 {
        self.area().wrapping_mul(2)
    }

    /// Returns the area asynchronously.
    fn later(&self) -> impl Future<Output = u32> + Send;

    /// Returns a number asynchronously.
    async fn asynchronous(&self) -> u32;
}

#[tickscope::profile]
impl Shape for Thing {
    fn area(&self) -> u32 {
        self.value
    }

    async fn later(&self) -> u32 {
        later(self.value).await
    }

    async fn asynchronous(&self) -> u32 {
        later(self.value).await
    }
}

#[tickscope::profile]
/// Another trait.
pub trait Defaults {
    /// Returns a default value.
    fn default_value(&self) -> u32 {
        3
    }

    /// Returns the default value asynchronously.
    async fn default_later(&self) -> u32 {
        later(self.default_value()).await
    }
}

impl fmt::Display for Thing {
    #[tickscope::profile]
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("thing")
    }
}

#[tickscope::profile]
/// Functions of a module.
pub mod inside {
    pub fn deeper(value: u8) -> u8 {
        value
    }

    pub async fn later(value: u8) -> u8 {
        value
    }
}

pub fn macros(values: &[u32], order: i64) -> Option<u32> {
    tickscope::scope!();
    {
        tickscope::scope!("named");
        tickscope::scope!(group = "g", "grouped");
        tickscope::scope!(watch, "watched");
    }
    let first = tickscope::time!("expression", values.first()?);
    let second = tickscope::time!(group = "g", "grouped expression", first.checked_add(1)?);
    drop(tickscope::scope_guard!("guard"));
    tickscope::count!("counted");
    tickscope::count!("counted", 2);
    tickscope::count!("counted", true);
    tickscope::count!("counted", values.len());
    tickscope::count!(group = "g", "counted", *first);
    tickscope::value!("value", values.len());
    tickscope::value!("value", 7);
    tickscope::gauge!("gauge", order);
    tickscope::gauge!("gauge", -7);
    tickscope::note!("order", order);
    match values {
        [] => {
            tickscope::count!("empty");
        }
        [..] => {
            tickscope::count!("full", 1);
        }
    }
    Some(second)
}

pub async fn awaits(value: u32) -> u32 {
    let first = tickscope::future!("future", async move { later(value).await }).await;
    let second = tickscope::wait!(group = "g", "wait", later(value)).await;
    tickscope::scope!("rest");
    first.wrapping_add(second)
}

#[profiling::function]
pub fn profiled(value: u32) -> u32 {
    profiling::scope!("scope");
    profiling::scope!("scope", "data");
    value
}

/// Another thing.
#[derive(Debug)]
pub struct World;

#[profiling::all_functions]
impl World {
    pub fn step(&self, value: u32) -> u32 {
        value
    }

    #[profiling::skip]
    pub fn size(&self) -> u32 {
        3
    }

    pub async fn wait(&self) -> u32 {
        later(1).await
    }
}

pub fn profiling_macros(data: &str) {
    profiling::function_scope!();
    profiling::function_scope!(data);
    profiling::register_thread!();
    profiling::register_thread!("main");
    profiling::finish_frame!();
}

#[tickscope::profile]
pub fn in_one_line(value: u32) -> u32 { value }

#[tickscope::profile]
pub async fn later_in_one_line(value: u32) -> u32 { value }

#[tickscope::profile]
pub async fn impl_in_one_line(value: u32) -> impl Fn() -> u32 { move || value }

#[tickscope::profile]
pub async fn no_arguments_in_one_line() -> u32 { 3 }

#[tickscope::profile]
pub fn built_in_one_line(value: u32) -> impl Future<Output = u32> { async move { value } }

#[tickscope::profile]
pub fn boxed_in_one_line(value: u32) -> Boxed<'static, u32> { Box::pin(async move { value }) }

#[tickscope::profile]
pub fn promised_in_one_line(value: u32) -> impl Future<Output = u32> { later(value) }

#[tickscope::profile]
pub fn promised_box_in_one_line(value: u32) -> Pin<Box<dyn Future<Output = u32> + Send>> { boxed_alias(value) }

#[tickscope::profile]
pub fn unknown(value: u32) -> Pin<Box<dyn Future<Output = u32> + Send>> { todo!() }

#[tickscope::profile]
pub async fn later_unknown(value: u32) -> u32 { todo!() }
