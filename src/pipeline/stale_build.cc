#include "pipeline/stale_build.h"

#include <fmt/format.h>

#include <set>

#include "support/files.h"

namespace simrt::pipeline {
namespace {

std::set<std::string> programs_of(const std::vector<TestCase>& tests, const std::vector<std::string>& roots) {
  std::set<std::string> programs;
  for (const TestCase& test : tests) {
    if (test.command.empty() || test.command.front().find('/') == std::string::npos) continue;
    const std::string program = canonical_path(absolute_path(test.command.front(), test.directory));
    for (const std::string& root : roots)
      if (relative_to(program, root)) programs.insert(program);
  }
  return programs;
}

std::string first_of(const std::vector<std::string>& sources) {
  return sources.size() == 1 ? sources.front()
                             : fmt::format("{} (and of {} more)", sources.front(), sources.size() - 1);
}

Status refused(const std::string& path, const std::vector<std::string>& changed) {
  return fail(ErrorCode::Project,
              fmt::format("{} was built from another version of {}", path, first_of(changed)),
              "build it again (cmake --build build-simrt), then record");
}

}  // namespace

Status refuse_stale_module(const std::string& path, analysis::StaleSources& sources) {
  const auto stale = sources.of(path);  // scripts have no debug information
  return stale && !stale->changed.empty() ? refused(path, stale->changed) : Status{};
}

Status refuse_stale_build(const Workspace& workspace, const std::vector<TestCase>& tests,
                          analysis::StaleSources& sources, std::vector<std::string>& warnings) {
  const std::vector<std::string> roots{canonical_path(workspace.root),
                                       canonical_path(workspace.config.instrumented_directory)};
  std::string newer;
  for (const std::string& program : programs_of(tests, roots)) {
    const auto stale = sources.of(program);
    if (!stale) continue;
    if (!stale->changed.empty()) return refused(program, stale->changed);
    if (newer.empty() && !stale->newer.empty())
      newer = fmt::format("{} is older than {}: if that changed since, build again and record again", program,
                          first_of(stale->newer));
  }
  if (!newer.empty()) warnings.push_back(std::move(newer));
  return {};
}

}  // namespace simrt::pipeline
