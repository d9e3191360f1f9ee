#include "schedule/minimise.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace simrt::schedule {
namespace {

/// The stretches [from, until) moved to the next (later) or previous stretch of their threads; those that
/// have none are left to the default schedule.
Stretches moved(const Stretches& all, std::size_t from, std::size_t until, bool later) {
  Stretches result = all;
  for (std::size_t n = 0; n < until - from; ++n) {
    const std::size_t i = later ? until - 1 - n : from + n;
    const std::uint64_t steps = std::exchange(result[i].steps, 0);
    if (later) {
      const auto next = std::find_if(result.begin() + static_cast<std::ptrdiff_t>(i) + 1, result.end(),
                                     [&](const Stretch& s) { return s.thread == all[i].thread; });
      if (next != result.end()) next->steps += steps;
    } else {
      const auto previous =
          std::find_if(result.rbegin() + static_cast<std::ptrdiff_t>(result.size() - i), result.rend(),
                       [&](const Stretch& s) { return s.thread == all[i].thread && s.steps > 0; });
      if (previous == result.rend()) return all;
      previous->steps += steps;
    }
  }
  Stretches joined;
  for (const Stretch& stretch : result) append(joined, stretch.thread, stretch.steps);
  return joined;
}

class Minimiser {
 public:
  Minimiser(const StillFails& still_fails, std::uint64_t budget)
      : still_fails_(still_fails), budget_(budget) {}

  MinimisedSchedule run(const Stretches& failing) {
    best_.schedule = failing;
    best_.switches = context_switches(failing);
    cut_the_end();
    bool improved = true;
    while (improved && best_.switches > 0 && !spent()) {
      improved = false;
      for (std::size_t width = std::max<std::size_t>(1, (best_.switches + 1) / 2); width > 0; width /= 2)
        improved |= sweep(width);
    }
    best_.minimal = !spent() || best_.switches == 0;
    return best_;
  }

 private:
  bool spent() const { return best_.executions >= budget_; }

  bool try_out(const Stretches& candidate) {
    if (spent() || candidate == best_.schedule) return false;
    ++best_.executions;
    std::optional<Stretches> real = still_fails_(candidate);
    if (!real || context_switches(*real) >= best_.switches) return false;
    best_.switches = context_switches(*real);
    best_.schedule = std::move(*real);
    return true;
  }

  void cut_the_end() {
    for (std::size_t cut = best_.schedule.size(); cut > 0 && !spent();) {
      Stretches shorter = best_.schedule;
      if (cut >= shorter.size()) {
        cut = shorter.size() / 2;
        if (cut == 0) return;
      }
      shorter.resize(shorter.size() - cut);
      if (!try_out(shorter)) cut /= 2;
    }
  }

  bool sweep(std::size_t width) {
    bool improved = false;
    for (std::size_t from = 0; !spent();) {
      const Stretches all = best_.schedule;
      if (from >= all.size()) break;
      const std::size_t until = std::min(from + width, all.size());
      if (try_out(moved(all, from, until, true)) || try_out(moved(all, from, until, false))) {
        improved = true;
      } else {
        from = until;
      }
    }
    return improved;
  }

  const StillFails& still_fails_;
  std::uint64_t budget_;
  MinimisedSchedule best_;
};

}  // namespace

void append(Stretches& stretches, ThreadIndex thread, std::uint64_t steps) {
  if (steps == 0) return;
  if (stretches.empty() || stretches.back().thread != thread) stretches.push_back({thread, 0});
  stretches.back().steps += steps;
}

Stretches stretches_of(const Choices& choices) {
  Stretches stretches;
  for (const ThreadIndex thread : choices) append(stretches, thread);
  return stretches;
}

Choices choices_of(const Stretches& stretches) {
  Choices choices;
  for (const Stretch& stretch : stretches) choices.insert(choices.end(), stretch.steps, stretch.thread);
  return choices;
}

MinimisedSchedule minimise(const Stretches& failing, const StillFails& still_fails, std::uint64_t budget) {
  return Minimiser(still_fails, budget).run(failing);
}

}  // namespace simrt::schedule
