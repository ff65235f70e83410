/*
 * tickscope: a profiler that runs inside the program and is watched live from a terminal.
 *
 *     #include <tickscope.h>
 *
 *     static int parse(const char *text) {
 *         TICKSCOPE_FUNCTION();             // this function is a row
 *         for (; *text; text++) {
 *             TICKSCOPE_SCOPE("token");     // the rest of this block is a row below it
 *             TICKSCOPE_COUNT("bytes", 1);
 *         }
 *         return 0;
 *     }
 *
 *     int main(void) {
 *         tickscope_session *session = tickscope_start("app");
 *         parse("a b c");
 *         tickscope_finish(session);
 *     }
 *
 * Link with -ltickscope, run the program, and in another terminal run `tickscope app`. The header needs gcc or clang, and
 * C99, C++11 or later.
 *
 *   -DTICKSCOPE_DISABLE    the macros and functions do nothing: they compile to no instruction and no symbol, and the
 *                          library is not needed. This is always the case on systems other than Linux.
 *   -DTICKSCOPE_OPTIONAL   the program can also be linked without the library, and then measures nothing. Each scope costs
 *                          one additional check.
 *
 * To measure without changing the source: compile with -finstrument-functions, link with -ltickscope, and run with
 * TICKSCOPE=live.
 *
 * Every function may be called on any thread and at any call depth. In a signal handler, only scopes and counters may be
 * used.
 *
 * Every function accepts any value that another function returns. A session that is NULL or finished is ignored, and its
 * state is TICKSCOPE_COUNTING. A NULL string is an empty string. Nothing is written to a NULL buffer. Strings are UTF-8. In
 * a name or pattern, each byte that is not valid UTF-8, as in Latin-1 text, is shown and matched as an escape such as \xe9.
 * Paths may contain any bytes, and are not converted.
 */
#ifndef TICKSCOPE_H
#define TICKSCOPE_H

#include <stddef.h>
#include <stdint.h>

/* State of a session, as returned by tickscope_status. */
typedef enum tickscope_state {
    TICKSCOPE_PUBLISHING = 1, /* viewers can attach */
    TICKSCOPE_COUNTING = 2,   /* scopes are counted, but nothing is published; tickscope_warnings says why */
    TICKSCOPE_OFF = 3,        /* nothing is measured: TICKSCOPE=off, -DTICKSCOPE_DISABLE, or the library is missing */
    TICKSCOPE_UNSUPPORTED = 4 /* nothing is measured, because the system is not Linux */
} tickscope_state;

/* How scopes are measured. */
typedef enum tickscope_mode {
    TICKSCOPE_ADAPTIVE = 0, /* all calls are counted, but only some of the short calls are timed: the default */
    TICKSCOPE_EXACT = 1,    /* two clock reads in each call */
    TICKSCOPE_SAMPLED = 2,  /* no call reads the clock; a thread of the session samples where each thread is */
    TICKSCOPE_NOTHING = 3   /* nothing is measured */
} tickscope_mode;

/* The format of a report. TICKSCOPE_JSON, TICKSCOPE_SPEEDSCOPE and TICKSCOPE_PPROF need a library that was built with
 * the feature `export`. */
typedef enum tickscope_format {
    TICKSCOPE_TKS = 0, /* the snapshot itself, which `tickscope report FILE` converts to all other formats */
    TICKSCOPE_TEXT = 1,
    TICKSCOPE_HTML = 2,
    TICKSCOPE_FOLDED = 3,
    TICKSCOPE_CALLGRIND = 4,
    TICKSCOPE_JSON = 5,
    /* 6 is reserved: older versions used it for another format */
    TICKSCOPE_SPEEDSCOPE = 7,
    TICKSCOPE_PPROF = 8
} tickscope_format;

/* A session, from tickscope_start to tickscope_finish. */
typedef struct tickscope_session tickscope_session;

/* A place in the source. The macros below define a static variable of this type at each call site. */
typedef struct tickscope_site {
    const char *name;
    const char *file;
    const char *group;
    uint32_t line;
    uint32_t kind;
    void *made; /* used by the library; NULL at first */
} tickscope_site;

