// A library that a server preloads: its clock of the day is off by what a small file says, and nobody else's is.
//
// REDOLAB_BREAKER_CLOCK names the file, with one 64-bit number of seconds in it. The monotonic clock is left alone,
// as a step of the real one leaves it. Deadlines on the clock of the day are taken back to the kernel's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shift_s;
static int (*wait_until)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*post_until)(sem_t *, const struct timespec *);

// A deadline before this is on a clock that began with the machine.
static const time_t OF_THE_DAY = 1000000000;

static void *found(const char *name, const char *version)
{
    void *it = dlvsym(RTLD_NEXT, name, version);
    return it ? it : dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("REDOLAB_BREAKER_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *mapped = mmap(NULL, sizeof *shift_s, PROT_READ, MAP_SHARED, file, 0);
        if (mapped != MAP_FAILED)
            shift_s = mapped;
        close(file);
    }
    wait_until = found("pthread_cond_timedwait", "GLIBC_2.3.2");
    post_until = found("sem_timedwait", "GLIBC_2.2.5");
}

static time_t shift(void)
{
    return shift_s ? (time_t)*shift_s : 0;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    int failed = (int)syscall(SYS_clock_gettime, clock, at);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        at->tv_sec += shift();
    return failed;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at)
        *at = now.tv_sec;
    return now.tv_sec;
}

static struct timespec kernels(const struct timespec *deadline)
{
    struct timespec real = *deadline;
    if (real.tv_sec > OF_THE_DAY)
        real.tv_sec -= shift();
    return real;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline)
{
    struct timespec real = kernels(deadline);
    return wait_until(condition, mutex, &real);
}

int sem_timedwait(sem_t *semaphore, const struct timespec *deadline)
{
    struct timespec real = kernels(deadline);
    return post_until(semaphore, &real);
}
