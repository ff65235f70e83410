/* Names that are not UTF-8, and a scope that is opened before libc is initialized. */
#include <tickscope.h>

static void early(void) { TICKSCOPE_SCOPE("early"); }
__attribute__((section(".preinit_array"), used)) static void (*const at_the_beginning)(void) = early;

int main(int count, char **arguments) {
    (void)count;
    { TICKSCOPE_SCOPE("caf\xe9"); }
    { TICKSCOPE_SCOPE("caf\xe8"); }
    { TICKSCOPE_SCOPE("caf\xc3\xa9"); { TICKSCOPE_SCOPE_IN("gr\xfc" "n", "\xff"); } }
    TICKSCOPE_COUNT("\xe9t\xe9", 1);
    if (tickscope_disable("caf\xe8") != 1) return 1;
    { TICKSCOPE_SCOPE("after"); TICKSCOPE_COUNT("still", 1); }
    return tickscope_dump(arguments[1], TICKSCOPE_TKS) != 0;
}