/* Casts and null pointers that cause no warning in C or C++. */
#ifdef __cplusplus
#define TICKSCOPE_CAST_(type, number) static_cast<type>(number)
#define TICKSCOPE_NULL_ nullptr
#else
#define TICKSCOPE_CAST_(type, number) ((type)(number))
#define TICKSCOPE_NULL_ NULL
#endif

static inline __attribute__((unused)) size_t tickscope_nothing_(char *text, size_t size) {
    if (text && size) *text = 0;
    return 0;
}

#if defined(TICKSCOPE_DISABLE) || !defined(__linux__)

static inline __attribute__((unused)) tickscope_session *tickscope_start(const char *name) { (void)name; return TICKSCOPE_NULL_; }
static inline __attribute__((unused)) void tickscope_finish(tickscope_session *session) { (void)session; }
static inline __attribute__((unused)) tickscope_state tickscope_status(const tickscope_session *session) {
    (void)session;
#ifdef TICKSCOPE_DISABLE
    return TICKSCOPE_OFF;
#else
    return TICKSCOPE_UNSUPPORTED;
#endif
}
static inline __attribute__((unused)) size_t tickscope_warnings(const tickscope_session *session, char *text, size_t size) {
    (void)session;
    return tickscope_nothing_(text, size);
}
static inline __attribute__((unused)) size_t tickscope_path(const tickscope_session *session, char *text, size_t size) {
    (void)session;
    return tickscope_nothing_(text, size);
}
static inline __attribute__((unused)) size_t tickscope_error(char *text, size_t size) { return tickscope_nothing_(text, size); }
static inline __attribute__((unused)) void tickscope_reset(void) {}
static inline __attribute__((unused)) void tickscope_request_reset(void) {}
static inline __attribute__((unused)) int tickscope_dump(const char *path, tickscope_format format) { (void)path; (void)format; return 0; }
static inline __attribute__((unused)) int tickscope_dump_to(int descriptor, tickscope_format format) {
    (void)descriptor; (void)format; return 0;
}
static inline __attribute__((unused)) int tickscope_set_mode(tickscope_mode mode) { (void)mode; return 0; }
static inline __attribute__((unused)) int tickscope_enable(const char *pattern) { (void)pattern; return 0; }
static inline __attribute__((unused)) int tickscope_disable(const char *pattern) { (void)pattern; return 0; }
static inline __attribute__((unused)) int tickscope_watch(const char *pattern) { (void)pattern; return 0; }
static inline __attribute__((unused)) void tickscope_include_thread(void) {}
static inline __attribute__((unused)) void tickscope_exclude_thread(void) {}

#define TICKSCOPE_SCOPE(name) ((void)0)
#define TICKSCOPE_SCOPE_IN(group, name) ((void)0)
#define TICKSCOPE_FUNCTION() ((void)0)
#define TICKSCOPE_FUNCTION_IN(group) ((void)0)
#define TICKSCOPE_WATCH(name) ((void)0)
#define TICKSCOPE_COUNT(name, amount) ((void)(amount))
#define TICKSCOPE_COUNT_IN(group, name, amount) ((void)(amount))
#define TICKSCOPE_VALUE(name, number) ((void)(number))
#define TICKSCOPE_VALUE_IN(group, name, number) ((void)(number))
#define TICKSCOPE_GAUGE(name, level) ((void)(level))
#define TICKSCOPE_GAUGE_IN(group, name, level) ((void)(level))

#else /* the program is measured */

#ifndef __GNUC__
#error "tickscope.h needs gcc or clang, or -DTICKSCOPE_DISABLE"
#endif

#ifdef TICKSCOPE_OPTIONAL
#define TICKSCOPE_API_ __attribute__((weak))
#define TICKSCOPE_HAS_(function) (function)
#else
#define TICKSCOPE_API_
#define TICKSCOPE_HAS_(function) 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ sessions */

/* Starts publishing under a name, or joins the session that is already running. When it returns, viewers can attach,
 * unless there was a problem. The function never fails and never stops the program; tickscope_warnings lists the
 * problems. A name has 1 to 64 characters from A-Z a-z 0-9 . _ - and does not consist of digits only. Any other name is
 * corrected. The settings come from the TICKSCOPE_* environment variables, which must be set before the first scope or
 * session. A session that is not finished ends with the program. Returns NULL only if the whole program measures
 * nothing: with -DTICKSCOPE_DISABLE, on systems where tickscope measures nothing, or without the library. */
