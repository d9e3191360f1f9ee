// usage: detect_scenarios NAME. Small programs for the detector: racy ones, whose threads take turns so that
// no schedule shows the fault by itself, and correct ones.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

// `second` runs when `first` is over, as the clock has it: nothing orders the two.
template <class First, class Second>
void in_turn(First first, Second second) {
  std::thread a([&] { first(); });
  std::thread b([&] {
    usleep(20000);
    second();
  });
  a.join();
  b.join();
}
template <class Body>
void both(Body body) {
  std::thread a([&] { body(0); }), b([&] { body(1); });
  a.join();
  b.join();
}

int shared_value, other_value, third_value;
std::mutex first_mutex, second_mutex;

void racy_counter() {
  both([](int) { ++shared_value; });
}
void racy_in_turn() {
  in_turn([] { ++shared_value; }, [] { ++shared_value; });
}
void racy_wrong_lock() {
  in_turn(
      [] {
        const std::lock_guard lock(first_mutex);
        ++shared_value;
      },
      [] {
        const std::lock_guard lock(second_mutex);
        ++shared_value;
      });
}
void racy_accidental_hand_over() {
  in_turn(
      [] {
        shared_value = 1;
        const std::lock_guard lock(first_mutex);
        other_value = 1;
      },
      [] {
        {
          const std::lock_guard lock(first_mutex);
          third_value = 1;
        }
        shared_value = 2;
      });
}
void racy_unlocked_read() {
  in_turn(
      [] {
        const std::lock_guard lock(first_mutex);
        ++shared_value;
      },
      [] { other_value = shared_value; });
}
void racy_double_checked() {
  static int* instance;
  const auto get = [] {
    if (instance == nullptr) {
      const std::lock_guard lock(first_mutex);
      if (instance == nullptr) instance = new int(7);
    }
    return *instance;
  };
  in_turn([&] { get(); }, [&] { get(); });
}
void racy_relaxed_publication() {
  static std::atomic<int> ready{0};
  in_turn(
      [] {
        shared_value = 1;
        ready.store(1, std::memory_order_relaxed);
      },
      [] {
        while (ready.load(std::memory_order_relaxed) == 0) usleep(100);
        other_value = shared_value;
      });
}
void racy_use_after_free() {
  auto* value = new int(1);
  in_turn([&] { delete value; }, [&] { *value = 2; });
}
void racy_copy() {
  static char text[64];
  volatile std::size_t n = sizeof text;  // a call, not a few moves
  in_turn([&] { std::memset(text, 1, n); }, [&] { other_value = text[40]; });
}
void racy_string() {
  static std::string text = "a string that is too long to lie inside its object";
  in_turn([] { text.append(std::string(20, 'x')); }, [] { other_value = static_cast<int>(text.size()); });
}
void racy_shared_pointer() {
  static auto pointer = std::make_shared<int>(1);
  in_turn([] { pointer.reset(new int(2)); }, [] { auto copy = pointer; });
}
void racy_bit_field() {
  static struct {
    unsigned a : 4, b : 4;
  } bits;
  in_turn([] { bits.a = 1; }, [] { bits.b = 1; });
}
void racy_plain_and_atomic() {
  static int value;
  in_turn([] { __atomic_store_n(&value, 1, __ATOMIC_SEQ_CST); }, [] { other_value = value; });
}
void racy_detached() {
  std::thread([] { shared_value = 1; }).detach();
  usleep(20000);
  shared_value = 2;
}
void racy_read_lock() {
  static std::shared_mutex mutex;
  both([](int) {
    const std::shared_lock lock(mutex);
    ++shared_value;
  });
}

// Both threads are at each of the values at the same moment, as far as that can be had; relaxed operations
// order nothing.
template <int kNumber>
void increment_at_once() {
  static std::atomic<int> here{0};
  // All of its 8 bytes: what else stood there would take cells of the shadow.
  alignas(8) static int value[2];
  here.fetch_add(1, std::memory_order_relaxed);
  while (here.load(std::memory_order_relaxed) < 2) {
  }
  ++value[0];
}
template <int... kNumbers>
void increment_all(std::integer_sequence<int, kNumbers...>) {
  (increment_at_once<kNumbers>(), ...);
}
void racy_at_once() {
  both([](int) { increment_all(std::make_integer_sequence<int, 32>()); });
}

