/* A program that runs for a millisecond and ends in a given way: ends WAY. Before each end, "work" is called a
 * hundred times. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tickscope.h"

static void work(void) {
    for (int i = 0; i < 50; i++) {
        TICKSCOPE_SCOPE("work");
    }
}

static void *last(void *nothing) {
    work();
    return nothing;
}

int main(int count, char **arguments) {
    const char *way = count > 1 ? arguments[1] : "";
    /* TICKSCOPE=live has begun a session already. */
    tickscope_session *session = strcmp(way, "live") == 0 ? NULL : tickscope_start("ends");
    work();
    if (strcmp(way, "last thread") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, last, NULL) != 0) return 1;
        pthread_exit(NULL);
    }
    work();
    if (strcmp(way, "finish") == 0) tickscope_finish(session);
    if (strcmp(way, "exit") == 0) exit(0);
    return 0;
}
