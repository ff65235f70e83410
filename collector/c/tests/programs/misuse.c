/* Calls each function with invalid arguments, and with every value that another function may return. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <tickscope.h>
#include <unistd.h>

static int failed;

static void check_at(int line, int is_right) {
    char why[256];
    if (is_right) return;
    failed = 1;
    tickscope_error(why, sizeof why);
    fprintf(stderr, "line %d: %s\n", line, why);
}
#define CHECK(is_right) check_at(__LINE__, is_right)

/* Returns whether a call failed with an error that contains the given text. */
static int fails(int result, const char *said) {
    char why[512];
    size_t length = tickscope_error(why, sizeof why);
    return result == -1 && length == strlen(why) && strstr(why, said) != NULL;
}

static tickscope_site site = {"by hand", __FILE__, "", 1, 0, NULL};
static tickscope_site nameless = {NULL, NULL, NULL, 0, 0, NULL};
static tickscope_site unknown = {"unknown kind", __FILE__, "", 2, 99, NULL};
static tickscope_site counter = {"counter", __FILE__, "", 3, 2, NULL};
static tickscope_site value = {"value", __FILE__, "", 4, 3, NULL};
static tickscope_site gauge = {"gauge", __FILE__, "", 5, 4, NULL};

static void sites(void) {
    tickscope_site *all[] = {&site, &nameless, &unknown, &counter, &value, &gauge};
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            void *scope = tickscope_enter(all[i]);
            tickscope_count(all[i], 1);
            tickscope_value(all[i], 1);
            tickscope_gauge(all[i], -1);
            tickscope_leave(scope);
        }
    }
}

/* A NULL site counts nothing. The variable is volatile, so that the compiler does not know its value. */
static tickscope_site *volatile none;

static void no_site(void) {
    CHECK(tickscope_enter(none) == NULL);
    tickscope_leave(tickscope_enter(none));
    tickscope_count(none, 1);
    tickscope_value(none, 1);
    tickscope_gauge(none, -1);
}

static void *leave_in_thread(void *scope) {
    tickscope_leave(scope);
    tickscope_leave(NULL);
    return NULL;
}

static void scopes(void) {
    pthread_t thread;
    void *outer = tickscope_enter(&site), *inner = tickscope_enter(&counter);
    tickscope_leave(NULL);
    tickscope_leave(outer);
    tickscope_leave(inner);
    tickscope_leave(inner);
    tickscope_exclude_thread();
    CHECK(tickscope_enter(&site) == NULL);
    tickscope_leave(tickscope_enter(&site));
    tickscope_include_thread();
    pthread_create(&thread, NULL, leave_in_thread, tickscope_enter(&site));
    pthread_join(thread, NULL);
    /* This scope has already ended, so the call has no effect on any scope. */
    tickscope_leave(outer);
}

static void sessions(void) {
    char text[8];
    tickscope_session *last = NULL, *one = tickscope_start(NULL), *two = tickscope_start("");
    tickscope_session *three = tickscope_start("a name / that is none \xe9"), *ended[4];
    CHECK(one && two && three && one != two);
    CHECK(tickscope_warnings(three, NULL, 0) > 0 && tickscope_warnings(three, NULL, 8) > 0);
    tickscope_finish(two);
    tickscope_finish(three);
    ended[0] = NULL, ended[1] = two, ended[2] = three, ended[3] = (tickscope_session *)(void *)&last;
    for (int i = 0; i < 4; i++) {
        tickscope_finish(ended[i]);
        CHECK(tickscope_status(ended[i]) == TICKSCOPE_COUNTING);
        strcpy(text, "before");
        CHECK(tickscope_warnings(ended[i], text, sizeof text) == 0 && text[0] == 0);
        strcpy(text, "before");
        CHECK(tickscope_path(ended[i], text, sizeof text) == 0 && text[0] == 0);
        CHECK(tickscope_warnings(ended[i], NULL, 0) == 0 && tickscope_path(ended[i], NULL, 9) == 0);
    }
    CHECK(tickscope_path(one, text, 0) == tickscope_path(one, NULL, sizeof text));
    tickscope_finish(one);
    tickscope_finish(one);
    last = tickscope_start("again");
    CHECK(last != one && last != two && last != three);
}

static void texts(const char *kept) {
    char text[4] = "abc";
    const char *none[] = {NULL, "", "a\nb", "\x01"};
    int pipes[2];
    /* No call has failed yet. */
    CHECK(tickscope_error(NULL, 0) == 0 && tickscope_error(text, sizeof text) == 0 && text[0] == 0);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        CHECK(fails(tickscope_enable(none[i]), "pattern"));
        CHECK(fails(tickscope_disable(none[i]), "pattern"));
        CHECK(fails(tickscope_watch(none[i]), "pattern"));
    }
    CHECK(tickscope_error(text, 2) > 3 && text[1] == 0);
    CHECK(fails(tickscope_set_mode((tickscope_mode)99), "no mode 99"));
    CHECK(fails(tickscope_set_mode((tickscope_mode)-1), "no mode -1"));
    CHECK(fails(tickscope_dump(NULL, TICKSCOPE_TKS), "no dump: "));
    CHECK(fails(tickscope_dump("", TICKSCOPE_TKS), "no dump: "));
    CHECK(fails(tickscope_dump("/", TICKSCOPE_TKS), "no dump: "));
    CHECK(fails(tickscope_dump(kept, (tickscope_format)99), "no form 99"));
    CHECK(fails(tickscope_dump_to(1, (tickscope_format)-1), "no form -1"));
    CHECK(fails(tickscope_dump_to(-1, TICKSCOPE_TKS), "-1"));
    CHECK(fails(tickscope_dump_to(1 << 20, TICKSCOPE_TKS), "1048576"));
    /* Writing to a pipe without a reader, or to the reading end of a pipe, is an error and raises no signal. */
    if (pipe(pipes)) return;
    CHECK(fails(tickscope_dump_to(pipes[0], TICKSCOPE_TKS), "no dump: descriptor"));
    close(pipes[0]);
    CHECK(fails(tickscope_dump_to(pipes[1], TICKSCOPE_TKS), "no dump: descriptor"));
    close(pipes[1]);
}

int main(int count, char **arguments) {
    struct sigaction now;
    if (count < 2) return 2;
    texts(arguments[1]);
    no_site();
    sites();
    scopes();
    sessions();
    tickscope_reset();
    tickscope_request_reset();
    tickscope_include_thread();
    tickscope_exclude_thread();
    tickscope_exclude_thread();
    scopes();
    sites();
    CHECK(sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    puts("all");
    return failed;
}
