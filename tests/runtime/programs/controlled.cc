// One small program a primitive; argv[1] selects. Exit status 0: it worked as it must under every schedule.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "cases.h"
using namespace std::chrono_literals;
CASE(mutexes) {
  std::recursive_mutex r;
  std::timed_mutex t;
  int n = 0;
  std::thread a([&] {
    for (int i = 0; i < 20; i++) {
      std::lock_guard g(r);
      std::lock_guard h(r);
      n++;
    }
  });
  for (int i = 0; i < 20; i++) {
    std::lock_guard g(r);
    n++;
  }
  a.join();
  std::thread b([&] {
    t.lock();
    std::this_thread::sleep_for(50ms);
    t.unlock();
  });
  bool got = t.try_lock_for(10s);
  if (got) t.unlock();
  b.join();
  return n == 40 && got ? 0 : 1;
}
CASE(rwlock) {
  std::shared_mutex m;
  int v = 0;
  std::vector<std::thread> ts;
  for (int i = 0; i < 3; i++)
    ts.emplace_back([&] {
      for (int k = 0; k < 5; k++) {
        {
          std::shared_lock l(m);
          int x = v;
          (void)x;
        }
        {
          std::unique_lock l(m);
          v++;
        }
      }
    });
  for (auto& t : ts) t.join();
  return v == 15 ? 0 : 1;
}
CASE(cond) {
  std::mutex m;
  std::condition_variable c;
  std::vector<int> q;
  int sum = 0;
  std::thread cons([&] {
    for (int i = 0; i < 10; i++) {
      std::unique_lock l(m);
      c.wait(l, [&] { return !q.empty(); });
      sum += q.back();
      q.pop_back();
    }
  });
  for (int i = 0; i < 10; i++) {
    {
      std::lock_guard g(m);
      q.push_back(i);
    }
    c.notify_one();
  }
  cons.join();
  return sum == 45 ? 0 : 1;
}
CASE(timed) {
  std::mutex m;
  std::condition_variable c;
  std::unique_lock l(m);
  auto t = std::chrono::steady_clock::now();
  auto s = c.wait_for(l, 2h);
  auto d = std::chrono::steady_clock::now() - t;
  std::condition_variable_any ca;
  auto s2 = ca.wait_for(l, 1s);
  return s == std::cv_status::timeout && s2 == std::cv_status::timeout && d >= 2h && d < 3h ? 0 : 1;
}
CASE(sems) {
  sem_t s;
  sem_init(&s, 0, 0);
  std::counting_semaphore<4> c(0);
  std::binary_semaphore d(0);
  std::thread a([&] {
    sem_post(&s);
    c.release(2);
    d.acquire();
  });
  sem_wait(&s);
  c.acquire();
  c.acquire();
  bool no = c.try_acquire_for(5s);
  d.release();
  a.join();
  struct timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  ts.tv_sec += 100;
  int r = sem_timedwait(&s, &ts);
  return !no && r == -1 && errno == ETIMEDOUT ? 0 : 1;
}
CASE(barriers) {
  std::barrier b(3);
  std::latch l(2);
  pthread_barrier_t pb;
  pthread_barrier_init(&pb, 0, 3);
  std::atomic<int> n{0};
  auto f = [&] {
    n++;
    b.arrive_and_wait();
    if (n != 3) _exit(9);
    b.arrive_and_wait();
    pthread_barrier_wait(&pb);
    n--;
    pthread_barrier_wait(&pb);
    if (n != 0) _exit(8);
  };
  std::thread x(f), y(f);
  f();
  x.join();
  y.join();
  std::thread z([&] { l.count_down(); });
  l.arrive_and_wait();
  z.join();
  return 0;
}
std::once_flag of;
int once_n;
int tries;
CASE(once) {
  auto f = [] {
    try {
      std::call_once(of, [] {
        if (tries++ == 0) throw 1;
        once_n++;
      });
    } catch (int) {
      std::call_once(of, [] { once_n++; });
    }
  };
  std::thread a(f), b(f);
  f();
  a.join();
  b.join();
  return once_n == 1 ? 0 : 1;
}
struct S {
  int v;
  S() {
    static std::atomic<int> k{0};
    if (k++ == 0) throw 2;
    v = 7;
    std::this_thread::yield();
  }
};
int use_static() {
  for (;;) try {
      static S s;
      return s.v;
    } catch (int) {
    }
}
CASE(statics) {
  std::thread a(use_static), b(use_static);
  int v = use_static();
  a.join();
  b.join();
  return v == 7 ? 0 : 1;
}
CASE(atomicwait) {
  std::atomic<int> a{0};
  std::thread t([&] {
    a.wait(0);
    a = 2;
    a.notify_all();
  });
  a = 1;
  a.notify_one();
  int v;
  while ((v = a.load()) != 2) a.wait(v);
  t.join();
  return 0;
}
CASE(jthreads) {
  int n = 0;
  {
    std::jthread j([&](std::stop_token st) {
      std::mutex m;
      std::condition_variable_any c;
      std::unique_lock l(m);
      c.wait(l, st, [] { return false; });
      n = 5;
    });
  }
  return n == 5 ? 0 : 1;
}
CASE(asyncs) {
  auto f = std::async(std::launch::async, [] { return 41; });
  std::promise<int> p;
  auto pf = p.get_future();
  std::thread t([&] { p.set_value(1); });
  int r = f.get() + pf.get();
  t.join();
  auto slow = std::async(std::launch::async, [] {
    std::this_thread::sleep_for(1s);
    return 1;
  });
  if (slow.wait_for(10ms) != std::future_status::timeout) return 2;
  slow.get();
  return r == 42 ? 0 : 1;
}
CASE(spins) {
  std::atomic<bool> f{false};
  std::atomic_flag lk = ATOMIC_FLAG_INIT;
  int n = 0;
  std::thread t([&] {
    while (lk.test_and_set());
    n++;
    lk.clear();
    f = true;
  });
  while (lk.test_and_set());
  n++;
  lk.clear();
  while (!f);
  t.join();
  volatile bool g = false;
  std::thread u([&] { g = true; });
  while (!g);
  u.join();
  return n == 2 ? 0 : 1;
}
CASE(spinlock) {
  pthread_spinlock_t s;
  pthread_spin_init(&s, 0);
  int n = 0;
  std::thread t([&] {
    for (int i = 0; i < 9; i++) {
      pthread_spin_lock(&s);
      n++;
      pthread_spin_unlock(&s);
    }
  });
  for (int i = 0; i < 9; i++) {
    while (pthread_spin_trylock(&s));
    n++;
    pthread_spin_unlock(&s);
  }
  t.join();
  return n == 18 ? 0 : 1;
}
CASE(trylocks) {
  const timespec past = {0, 0}, future = {std::time(nullptr) + 1000, 0};
  int ok = 0, busy = 0;
  const auto count = [&](int result) { ++(result == 0 ? ok : busy); };
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  pthread_mutex_lock(&m);
  count(pthread_mutex_trylock(&m));  // busy
  pthread_mutex_unlock(&m);
  count(pthread_mutex_trylock(&m));
  pthread_mutex_unlock(&m);
  count(pthread_mutex_timedlock(&m, &past));
  pthread_mutex_unlock(&m);
  count(pthread_mutex_timedlock(&m, &future));
  pthread_mutex_unlock(&m);
  pthread_mutex_lock(&r);
  count(pthread_mutex_trylock(&r));
  pthread_mutex_unlock(&r);
  pthread_mutex_unlock(&r);
  pthread_spinlock_t s;
  pthread_spin_init(&s, 0);
  count(pthread_spin_trylock(&s));
  count(pthread_spin_trylock(&s));  // busy
  pthread_spin_unlock(&s);
  mtx_t c;
  mtx_init(&c, mtx_plain);
  count(mtx_trylock(&c));
  count(mtx_trylock(&c));  // busy
  mtx_unlock(&c);
  pthread_rwlock_t w = PTHREAD_RWLOCK_INITIALIZER;
  count(pthread_rwlock_trywrlock(&w));
  count(pthread_rwlock_trywrlock(&w));  // busy
  count(pthread_rwlock_tryrdlock(&w));  // busy
  pthread_rwlock_unlock(&w);
  pthread_rwlock_rdlock(&w);
  count(pthread_rwlock_trywrlock(&w));  // busy
  count(pthread_rwlock_tryrdlock(&w));
  pthread_rwlock_unlock(&w);
  pthread_rwlock_unlock(&w);
  sem_t n;
  sem_init(&n, 0, 1);
  count(sem_trywait(&n));
  count(sem_trywait(&n));  // busy
  sem_post(&n);
  sem_wait(&n);
  count(pthread_tryjoin_np(pthread_self(), nullptr));  // busy
  pthread_t t;
  pthread_create(&t, nullptr, [](void* argument) { return argument; }, nullptr);
  while (pthread_tryjoin_np(t, nullptr) != 0) sched_yield();
  return ok == 9 && busy == 8 ? 0 : 1;
}
CASE(owntryloop) {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&m);
  while (pthread_mutex_trylock(&m) != 0);
  return 1;
}
CASE(timedtaken) {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  std::binary_semaphore done(0);
  std::thread t([&] {
    pthread_mutex_lock(&m);
    done.acquire();
    pthread_mutex_unlock(&m);
  });
  timespec limit = {};
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 1;
  const int result = pthread_mutex_timedlock(&m, &limit);
  if (result == 0) pthread_mutex_unlock(&m);
  done.release();
  t.join();
  return result == 0 ? 0 : 2;
}
CASE(deadlock) {
  std::mutex a, b;
  std::thread t([&] {
    std::lock_guard x(a);
    std::this_thread::sleep_for(1ms);
    std::lock_guard y(b);
  });
  std::lock_guard y(b);
  std::this_thread::sleep_for(1ms);
  std::lock_guard x(a);
  t.join();
  return 0;
}
CASE(lostwakeup) {
  std::mutex m;
  std::condition_variable c;
  std::atomic<bool> r{false};
  std::thread t([&] {
    r = true;
    c.notify_one();
  });
  if (!r) {
    std::unique_lock l(m);
    c.wait(l);
  }
  t.join();
  return 0;
}
CASE(selflock) {
  pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&m);
  pthread_mutex_lock(&m);
  return 0;
}
CASE(c11) {
  static mtx_t m;
  static cnd_t c;
  static int ready;
  mtx_init(&m, mtx_plain);
  cnd_init(&c);
  thrd_t t;
  thrd_create(
      &t,
      [](void*) -> int {
        mtx_lock(&m);
        ready = 1;
        cnd_signal(&c);
        mtx_unlock(&m);
        return 5;
      },
      nullptr);
  mtx_lock(&m);
  while (!ready) cnd_wait(&c, &m);
  mtx_unlock(&m);
  int r = 0;
  thrd_join(t, &r);
  return r == 5 ? 0 : 1;
}
CASE(forks) {
  std::mutex m;
  std::thread t([&] { std::lock_guard g(m); });
  m.lock();
  pid_t p = fork();
  if (p == 0) {
    m.unlock();
    m.lock();
    m.unlock();
    std::thread u([] {});
    u.join();
    _exit(4);
  }
  m.unlock();
  int s = 0;
  waitpid(p, &s, 0);
  t.join();
  return WIFEXITED(s) && WEXITSTATUS(s) == 4 ? 0 : 1;
}
CASE(exitrunning) {
  std::thread([] {
    for (;;) std::this_thread::sleep_for(1s);
  }).detach();
  std::thread([] {
    static std::atomic<int> n;
    for (;;) n++;
  }).detach();
  std::this_thread::sleep_for(5ms);
  exit(0);
}
CASE(pexit) {
  static std::thread t([] {
    std::this_thread::sleep_for(1s);
    exit(0);
  });
  t.detach();
  pthread_exit(nullptr);
}
CASE(pipes) {
  int p[2];
  if (pipe(p)) return 1;
  char c = 0;
  std::thread t([&] {
    std::this_thread::sleep_for(1ms);
    if (write(p[1], "x", 1) != 1) abort();
  });
  if (read(p[0], &c, 1) != 1) return 2;
  t.join();
  struct pollfd f = {p[0], POLLIN, 0};
  int r = poll(&f, 1, 3000);
  return c == 'x' && r == 0 ? 0 : 1;
}
CASE(childproc) {
  std::thread t([] {});
  FILE* f = popen("echo hi", "r");
  char b[8] = {};
  if (!fgets(b, 8, f)) return 1;
  int s = pclose(f);
  t.join();
  return s == 0 && b[0] == 'h' ? 0 : 1;
}
CASE(futexes) {
  static int w = 0;
  std::thread t([] {
    while (__atomic_load_n(&w, __ATOMIC_ACQUIRE) == 0)
      syscall(SYS_futex, &w, FUTEX_WAIT, 0, nullptr, nullptr, 0);
  });
  __atomic_store_n(&w, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &w, FUTEX_WAKE, 10, nullptr, nullptr, 0);
  t.join();
  return 0;
}
CASE(cancels) {
  static int done;
  pthread_t t;
  pthread_create(
      &t, nullptr,
      [](void*) -> void* {
        pthread_cleanup_push([](void*) { done = 1; }, nullptr);
        for (;;) usleep(1000);
        pthread_cleanup_pop(0);
        return nullptr;
      },
      nullptr);
  usleep(5000);
  pthread_cancel(t);
  void* r;
  pthread_join(t, &r);
  return r == PTHREAD_CANCELED && done ? 0 : 1;
}
thread_local struct TL {
  ~TL() {
    static std::mutex m;
    std::lock_guard g(m);
  }
  int x = 0;
} tl;
CASE(tls) {
  std::thread a([] { tl.x = 1; }), b([] { tl.x = 2; });
  a.join();
  b.join();
  return 0;
}
CASE(sharedptr) {
  std::atomic<std::shared_ptr<int>> p{std::make_shared<int>(1)};
  std::thread t([&] { p.store(std::make_shared<int>(2)); });
  auto q = p.load();
  t.join();
  return *p.load() == 2 ? 0 : 1;
}
CASE(busytime) {
  auto t = std::chrono::steady_clock::now();
  std::atomic<int> n{0};
  std::thread u([&] {
    std::this_thread::sleep_for(20ms);
    n = 1;
  });
  while (std::chrono::steady_clock::now() - t < 50ms);
  u.join();
  return n == 1 ? 0 : 1;
}
CASE(livelock) {
  std::atomic<int> n{0};
  std::thread u([&] { while (n == 0); });
  u.join();
  return 0;
}
CASE(patience) {  // each looks for the other's word for a while, and then goes on without
  std::atomic<int> n{0};
  std::thread u([&] {
    for (int looks = 0; looks < 1'000'000 && n == 0; ++looks);
    n = 1;
  });
  for (int looks = 0; looks < 2'000'000 && n == 0; ++looks);
  u.join();
  return 0;
}
CASE(alone) {  // looks at the same word again and again while it goes through something else
  std::atomic<int> n{1};
  int sum = 0;
  for (int at = 0; at < 2'000'000; ++at) sum ^= at * n;
  return sum == 1 ? 1 : 0;
}
static std::atomic<int> visited{0};
static void visit(int path, int depth) {  // each number is a call path of its own
  if (depth == 0) {
    ++visited;
    return;
  }
  switch (path % 8) {
#define CALL(n)                 \
  case n:                       \
    visit(path / 8, depth - 1); \
    asm volatile("" ::"r"(n));  \
    break;
    CALL(0)
    CALL(1)
    CALL(2)
    CALL(3)
    CALL(4)
    CALL(5)
    CALL(6)
    CALL(7)
#undef CALL
  }
}
CASE(paths) {
  std::thread u([] { ++visited; });
  for (int path = 0; path < 5000; ++path) visit(path, 5);
  for (int again = 0; again < 30000; ++again) visit(5001, 5);
  u.join();
  return visited == 35001 ? 0 : 1;
}
CASE(rawsleep) {
  std::atomic<int> n{0};
  std::thread u([&] { n = 1; });
  struct timespec ts = {0, 100000000};
  long r;
  asm volatile("syscall" : "=a"(r) : "a"(35), "D"(&ts), "S"(0) : "rcx", "r11", "memory");
  u.join();
  return 0;
}
static std::atomic<int> handled{0};
static int handled_plain = 0;
CASE(signals) {  // raised, and sent to a thread that waits
  struct sigaction action = {};
  action.sa_handler = [](int) {
    ++handled;
    ++handled_plain;
  };
  sigaction(SIGUSR1, &action, nullptr);
  std::mutex m;
  std::condition_variable c;
  bool go = false;
  std::thread waiter([&] {
    std::unique_lock l(m);
    c.wait(l, [&] { return go; });
  });
  std::thread sender([] { raise(SIGUSR1); });
  sender.join();
  pthread_kill(waiter.native_handle(), SIGUSR1);
  while (handled < 2) std::this_thread::yield();
  {
    std::lock_guard l(m);
    go = true;
    c.notify_one();
  }
  waiter.join();
  return handled == 2 && handled_plain == 2 ? 0 : 1;
}
static sem_t ticked;
static std::atomic<int> ticks{0};
CASE(timerthread) {  // libc starts a thread that the engine did not see coming
  sem_init(&ticked, 0, 0);
  struct sigevent event = {};
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = [](union sigval) {
    ++ticks;
    sem_post(&ticked);
  };
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 2;
  struct itimerspec in = {};
  in.it_value.tv_nsec = 5'000'000;
  timer_settime(timer, 0, &in, nullptr);
  std::thread other([] { ++ticks; });
  sem_wait(&ticked);
  other.join();
  timer_delete(timer);
  return ticks == 2 ? 0 : 1;
}
template <class Body>
static bool cancelled_in(Body body) {
  static Body run = body;
  pthread_t t;
  pthread_create(
      &t, nullptr,
      [](void*) -> void* {
        run();
        return nullptr;
      },
      nullptr);
  pthread_cancel(t);
  void* result = nullptr;
  pthread_join(t, &result);
  return result == PTHREAD_CANCELED;
}
CASE(cancelpoints) {
  static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
  static sem_t never;
  sem_init(&never, 0, 0);
  if (!cancelled_in([] {
        pthread_mutex_lock(&m);
        pthread_cleanup_push([](void*) { pthread_mutex_unlock(&m); }, nullptr);
        for (;;) pthread_cond_wait(&c, &m);
        pthread_cleanup_pop(1);
      }))
    return 1;
  if (pthread_mutex_lock(&m) != 0) return 2;  // the cleanup gave it back
  pthread_mutex_unlock(&m);
  if (!cancelled_in([] { sem_wait(&never); })) return 3;
  if (!cancelled_in([] { pause(); })) return 4;
  if (!cancelled_in([] {
        pthread_testcancel();
        for (;;) sleep(1);
      }))
    return 5;
  // Forbidden: it goes on to its end.
  if (cancelled_in([] {
        int old = 0;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
        usleep(1000);
      }))
    return 6;
  return 0;
}
CASE(endless) {
  std::atomic<int> n{0};
  const auto count = [&] {
    for (;;) ++n;
  };
  std::thread t(count);
  count();
  return 0;
}
CASE(barewait) {  // status 1: woken for no reason
  std::mutex m;
  std::condition_variable c;
  bool told = false;
  std::unique_lock l(m);
  std::thread teller([&] {
    std::lock_guard g(m);
    told = true;
    c.notify_one();
  });
  c.wait(l);
  const bool right = told;
  l.unlock();
  teller.join();
  return right ? 0 : 1;
}
CASE(timedjoin) {
  std::thread u([&] { std::this_thread::sleep_for(10s); });
  struct timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  ts.tv_sec += 1;
  int r = pthread_timedjoin_np(u.native_handle(), nullptr, &ts);
  u.join();
  return r == ETIMEDOUT ? 0 : 1;
}
CASE(clocksleep) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  ts.tv_sec += 3;
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, nullptr);
  sleep(2);
  struct timespec n;
  clock_gettime(CLOCK_MONOTONIC, &n);
  time_t t = time(nullptr);
  return n.tv_sec >= ts.tv_sec + 2 && t > 1700000000 - 10 ? 0 : 1;
}
// Fails under few schedules.
CASE(account) {
  static int balance;
  balance = 0;
  auto deposit = [] {
    int b = balance;
    balance = b + 1;
  };
  std::atomic<int> go{0};
  auto run = [&] {
    go++;
    while (go < 2) std::this_thread::yield();
    deposit();
  };
  std::thread a(run), b(run);
  a.join();
  b.join();
  return balance == 2 ? 0 : 1;
}
std::mutex ta, tb;
int td1, td2;
CASE(twostage) {
  td1 = td2 = 0;
  int bad = 0;
  std::thread w([] {
    {
      std::lock_guard g(ta);
      td1 = 1;
    }
    {
      std::lock_guard g(tb);
      td2 = td1 + 1;
    }
  });
  std::thread r([&] {
    int t1, t2;
    {
      std::lock_guard g(ta);
      if (td1 == 0) return;
      t1 = td1;
    }
    {
      std::lock_guard g(tb);
      t2 = td2;
    }
    if (t2 != t1 + 1) bad = 1;
  });
  w.join();
  r.join();
  return bad;
}
int ra, rb2;
CASE(sleeper) {  // 1: the thread that sleeps for half a millisecond comes first
  std::atomic<int> order{0};
  int sleeper_at = 0, worker_at = 0;
  std::thread sleeper([&] {
    usleep(500);
    sleeper_at = ++order;
  });
  std::thread worker([&] { worker_at = ++order; });
  sleeper.join();
  worker.join();
  return sleeper_at < worker_at ? 1 : 0;
}
CASE(reorder) {
  ra = rb2 = 0;
  int bad = 0;
  std::thread s[2];
  for (auto& t : s)
    t = std::thread([] {
      ra = 1;
      rb2 = -1;
    });
  std::thread c([&] {
    if (!((ra == 0 && rb2 == 0) || (ra == 1 && rb2 == -1))) bad = 1;
  });
  for (auto& t : s) t.join();
  c.join();
  return bad;
}
CASE(published) {  // what is read is not there before the pointer is, and nothing orders the two
  static int text;
  static std::atomic<int*> slot;
  const auto go_on = [] {
    for (int i = 0; i < 200; ++i) slot.load(std::memory_order_relaxed);
  };
  std::thread writer([&] {
    text = 42;
    slot.store(&text, std::memory_order_relaxed);
    go_on();
  });
  std::thread reader([&] {
    const int* found = nullptr;
    while ((found = slot.load(std::memory_order_relaxed)) == nullptr) std::this_thread::yield();
    volatile int read = *found;
    (void)read;
    go_on();
  });
  writer.join();
  reader.join();
  return 0;
}
CASE(disk) {  // 0: nothing waits for a disk; 1: the kernel was asked; else: errors are lost
  const int regular = open("/proc/self/comm", O_RDWR);  // whose file system cannot synchronise
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0 || fsync(-1) == 0 || errno != EBADF) return 2;
  if (fdatasync(pipe_ends[1]) == 0 || errno != EINVAL) return 3;
  return fsync(regular) == 0 && fdatasync(regular) == 0 ? 0 : 1;
}
CASE(nosuchbug) {
  std::atomic<int> n{0};
  std::mutex m;
  int k = 0;
  std::thread t([&] {
    n++;
    std::lock_guard g(m);
    k++;
  });
  n++;
  {
    std::lock_guard g(m);
    k++;
  }
  t.join();
  return n == 2 && k == 2 ? 0 : 1;
}
CASE(timestampsleft) {
  int state = 0;
  return prctl(PR_GET_TSC, &state) != 0 || state == PR_TSC_ENABLE ? 0 : 1;
}
