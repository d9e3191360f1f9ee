// Which tests may start now: the constraints among the tests of one run. Plain state, no threads and no
// processes.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/test.h"

namespace simrt::testing {

/// Not thread-safe: the caller guards it.
class RunSchedule {
 public:
  /// `tests` must outlive the schedule. `slots` >= 1.
  RunSchedule(const std::vector<TestCase>& tests, unsigned slots);

  /// The first test, in order, that may start; marks it as running. Nothing when all wait or none is left.
  /// With nothing running and tests left there always is one: a cycle of dependencies is broken at its first
  /// test.
  std::optional<std::size_t> start_next();
  /// A running test has ended.
  void finish(std::size_t test, bool passed);
  /// Name of a fixture that `test` requires and whose set-up did not pass.
  std::optional<std::string> broken_fixture(std::size_t test) const;

  std::size_t waiting() const { return waiting_; }
  std::size_t running() const { return running_; }

 private:
  enum class State : std::uint8_t { Waiting, Running, Done };
  bool predecessors_done(std::size_t test) const;
  bool has_room(std::size_t test) const;
  void start(std::size_t test);
  unsigned weight(std::size_t test) const;

  const std::vector<TestCase>& tests_;
  unsigned slots_;
  unsigned used_slots_ = 0;
  std::size_t waiting_ = 0;
  std::size_t running_ = 0;
  std::size_t first_waiting_ = 0;
  bool serial_running_ = false;
  std::vector<State> states_;
  std::vector<std::vector<std::size_t>> predecessors_;
  std::set<std::string> locked_;
  std::set<std::string> broken_fixtures_;
};

}  // namespace simrt::testing
