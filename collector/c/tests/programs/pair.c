/* The same function without scopes and with scopes. */
#include <tickscope.h>

int plain(const int *numbers, int count);
int scoped(const int *numbers, int count);

int plain(const int *numbers, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sum += numbers[i] * 3;
    }
    return sum;
}

int scoped(const int *numbers, int count) {
    TICKSCOPE_FUNCTION();
    int sum = 0;
    for (int i = 0; i < count; i++) {
        TICKSCOPE_SCOPE("number");
        TICKSCOPE_COUNT("numbers", 1);
        TICKSCOPE_GAUGE_IN("group", "place", i);
        sum += numbers[i] * 3;
    }
    return sum;
}
