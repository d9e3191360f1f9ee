#include "pipeline/doctor.h"

#include <fmt/format.h>

#include <filesystem>

#include "history/revision_store.h"
#include "pipeline/workspace.h"

namespace simrt::pipeline {
namespace {

using project::Check;

Check history_check(const Workspace& workspace) {
  if (!std::filesystem::exists(workspace.database_path()))
    return {"history", false, "nothing recorded yet", "simrt record"};
  auto database = open_history(workspace, history::OpenMode::ReadOnly);
  if (!database) return {"history", false, database.error().message, database.error().hint};
  const auto all = history::revisions(*database);
  if (!all) return {"history", false, all.error().message, all.error().hint};
  if (all->empty()) return {"history", false, "nothing recorded yet", "simrt record"};
  return {"history", true,
          fmt::format("{} revisions, newest {:.10}{}", all->size(), all->front().sha,
                      all->front().complete ? "" : " (not complete)"),
          ""};
}

}  // namespace

Result<std::vector<Check>> check_setup(const std::string& directory, const std::string& database) {
  const auto workspace = open_workspace(directory, database);
  if (!workspace) return fail(workspace.error());
  std::vector<Check> checks = project::doctor_checks(workspace->root, workspace->config);
  checks.push_back(history_check(*workspace));
  return checks;
}

}  // namespace simrt::pipeline