TICKSCOPE_API_ tickscope_session *tickscope_start(const char *name);

/* Ends a session. If it is the last one, waits until its last record is written, but gives up after TICKSCOPE_END_MS
 * milliseconds (2000 by default) without progress. Does nothing if the session is NULL or already finished. */
TICKSCOPE_API_ void tickscope_finish(tickscope_session *session);

/* Returns the current state of a session, or TICKSCOPE_COUNTING if the session is NULL or already finished. */
TICKSCOPE_API_ tickscope_state tickscope_status(const tickscope_session *session);

/* Writes one line for each setting that could not be applied. The text is cut to `size` bytes, including the
 * terminating zero. Returns the length of the whole text in bytes without the zero, as snprintf does: 0 if there is no
 * warning or no session. Writes nothing if `text` is NULL or `size` is 0. */
TICKSCOPE_API_ size_t tickscope_warnings(const tickscope_session *session, char *text, size_t size);

/* Writes the path of the ring file, byte for byte. Cuts the path and returns its length as tickscope_warnings does.
 * Returns 0 if the file does not exist yet, or if there is no session. */
TICKSCOPE_API_ size_t tickscope_path(const tickscope_session *session, char *text, size_t size);

/* Writes the reason why the last failed call on this thread returned -1. Cuts the text and returns its length as
 * tickscope_warnings does. Returns 0 if no call has failed. */
TICKSCOPE_API_ size_t tickscope_error(char *text, size_t size);

/* ------------------------------------------------------------------ at any time */

/* Sets all counters of all threads to zero. Scopes that are open at the reset go on counting after it. */
TICKSCOPE_API_ void tickscope_reset(void);

/* Asks the publisher thread to reset all counters, and returns immediately. If there is no publisher, resets them
 * before it returns. */
TICKSCOPE_API_ void tickscope_request_reset(void);

/* Writes a report to a new file, either completely or not at all. No session is needed. Returns 0, or -1 on failure,
 * for instance if the file already exists, the path is NULL, or the format is unknown. If the library was built without
 * support for the format, writes the snapshot instead, with .tks appended to the file name. */
TICKSCOPE_API_ int tickscope_dump(const char *path, tickscope_format format);

/* Writes a report to an open file, pipe or socket, and waits until all of it is accepted. Returns 0, or -1 on failure.
 * Writing to a pipe without a reader is such a failure, and raises no SIGPIPE. */
TICKSCOPE_API_ int tickscope_dump_to(int descriptor, tickscope_format format);

/* Changes the mode of all threads. Returns 0, or -1 if there is no such mode. */
TICKSCOPE_API_ int tickscope_set_mode(tickscope_mode mode);

/* Enable or disable all sites that match a pattern, such as "parse" or "book::*". If several patterns match a site, the
 * last one decides. Return the number of known sites that match, or -1 on failure, for instance if the pattern is NULL,
 * empty or too long. */
TICKSCOPE_API_ int tickscope_enable(const char *pattern);
TICKSCOPE_API_ int tickscope_disable(const char *pattern);

/* Keeps slow calls of the functions that match a pattern, to compare them with typical calls. Returns 0, or -1 on
 * failure, for instance if the pattern is invalid. */
TICKSCOPE_API_ int tickscope_watch(const char *pattern);

/* Start or stop counting on the calling thread. */
TICKSCOPE_API_ void tickscope_include_thread(void);
TICKSCOPE_API_ void tickscope_exclude_thread(void);

/* ------------------------------------------------------------------ without the macros, for other languages */

/* Opens a scope. Returns NULL if the scope is not measured. The scope must be ended on the same thread, with
 * tickscope_leave. Each site may be used with only one of tickscope_enter, tickscope_count, tickscope_value and
 * tickscope_gauge. If the site is NULL, opens no scope. */
TICKSCOPE_API_ void *tickscope_enter(tickscope_site *site);

/* Ends a scope. Does nothing if the scope is NULL. If the scope has already ended, or was opened on another thread,
 * ends no scope, and the call is counted as unbalanced. */
TICKSCOPE_API_ void tickscope_leave(void *scope);

TICKSCOPE_API_ void tickscope_count(tickscope_site *site, uint64_t amount);
TICKSCOPE_API_ void tickscope_value(tickscope_site *site, uint64_t number);
TICKSCOPE_API_ void tickscope_gauge(tickscope_site *site, int64_t level);

