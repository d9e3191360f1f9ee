// Programs that read the processor's time stamp counter, one a case; argv[1] selects. Exit status 0: it
// worked.
#include <dlfcn.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "cases.h"
using namespace std::chrono_literals;

using Ticks = unsigned long long;
#define CHECK(condition)                                 \
  do {                                                   \
    if (!(condition)) {                                  \
      dprintf(2, "line %d: %s\n", __LINE__, #condition); \
      _exit(1);                                          \
    }                                                    \
  } while (false)

Ticks rdtsc() {
  unsigned long low = ~0UL, high = ~0UL;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  CHECK(low >> 32 == 0 && high >> 32 == 0);
  return high << 32 | low;
}
bool is_forbidden() {
  int state = 0;
  CHECK(prctl(PR_GET_TSC, &state) == 0);
  return state == PR_TSC_SIGSEGV;
}
Ticks rdtscp() {
  unsigned long low = ~0UL, high = ~0UL, processor = ~0UL;
  asm volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(processor));
  CHECK(low >> 32 == 0 && high >> 32 == 0 && (processor == 0 || !is_forbidden()));
  return high << 32 | low;
}

// ---- values

CASE(values) {
  std::mutex lock;
  std::atomic<unsigned> sum = 0;
  auto work = [&](int n) {
    for (int i = 0; i < 5; ++i) {
      const Ticks a = rdtsc(), b = rdtscp();
      CHECK(b > a);
      sum += static_cast<unsigned>(b % 7);
      std::lock_guard guard(lock);
      printf("%d: %llu %llu\n", n, a, b);
    }
  };
  std::thread one(work, 1), two(work, 2);
  const Ticks before = rdtsc();
  std::this_thread::sleep_for(1h);
  const Ticks after = rdtscp();
  one.join();
  two.join();
  printf("slept %llu, %u\n", after - before, sum.load());
  const auto hour = static_cast<Ticks>(std::chrono::nanoseconds(1h).count());
  CHECK(after - before >= hour && after - before < 2 * hour);
  return 0;
}
// The clock that the program is shown goes with it.
CASE(sameclock) {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  const Ticks shown = static_cast<Ticks>(time.tv_sec) * 1'000'000'000 + static_cast<Ticks>(time.tv_nsec);
  const Ticks read = rdtsc();
  CHECK(read > shown && read - shown < 1'000'000);
  return 0;
}
CASE(spins) {
  std::atomic<bool> done = false;
  std::thread other([&] {
    const Ticks start = rdtsc();
    while (rdtsc() - start < 3'000'000) {
    }
    done = true;
  });
  const Ticks start = rdtsc();
  while (!done && rdtscp() - start < 1'000'000'000'000) {  // 10^9 readings: the other one ends it
  }
  const bool in_time = done;
  other.join();
  return in_time ? 0 : 1;
}

// ---- the program's own handlers

sigjmp_buf back;
jmp_buf back_without_mask;
volatile int* page = nullptr;
std::atomic<int> handled = 0;
void* seen_stack = nullptr;

void install(void (*handler)(int, siginfo_t*, void*), int flags = 0, bool all = false) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  if (all) sigfillset(&action.sa_mask);
  CHECK(sigaction(SIGSEGV, &action, nullptr) == 0);
}
void jump(int number, siginfo_t* info, void*) {
  CHECK(number == SIGSEGV && info->si_code == SEGV_MAPERR && info->si_addr == reinterpret_cast<void*>(16));
  CHECK(rdtsc() > 0);
  ++handled;
  siglongjmp(back, 1);
}
void fix(int, siginfo_t* info, void*) {
  CHECK(info->si_code == SEGV_ACCERR && info->si_addr == const_cast<int*>(page));
  CHECK(rdtscp() > 0);
  seen_stack = __builtin_frame_address(0);
  ++handled;
  CHECK(mprotect(const_cast<int*>(page), 4096, PROT_READ | PROT_WRITE) == 0);
}
[[gnu::noinline]] void fault() { *reinterpret_cast<volatile int*>(16) = 1; }
[[gnu::noinline]] void write_page() {
  CHECK(mprotect(const_cast<int*>(page), 4096, PROT_NONE) == 0);
  *page = 1;
}
void map_page() {
  page = static_cast<int*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  CHECK(page != MAP_FAILED);
}
bool is_blocked(int number) {
  sigset_t mask;
  CHECK(pthread_sigmask(SIG_BLOCK, nullptr, &mask) == 0);
  return sigismember(&mask, number) == 1;
}
void block(int how) {
  sigset_t all;
  sigfillset(&all);
  CHECK(pthread_sigmask(how, &all, nullptr) == 0);
}

