#include "intercept/check/descriptor_reach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>

#include "intercept/check/own_descriptors.h"
#include "intercept/check/proc_name.h"
#include "intercept/check/socket_reach.h"
#include "intercept/check/timers.h"
#include "sys/arch.h"

namespace simrt::rt {

using control::Reach;
using runtime::raw_syscall;

namespace {

constexpr uint32_t kMostNested = 5;  // the kernel's own limit of epoll sets in epoll sets

Reach worse(Reach a, Reach b) { return a > b ? a : b; }

// A child may send signals, and may have what this process gave it.
bool has_children() {
  siginfo_t info;
  return raw_syscall(SYS_waitid, P_ALL, 0, reinterpret_cast<long>(&info),
                     WEXITED | WNOHANG | WNOWAIT | __WALL, 0) != -ECHILD;
}

// Whether the process handles the signal. Without that it does nothing, or is the end.
bool is_handled(int signal) {
  struct {
    uintptr_t handler;
    unsigned long flags;
    uintptr_t restorer;
    uint64_t mask;
  } action = {};
  constexpr uintptr_t kDefault = 0, kIgnored = 1;
  return raw_syscall(SYS_rt_sigaction, signal, 0, reinterpret_cast<long>(&action), sizeof action.mask) != 0 ||
         (action.handler != kDefault && action.handler != kIgnored);
}

bool alarm_is_set() {
  struct itimerval left = {};
  if (raw_syscall(SYS_getitimer, ITIMER_REAL, reinterpret_cast<long>(&left)) == 0 &&
      left.it_value.tv_sec == 0 && left.it_value.tv_usec == 0)
    return false;
  return is_handled(SIGALRM);
}

bool timer_runs(int fd) {
  struct itimerspec left = {};
  return raw_syscall(SYS_timerfd_gettime, fd, reinterpret_cast<long>(&left)) != 0 ||
         left.it_value.tv_sec != 0 || left.it_value.tv_nsec != 0;
}

// Threads of the process, as the kernel counts them; 0 = not known.
uint32_t tasks() {
  struct stat status;
  if (raw_syscall(SYS_newfstatat, AT_FDCWD, reinterpret_cast<long>("/proc/self/task"),
                  reinterpret_cast<long>(&status), 0) != 0 ||
      status.st_nlink < 3)
    return 0;
  return static_cast<uint32_t>(status.st_nlink) - 2;
}

// Whether there are threads that the engine does not know: libc's own, or such as a raw system call made.
// One that has ended for the engine may take a moment to end for the kernel.
bool has_strangers(uint32_t threads) {
  static uint32_t strangers = 0;
  constexpr int kMostTries =
      500;  // of 100 us: a thread that has ended for us may take its time in the kernel
  uint32_t all = 0;
  for (int tries = 0; tries < kMostTries; ++tries) {
    all = tasks();
    if (all == 0) return true;
    if (all <= threads) {
      strangers = 0;
      return false;
    }
    if (all - threads == strangers) return true;
    const struct timespec moment = {0, 100'000};
    raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&moment), 0);
  }
  strangers = all - threads;
  return true;
}

Reach reach_of(int fd, uint32_t nested);

// The file that tells of an epoll set has lines like
//   tfd:        7 events:       19 data: 7f00  pos:0 ino:26636e sdev:9
struct Target {
  int fd = -1;
  uint64_t inode = 0;
};

bool starts_with(const char* text, const char* end, const char* word) {
  for (; *word != '\0'; ++text, ++word)
    if (text == end || *text != *word) return false;
  return true;
}

bool parse_target(const char* line, const char* end, Target& target) {
  const char* at = line + 4;
  while (at < end && *at == ' ') ++at;
  uint64_t fd = 0;
  for (; at < end && *at >= '0' && *at <= '9'; ++at) fd = fd * 10 + static_cast<uint64_t>(*at - '0');
  target.fd = static_cast<int>(fd);
  for (; at < end; ++at) {
    if (!starts_with(at, end, "ino:")) continue;
    at += 4;
    target.inode = 0;
    for (; at < end; ++at) {
      const char c = *at;
      if (c >= '0' && c <= '9') {
        target.inode = target.inode * 16 + static_cast<uint64_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        target.inode = target.inode * 16 + static_cast<uint64_t>(c - 'a' + 10);
      } else {
        break;
      }
    }
    return true;
  }
  return false;
}

Reach reach_of_targets(int epoll, uint32_t nested) {
  constexpr size_t kMostBytes = 16384;
  static char texts[kMostNested][kMostBytes];
  if (nested >= kMostNested) return Reach::Outside;
  char* text = texts[nested];
  const ProcName name("/proc/self/fdinfo/", epoll);
  const long file =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(name.text), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Reach::Outside;
  size_t size = 0;
  long part = 0;
  while (size < kMostBytes && (part = raw_syscall(SYS_read, file, reinterpret_cast<long>(text + size),
                                                  static_cast<long>(kMostBytes - size))) > 0)
    size += static_cast<size_t>(part);
  raw_syscall(SYS_close, file);
  if (part != 0) return Reach::Outside;  // an error, or more than there is room for
  Reach all = Reach::Within;
  for (const char *line = text, *end = text + size; line < end && all != Reach::Outside;) {
    const char* next = line;
    while (next < end && *next != '\n') ++next;
    if (starts_with(line, next, "tfd:")) {
      Target target;
      if (!parse_target(line, next, target) || !own_descriptors.is(target.fd, target.inode))
        return Reach::Outside;
      all = worse(all, reach_of(target.fd, nested + 1));
    }
    line = next + 1;
  }
  return all;
}

Reach reach_of(int fd, uint32_t nested) {
  switch (own_descriptors.look(fd)) {
    case OwnKind::Counter:
      return own_descriptors.does_kernel_count() ? Reach::Outside : Reach::Within;
    case OwnKind::Pipe:
      return Reach::Within;
    case OwnKind::Timer:
      return timer_runs(fd) ? Reach::Outside : Reach::Within;
    case OwnKind::Epoll:
      return reach_of_targets(fd, nested);
    case OwnKind::Socket:
      return reach_of_socket(fd);
    case OwnKind::None:
      break;
  }
  return Reach::Outside;
}

}  // namespace

Reach reach_of_descriptor(int fd) { return reach_of(fd, 0); }

Reach reach_of_descriptors(const struct pollfd* polls, uint32_t count) {
  Reach all = Reach::Within;
  for (uint32_t i = 0; i < count && all != Reach::Outside; ++i)
    if (polls[i].fd >= 0) all = worse(all, reach_of_descriptor(polls[i].fd));
  return all;
}

bool has_visitors(uint32_t threads) {
  return has_children() || alarm_is_set() || timers_are_armed() || has_strangers(threads);
}

}  // namespace simrt::rt
