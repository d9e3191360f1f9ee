#include "pipeline/recorded_base.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace simrt::pipeline {
namespace {

/// Newest recording of each commit; complete ones win. One without tests (facts alone, or cut short before
/// they were listed) knows of nothing to select.
std::map<std::string, history::RevisionInfo> by_commit(const std::vector<history::RevisionInfo>& all) {
  std::map<std::string, history::RevisionInfo> best;
  for (const history::RevisionInfo& revision : all) {
    if (!revision.has_tests) continue;
    auto [entry, fresh] = best.try_emplace(revision.sha, revision);
    if (!fresh && revision.complete && !entry->second.complete) entry->second = revision;
  }
  return best;
}

void note_distance(RecordedBase& base, std::uint32_t distance) {
  if (distance == 0 || base.requested.empty()) return;
  base.fallbacks.push_back(
      {"older-base",
       fmt::format("{:.10} is not recorded; compared with its ancestor {:.10}, {} commit{} older",
                   base.requested, base.revision.sha, distance, distance == 1 ? "" : "s"),
       ""});
}

void note_quality(RecordedBase& base, const std::vector<history::RevisionInfo>& all, bool shallow) {
  if (!base.revision.complete)
    base.fallbacks.push_back(
        {"incomplete-recording",
         fmt::format("the recording of {:.10} was not finished: tests it did not reach are selected",
                     base.revision.sha),
         ""});
  if (base.revision.shallow || shallow)
    base.fallbacks.push_back({"shallow", "a shallow clone may hide a nearer recorded ancestor", ""});
  std::set<std::string> environments;
  for (const history::RevisionInfo& revision : all) environments.insert(revision.environment);
  if (environments.size() > 1)
    base.fallbacks.push_back({"environment",
                              fmt::format("the history holds {} environments; used: {}", environments.size(),
                                          base.revision.environment),
                              ""});
}

}  // namespace

Result<RecordedBase> find_recorded_base(const Workspace& workspace, history::Database& database,
                                        const std::string& base, const std::string& head) {
  RecordedBase result;
  const std::string from = base.empty() ? head : base;
  if (!base.empty()) {
    const auto resolved = workspace.repository.resolve(base);
    if (!resolved) return fail(resolved.error());
    result.requested = *resolved;
  }
  const auto all = history::revisions(database);
  if (!all) return fail(all.error());
  const auto recorded = by_commit(*all);
  std::set<std::string> commits;
  for (const auto& [commit, revision] : recorded) commits.insert(commit);
  const auto nearest = workspace.repository.nearest_ancestor(from, commits);
  if (!nearest) return fail(nearest.error());
  if (!*nearest)
    return fail(
        ErrorCode::History,
        fmt::format("no ancestor of {} is recorded with its tests in {}", from, workspace.database_path()),
        "check out the base revision, build it instrumented, and run simrt record");
  result.revision = recorded.at((*nearest)->commit);
  note_distance(result, (*nearest)->distance);
  note_quality(result, *all, workspace.repository.is_shallow());
  return result;
}

}  // namespace simrt::pipeline
