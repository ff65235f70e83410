/* Makes the given number of calls in a loop, and prints the time per call in ns. With -DBARE, the calls open no scope. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef BARE
#define TICKSCOPE_SCOPE(name) ((void)0)
#else
#include <tickscope.h>
#endif

void called(void);
__attribute__((noinline)) void called(void) {
    TICKSCOPE_SCOPE("called");
    __asm__ volatile("");
}

__attribute__((no_instrument_function)) static double now(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char **arguments) {
    long times = count > 1 ? atol(arguments[1]) : 1;
    double began = 0;
    TICKSCOPE_SCOPE("main");
    for (int round = 0; round < 2; round++) {
        long all = round == 0 ? 1000 : times;
        began = now();
        for (long i = 0; i < all; i++) called();
    }
    printf("%.3f\n", (now() - began) / (double)times);
    return 0;
}
