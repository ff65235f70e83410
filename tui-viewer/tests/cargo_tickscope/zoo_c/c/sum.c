typedef long (*callback)(long);

/* Takes all of the program's time. */
static __attribute__((noinline)) long square(long n) {
    unsigned long sum = 0;
    for (long i = 0; i < n * 100000; i++) sum += n ^ (sum & 1);
    return (long)(sum & 0xff);
}

/* Calls back into Rust, which may panic: then this call never returns. */
__attribute__((noinline)) long c_sum(long n, callback back) {
    long sum = 0;
    for (long i = 0; i < n; i++) sum += square(i) + back(i);
    return sum;
}
