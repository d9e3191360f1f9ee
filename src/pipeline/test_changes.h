// What a change does to the tests themselves: new, changed and deleted ones. Pure.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/change.h"
#include "model/program.h"
#include "model/test.h"
#include "report/selection_view.h"

namespace simrt::pipeline {

struct TestChanges {
  std::vector<report::NewTest> added;
  std::map<TestId, std::string> changed;  ///< recorded tests whose own code changed, and which function
  std::map<TestId, std::string> deleted;  ///< recorded tests whose body is gone
};

/// A recorded test and its coverage (null: none usable).
struct TestWithCoverage {
  const TestCase* test = nullptr;
  const TestCoverage* coverage = nullptr;
};

/// Files that hold test bodies: everything in them is the tests' own code.
std::set<std::string> test_files(const Program& program);

/// `blocks_of`: the recorded numbers of a function's blocks at p.
TestChanges find_test_changes(const Program& before, const Program& after, const ProgramDiff& diff,
                              const std::vector<TestWithCoverage>& tests,
                              const std::function<BlockSet(FunctionId)>& blocks_of);

}  // namespace simrt::pipeline