/* For use by the macros. These functions do not check their arguments, which must not be NULL. */
TICKSCOPE_API_ void *tickscope_enter_(tickscope_site *site);
TICKSCOPE_API_ void tickscope_leave_(void *scope);
TICKSCOPE_API_ void tickscope_count_(tickscope_site *site, uint64_t amount);
TICKSCOPE_API_ void tickscope_value_(tickscope_site *site, uint64_t number);
TICKSCOPE_API_ void tickscope_gauge_(tickscope_site *site, int64_t level);

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef TICKSCOPE_OPTIONAL
/* Each of these macros calls the function of the same name, if the library is linked. Otherwise it does nothing, and
 * its value is the one that the function returns when nothing is measured. */
#define tickscope_start(name) (tickscope_start ? tickscope_start(name) : TICKSCOPE_NULL_)
#define tickscope_finish(session) (tickscope_finish ? tickscope_finish(session) : (void)(session))
#define tickscope_status(session) (tickscope_status ? tickscope_status(session) : TICKSCOPE_OFF)
#define tickscope_warnings(session, text, size) \
    (tickscope_warnings ? tickscope_warnings(session, text, size) : tickscope_nothing_(text, size))
#define tickscope_path(session, text, size) (tickscope_path ? tickscope_path(session, text, size) : tickscope_nothing_(text, size))
#define tickscope_error(text, size) (tickscope_error ? tickscope_error(text, size) : tickscope_nothing_(text, size))
#define tickscope_reset() (tickscope_reset ? tickscope_reset() : (void)0)
#define tickscope_request_reset() (tickscope_request_reset ? tickscope_request_reset() : (void)0)
#define tickscope_dump(path, format) (tickscope_dump ? tickscope_dump(path, format) : 0)
#define tickscope_dump_to(descriptor, format) (tickscope_dump_to ? tickscope_dump_to(descriptor, format) : 0)
#define tickscope_set_mode(mode) (tickscope_set_mode ? tickscope_set_mode(mode) : 0)
#define tickscope_enable(pattern) (tickscope_enable ? tickscope_enable(pattern) : 0)
#define tickscope_disable(pattern) (tickscope_disable ? tickscope_disable(pattern) : 0)
#define tickscope_watch(pattern) (tickscope_watch ? tickscope_watch(pattern) : 0)
#define tickscope_include_thread() (tickscope_include_thread ? tickscope_include_thread() : (void)0)
#define tickscope_exclude_thread() (tickscope_exclude_thread ? tickscope_exclude_thread() : (void)0)
#endif

#define TICKSCOPE_KIND_SCOPE_ 0u
#define TICKSCOPE_KIND_WATCHED_ 1u
#define TICKSCOPE_KIND_COUNTER_ 2u
#define TICKSCOPE_KIND_VALUE_ 3u
#define TICKSCOPE_KIND_GAUGE_ 4u
#define TICKSCOPE_KIND_FUNCTION_ 16u

#define TICKSCOPE_JOINED_(a, b) a##b
#define TICKSCOPE_JOIN_(a, b) TICKSCOPE_JOINED_(a, b)

/* Evaluates to the address of a new static site. The variable is local to the statement expression, so the other
 * arguments of the calling macro cannot refer to it by accident. It has the same name at every call site, so an inline
 * function has the same definition in every translation unit. */
#define TICKSCOPE_SITE_(kind, group, name) \
    __extension__({ \
        static tickscope_site tickscope_site_ = {name, __FILE__, group, TICKSCOPE_CAST_(uint32_t, __LINE__), kind, TICKSCOPE_NULL_}; \
        &tickscope_site_; \
    })

/* The variables of scopes are numbered, so that one line may open several scopes, even nested ones. gcc and clang have
 * __COUNTER__ for this. With -pedantic, clang 22 and later warn that __COUNTER__ is a C2y feature. The warning stays
 * off for the rest of the translation unit, because a pragma with a narrower range has no effect on macros in the
 * arguments of other macros. */
#if defined(__clang__) && __clang_major__ >= 22
#pragma clang diagnostic ignored "-Wc2y-extensions"
#endif

#ifdef __cplusplus