void cycle_two_locks() {
  in_turn([] { const std::lock_guard a(first_mutex), b(second_mutex); },
          [] { const std::lock_guard b(second_mutex), a(first_mutex); });
}

void split_check_then_act() {
  static const auto get = [] {
    const std::lock_guard lock(first_mutex);
    return shared_value;
  };
  static const auto set = [](int value) {
    const std::lock_guard lock(first_mutex);
    shared_value = value;
  };
  in_turn([] { set(get() + 1); }, [] { set(get() + 1); });
}

void clean_mutex() {
  both([](int) {
    for (int i = 0; i < 1000; ++i) {
      const std::lock_guard lock(first_mutex);
      ++shared_value;
    }
  });
}
void clean_shared_mutex() {
  static std::shared_mutex mutex;
  both([](int who) {
    for (int i = 0; i < 500; ++i) {
      if ((i + who) % 4 == 0) {
        const std::unique_lock lock(mutex);
        ++shared_value;
      } else {
        const std::shared_lock lock(mutex);
        if (shared_value < 0) std::puts("no");
      }
    }
  });
}
void clean_condition_variable() {
  static std::condition_variable changed;
  static bool ready = false, done = false;
  std::thread worker([] {
    std::unique_lock lock(first_mutex);
    changed.wait(lock, [] { return ready; });
    lock.unlock();
    ++shared_value;
    lock.lock();
    done = true;
    changed.notify_all();
  });
  shared_value = 5;
  {
    const std::lock_guard lock(first_mutex);
    ready = true;
  }
  changed.notify_one();
  {
    std::unique_lock lock(first_mutex);
    changed.wait(lock, [] { return done; });
  }
  ++shared_value;
  worker.join();
}
void clean_queue() {
  static std::queue<std::unique_ptr<std::string>> items;
  static std::condition_variable changed;
  both([](int who) {
    for (int i = 0; i < 200; ++i) {
      if (who == 0) {
        auto item = std::make_unique<std::string>("item number " + std::to_string(i) + " of the queue");
        const std::lock_guard lock(first_mutex);
        items.push(std::move(item));
        changed.notify_one();
      } else {
        std::unique_lock lock(first_mutex);
        changed.wait(lock, [] { return !items.empty(); });
        auto item = std::move(items.front());
        items.pop();
        lock.unlock();
        item->append("!");
      }
    }
  });
}
void clean_flag_under_lock() {
  static bool ready = false;
  both([](int who) {
    if (who == 0) {
      shared_value = 1;
      const std::lock_guard lock(first_mutex);
      ready = true;
      return;
    }
    for (bool seen = false; !seen; usleep(100)) {
      const std::lock_guard lock(first_mutex);
      seen = ready;
    }
    ++shared_value;
  });
}
void clean_release_acquire() {
  static std::atomic<bool> ready{false};
  both([](int who) {
    if (who == 0) {
      shared_value = 1;
      ready.store(true, std::memory_order_release);
    } else {
      while (!ready.load(std::memory_order_acquire)) usleep(100);
      ++shared_value;
    }
  });
}
void clean_fences() {
  static std::atomic<bool> ready{false};
  both([](int who) {
    if (who == 0) {
      shared_value = 1;
      std::atomic_thread_fence(std::memory_order_release);
      ready.store(true, std::memory_order_relaxed);
    } else {
      while (!ready.load(std::memory_order_relaxed)) usleep(100);
      std::atomic_thread_fence(std::memory_order_acquire);
      ++shared_value;
    }
  });
}
void clean_spin_lock() {
  static std::atomic_flag held = ATOMIC_FLAG_INIT;
  both([](int) {
    for (int i = 0; i < 300; ++i) {
      while (held.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
      ++shared_value;
      held.clear(std::memory_order_release);
    }
  });
}
void clean_join() {
  for (int i = 0; i < 20; ++i) {
    std::thread t([] { ++shared_value; });
    t.join();
    ++shared_value;
  }
}
void clean_call_once() {
  static std::once_flag once;
  both([](int) {
    std::call_once(once, [] { shared_value = 9; });
    if (shared_value != 9) std::puts("no");
  });
}
int initial() { return ++other_value; }
void clean_static() {
  both([](int) {
    static int value = initial();
    if (value != 1) std::puts("no");
  });
}
void clean_shared_pointer() {
  for (int round = 0; round < 50; ++round) {
    auto pointer = std::make_shared<std::string>("shared by both threads, freed by the last");
    std::thread a([copy = pointer] { (void)copy->size(); });
    std::thread b([copy = std::move(pointer)] { (void)copy->size(); });
    a.join();
    b.join();
  }
}
void clean_shared_pointer_detached() {
  static std::atomic<int> running{0};
  for (int round = 0; round < 20; ++round) {
    auto pointer = std::make_shared<std::vector<int>>(100);
    for (int i = 0; i < 2; ++i) {
      ++running;
      std::thread([copy = pointer, i]() mutable {
        (*copy)[static_cast<std::size_t>(i)] = i;
        copy.reset();
        --running;
      }).detach();
    }
  }
  while (running != 0) usleep(100);
}
void clean_barrier() {
  static std::barrier barrier(2);
  static int cells[2];
  both([](int who) {
    for (int i = 0; i < 50; ++i) {
      cells[who] = i;
      barrier.arrive_and_wait();
      if (cells[1 - who] != i) std::puts("no");
      barrier.arrive_and_wait();
    }
  });
}
void clean_pthread_barrier() {
  static pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  static int cells[2];
  both([](int who) {
    for (int i = 0; i < 50; ++i) {
      cells[who] = i;
      pthread_barrier_wait(&barrier);
      if (cells[1 - who] != i) std::puts("no");
      pthread_barrier_wait(&barrier);
    }
  });
}
void clean_semaphore() {
  static std::binary_semaphore ping{0}, pong{0};
  both([](int who) {
    for (int i = 0; i < 50; ++i) {
      if (who == 0) {
        ++shared_value;
        ping.release();
        pong.acquire();
      } else {
        ping.acquire();
        ++shared_value;
        pong.release();
      }
    }
  });
}
void clean_latch() {
  static std::latch latch(2);
  static int cells[2];
  both([](int who) {
    cells[who] = 1;
    latch.arrive_and_wait();
    if (cells[1 - who] != 1) std::puts("no");
  });
}
void clean_future() {
  for (int i = 0; i < 20; ++i) {
    auto future =
        std::async(std::launch::async, [] { return std::string(40, 'a' + char(++shared_value % 26)); });
    if (future.get().size() != 40) std::puts("no");
    ++shared_value;
  }
}
void clean_atomic_wait() {
  static std::atomic<int> turn{0};
  both([](int who) {
    for (int i = 0; i < 50; ++i) {
      int now;
      while ((now = turn.load()) % 2 != who) turn.wait(now);
      ++shared_value;
      turn.store(now + 1);
      turn.notify_one();
    }
  });
}
void clean_own_heap() {
  both([](int) {
    for (int i = 0; i < 2000; ++i) {
      std::map<int, std::string> map;
      for (int k = 0; k < 5; ++k) map[k] = std::string(30, 'x');
    }
  });
}
void clean_stacks_reused() {
  for (int i = 0; i < 50; ++i) {
    std::thread([] {
      volatile int local[512];
      for (int k = 0; k < 512; ++k) local[k] = k;
    }).detach();
    usleep(500);
  }
}
void clean_same_lock_order() {
  both([](int) {
    for (int i = 0; i < 50; ++i) {
      const std::lock_guard a(first_mutex), b(second_mutex);
      ++shared_value;
    }
  });
}
// What comes out of a descriptor was put in before. Nothing else orders the two accesses.
void handed_over(int in, int out) {
  std::thread writer([&] {
    shared_value = 1;
    const uint64_t token = 1;
    if (write(in, &token, sizeof token) != sizeof token) abort();
  });
  std::thread reader([&] {
    uint64_t token = 0;
    if (read(out, &token, sizeof token) != sizeof token) abort();
    ++shared_value;
  });
  writer.join();
  reader.join();
  close(in);
  if (out != in) close(out);
}
void clean_pipe() {
  int ends[2];
  if (pipe(ends) != 0) abort();
  handed_over(ends[1], ends[0]);
}
void clean_socket_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
  handed_over(ends[1], ends[0]);
}
void clean_event_counter() {
  const int counter = eventfd(0, 0);
  handed_over(counter, counter);
}
void clean_epoll() {
  const int counter = eventfd(0, 0), poller = epoll_create1(0);
  epoll_event wanted = {};
  wanted.events = EPOLLIN;
  epoll_ctl(poller, EPOLL_CTL_ADD, counter, &wanted);
  std::thread writer([&] {
    shared_value = 1;
    const uint64_t token = 1;
    if (write(counter, &token, sizeof token) != sizeof token) abort();
  });
  std::thread reader([&] {
    epoll_event found;
    if (epoll_wait(poller, &found, 1, -1) != 1) abort();
    ++shared_value;  // without a read
  });
  writer.join();
  reader.join();
  close(poller);
  close(counter);
}
// Two writers of one pipe are not ordered by it.
void racy_two_writers() {
  int ends[2];
  if (pipe(ends) != 0) abort();
  const auto say = [&] {
    ++shared_value;
    if (write(ends[1], "x", 1) != 1) abort();
  };
  in_turn(say, say);
  close(ends[0]);
  close(ends[1]);
}
void clean_scoped_lock() {
  in_turn([] { const std::scoped_lock lock(first_mutex, second_mutex); },
          [] { const std::scoped_lock lock(second_mutex, first_mutex); });
}

