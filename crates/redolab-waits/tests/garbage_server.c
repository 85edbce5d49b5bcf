/* A server whose processes publish garbage: for the tests of the reader. Linked with -rdynamic, so that
 * my_wait_event_info is exported as PostgreSQL exports it.
 *
 * The parent forks eight children and replaces those that end. Every word of the shared memory says
 * that it is an event of class 0x07 or 0x05; words elsewhere say 0x0bad0bad. With the argument
 * "private" the pointers never point into the shared memory. The parent writes one line when all
 * is set up and ends when its standard input closes. */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 8, WORDS = 1024, TURNS = 20000 };

static uint32_t own_word = 0x0bad0bad;
uint32_t *volatile my_wait_event_info = &own_word;

static uint32_t random_below(uint64_t *state, uint32_t limit) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % limit;
}

static uint32_t *some_place(uint64_t *state, char *shared, char *own, int private) {
    switch (random_below(state, private ? 4 : 12)) {
    case 0: return NULL;
    case 1: return (uint32_t *)(own + 4 * random_below(state, WORDS));
    case 2: return &own_word;
    case 3: return (uint32_t *)(uintptr_t)random_below(state, UINT32_MAX) + random_below(state, UINT32_MAX);
    case 4: return (uint32_t *)(shared + random_below(state, 4 * WORDS)); /* mostly unaligned */
    case 5: return (uint32_t *)(shared + 4 * WORDS - 2);
    case 6: return (uint32_t *)(shared + 4 * WORDS);
    default: return (uint32_t *)(shared + 4 * random_below(state, WORDS));
    }
}

static void child(int number, char *shared, int private) {
    uint64_t state = (uint64_t)number * 7919 + 1;
    char *own = mmap(NULL, 4 * WORDS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < WORDS; i++)
        ((uint32_t *)own)[i] = 0x0bad0bad;
    for (int turn = 0; turn < TURNS; turn++) {
        my_wait_event_info = some_place(&state, shared, own, private);
        for (int i = random_below(&state, 8); i > 0; i--) {
            uint32_t class = random_below(&state, 2) ? 0x07000000u : 0x05000000u;
            ((volatile uint32_t *)shared)[random_below(&state, WORDS)] = class | random_below(&state, 100);
        }
        if (random_below(&state, 4) == 0)
            usleep(random_below(&state, 2000));
        if (random_below(&state, 2000) == 0)
            execl("/bin/sleep", "sleep", "0.05", (char *)NULL);
        if (random_below(&state, 500) == 0)
            _exit(0);
    }
    _exit(0);
}

int main(int argc, char **argv) {
    int private = argc > 1 && strcmp(argv[1], "private") == 0;
    char *shared = mmap(NULL, 4 * WORDS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct pollfd input = {.fd = 0, .events = POLLIN};
    int number = 0, alive = 0, said = 0;
    for (int i = 0; i < WORDS; i++)
        ((uint32_t *)shared)[i] = 0x07000000;
    while (poll(&input, 1, 1) == 0) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            alive--;
        for (; alive < CHILDREN; alive++, number++)
            if (fork() == 0)
                child(number, shared, private);
        if (!said && write(1, "ready\n", 6) != 6)
            return 1;
        said = 1;
    }
    return 0;
}
