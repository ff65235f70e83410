// A C++ program whose functions are entered and left in all ways that there are. Each act prints what it computes, which a
// profiler must not change. Without an argument all run that come back.

#include <cmath>
#include <cstdarg>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#define KEEP __attribute__((noinline))

namespace zoo {

static volatile long sink;

// Only what calls itself through a pointer that the compiler cannot see is surely a call.
template <class F> KEEP F *hidden(F *f) {
    F *volatile kept = f;
    return kept;
}

static KEEP long fib(long n) { return n < 2 ? n : hidden(fib)(n - 1) + hidden(fib)(n - 2); }

// Templates and lambdas.
template <class T> struct Box {
    T value;
    explicit KEEP Box(T v) : value(v) { sink = sink + 1; }
    KEEP ~Box() { sink = sink - 1; }
    KEEP T held() const { return value; }
    static KEEP T twice(T v) { return v + v; }
};

template <class F> KEEP long apply(const F &f, long n) { return f(n); }

KEEP long templates() {
    long sum = 0;
    for (long i = 0; i < 100; i++) {
        Box<long> whole(i);
        Box<double> half(i / 2.0);
        sum += whole.held() + long(half.held()) + Box<long>::twice(i);
        sum += apply([&](long n) KEEP { return n + sum % 7; }, i);
    }
    return sum;
}

// Virtual calls.
struct Animal {
    virtual ~Animal() = default;
    virtual long speak() const = 0;
};
struct Dog : Animal {
    long n;
    explicit Dog(long n) : n(n) {}
    KEEP long speak() const override { return n * 2; }
};
struct Cat : Animal {
    long n;
    explicit Cat(long n) : n(n) {}
    KEEP long speak() const override { return n * 3; }
};

KEEP long dynamic() {
    std::vector<std::unique_ptr<Animal>> all;
    for (long i = 0; i < 4; i++) {
        if (i % 2) all.push_back(std::make_unique<Cat>(i)); else all.push_back(std::make_unique<Dog>(i));
    }
    long sum = 0;
    for (int i = 0; i < 100; i++) sum += all[i % 4]->speak();
    return sum;
}

// Exceptions, with destructors that run meanwhile.
struct Counts {
    long *count;
    KEEP ~Counts() { *count += 1; }
};

KEEP long throws(int depth) {
    if (depth == 0) throw std::runtime_error("on purpose");
    return hidden(throws)(depth - 1) + 1;
}

KEEP long unwinds(long *count) {
    Counts one{count}, two{count};
    return throws(3);
}

KEEP long exceptions() {
    long caught = 0, dropped = 0;
    for (int i = 0; i < 20; i++) {
        try {
            unwinds(&dropped);
        } catch (const std::exception &e) {
            caught += long(strlen(e.what()));
        }
    }
    // One that is thrown again on the way.
    for (int i = 0; i < 10; i++) {
        try {
            try {
                throws(1);
            } catch (...) {
                throws(2);
            }
        } catch (const std::runtime_error &) {
            caught++;
        }
    }
    return caught * 1000 + dropped;
}

// longjmp leaves functions without a word.
static jmp_buf place;

KEEP void jumps(int depth) {
    if (depth == 0) longjmp(place, 7);
    hidden(jumps)(depth - 1);
    sink = sink + 1;
}

KEEP long longjmps() {
    volatile long sum = 0;
    for (volatile int i = 0; i < 25; i = i + 1) {
        int code = setjmp(place);
        if (code == 0) jumps(3);
        sum = sum + code;
    }
    return sum;
}

// Tail calls: each function ends by a jump to the other.
KEEP long odd(long n);
KEEP long even(long n) {
    if (n == 0) return 1;
    __attribute__((musttail)) return odd(n - 1);
}
KEEP long odd(long n) {
    if (n == 0) return 0;
    __attribute__((musttail)) return even(n - 1);
}

// More arguments and results than fit into the usual registers.
KEEP double many(double a, double b, double c, double d, double e, double f, double g, double h, double i, long j, long k,
                 long l, long m, long n, long o, long p) {
    return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + i * 9 + double(j + k * 2 + l * 3 + m * 4 + n * 5 + o * 6 + p * 7);
}

KEEP long double precise(long double x, _Complex double y) { return sqrtl(x) + __real__ y + __imag__ y; }

struct Large { long parts[9]; };
KEEP Large large(long n) { Large made; for (int i = 0; i < 9; i++) made.parts[i] = n + i; return made; }

KEEP long variadic(const char *format, ...) {
    char text[64];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return length + text[length - 1];
}

// A convention in which all registers but one are the caller's.
__attribute__((preserve_most)) KEEP void preserves(long n) { sink = n; }
KEEP long preserving(unsigned long a, unsigned long b, unsigned long c, unsigned long d, unsigned long e, unsigned long f) {
    unsigned long x = a * 3, y = b * 5, z = c * 7, u = d * 11, v = e * 13, w = f * 17, p = a + b, q = b + c, r = c + d, t = d + e;
    for (int i = 0; i < 100; i++) {
        preserves(i);
        x += y ^ z, y += z ^ u, z += u ^ v, u += v ^ w, v += w ^ x, w += x ^ p, p += q ^ r, q += r ^ t, r += t ^ x, t += p ^ y;
    }
    return long((x + y + z + u + v + w + p + q + r + t) & 0xffff);
}

typedef double Four __attribute__((vector_size(32)));
__attribute__((target("avx"))) KEEP Four wide(Four a, Four b) { return a * b + a; }
__attribute__((target("avx"))) KEEP double vectors() {
    if (!__builtin_cpu_supports("avx")) return 168;
    Four sum = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++) sum += wide(Four{1, 2, 3, 4}, Four{double(i), 1, 2, 3});
    return sum[0] + sum[1] + sum[2] + sum[3];
}

