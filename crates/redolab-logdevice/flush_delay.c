/*
 * An emulated log device for PostgreSQL.
 *
 * What a commit costs depends on how long a flush of the log takes, and a laboratory has one
 * disk, not many. This library is preloaded into a server (LD_PRELOAD in the postmaster's
 * environment; every backend is forked from it and inherits it). It lets each fdatasync and
 * fsync run as always and then, when the file lies under pg_wal, keeps the caller asleep until
 * the flush has taken as long as the experiment asked for. The data is as safe as before.
 *
 * REDOLAB_LOG_DEVICE names the control page: a file of 4096 bytes made by whoever starts the
 * server. It is mapped shared, so the delay can change while the server runs and the counts can
 * be read from outside without asking the server. If it is missing, too short or carries
 * another magic number, both calls stay exactly as they were.
 *
 * The control page, uint64 slots in little-endian order, each read and written atomically:
 *
 *   0  magic             0x5245444f4c4f4731 ("REDOLOG1"), written by the maker of the file
 *   1  delay_ns          least time of one flush; 0 leaves the device as it is. Written outside
 *   2  flushes           successful flushes of files under pg_wal
 *   3  requested_ns      sum of the delays asked for, one per flush
 *   4  real_ns           sum of the time the real calls took
 *   5  delivered_ns      sum of the time the callers saw, real call, queue and sleep together
 *   6  delivered_max_ns  the longest of these
 *   7  device_free_ns    CLOCK_MONOTONIC time at which the device is next free
 *   8  attached          processes that mapped the page on start (the postmaster is one), so
 *                        the maker of the file can tell an armed server from one that is not
 *
 * The device serves one flush at a time: a second flush that begins meanwhile waits its turn.
 * PostgreSQL lets one backend flush at a time anyway, but not everywhere (a new segment is
 * flushed by whoever makes it), and two delays that overlap would be a faster device than asked.
 *
 * Not delayed: wal_sync_method open_sync and open_datasync, which flush inside write(), and a
 * log directory moved out of the data directory under a name without "/pg_wal/".
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
#define MAGIC UINT64_C(0x5245444f4c4f4731)
#define NS_PER_S UINT64_C(1000000000)

struct control_page {
    _Atomic uint64_t magic;
    _Atomic uint64_t delay_ns;
    _Atomic uint64_t flushes;
    _Atomic uint64_t requested_ns;
    _Atomic uint64_t real_ns;
    _Atomic uint64_t delivered_ns;
    _Atomic uint64_t delivered_max_ns;
    _Atomic uint64_t device_free_ns;
    _Atomic uint64_t attached;
};

typedef int (*flush_function)(int);

static struct control_page *page; /* NULL: both calls stay as they were */
static flush_function real_fdatasync;
static flush_function real_fsync;

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
static int is_log_file(int fd)
{
    char link[32];
    char path[PAGE_BYTES];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = '\0';
    return strstr(path, "/pg_wal/") != NULL;
}

/* Takes the device's next free stretch of delay_ns, not before begin_ns; returns its end. */
static uint64_t reserve_device(uint64_t begin_ns, uint64_t delay_ns)
{
    uint64_t free_ns = atomic_load(&page->device_free_ns);
    uint64_t end_ns;
    do {
        end_ns = (begin_ns > free_ns ? begin_ns : free_ns) + delay_ns;
    } while (!atomic_compare_exchange_weak(&page->device_free_ns, &free_ns, end_ns));
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

static void count_flush(uint64_t delay_ns, uint64_t real_ns, uint64_t delivered_ns)
{
    atomic_fetch_add(&page->flushes, 1);
    atomic_fetch_add(&page->requested_ns, delay_ns);
    atomic_fetch_add(&page->real_ns, real_ns);
    atomic_fetch_add(&page->delivered_ns, delivered_ns);
    uint64_t longest_ns = atomic_load(&page->delivered_max_ns);
    while (delivered_ns > longest_ns
           && !atomic_compare_exchange_weak(&page->delivered_max_ns, &longest_ns, delivered_ns))
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
    if (result == 0 && is_log_file(fd)) {
        uint64_t delay_ns = atomic_load(&page->delay_ns);
        /* The real flush is part of the delay: a device slower than asked is left as it is. */
        if (delay_ns != 0)
            sleep_until(reserve_device(begin_ns, delay_ns));
        count_flush(delay_ns, real_end_ns - begin_ns, now_ns() - begin_ns);
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
