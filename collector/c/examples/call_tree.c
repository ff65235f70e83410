/* Several threads, each with its own call tree. A program may reset and report at any time, even while scopes are open.
 *
 *     ./call_tree    prints a report of the warm-up, and a report of the time after it
 */
#include <pthread.h>
#include <stdio.h>
#include <tickscope.h>
#include <unistd.h>

enum { WORKERS = 3, JOBS = 200 };

static pthread_barrier_t warm;

static unsigned compress(unsigned block) {
    TICKSCOPE_FUNCTION();
    for (int i = 0; i < 300; i++) block = block * 22695477u + 1u;
    TICKSCOPE_VALUE("bytes", block % 4096);
    return block;
}

static unsigned handle(unsigned job) {
    TICKSCOPE_FUNCTION();
    unsigned sum = 0;
    for (unsigned block = 0; block < job % 5 + 1; block++) sum += compress(block);
    return sum;
}

static void *work(void *sum) {
    TICKSCOPE_SCOPE("worker");
    for (unsigned phase = 0; phase < 2; phase++) {
        for (unsigned job = 0; job < JOBS; job++) *(unsigned *)sum += handle(job);
        pthread_barrier_wait(&warm); /* the scope "worker" is open here */
        pthread_barrier_wait(&warm);
    }
    return NULL;
}

static void report(const char *title) {
    printf("---- %s\n", title);
    fflush(stdout);
    tickscope_dump_to(STDOUT_FILENO, TICKSCOPE_TEXT);
}

int main(void) {
    tickscope_session *session = tickscope_start("call-tree");
    pthread_t threads[WORKERS];
    unsigned sums[WORKERS] = {0};
    pthread_barrier_init(&warm, NULL, WORKERS + 1);
    for (int i = 0; i < WORKERS; i++) pthread_create(&threads[i], NULL, work, &sums[i]);
    pthread_barrier_wait(&warm);
    report("the warm-up");
    tickscope_reset();
    pthread_barrier_wait(&warm);
    pthread_barrier_wait(&warm);
    report("after it");
    pthread_barrier_wait(&warm);
    for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
    tickscope_finish(session);
    return 0;
}
