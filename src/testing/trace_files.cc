// See trace_files.h.
#include "testing/trace_files.h"

#include <fmt/format.h>

#include "support/files.h"
#include "testing/trace.h"

namespace simrt::testing {

std::string trace_file(const std::string& directory, TestId test) {
  return fmt::format("{}/{:016x}.trace", directory, test.value);
}

std::vector<std::string> find_traces(const std::string& directory, TestId test) {
  return trace_files(trace_file(directory, test));
}

Status remove_traces(const std::string& directory, TestId test) {
  for (const std::string& file : find_traces(directory, test)) {
    if (Status removed = remove_tree(file); !removed) return removed;
  }
  return {};
}

}  // namespace simrt::testing
