#include <stdexcept>

namespace things {

struct Thing {
    long n;
    __attribute__((noinline)) long area(long k) const {
        if (k > 3) throw std::runtime_error("on purpose");
        return n * k;
    }
};

} // namespace things

extern "C" __attribute__((noinline)) long cpp_area(long k) {
    things::Thing thing{k + 1};
    try {
        return thing.area(k);
    } catch (const std::exception &) {
        return -1;
    }
}
