pub fn called() {}
