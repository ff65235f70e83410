/* One macro in each block, and a report at the end: where does the time of a frame go?
 *
 *     ./scope_profiler            prints the report when it ends
 *     ./scope_profiler 100000     runs for a while; in another terminal: tickscope frames
 */
#include <stdio.h>
#include <stdlib.h>
#include <tickscope.h>
#include <unistd.h>

static unsigned simulate(unsigned seed) {
    TICKSCOPE_FUNCTION();
    for (int i = 0; i < 2000; i++) seed = seed * 1664525u + 1013904223u;
    return seed;
}

static unsigned draw(unsigned seed) {
    TICKSCOPE_FUNCTION();
    for (int layer = 0; layer < 3; layer++) {
        TICKSCOPE_SCOPE("layer");
        for (int i = 0; i < 500 * (layer + 1); i++) seed ^= seed << 5 ^ seed >> 3;
    }
    return seed;
}

int main(int count, char **arguments) {
    int frames = count > 1 ? atoi(arguments[1]) : 300;
    tickscope_session *session = tickscope_start("frames");
    unsigned seed = 1;
    for (int frame = 0; frame < frames; frame++) {
        TICKSCOPE_SCOPE("frame");
        seed = draw(simulate(seed));
    }
    fflush(stdout);
    tickscope_dump_to(STDOUT_FILENO, TICKSCOPE_TEXT);
    tickscope_finish(session);
    return seed == 0;
}
