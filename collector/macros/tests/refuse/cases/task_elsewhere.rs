use tickscope_macros::profile;

#[profile(task)]
fn plain() {}

struct Thing;

#[profile(task)]
impl Thing {
    async fn new() {}
}

#[profile(task = "name")]
async fn named() {}

fn main() {}
