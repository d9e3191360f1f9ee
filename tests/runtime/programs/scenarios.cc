// The program under test of the end-to-end tests: one scenario a run, named by the first argument.
// Functions called work_* are what the tests look for in the trace.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#define WORK extern "C" __attribute__((noinline)) int

namespace {
std::atomic<int> sink{0};
std::atomic<int> progress{0};
}  // namespace

WORK work_alpha(int n) { return sink += n > 2 ? 1 : 2; }
WORK work_beta(int n) { return sink += n > 2 ? 3 : 4; }
WORK work_child(int n) { return sink += n + 5; }
WORK work_after(int n) { return sink += n + 6; }
WORK work_static(int n) { return sink += n + 7; }
WORK work_handler(int n) { return sink += n + 8; }
WORK work_tls(int n) { return sink += n + 9; }
WORK work_key(int n) { return sink += n + 10; }
WORK work_never(int n) { return sink += n + 11; }
WORK work_atexit(int n) { return sink += n + 12; }
WORK work_unseen(int n) { return sink += n + 13; }

namespace {

[[maybe_unused]] const int before_main = work_static(1);

void* alpha(void*) {
  work_alpha(3);
  return nullptr;
}
void* beta(void*) {
  work_beta(1);
  return nullptr;
}

void join(void* (*routine)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, routine, nullptr) != 0) abort();
  pthread_join(thread, nullptr);
}

int two_threads() {
  join(alpha);
  join(beta);
  return 0;
}

int nested() {
  std::thread outer([] {
    work_alpha(1);
    std::thread inner([] { work_beta(1); });
    inner.join();
  });
  outer.join();
  return 0;
}

[[noreturn]] void die(const char* how) {
  if (std::strcmp(how, "crash") == 0) *static_cast<volatile int*>(nullptr) = 1;
  if (std::strcmp(how, "exit") == 0) _exit(3);
  if (std::strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  std::abort();
}

// Dies in a thread while another one runs.
int dying(const char* how) {
  std::thread other([] {
    work_beta(1);
    progress = 1;
    for (;;) pause();
  });
  std::thread thread([how] {
    while (progress == 0) std::this_thread::yield();
    work_alpha(3);
    die(how);
  });
  thread.join();
  other.join();
  return 0;
}

// Runs until it is killed from outside.
int spin() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (;;) work_alpha(sink & 3);
    });
  }
  work_beta(1);
  for (std::thread& thread : threads) thread.join();
  return 0;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

int fork_with(pid_t child, bool thread_in_child) {
  if (child == 0) {
    work_child(1);
    if (thread_in_child) join(beta);
    _exit(0);
  }
  work_after(1);
  return wait_for(child);
}

int fork_in_thread() {
  int result = 1;
  std::thread busy([] { work_beta(1); });
  std::thread thread([&result] { result = fork_with(fork(), true); });
  thread.join();
  busy.join();
  return result;
}

int exec_self(char** argv, bool spawn) {
  char scenario[] = "two_threads";
  char* arguments[] = {argv[0], scenario, nullptr};
  pid_t child = 0;
  if (spawn) {
    if (posix_spawn(&child, argv[0], nullptr, nullptr, arguments, environ) != 0) return 1;
  } else {
    child = vfork();
    if (child == 0) {
      execv(argv[0], arguments);
      _exit(1);
    }
  }
  work_after(1);
  return wait_for(child);
}

int load_plugin(const char* path, int times) {
  for (int i = 0; i < times; ++i) {
    void* plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    auto run = reinterpret_cast<int (*)(int)>(dlsym(plugin, "plugin_run"));
    std::atomic<bool> loaded{false};
    std::thread thread([&] {  // a thread that is older than its first call into the module
      while (!loaded) std::this_thread::yield();
      run(1);
    });
    loaded = true;
    thread.join();
    run(5);
    dlclose(plugin);
  }
  return 0;
}

// A thread that lives before, and after, the module does.
int plugin_under_thread(const char* path) {
  std::atomic<int (*)(int)> run{nullptr};
  std::atomic<bool> done{false};
  std::thread thread([&] {
    while (run == nullptr) std::this_thread::yield();
    run.load()(1);
    done = true;
    while (run != nullptr) std::this_thread::yield();
    work_alpha(1);
  });
  void* plugin = dlopen(path, RTLD_NOW);
  if (plugin == nullptr) abort();
  run = reinterpret_cast<int (*)(int)>(dlsym(plugin, "plugin_run"));
  while (!done) std::this_thread::yield();
  dlclose(plugin);
  run = nullptr;
  thread.join();
  return 0;
}

int short_lived(int count) {
  for (int i = 0; i < count; ++i) std::thread([i] { i % 2 == 0 ? work_alpha(i) : work_beta(i); }).join();
  return 0;
}

