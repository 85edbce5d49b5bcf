/*
 * An emulated log device for a database server.
 *
 * What a commit costs depends on how long a flush of the log takes, and a laboratory has one
 * disk, not many. This library is preloaded into a server (LD_PRELOAD in its environment; what
 * it forks inherits it). It lets each fdatasync and fsync run as always and then, when the file
 * is one of the server's logs, keeps the caller asleep until the flush has taken as long as the
 * experiment asked for. The data is as safe as before.
 *
 * REDOLAB_LOG_DEVICE names the control page: a file of 4096 bytes made by whoever starts the
 * server. It is mapped shared, so the delays can change while the server runs and the counts can
 * be read from outside without asking the server. If it is missing, too short or carries
 * another magic number, both calls stay exactly as they were.
 *
 * A server has up to two logs, and there are up to two devices. Two logs on one device wait for
 * one another; each on a device of its own, they do not.
 *
 * The control page, version 2: uint64 slots in little-endian order, each read and written
 * atomically, then strings. What stands there as "given" is read once, on start.
 *
 *   byte
 *      0  magic             0x5245444f4c4f4732 ("REDOLOG2"), written by the maker of the file
 *      8  attached          processes that mapped the page on start (the server is one), so
 *                           the maker of the file can tell an armed server from one that is not
 *     16  device 0: delay_ns      least time of one flush; 0 leaves the device as it is.
 *                                 Written outside at any time
 *     24            free_ns       CLOCK_MONOTONIC time at which the device is next free
 *     32  device 1: the same two slots
 *     48  log 0:    device        given: 0 or 1
 *     56            flushes       successful flushes of its files
 *     64            requested_ns  sum of the delays asked for, one per flush
 *     72            real_ns       sum of the time the real calls took
 *     80            delivered_ns  sum of the time the callers saw, real call, queue and sleep together
 *     88            delivered_max_ns  the longest of these
 *     96  log 1:    the same six slots
 *   1024  log 0:    start         given: how the path of each of its files begins, with the data
 *                                 directory in it; ends with a zero within 1536 bytes. Empty, or
 *                                 without that zero: there is no such log
 *   2560  log 1:    the same
 *
 * A device serves one flush at a time: a second flush that begins meanwhile waits its turn.
 * A server lets one session flush a log at a time anyway, but not everywhere (a new segment of
 * PostgreSQL's is flushed by whoever makes it), and two delays that overlap would be a faster
 * device than asked.
 *
 * Not delayed: a log that is flushed inside write() (O_SYNC, O_DSYNC), one that is mapped from
 * memory, and one that a link leads out of the data directory.
 */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the control page is little-endian and is shared as it stands in memory"
#endif

#define PAGE_BYTES 4096
#define MAGIC UINT64_C(0x5245444f4c4f4732)
#define NS_PER_S UINT64_C(1000000000)
#define DEVICES 2
#define LOGS 2
#define STARTS_AT 1024
#define START_BYTES 1536

struct device {
    _Atomic uint64_t delay_ns;
    _Atomic uint64_t free_ns;
};

struct log {
    _Atomic uint64_t device;
    _Atomic uint64_t flushes;
    _Atomic uint64_t requested_ns;
    _Atomic uint64_t real_ns;
    _Atomic uint64_t delivered_ns;
    _Atomic uint64_t delivered_max_ns;
};

struct control_page {
    _Atomic uint64_t magic;
    _Atomic uint64_t attached;
    struct device devices[DEVICES];
    struct log logs[LOGS];
    char unused[STARTS_AT - (2 + 2 * DEVICES + 6 * LOGS) * sizeof(uint64_t)];
    char starts[LOGS][START_BYTES];
};

_Static_assert(sizeof(struct control_page) == PAGE_BYTES, "the page is as the comment above has it");

/* A log as the page gave it on start: what is written there later cannot lead out of bounds. */
struct known_log {
    size_t length; /* of its start; 0: there is none */
    char start[START_BYTES];
    struct device *device;
    struct log *log;
};

typedef int (*flush_function)(int);

static struct control_page *page; /* NULL: both calls stay as they were */
static struct known_log known[LOGS];
static flush_function real_fdatasync;
static flush_function real_fsync;

static void know_logs(struct control_page *given)
{
    for (int number = 0; number < LOGS; number++) {
        struct known_log *one = &known[number];
        uint64_t device = atomic_load(&given->logs[number].device);
        memcpy(one->start, given->starts[number], START_BYTES);
        size_t length = strnlen(one->start, START_BYTES);
        if (length == START_BYTES || device >= DEVICES)
            continue;
        one->length = length;
        one->device = &given->devices[device];
        one->log = &given->logs[number];
    }
}