CASE(jumps) {
  install(jump);
  struct sigaction shown = {};
  CHECK(sigaction(SIGSEGV, nullptr, &shown) == 0 && shown.sa_sigaction == jump &&
        (shown.sa_flags & SA_SIGINFO));
  Ticks last = 0;
  for (int i = 0; i < 20; ++i) {
    if (sigsetjmp(back, 1) == 0) fault();
    CHECK(handled == i + 1 && !is_blocked(SIGSEGV));
    const Ticks now = rdtsc();
    CHECK(now > last);
    last = now;
  }
  return 0;
}
// The signal stays blocked then, as it does anywhere: reading goes on.
void jump_without_mask(int, siginfo_t*, void*) { longjmp(back_without_mask, 1); }
CASE(staysblocked) {
  install(jump_without_mask);
  if (setjmp(back_without_mask) == 0) fault();
  CHECK(is_blocked(SIGSEGV) && rdtsc() > 0);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGSEGV);
  CHECK(sigprocmask(SIG_UNBLOCK, &one, nullptr) == 0 && !is_blocked(SIGSEGV));
  if (setjmp(back_without_mask) == 0) fault();
  return 0;
}
CASE(returns) {
  map_page();
  for (const int flags : {0, SA_NODEFER, SA_RESTART, SA_ONSTACK}) {
    install(fix, flags, flags == 0);
    handled = 0;
    for (int i = 0; i < 5; ++i) write_page();
    CHECK(handled == 5 && *page == 1 && rdtsc() > 0 && !is_blocked(SIGSEGV) && !is_blocked(SIGUSR1));
  }
  return 0;
}
CASE(ownstack) {
  map_page();
  std::thread([] {
    static char stack[32768];
    stack_t alternate = {};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    CHECK(sigaltstack(&alternate, nullptr) == 0);
    install(fix);
    write_page();
    CHECK(seen_stack < stack || seen_stack >= stack + sizeof stack);
    install(fix, SA_ONSTACK);
    write_page();
    CHECK(seen_stack >= stack && seen_stack < stack + sizeof stack && rdtsc() > 0);
  }).join();
  return 0;
}
// The stack that is too small for any handler is nobody's trouble while none asks for it.
CASE(tinystack) {
  static char stack[2048];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  CHECK(sigaltstack(&alternate, nullptr) == 0 && rdtsc() > 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16384 + 4096);
  pthread_t thread;
  CHECK(pthread_create(
            &thread, &attributes, [](void*) -> void* { return rdtsc() > 0 ? nullptr : &page; }, nullptr) ==
        0);
  void* result = &page;
  CHECK(pthread_join(thread, &result) == 0 && result == nullptr);
  return 0;
}
CASE(overflows) {
  std::thread([] {
    static char stack[65536];
    stack_t alternate = {};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    CHECK(sigaltstack(&alternate, nullptr) == 0);
    install([](int, siginfo_t*, void*) { siglongjmp(back, 1); }, SA_ONSTACK);
    if (sigsetjmp(back, 1) == 0) {
      struct Deep {
        [[gnu::noinline]] static int go(volatile int* at) {
          volatile int here[256] = {*at};
          return go(here) + here[1];
        }
      };
      volatile int start = 0;
      printf("%d\n", Deep::go(&start));
    }
    CHECK(rdtsc() > 0);
  }).join();
  return 0;
}
CASE(simplehandlers) {
  static std::atomic<int> calls = 0;
  const auto count = [](int) { ++calls; };
  CHECK(signal(SIGSEGV, count) == SIG_DFL);
  raise(SIGSEGV);
  kill(getpid(), SIGSEGV);
  CHECK(calls == 2 && rdtsc() > 0);
  CHECK(signal(SIGSEGV, SIG_IGN) == static_cast<void (*)(int)>(count));
  raise(SIGSEGV);
  CHECK(calls == 2 && rdtsc() > 0 && signal(SIGSEGV, SIG_DFL) == SIG_IGN);
  struct sigaction once = {}, shown = {};
  once.sa_handler = count;
  once.sa_flags = static_cast<int>(SA_RESETHAND);
  CHECK(sigaction(SIGSEGV, &once, nullptr) == 0);
  raise(SIGSEGV);
  CHECK(calls == 3 && sigaction(SIGSEGV, nullptr, &shown) == 0 && shown.sa_handler == SIG_DFL);
  return 0;
}
CASE(pending) {
  static std::atomic<int> calls = 0;
  signal(SIGSEGV, [](int) { ++calls; });
  block(SIG_BLOCK);
  raise(SIGSEGV);
  CHECK(calls == 0 && is_blocked(SIGSEGV) && rdtsc() > 0);
  block(SIG_UNBLOCK);
  CHECK(calls == 1 && !is_blocked(SIGSEGV));
  block(SIG_BLOCK);
  raise(SIGSEGV);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGSEGV);
  int got = 0;
  CHECK(sigwait(&one, &got) == 0 && got == SIGSEGV && calls == 1);
  return 0;
}
// Threads that block everything, and handlers that do.
CASE(masks) {
  std::thread([] {
    block(SIG_BLOCK);
    CHECK(is_blocked(SIGSEGV) && is_blocked(SIGUSR1) && rdtsc() > 0);
    std::thread([] { CHECK(is_blocked(SIGSEGV) && rdtscp() > 0); }).join();  // inherited
    block(SIG_SETMASK);
    CHECK(is_blocked(SIGSEGV) && rdtsc() > 0);
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    CHECK(!is_blocked(SIGSEGV) && rdtsc() > 0);
  }).join();
  static Ticks read = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) { read = is_blocked(SIGSEGV) ? rdtsc() : 0; };
  sigfillset(&action.sa_mask);
  CHECK(sigaction(SIGUSR1, &action, nullptr) == 0);
  raise(SIGUSR1);
  struct sigaction shown = {};
  CHECK(read > 0 && sigaction(SIGUSR1, nullptr, &shown) == 0 && sigismember(&shown.sa_mask, SIGSEGV) == 1);
  return 0;
}
void early(int) { handled = is_blocked(SIGSEGV) && rdtsc() > 0; }
[[gnu::constructor]] void before_main() {
  struct sigaction action = {};
  action.sa_handler = early;
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR2, &action, nullptr);
}
CASE(beforemain) {
  raise(SIGUSR2);
  return handled == 1 ? 0 : 1;
}

