/* Loads each library, calls its function "work" on two threads, writes its counts to a file named after FILE, and unloads
 * it. Does all this twice. Usage: host LIBRARY FILE ... */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

typedef int (*work_function)(int);
typedef int (*keep_function)(const char *);

static void *in_thread(void *work) {
    (*(work_function *)work)(3);
    return NULL;
}

int main(int count, char **arguments) {
    for (int round = 0; round < 2; round++) {
        for (int i = 1; i + 1 < count; i += 2) {
            pthread_t thread;
            work_function work;
            keep_function keep;
            char file[512];
            void *library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
            if (!library) {
                fprintf(stderr, "%s\n", dlerror());
                return 1;
            }
            *(void **)&work = dlsym(library, "work");
            *(void **)&keep = dlsym(library, "keep");
            work(5);
            pthread_create(&thread, NULL, in_thread, &work);
            pthread_join(thread, NULL);
            snprintf(file, sizeof file, "%s.%d.tks", arguments[i + 1], round);
            if (keep(file) != 0) return 2;
            dlclose(library);
        }
    }
    return 0;
}
