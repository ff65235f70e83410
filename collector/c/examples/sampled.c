/* In sampled mode, scopes do not read the clock. Instead, a thread of the library records a thousand times a second which
 * scope each thread is in. This mode suits functions that take only a few nanoseconds.
 *
 *     ./sampled    prints the share of the time that each function took
 */
#include <stdio.h>
#include <tickscope.h>
#include <time.h>
#include <unistd.h>

static unsigned hash(unsigned x) {
    TICKSCOPE_FUNCTION();
    return (x ^ x >> 15) * 2246822519u;
}

static unsigned mix(unsigned x) {
    TICKSCOPE_FUNCTION();
    return x << 7 ^ x >> 9;
}

static double seconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(void) {
    tickscope_session *session = tickscope_start("sampled");
    if (tickscope_set_mode(TICKSCOPE_SAMPLED) != 0) return 1;
    unsigned x = 1;
    for (double end = seconds() + 1; seconds() < end;) {
        TICKSCOPE_SCOPE("batch");
        for (int i = 0; i < 10000; i++) x = mix(hash(x));
    }
    fflush(stdout);
    tickscope_dump_to(STDOUT_FILENO, TICKSCOPE_TEXT);
    tickscope_finish(session);
    return x == 0;
}