namespace tickscope {

/* An open scope, which ends at the end of its block. */
class scope {
public:
    explicit scope(tickscope_site *site) : open_(TICKSCOPE_HAS_(tickscope_enter_) ? tickscope_enter_(site) : nullptr) {}
    ~scope() {
        if (open_) tickscope_leave_(open_);
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;

private:
    void *open_;
};

} // namespace tickscope

#define TICKSCOPE_FUNCTION_NAME_ __PRETTY_FUNCTION__
#define TICKSCOPE_OPEN_(variable, site) const ::tickscope::scope variable(site)

#else

#define TICKSCOPE_FUNCTION_NAME_ __func__
#define TICKSCOPE_OPEN_(variable, site) \
    __attribute__((cleanup(tickscope_close_), unused)) void *variable = TICKSCOPE_HAS_(tickscope_enter_) ? tickscope_enter_(site) : NULL

static inline __attribute__((unused)) void tickscope_close_(void **scope) {
    if (*scope) tickscope_leave_(*scope);
}

#endif

#define TICKSCOPE_OPEN_SITE_(kind, group, name) \
    TICKSCOPE_OPEN_(TICKSCOPE_JOIN_(tickscope_scope_, __COUNTER__), TICKSCOPE_SITE_(kind, group, name))

#define TICKSCOPE_CALL_(function, kind, group, name, amount) \
    (TICKSCOPE_HAS_(function) ? function(TICKSCOPE_SITE_(kind, group, name), amount) : (void)0)

/* ------------------------------------------------------------------ macros
 *
 * Names and groups are string literals. A scope ends when its block is left in any way, including return, break, goto and
 * exceptions. After a longjmp, the scope stays open until an enclosing scope ends. In C, as in C++, a goto or a case label
 * must not jump over the opening of a scope into its block: clang rejects such a jump, and gcc warns about it with
 * -Wjump-misses-init.
 */

/* Opens a scope for the rest of the block. */
#define TICKSCOPE_SCOPE(name) TICKSCOPE_OPEN_SITE_(TICKSCOPE_KIND_SCOPE_, "", name)
#define TICKSCOPE_SCOPE_IN(group, name) TICKSCOPE_OPEN_SITE_(TICKSCOPE_KIND_SCOPE_, group, name)

/* Opens a scope for the rest of the block, named after the function. */
#define TICKSCOPE_FUNCTION() TICKSCOPE_FUNCTION_IN("")
#define TICKSCOPE_FUNCTION_IN(group) \
    TICKSCOPE_OPEN_SITE_(TICKSCOPE_KIND_SCOPE_ | TICKSCOPE_KIND_FUNCTION_, group, TICKSCOPE_FUNCTION_NAME_)

/* Opens a scope for the rest of the block. Its slow calls are kept, to compare them with typical calls: see
 * `tickscope why`. */
#define TICKSCOPE_WATCH(name) TICKSCOPE_OPEN_SITE_(TICKSCOPE_KIND_WATCHED_, "", name)

/* Counts one execution, and adds an amount to the counter's sum. */
#define TICKSCOPE_COUNT(name, amount) TICKSCOPE_COUNT_IN("", name, amount)
#define TICKSCOPE_COUNT_IN(group, name, amount) \
    TICKSCOPE_CALL_(tickscope_count_, TICKSCOPE_KIND_COUNTER_, group, name, TICKSCOPE_CAST_(uint64_t, amount))

/* Records a number for a value. A value keeps the sum, the minimum, the maximum and a histogram of its numbers. */
#define TICKSCOPE_VALUE(name, number) TICKSCOPE_VALUE_IN("", name, number)
#define TICKSCOPE_VALUE_IN(group, name, number) \
    TICKSCOPE_CALL_(tickscope_value_, TICKSCOPE_KIND_VALUE_, group, name, TICKSCOPE_CAST_(uint64_t, number))

/* Sets the level of a gauge. A gauge keeps its last, its lowest and its highest level. */
#define TICKSCOPE_GAUGE(name, level) TICKSCOPE_GAUGE_IN("", name, level)
#define TICKSCOPE_GAUGE_IN(group, name, level) \
    TICKSCOPE_CALL_(tickscope_gauge_, TICKSCOPE_KIND_GAUGE_, group, name, TICKSCOPE_CAST_(int64_t, level))

#endif /* measured */
#endif /* TICKSCOPE_H */
