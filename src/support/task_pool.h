// Runs independent tasks on several threads. Results come back by index, so they do not depend on timing.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <type_traits>
#include <vector>

#include "support/interrupt.h"

namespace simrt {

/// Runs `task(0)` to `task(count - 1)`, started in this order, on at most `threads` threads (0: one a
/// processor); with one thread, or one task, on the caller's. Returns when all have ended; after a requested
/// interrupt no further task starts. Returns the number of tasks that ran: always those with the lowest
/// indices. Should tasks throw, the exception of the lowest index is rethrown after all have ended.
std::size_t run_tasks(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& task,
                      const InterruptToken* interrupt = nullptr);

/// Number of processors this process may use; at least 1.
unsigned available_processors();

/// run_tasks() with results: element i is `task(i)`, or empty when it did not run.
template <class Task>
auto map_tasks(std::size_t count, unsigned threads, Task&& task, const InterruptToken* interrupt = nullptr) {
  using R = std::invoke_result_t<Task&, std::size_t>;
  std::vector<std::optional<R>> results(count);
  run_tasks(count, threads, [&](std::size_t i) { results[i].emplace(task(i)); }, interrupt);
  return results;
}

}  // namespace simrt
