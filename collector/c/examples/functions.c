/* A program without tickscope in its source. It is compiled with -finstrument-functions and linked with the library.
 *
 *     TICKSCOPE=report ./functions             prints the call tree when the program ends
 *     TICKSCOPE=report TICKSCOPE_REPORT=callgrind.out.functions ./functions    for KCachegrind
 *     TICKSCOPE=live ./functions 45 &          in another terminal: tickscope functions
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;

static unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static void give_up(int depth) {
    if (depth > 0) give_up(depth - 1);
    if (depth == 0) longjmp(back, 1);
}

static int attempt(int depth) {
    if (setjmp(back) == 0) give_up(depth);
    return depth;
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int sorted(int count) {
    int numbers[256];
    for (int i = 0; i < count; i++) numbers[i] = (i * 7919) % 257;
    qsort(numbers, (size_t)count, sizeof *numbers, compare);
    return numbers[0];
}

int main(int count, char **arguments) {
    unsigned n = count > 1 ? (unsigned)atoi(arguments[1]) : 15;
    int total = 0;
    for (int i = 0; i < 10; i++) total += attempt(i) + sorted(256);
    printf("%u %d\n", fib(n), total);
    return 0;
}
