typedef long (*callback)(long);

#ifndef MARK
#define MARK 0
#endif

/* An option of the user's. */
long c_mark(void) { return MARK; }

static __attribute__((noinline)) long square(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) sum += n ^ (sum & 1);
    return sum;
}

/* Calls back into Rust, which may panic: then it comes to no end. */
__attribute__((noinline)) long c_sum(long n, callback back) {
    long sum = 0;
    for (long i = 0; i < n; i++) sum += square(i) + back(i);
    return sum;
}
