// One test's coverage against the targets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/selection.h"
#include "select/targets.h"

namespace simrt::select {

struct TestMatch {
  std::vector<std::uint32_t> two_threads;  ///< goals covered by two threads (or of unknown block, by one)
  std::vector<std::uint32_t> same_thread;  ///< goals of which one thread alone covered both sides
  std::uint32_t impacted = 0;              ///< impacted accesses entered, any thread
  std::uint32_t others = 0;                ///< accesses entered that are not impacted
};

/// Reused from test to test: its arrays are as large as the targets.
class Matcher {
 public:
  explicit Matcher(const Targets& targets);

  TestMatch match(const TestCoverage& coverage);

 private:
  /// Who entered a slot: nobody, several threads, or one (kFirstThread plus the index into
  /// TestCoverage::single).
  using Entered = std::uint32_t;
  static constexpr Entered kNobody = 0, kSeveral = 1, kFirstThread = 2;

  static Entered main_thread(const TestCoverage& coverage);
  /// The slot, and the groups that it belongs to.
  void enter(Slot slot, Entered by);
  void enter_alone(Slot slot, Entered by);

  const Targets& targets_;
  std::vector<Entered> entered_;
  std::vector<Slot> touched_;
};

/// The role of the thread that entered a slot: empty for nobody, "several" for two or more, "any" for the
/// unknown.
std::string entered_by(const TestCoverage& coverage, const Targets& targets, Slot slot);

}  // namespace simrt::select
