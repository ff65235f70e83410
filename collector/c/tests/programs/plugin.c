/* A library that is loaded while the program runs. */
#include <tickscope.h>

int work(int times);
int keep(const char *path);

int work(int times) {
    TICKSCOPE_FUNCTION();
    for (int i = 0; i < times; i++) {
        TICKSCOPE_SCOPE("of plugin");
        TICKSCOPE_COUNT("bytes", 2);
    }
    return times;
}

int keep(const char *path) { return tickscope_dump(path, TICKSCOPE_TKS); }
