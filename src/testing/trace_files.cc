// See trace_files.h.
#include "testing/trace_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "support/files.h"

namespace simrt::testing {

std::string trace_file(const std::string& directory, TestId test) {
  return fmt::format("{}/{:016x}.trace", directory, test.value);
}

std::vector<std::string> find_traces(const std::string& directory, TestId test) {
  const std::string own = trace_file(directory, test);
  const std::string prefix = std::filesystem::path(own).filename().string();
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name == prefix || name.starts_with(prefix + ".")) found.push_back(directory + "/" + name);
  }
  std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return found;
}

Status remove_traces(const std::string& directory, TestId test) {
  for (const std::string& file : find_traces(directory, test)) {
    if (Status removed = remove_tree(file); !removed) return removed;
  }
  return {};
}

}  // namespace simrt::testing
