// Reasons to run a test other than the pairs it covers: dangerous blocks, and what the analysis does not
// know.
#pragma once

#include <string>
#include <vector>

#include "select/select.h"

namespace simrt::select {

class Evidence {
 public:
  explicit Evidence(const SelectInput& input);

  /// Forced reasons, unknown changes, and what the technique adds apart from pairs.
  std::vector<Reason> reasons(const RecordedTest& test) const;
  /// Numbers of the blocks behind dangerous edges (RTSC only).
  const BlockSet& dangerous() const { return dangerous_; }

 private:
  struct UnknownFunction {
    BlockSet blocks;
    std::string text;
  };
  void collect_dangerous(const SelectInput& input);
  void collect_unknowns(const SelectInput& input);
  void add_unknown_function(const SelectInput& input, FunctionId function, std::string text);

  Technique technique_;
  BlockSet dangerous_;
  std::vector<std::string> everywhere_;  ///< unknowns that concern every test
  std::vector<UnknownFunction> functions_;
};

}  // namespace simrt::select