__attribute__((constructor)) static void attach(void)
{
    real_fdatasync = (flush_function)dlsym(RTLD_NEXT, "fdatasync");
    real_fsync = (flush_function)dlsym(RTLD_NEXT, "fsync");

    const char *path = getenv("REDOLAB_LOG_DEVICE");
    if (path == NULL)
        return;
    /* O_CLOEXEC: a server starts other programs (archive_command) that must not hold the file. */
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    struct stat status;
    void *mapping = MAP_FAILED;
    /* Touching a page past the end of a shorter file would kill the server with SIGBUS. */
    if (fstat(fd, &status) == 0 && status.st_size >= PAGE_BYTES)
        mapping = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapping == MAP_FAILED)
        return;
    struct control_page *candidate = mapping;
    if (atomic_load(&candidate->magic) != MAGIC) {
        munmap(mapping, PAGE_BYTES);
        return;
    }
    know_logs(candidate);
    page = candidate;
    atomic_fetch_add(&page->attached, 1);
    /* The kernel may wake a sleeper 50 us late to batch its timers, which is a whole flush on a
     * fast device. Forked processes inherit the setting. */
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Reads the name from the kernel each time rather than remember it: the server closes and reuses
 * its descriptors as it likes, and the reading costs about a microsecond. */
static const struct known_log *log_of(int fd)
{
    char link[32];
    char path[PAGE_BYTES];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path);
    for (int number = 0; number < LOGS; number++) {
        const struct known_log *one = &known[number];
        if (one->length != 0 && length >= (ssize_t)one->length
            && memcmp(path, one->start, one->length) == 0)
            return one;
    }
    return NULL;
}

/* Takes the device's next free stretch of delay_ns, not before begin_ns; returns its end. */
static uint64_t reserve(struct device *device, uint64_t begin_ns, uint64_t delay_ns)
{
    uint64_t free_ns = atomic_load(&device->free_ns);
    uint64_t end_ns;
    do {
        end_ns = (begin_ns > free_ns ? begin_ns : free_ns) + delay_ns;
    } while (!atomic_compare_exchange_weak(&device->free_ns, &free_ns, end_ns));
    return end_ns;
}

/* Sleeps to an absolute time, so a signal (the server uses many) neither shortens the delay nor
 * starts it again. Returns at once when the time is past. */
static void sleep_until(uint64_t end_ns)
{
    struct timespec end = {
        .tv_sec = (time_t)(end_ns / NS_PER_S),
        .tv_nsec = (long)(end_ns % NS_PER_S),
    };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
        ;
}

static void count_flush(struct log *log, uint64_t delay_ns, uint64_t real_ns, uint64_t delivered_ns)
{
    atomic_fetch_add(&log->flushes, 1);
    atomic_fetch_add(&log->requested_ns, delay_ns);
    atomic_fetch_add(&log->real_ns, real_ns);
    atomic_fetch_add(&log->delivered_ns, delivered_ns);
    uint64_t longest_ns = atomic_load(&log->delivered_max_ns);
    while (delivered_ns > longest_ns
           && !atomic_compare_exchange_weak(&log->delivered_max_ns, &longest_ns, delivered_ns))
        ;
}

static int flush(flush_function real_call, int fd)
{
    if (real_call == NULL) {
        errno = ENOSYS;
        return -1;
    }
    if (page == NULL)
        return real_call(fd);

    uint64_t begin_ns = now_ns();
    int result = real_call(fd);
    int error = errno; /* the server looks at errno, and every call below may change it */
    uint64_t real_end_ns = now_ns();
    const struct known_log *one = result == 0 ? log_of(fd) : NULL;
    if (one != NULL) {
        uint64_t delay_ns = atomic_load(&one->device->delay_ns);
        /* The real flush is part of the delay: a device slower than asked is left as it is. */
        if (delay_ns != 0)
            sleep_until(reserve(one->device, begin_ns, delay_ns));
        count_flush(one->log, delay_ns, real_end_ns - begin_ns, now_ns() - begin_ns);
    }
    errno = error;
    return result;
}

int fdatasync(int fd)
{
    return flush(real_fdatasync, fd);
}

int fsync(int fd)
{
    return flush(real_fsync, fd);
}