KEEP double registers() {
    double sum = many(1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7);
    _Complex double number = 3.0;
    sum += double(precise(2.25L, number));
    sum += double(large(5).parts[8]) + double(variadic("%s %.1f %d", "text", 2.5, 42)) + vectors();
    sum += double(preserving(1, 2, 3, 4, 5, 6));
    return sum;
}

// Threads, of both kinds, and those that end in the middle.
static KEEP void *ends(void *n) {
    if (fib(5) == 5) pthread_exit(n);
    return nullptr;
}

KEEP void leaves(long n) { ends(reinterpret_cast<void *>(n)); }
static void *starts(void *n) { leaves(reinterpret_cast<long>(n)); return nullptr; }

KEEP long threads() {
    long sums[20] = {}, sum = 0;
    std::vector<std::thread> all;
    for (long i = 0; i < 20; i++) all.emplace_back([&sums, i] { sums[i] = fib(i % 10); });
    for (auto &one : all) one.join();
    for (long one : sums) sum += one;
    for (long i = 0; i < 20; i++) {
        pthread_t thread;
        void *result = nullptr;
        pthread_create(&thread, nullptr, starts, reinterpret_cast<void *>(i));
        pthread_join(thread, &result);
        sum += reinterpret_cast<long>(result);
    }
    return sum;
}

// Handlers, on the thread's stack and on one of their own.
static volatile sig_atomic_t handled;
KEEP void in_handler() { handled = handled + 1; }
static KEEP void handler(int) { in_handler(); }

KEEP long signals() {
    static char stack[64 * 1024];
    for (int own : {0, SA_ONSTACK}) {
        stack_t other = {};
        other.ss_sp = stack;
        other.ss_size = sizeof stack;
        sigaltstack(&other, nullptr);
        struct sigaction action = {};
        action.sa_handler = handler;
        action.sa_flags = own;
        sigaction(SIGUSR1, &action, nullptr);
        for (int i = 0; i < 10; i++) raise(SIGUSR1);
    }
    return handled;
}

// A copy of the process, and another program in its place.
KEEP long forks() {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        long sum = fib(10);
        printf("child %ld\n", sum);
        fflush(stdout);
        _exit(int(sum));
    }
    int status = 0;
    waitpid(child, &status, 0);
    long sum = WEXITSTATUS(status);
    child = vfork();
    if (child == 0) {
        in_handler();
        execl("/bin/sh", "sh", "-c", "exit 9", static_cast<char *>(nullptr));
        _exit(1);
    }
    waitpid(child, &status, 0);
    return sum * 100 + WEXITSTATUS(status);
}

// A function that never comes back.
[[noreturn]] KEEP void diverges(int depth) {
    if (depth == 0) exit(7);
    hidden(diverges)(depth - 1);
    __builtin_unreachable();
}

// The other ways to end.
KEEP void quits(int code) { if (fib(3) == 2) quick_exit(code); }
KEEP void aborts() { if (fib(3) == 2) abort(); }

// Before and after main.
struct Global {
    long value;
    KEEP Global() : value(fib(6)) {}
    KEEP ~Global() { printf("global %ld\n", fib(7)); }
};
static Global global;

static KEEP void at_exit() { printf("at exit %ld\n", fib(8)); }

} // namespace zoo

static void run(const std::string &act) {
    using namespace zoo;
    if (act == "fib") printf("fib %ld\n", fib(15));
    else if (act == "templates") printf("templates %ld\n", templates());
    else if (act == "dynamic") printf("dynamic %ld\n", dynamic());
    else if (act == "exceptions") printf("exceptions %ld\n", exceptions());
    else if (act == "longjmps") printf("longjmps %ld\n", longjmps());
    else if (act == "tail") printf("tail %ld %ld\n", even(1000), odd(7));
    else if (act == "registers") printf("registers %.3f\n", registers());
    else if (act == "threads") printf("threads %ld\n", threads());
    else if (act == "signals") printf("signals %ld\n", signals());
    else if (act == "forks") printf("forks %ld\n", forks());
    else if (act == "diverges") diverges(5);
    else if (act == "quits") quits(5);
    else if (act == "aborts") aborts();
    else exit(64);
}

int main(int argc, char **argv) {
    using namespace zoo;
    atexit(at_exit);
    printf("before %ld\n", global.value);
    std::vector<std::string> acts(argv + 1, argv + argc);
    if (acts.empty())
        acts = {"fib", "templates", "dynamic", "exceptions", "longjmps", "tail", "registers", "threads", "signals", "forks"};
    for (const auto &act : acts) run(act);
    return 0;
}
