// Test frameworks that give every case a process of its own, to survive its crash. Under control one process
// is looked at, so they are told to run the cases in the one that was started.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace simrt::testing {

/// Adds what the framework takes for that: acutest an option, which its help text in the program tells; Check
/// a variable of the environment, which means nothing to anybody else. `directory` is the one that the
/// command is started in. Executes nothing. Thread-safe.
void keep_cases_in_one_process(std::vector<std::string>& command,
                               std::map<std::string, std::string>& environment, const std::string& directory);

}  // namespace simrt::testing