int together(int count) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([i, count] {
      i % 2 == 0 ? work_alpha(i) : work_beta(i);
      ++progress;
      while (progress < count) std::this_thread::yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

int detached() {
  for (int i = 0; i < 3; ++i) {
    std::thread([] {
      work_alpha(1);
      ++progress;
      for (;;) pause();
    }).detach();
  }
  while (progress < 3) std::this_thread::yield();
  return 0;
}

int c11() {
  thrd_t thread;
  if (thrd_create(&thread, [](void*) { return work_alpha(3) != 0 ? 42 : 0; }, nullptr) != thrd_success)
    return 1;
  int result = 0;
  thrd_join(thread, &result);
  return result == 42 ? 0 : 1;
}

int standard_library() {
  auto future = std::async(std::launch::async, [] { return work_alpha(1); });
  future.get();
  std::jthread thread([](const std::stop_token& stop) {
    work_beta(1);
    while (!stop.stop_requested()) std::this_thread::yield();
  });
  return 0;
}

int signal_handler() {
  struct sigaction action = {};
  action.sa_handler = [](int) { work_handler(1); };
  sigaction(SIGUSR1, &action, nullptr);
  std::thread thread([] { raise(SIGUSR1); });
  thread.join();
  return 0;
}

struct AtThreadEnd {
  ~AtThreadEnd() { work_tls(1); }
};
thread_local AtThreadEnd at_thread_end;

// Code of the program that runs when the thread's function has returned.
int thread_end() {
  static pthread_key_t key;
  static int rounds = 2;
  pthread_key_create(&key, [](void* value) {
    if (--rounds > 0) {
      pthread_setspecific(key, value);  // a second round of destructors
    } else {
      work_key(1);
    }
  });
  std::thread thread([] {
    pthread_setspecific(key, &rounds);
    static_cast<void>(&at_thread_end);
    work_alpha(1);
  });
  thread.join();
  return 0;
}

int thread_exits_early() {
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        work_alpha(1);
        pthread_exit(nullptr);
      },
      nullptr);
  pthread_join(thread, nullptr);
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        work_beta(1);
        progress = 1;
        for (;;) pause();
      },
      nullptr);
  while (progress == 0) std::this_thread::yield();
  pthread_cancel(thread);
  pthread_join(thread, nullptr);
  return 0;
}

// Daemons close every descriptor, and reuse the numbers for their own files.
int closed_descriptors() {
  for (int fd = 3; fd < 256; ++fd) close(fd);
  const int own = open("own-file", O_RDWR | O_CREAT | O_TRUNC, 0600);
  const int result = together(64);
  const bool untouched = lseek(own, 0, SEEK_END) == 0;
  close(own);
  unlink("own-file");
  return untouched ? result : 1;
}

int file_size_limit() {
  const rlimit limit = {64 * 1024, 64 * 1024};
  setrlimit(RLIMIT_FSIZE, &limit);
  return together(64);
}

// fork without the C library: no handlers run in the child.
int raw_fork() {
  work_alpha(1);
  return fork_with(static_cast<pid_t>(syscall(SYS_fork)), true);
}

// A thread that the runtime cannot see start: made by the C library for a timer.
int unseen_thread() {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = [](sigval) {
    work_unseen(1);
    progress = 1;
  };
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 1;
  const itimerspec soon = {{0, 0}, {0, 1000000}};
  timer_settime(timer, 0, &soon, nullptr);
  while (progress == 0) std::this_thread::yield();
  return 0;
}

int at_exit() {
  std::atexit([] { work_atexit(1); });
  return 0;
}

int usage(const char* name) {
  std::fprintf(stderr, "no scenario called %s\n", name);
  return 64;
}

int run(char** argv, const char* name, const char* argument) {
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  if (is("two_threads")) return two_threads();
  if (is("nested")) return nested();
  if (is("crash") || is("abort") || is("exit") || is("kill")) return dying(name);
  if (is("spin")) return spin();
  if (is("fork")) return fork_with(fork(), false);
  if (is("fork_in_thread")) return fork_in_thread();
  if (is("_Fork")) return fork_with(_Fork(), true);
  if (is("raw_fork")) return raw_fork();
  if (is("exec")) return exec_self(argv, false);
  if (is("spawn")) return exec_self(argv, true);
  if (is("plugin")) return load_plugin(argument, 1);
  if (is("plugin_often")) return load_plugin(argument, 50);
  if (is("plugin_under_thread")) return plugin_under_thread(argument);
  if (is("short_lived")) return short_lived(300);
  if (is("together")) return together(500);
  if (is("detached")) return detached();
  if (is("c11")) return c11();
  if (is("standard_library")) return standard_library();
  if (is("signal_handler")) return signal_handler();
  if (is("thread_end")) return thread_end();
  if (is("thread_exits_early")) return thread_exits_early();
  if (is("closed_descriptors")) return closed_descriptors();
  if (is("file_size_limit")) return file_size_limit();
  if (is("unseen_thread")) return unseen_thread();
  if (is("at_exit")) return at_exit();
  return usage(name);
}

}  // namespace

int main(int argc, char** argv) { return run(argv, argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : ""); }
