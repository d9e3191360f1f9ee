// Whether a test runs the change at all.
#pragma once

#include "select/select.h"

namespace simrt::select {

class Affected {
 public:
  explicit Affected(const SelectInput& input);

  /// False when the recorded run entered none of the functions in which executions begin to differ
  /// (Impact::origins): whatever pairs it covers, they are the recorded version's.
  bool may_differ(const TestCoverage& coverage) const;
  /// "enters none of the 3 functions that the change alters"
  std::string why_not() const;

 private:
  bool known_ = false;
  std::size_t functions_ = 0;
  BlockSet blocks_;
};

}  // namespace simrt::select
