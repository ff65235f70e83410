/* Macros that share a line, that are nested, or that are arguments of other macros must cause no warning. */
#include <tickscope.h>

#define TWO(name) TICKSCOPE_SCOPE(name " one"); TICKSCOPE_SCOPE(name " two")
#define BODY(...) do { __VA_ARGS__ } while (0)

enum kind { SMALL, LARGE };
int on_one_line(int n, unsigned long u, double d, enum kind kind);

static inline int counted(int n) { TICKSCOPE_FUNCTION(); TICKSCOPE_COUNT("in it", n); return n; }

int on_one_line(int n, unsigned long u, double d, enum kind kind) {
    TWO("line");
    TICKSCOPE_SCOPE("a"); TICKSCOPE_SCOPE("b"); { TICKSCOPE_SCOPE("c"); { TICKSCOPE_WATCH("d"); { TICKSCOPE_FUNCTION(); } } }
    BODY(TICKSCOPE_SCOPE("e"); TICKSCOPE_COUNT("f", 1); { TICKSCOPE_SCOPE("g"); });
    TICKSCOPE_COUNT("outer", counted(n)); TICKSCOPE_COUNT("u", u); TICKSCOPE_VALUE("v", d); TICKSCOPE_GAUGE("kind", kind);
    if (n) TICKSCOPE_COUNT("y", 1); else TICKSCOPE_COUNT("z", 1);
    return n;
}

int main(int count, char **arguments) {
    tickscope_session *session = tickscope_start("lines");
    const tickscope_state state = tickscope_status(session);
    int result = on_one_line(count, 2, 3.5, LARGE) - count;
    if (count > 1) result += tickscope_dump(arguments[1], TICKSCOPE_TKS);
    if (state == TICKSCOPE_UNSUPPORTED) result = 1;
    tickscope_finish(session);
    return result;
}
