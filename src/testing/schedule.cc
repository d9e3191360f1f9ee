// See schedule.h.
#include "testing/schedule.h"

#include <algorithm>

namespace simrt::testing {

RunSchedule::RunSchedule(const std::vector<TestCase>& tests, unsigned slots)
    : tests_(tests),
      slots_(std::max(1U, slots)),
      waiting_(tests.size()),
      states_(tests.size(), State::Waiting),
      predecessors_(tests.size()) {
  std::map<std::string, std::vector<std::size_t>> setups;
  std::map<std::string, std::vector<std::size_t>> users;
  std::map<std::string, std::vector<std::size_t>> by_name;  // a CTest test may have been split into many
  for (std::size_t i = 0; i < tests.size(); ++i) {
    for (const std::string& fixture : tests[i].rules.fixtures_setup) setups[fixture].push_back(i);
    for (const std::string& fixture : tests[i].rules.fixtures_required) users[fixture].push_back(i);
    if (!tests[i].ctest.empty()) by_name[tests[i].ctest].push_back(i);
  }
  for (std::size_t i = 0; i < tests.size(); ++i) {
    const auto wait_for = [&](const std::map<std::string, std::vector<std::size_t>>& index,
                              const std::vector<std::string>& names) {
      for (const std::string& name : names) {
        const auto found = index.find(name);
        if (found == index.end()) continue;
        for (const std::size_t other : found->second) {
          if (other != i) predecessors_[i].push_back(other);
        }
      }
    };
    wait_for(setups, tests[i].rules.fixtures_required);
    wait_for(setups, tests[i].rules.fixtures_cleanup);
    wait_for(users, tests[i].rules.fixtures_cleanup);
    wait_for(by_name, tests[i].rules.depends);
  }
}

unsigned RunSchedule::weight(std::size_t test) const {
  return std::min(slots_, tests_[test].rules.processors);
}

bool RunSchedule::predecessors_done(std::size_t test) const {
  return std::all_of(predecessors_[test].begin(), predecessors_[test].end(),
                     [&](std::size_t other) { return states_[other] == State::Done; });
}

bool RunSchedule::has_room(std::size_t test) const {
  const TestRules& rules = tests_[test].rules;
  if (running_ == 0) return true;
  if (serial_running_ || rules.run_serial || used_slots_ + weight(test) > slots_) return false;
  return std::none_of(rules.resource_locks.begin(), rules.resource_locks.end(),
                      [&](const std::string& lock) { return locked_.contains(lock); });
}

void RunSchedule::start(std::size_t test) {
  states_[test] = State::Running;
  --waiting_;
  ++running_;
  used_slots_ += weight(test);
  serial_running_ = tests_[test].rules.run_serial;
  locked_.insert(tests_[test].rules.resource_locks.begin(), tests_[test].rules.resource_locks.end());
}

std::optional<std::size_t> RunSchedule::start_next() {
  while (first_waiting_ < tests_.size() && states_[first_waiting_] != State::Waiting) ++first_waiting_;
  if (first_waiting_ == tests_.size() || used_slots_ >= slots_) return std::nullopt;
  for (std::size_t i = first_waiting_; i < tests_.size(); ++i) {
    if (states_[i] != State::Waiting || !has_room(i) || !predecessors_done(i)) continue;
    start(i);
    return i;
  }
  if (running_ > 0) return std::nullopt;
  start(first_waiting_);  // every waiting test waits for another waiting one
  return first_waiting_;
}

void RunSchedule::finish(std::size_t test, bool passed) {
  states_[test] = State::Done;
  --running_;
  used_slots_ -= weight(test);
  serial_running_ = false;
  const TestRules& rules = tests_[test].rules;
  for (const std::string& lock : rules.resource_locks) locked_.erase(lock);
  if (!passed) broken_fixtures_.insert(rules.fixtures_setup.begin(), rules.fixtures_setup.end());
}

std::optional<std::string> RunSchedule::broken_fixture(std::size_t test) const {
  for (const std::string& fixture : tests_[test].rules.fixtures_required) {
    if (broken_fixtures_.contains(fixture)) return fixture;
  }
  return std::nullopt;
}

}  // namespace simrt::testing
