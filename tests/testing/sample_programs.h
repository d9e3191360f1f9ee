// Paths of the sample programs and tests that run them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/test.h"

namespace simrt::testing {

inline std::string sample(const std::string& name) { return std::string(SIMRT_TEST_PROGRAMS) + "/" + name; }

inline TestCase plain_test(const std::string& name, std::vector<std::string> arguments) {
  TestCase test;
  test.name = name;
  test.id = test_id(name);
  test.command = {sample("plain")};
  test.command.insert(test.command.end(), arguments.begin(), arguments.end());
  return test;
}

inline TestCase case_test(Framework framework, const std::string& program, const std::string& selector) {
  TestCase test;
  test.name = program + ":" + selector;
  test.id = test_id(test.name);
  test.command = {sample(program)};
  test.framework = framework;
  test.selector = selector;
  return test;
}

}  // namespace simrt::testing