struct Scenario {
  const char* name;
  void (*run)();
};
#define SCENARIO(name) {#name, name}
constexpr Scenario kScenarios[] = {SCENARIO(racy_counter),
                                   SCENARIO(racy_at_once),
                                   SCENARIO(racy_in_turn),
                                   SCENARIO(racy_wrong_lock),
                                   SCENARIO(racy_accidental_hand_over),
                                   SCENARIO(racy_unlocked_read),
                                   SCENARIO(racy_double_checked),
                                   SCENARIO(racy_relaxed_publication),
                                   SCENARIO(racy_use_after_free),
                                   SCENARIO(racy_copy),
                                   SCENARIO(racy_string),
                                   SCENARIO(racy_shared_pointer),
                                   SCENARIO(racy_bit_field),
                                   SCENARIO(racy_plain_and_atomic),
                                   SCENARIO(racy_detached),
                                   SCENARIO(racy_read_lock),
                                   SCENARIO(cycle_two_locks),
                                   SCENARIO(split_check_then_act),
                                   SCENARIO(clean_mutex),
                                   SCENARIO(clean_shared_mutex),
                                   SCENARIO(clean_condition_variable),
                                   SCENARIO(clean_queue),
                                   SCENARIO(clean_flag_under_lock),
                                   SCENARIO(clean_release_acquire),
                                   SCENARIO(clean_fences),
                                   SCENARIO(clean_spin_lock),
                                   SCENARIO(clean_join),
                                   SCENARIO(clean_call_once),
                                   SCENARIO(clean_static),
                                   SCENARIO(clean_shared_pointer),
                                   SCENARIO(clean_shared_pointer_detached),
                                   SCENARIO(clean_barrier),
                                   SCENARIO(clean_pthread_barrier),
                                   SCENARIO(clean_semaphore),
                                   SCENARIO(clean_latch),
                                   SCENARIO(clean_future),
                                   SCENARIO(clean_atomic_wait),
                                   SCENARIO(clean_own_heap),
                                   SCENARIO(clean_stacks_reused),
                                   SCENARIO(clean_same_lock_order),
                                   SCENARIO(clean_scoped_lock),
                                   SCENARIO(clean_pipe),
                                   SCENARIO(clean_socket_pair),
                                   SCENARIO(clean_event_counter),
                                   SCENARIO(clean_epoll),
                                   SCENARIO(racy_two_writers)};

}  // namespace

int main(int argc, char** argv) {
  for (const Scenario& scenario : kScenarios) {
    if (argc < 2) {
      std::puts(scenario.name);
    } else if (std::strcmp(argv[1], scenario.name) == 0) {
      scenario.run();
      return 0;
    }
  }
  return argc < 2 ? 0 : 2;
}
