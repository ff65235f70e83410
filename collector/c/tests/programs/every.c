/* Uses everything in the header, in C and in C++. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tickscope.h>

#ifndef TICKSCOPE_DISABLE
#ifdef __cplusplus
#define ASSERT static_assert
#else
#define ASSERT _Static_assert
#endif
#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L
ASSERT(sizeof(tickscope_site) == 40 && offsetof(tickscope_site, made) == 32, "the library's layout");
ASSERT(offsetof(tickscope_site, name) == 0 && offsetof(tickscope_site, file) == 8, "the library's layout");
ASSERT(offsetof(tickscope_site, group) == 16 && offsetof(tickscope_site, line) == 24, "the library's layout");
ASSERT(offsetof(tickscope_site, kind) == 28, "the library's layout");
#endif
#endif

static int leaves(int how) {
    TICKSCOPE_FUNCTION();
    for (int i = 0; i < 3; i++) {
        TICKSCOPE_SCOPE("in loop");
        if (how == 0) break;
        if (how == 1) return 1;
        if (how == 2) goto out;
        if (how == 3) continue;
    }
out:
    return 0;
}

static void counts(int n) {
    TICKSCOPE_FUNCTION_IN("group");
    TICKSCOPE_COUNT("count", n);
    TICKSCOPE_COUNT_IN("group", "count in", n);
    TICKSCOPE_VALUE("value", n);
    TICKSCOPE_VALUE_IN("group", "value in", n);
    TICKSCOPE_GAUGE("gauge", -n);
    TICKSCOPE_GAUGE_IN("group", "gauge in", -n);
    TICKSCOPE_SCOPE_IN("group", "grouped");
    if (n > 5) TICKSCOPE_COUNT("without braces", 1);
    else TICKSCOPE_COUNT("otherwise", 1);
}

static int fail(const char *what) {
    char why[256];
    tickscope_error(why, sizeof why);
    fprintf(stderr, "%s: %s\n", what, why);
    return 1;
}

int main(int count, char **arguments) {
    tickscope_session *session = NULL;
    char text[512];
    tickscope_exclude_thread();
    leaves(1); /* this call does not count */
    tickscope_include_thread();
    session = tickscope_start("every");
    if (tickscope_set_mode(TICKSCOPE_EXACT) != 0) return fail("mode");
    leaves(0);
    tickscope_reset();
    for (int how = 0; how < 5; how++) leaves(how);
    for (int n = 0; n < 10; n++) counts(n);
    {
        TICKSCOPE_WATCH("watched");
    }
    if (tickscope_disable("in loop") < 0) return fail("disable");
    leaves(4);
    if (tickscope_enable("*") < 0) return fail("enable");
    leaves(4);
    if (tickscope_watch("leaves") != 0) return fail("watch");
    if (count > 1 && tickscope_dump(arguments[1], TICKSCOPE_TKS) != 0) return fail("dump");
    if (tickscope_dump_to(1, TICKSCOPE_TKS) != 0) return fail("dump to standard output");
    /* Failures set an error text. */
    if (count > 1 && tickscope_dump(arguments[1], TICKSCOPE_TKS) != -1) return fail("a file that exists was overwritten");
    if (count > 1 && (tickscope_error(text, sizeof text) == 0 || !strstr(text, "exist"))) return fail("said nothing");
    if (count > 1 && tickscope_dump_to(-1, TICKSCOPE_TEXT) != -1) return fail("a descriptor below 0 was written to");
    if (tickscope_status(session) == TICKSCOPE_UNSUPPORTED) return fail("status");
    fprintf(stderr, "%d %d %d\n", tickscope_status(session), tickscope_warnings(session, text, sizeof text) == 0,
            tickscope_path(session, NULL, 0) < sizeof text);
    tickscope_request_reset();
    tickscope_finish(session);
    tickscope_finish(NULL);
    return 0;
}
