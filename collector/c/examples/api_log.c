/* A log with a line per second: how busy each part of the program was, and how often its functions were called.
 *
 *     TICKSCOPE=log TICKSCOPE_LOG_EVERY_MS=200 ./api_log    the program writes the log to standard error
 *     ./api_log 60 &                                        in another terminal: tickscope log api
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tickscope.h>
#include <time.h>

static char store[64][32];

static void put(unsigned key, const char *value) {
    TICKSCOPE_FUNCTION_IN("api");
    TICKSCOPE_COUNT_IN("api", "bytes put", strlen(value));
    snprintf(store[key % 64], sizeof *store, "%s", value);
}

static const char *get(unsigned key) {
    TICKSCOPE_FUNCTION_IN("api");
    const char *value = store[key % 64];
    if (*value) {
        TICKSCOPE_COUNT_IN("api", "hits", 1);
    } else {
        TICKSCOPE_COUNT_IN("api", "misses", 1);
    }
    return value;
}

static void tidy(void) {
    TICKSCOPE_FUNCTION_IN("upkeep");
    int used = 0;
    for (int i = 0; i < 64; i++) used += store[i][0] != 0;
    TICKSCOPE_GAUGE_IN("upkeep", "places in use", used);
}

int main(int count, char **arguments) {
    time_t end = time(NULL) + (count > 1 ? atoi(arguments[1]) : 1);
    tickscope_session *session = tickscope_start("api");
    unsigned key = 1;
    size_t total = 0;
    while (time(NULL) <= end) {
        key = key * 1664525u + 1013904223u;
        if (key % 3 == 0) put(key >> 8, "some value");
        total += strlen(get(key >> 16));
        if (key % 100 == 0) tidy();
    }
    printf("%zu bytes read\n", total);
    tickscope_finish(session);
    return 0;
}
