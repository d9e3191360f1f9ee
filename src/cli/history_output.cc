#include "cli/history_output.h"

#include <fmt/format.h>

#include "cli/command.h"

namespace simrt::cli {

Result<OpenedHistory> open_for(const std::string& directory, const std::string& database,
                               history::OpenMode mode) {
  auto workspace = pipeline::open_workspace(directory, database);
  if (!workspace) return fail(workspace.error());
  auto opened = pipeline::open_history(*workspace, mode);
  if (!opened) return fail(opened.error());
  return OpenedHistory{std::move(*workspace), std::move(*opened)};
}

Result<history::RevisionInfo> recorded_revision(OpenedHistory& opened, const std::string& text) {
  const auto all = history::revisions(opened.database);
  if (!all) return fail(all.error());
  if (all->empty()) return fail(ErrorCode::History, "nothing is recorded yet", "simrt record");
  if (text.empty()) return all->front();
  const auto sha = opened.workspace.repository.resolve(text);
  if (!sha) return fail(sha.error());
  for (const history::RevisionInfo& revision : *all)
    if (revision.sha == *sha) return revision;
  return fail(ErrorCode::History, fmt::format("{} ({:.10}) is not recorded", text, *sha),
              "simrt history sql 'select * from v_revisions' lists what is");
}

std::string outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::Passed:
      return "passed";
    case Outcome::Failed:
      return "failed";
    case Outcome::Crashed:
      return "crashed";
    case Outcome::TimedOut:
      return "timed-out";
    case Outcome::Skipped:
      return "skipped";
    case Outcome::NotRun:
      return "not-run";
  }
  return "not-run";
}

Result<int> show(const report::Table& table, const std::string& format) {
  if (Status done = print(format == "json" ? report::render_json(table) : report::render_text(table)); !done)
    return fail(done.error());
  return 0;
}

}  // namespace simrt::cli
