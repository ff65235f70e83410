// A program without tickscope in its source, compiled with -finstrument-functions. How often each function is called is known.
#include <alloca.h>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <ucontext.h>

static std::jmp_buf back;

// Leaves copies of its return address on the stack. They stay in a part of the next function's frame that is never written.
extern "C" void leaves_copies() {
    void *volatile copies[400];
    for (int i = 0; i < 400; i++) copies[i] = __builtin_return_address(0);
    if (!copies[399]) std::puts("");
}
extern "C" void jumps() { std::longjmp(back, 1); }
extern "C" void jumps_far() {
    volatile char large[3000];
    large[0] = 1;
    if (large[0] != 1) std::puts("");
    std::longjmp(back, 1);
}
extern "C" void stays() {
    volatile char small[200];
    small[0] = 1;
    if (small[0] != 1) std::puts("");
}

static inline int inlined(int x) { return x * 3 + 1; }
int inlines(int x) {
    int sum = 0;
    for (int i = 0; i < x; i++) sum += inlined(sum);
    return sum;
}

int throws(int n) {
    if (n == 0) throw 7;
    volatile int r = throws(n - 1);
    return r + 1;
}
int catches() {
    try {
        return throws(4);
    } catch (int e) {
        return e;
    }
}

int grows(int n) {
    char *bytes = static_cast<char *>(alloca(n));
    std::memset(bytes, 1, n);
    stays();
    return bytes[n - 1];
}

int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

namespace shapes {
template <class T> struct Square {
    T side;
    explicit Square(T s) : side(s) {}
    T area() const { return side * side; }
};
} // namespace shapes

static void *thread(void *sum) {
    *static_cast<int *>(sum) = fib(8);
    return nullptr;
}

static ucontext_t outside, inside;
static void coroutine() {
    fib(3);
    swapcontext(&inside, &outside);
    fib(3);
}

int main() {
    // One call site, and functions with frames of different sizes, some of which do not return.
    void (*const acts[])() = {leaves_copies, jumps, jumps_far, stays, jumps, stays};
    for (volatile int k = 0; k < 30; k = k + 1) {
        if (!setjmp(back)) acts[k % 6]();
    }
    volatile int sum = inlines(10);
    for (int i = 0; i < 5; i++) sum = sum + catches();
    for (int i = 0; i < 5; i++) sum = sum + grows(100 * (i + 1));
    sum = sum + fib(10);
    sum = sum + shapes::Square<int>(3).area() + static_cast<int>(shapes::Square<double>(1.5).area());
    int sums[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], nullptr, thread, &sums[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], nullptr);
    static char stack[1 << 16];
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    swapcontext(&outside, &inside);
    sum = sum + fib(2);
    swapcontext(&outside, &inside);
    std::printf("%d\n", sum + sums[0] + sums[1]);
    return 0;
}