// ---- crashes

CASE(crash) {
  CHECK(rdtsc() > 0);
  fault();
  return 0;
}
CASE(crashnowhere) {
  CHECK(rdtsc() > 0);
  reinterpret_cast<void (*)()>(16)();
  return 0;
}
CASE(crashprotected) {  // a fault of the kind that a reading is
  CHECK(rdtsc() > 0);
  *reinterpret_cast<volatile int*>(0xdead'0000'0000'0000) = 1;
  return 0;
}
CASE(crashinhandler) {
  install([](int, siginfo_t*, void*) {
    CHECK(++handled == 1);
    fault();
  });
  fault();
  return 0;
}
CASE(crashblocked) {
  install([](int, siginfo_t*, void*) { _exit(1); });
  block(SIG_BLOCK);
  CHECK(rdtsc() > 0);
  fault();
  return 0;
}
CASE(crashignored) {
  signal(SIGSEGV, SIG_IGN);
  CHECK(rdtsc() > 0);
  fault();
  return 0;
}
CASE(crashraised) {
  CHECK(rdtsc() > 0);
  raise(SIGSEGV);
  return 0;
}
CASE(crashafterreset) {
  install([](int, siginfo_t*, void*) { CHECK(++handled == 1); }, static_cast<int>(SA_RESETHAND));
  CHECK(rdtsc() > 0);
  fault();
  return 0;
}
CASE(crashagain) {  // a handler as crash reporters have it
  install([](int number, siginfo_t*, void*) {
    signal(number, SIG_DFL);
    raise(number);
  });
  std::thread([] { fault(); }).join();
  return 0;
}
CASE(crashoverflow) {
  struct Deep {
    [[gnu::noinline]] static int go(volatile int* at) {
      volatile int here[256] = {*at};
      return go(here) + here[1];
    }
  };
  volatile int start = static_cast<int>(rdtsc());
  return Deep::go(&start);
}

// ---- children, the kernel's code, threads of libc

int status_of(pid_t child) {
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  return status;
}
CASE(forked) {
  const pid_t child = fork();
  if (child == 0) {
    CHECK(!is_forbidden());
    const Ticks start = rdtsc();
    CHECK(rdtsc() - start < 1'000'000'000);
    struct sigaction shown = {};
    CHECK(sigaction(SIGSEGV, nullptr, &shown) == 0 && shown.sa_handler == SIG_DFL);
    fault();
  }
  const int status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV && is_forbidden());
  const pid_t raw = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (raw == 0) {
    CHECK(rdtsc() > 0);
    syscall(SYS_exit_group, 0);
  }
  return status_of(raw);
}
CASE(executed) {
  char program[] = "/bin/true", shell[] = "true";
  char* arguments[] = {program, nullptr};
  pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "test $0 = a && test $1 = b", "a", "b", static_cast<char*>(nullptr));
    _exit(9);
  }
  CHECK(status_of(child) == 0);
  child = vfork();
  if (child == 0) {
    for (int i = 1; i < 32; ++i) signal(i, SIG_DFL);
    execv("/bin/does-not-exist", arguments);
    execv(program, arguments);
    _exit(9);
  }
  CHECK(status_of(child) == 0 && is_forbidden());
  CHECK(posix_spawn(&child, program, nullptr, nullptr, arguments, environ) == 0 && status_of(child) == 0);
  arguments[0] = shell;
  CHECK(posix_spawnp(&child, shell, nullptr, nullptr, arguments, environ) == 0 && status_of(child) == 0);
  CHECK(system("/bin/true") == 0);
  FILE* stream = popen("/bin/echo well", "r");
  char text[16] = {};
  CHECK(stream != nullptr && fgets(text, sizeof text, stream) != nullptr && strcmp(text, "well\n") == 0);
  CHECK(pclose(stream) == 0 && is_forbidden());
  child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (child == 0) {
    syscall(SYS_execve, program, arguments, environ);
    _exit(9);
  }
  CHECK(status_of(child) == 0);
  execlp("sh", "sh", "-c", "exit 0", static_cast<char*>(nullptr));
  return 9;
}
CASE(vforkedhandlers) {  // the child's actions are its own
  install(jump);
  const pid_t child = vfork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    _exit(0);
  }
  CHECK(status_of(child) == 0);
  if (sigsetjmp(back, 1) == 0) fault();
  return handled == 1 ? 0 : 1;
}
CASE(kernelscode) {
  const auto libc = dlopen("libc.so.6", RTLD_NOW);
  const auto clock = reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(libc, "clock_gettime"));
  for (int i = 0; i < 100; ++i) {
    timespec before, shown, after;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &before);
    CHECK(clock(CLOCK_MONOTONIC, &shown) == 0);
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &after);
    const auto number = [](const timespec& t) { return t.tv_sec * 1'000'000'000L + t.tv_nsec; };
    CHECK(number(before) <= number(shown) && number(shown) <= number(after));
  }
  return is_forbidden() ? 0 : 1;
}
CASE(timerthread) {
  static std::atomic<Ticks> read = 0;
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = [](sigval) { read = rdtsc() + 1; };
  timer_t timer;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  itimerspec once = {};
  once.it_value.tv_nsec = 5'000'000;
  CHECK(timer_settime(timer, 0, &once, nullptr) == 0);
  while (read == 0) std::this_thread::sleep_for(1ms);
  return 0;
}
CASE(foreignthread) {  // made behind everybody's back
  static std::atomic<Ticks> read = 0;
  alignas(16) static char stack[65536];
  const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  struct Raw {
    __attribute__((no_sanitize("thread"))) static int run(void*) {
      unsigned low, high;
      asm volatile("rdtsc" : "=a"(low), "=d"(high));
      __atomic_store_n(reinterpret_cast<Ticks*>(&read), (Ticks{high} << 32 | low) + 1, __ATOMIC_RELAXED);
      for (;;) asm volatile("syscall" ::"a"(SYS_exit), "D"(0) : "rcx", "r11", "memory");
    }
  };
  CHECK(clone(&Raw::run, stack + sizeof stack, flags, nullptr) > 0);
  while (read == 0) std::this_thread::sleep_for(1ms);
  return 0;
}
CASE(handlersread) {  // while the thread may wait for its turn
  static std::atomic<bool> stop = false;
  signal(SIGALRM, [](int) {
    const Ticks start = rdtsc();
    while (rdtsc() - start < 50'000) {
    }
  });
  std::atomic<int> ended = 0;
  auto work = [&] {
    for (int i = 0; i < 20000 && !stop; ++i) ended += 0;
    ++ended;
  };
  std::thread one(work), two(work);
  for (int i = 0; i < 5; ++i) syscall(SYS_tgkill, getpid(), gettid(), SIGALRM);
  for (int i = 0; i < 5; ++i) {
    pthread_kill(one.native_handle(), SIGALRM);
    std::this_thread::yield();
  }
  one.join();
  two.join();
  return ended == 2 ? 0 : 1;
}
CASE(forbidden) { return is_forbidden() ? 0 : 1; }
CASE(allowed) { return is_forbidden() ? 1 : 0; }
