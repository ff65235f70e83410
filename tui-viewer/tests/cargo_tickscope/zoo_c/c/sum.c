typedef long (*callback)(long);

/* Nearly all of the program's CPU time is spent here. */
static __attribute__((noinline)) long square(long n) {
    unsigned long sum = 0;
    for (long i = 0; i < n * 100000; i++) sum += n ^ (sum & 1);
    return (long)(sum & 0xff);
}

/* Calls back into Rust. If the callback panics, this function never returns. */
__attribute__((noinline)) long c_sum(long n, callback back) {
    long sum = 0;
    for (long i = 0; i < n; i++) sum += square(i) + back(i);
    return sum;
}
