// See task_pool.h.
#include "support/task_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace simrt {
namespace {

class Pool {
 public:
  Pool(std::size_t count, const std::function<void(std::size_t)>& task, const InterruptToken* interrupt)
      : count_(count), task_(task), interrupt_(interrupt) {}

  void work() {
    while (!stopped()) {
      const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= count_) return;
      try {
        task_(index);
      } catch (...) {
        remember(index, std::current_exception());
      }
    }
  }

  std::size_t finish() {
    if (failure_) std::rethrow_exception(failure_);
    return std::min(next_.load(std::memory_order_relaxed), count_);
  }

 private:
  bool stopped() const { return interrupt_ != nullptr && interrupt_->requested(); }

  void remember(std::size_t index, std::exception_ptr failure) {
    const std::scoped_lock lock(mutex_);
    if (failure_ && failed_index_ < index) return;
    failure_ = std::move(failure);
    failed_index_ = index;
  }

  std::size_t count_;
  const std::function<void(std::size_t)>& task_;
  const InterruptToken* interrupt_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::size_t failed_index_ = 0;
};

}  // namespace

unsigned available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

std::size_t run_tasks(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& task,
                      const InterruptToken* interrupt) {
  if (threads == 0) threads = available_processors();
  const std::size_t workers = std::min<std::size_t>(threads, count);
  Pool pool(count, task, interrupt);
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < workers; ++i) helpers.emplace_back([&pool] { pool.work(); });
  pool.work();
  helpers.clear();  // joins
  return pool.finish();
}

}  // namespace simrt
