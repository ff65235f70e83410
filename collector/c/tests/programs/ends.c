/* Runs for a millisecond and ends in the given way: ends WAY. Whatever the way, the scope "work" is opened a hundred
 * times. */
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
    /* With "live", the test sets TICKSCOPE=live, which has already begun a session. */
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
