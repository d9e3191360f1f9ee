// One recorded run of a program under test, and what the trace says about its functions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "testing/trace.h"

namespace simrt::runtime_test {

/// Compilers that the programs were built with ("clang-19", "gcc-12", ...).
std::vector<std::string> variants();
std::string program(const std::string& file);

/// A scratch directory, removed at the end.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

struct RecordedRun {
  int status = -1;                     ///< exit status, or -signal
  std::vector<testing::Trace> traces;  ///< the program's own first, then those of its children
};

/// Starts the program with the variables added to the environment; does not wait.
pid_t start(const std::vector<std::string>& command, const std::map<std::string, std::string>& variables,
            const std::string& directory);
int wait_for(pid_t child);

/// Runs it to the end with SIMRT_TRACE set and reads all traces. Test failures when a trace is unreadable.
RecordedRun record(const std::vector<std::string>& command,
                   std::map<std::string, std::string> variables = {});

/// Names of the work_* functions that the thread covered, in all modules of the trace.
std::set<std::string> work_of(const testing::Trace& trace, const testing::TraceThread& thread);
/// The same for what several or unknown threads covered.
std::set<std::string> shared_work(const testing::Trace& trace);
/// Threads (indexes) that covered the function.
std::vector<std::uint32_t> threads_with(const testing::Trace& trace, const std::string& function);
/// Names of the functions that the call chain of a thread's creation went through, innermost first.
std::vector<std::string> creators(const testing::Trace& trace, const testing::TraceThread& thread);

}  // namespace simrt::runtime_test
