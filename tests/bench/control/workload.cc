// Work for controlled executions. Arguments: what to do, and how often.
//   small            two threads, a mutex and a counter: an execution that is over at once
//   accesses N       N plain accesses by one thread, each a scheduling point, while another waits
//   atomics N        the same with atomic operations
//   switches N       two threads with N plain accesses in all
//   locks N          N times a mutex that nobody else wants
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

namespace {

volatile unsigned long plain;
std::atomic<unsigned long> cell;
std::mutex guard;
unsigned long counter;

void accesses(unsigned long n) {
  for (unsigned long i = 0; i < n; ++i) plain = i;
}

void count() {
  for (int i = 0; i < 2; ++i) {
    const std::lock_guard lock(guard);
    ++counter;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "small";
  const unsigned long n = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1000;
  if (std::strcmp(what, "small") == 0) {
    std::thread other(count);
    count();
    other.join();
    return counter == 4 ? 0 : 1;
  }
  if (std::strcmp(what, "switches") == 0) {
    std::thread other(accesses, n / 2);
    accesses(n / 2);
    other.join();
    return 0;
  }
  std::thread worker([&] {
    if (std::strcmp(what, "accesses") == 0) accesses(n);
    if (std::strcmp(what, "atomics") == 0)
      for (unsigned long i = 0; i < n; ++i) cell.store(i, std::memory_order_relaxed);
    if (std::strcmp(what, "locks") == 0)
      for (unsigned long i = 0; i < n; ++i) {
        const std::lock_guard lock(guard);
        counter = i;
      }
  });
  worker.join();
  return cell.load() > n ? 1 : 0;  // so that no store is superfluous
}
