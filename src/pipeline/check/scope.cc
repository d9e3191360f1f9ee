#include "pipeline/check/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/mapping/source_files.h"

namespace simrt::pipeline {
namespace {

std::string name_or(const std::unordered_map<VariableId, std::string>& names, VariableId id) {
  const auto found = names.find(id);
  return found == names.end() ? "?" : found->second;
}

}  // namespace

Scope::Scope(const report::SelectionView& selection, std::shared_ptr<const Program> head)
    : restricted_(true), impact_(selection.impact), head_(std::move(head)) {
  if (head_) known_->sources = analysis::source_files(*head_);
  for (std::uint32_t i = 0; i < impact_.accesses.size(); ++i) {
    const SharedAccess& access = impact_.accesses[i];
    at_[{access.file, access.at.line}].push_back(i);
    texts_.push_back(fmt::format("{} {} at {}", access.mode == AccessMode::Read ? "read" : "write",
                                 name_or(selection.variable_names, access.variable),
                                 report::access_location(access)));
  }
}

/// By the innermost frame of the project's own code: the access itself may lie in a library's template. Where
/// a library has called that (the copy of an element), by the frame that called the library, if need be. The
/// lines beside count where the line itself has none: an operator may stand on another line than its operand.
std::vector<std::uint32_t> Scope::accesses_of(const FindingSide& side) const {
  bool behind_library = true;
  for (const CodeFrame& frame : side.stack) {
    if (!frame.own()) {
      behind_library = true;
      continue;
    }
    if (!std::exchange(behind_library, false)) break;
    for (const std::uint32_t line : {frame.line, frame.line - 1, frame.line + 1})
      if (const auto found = at_.find({frame.file, line}); found != at_.end()) return found->second;
  }
  return {};
}

bool Scope::covers(const Finding& finding) const {
  if (!restricted_ || (finding.kind != FindingKind::Race && finding.kind != FindingKind::Atomicity))
    return true;
  // Two partners of impacted accesses that are not impacted themselves were there before.
  return std::any_of(finding.sides.begin(), finding.sides.end(), [&](const FindingSide& side) {
    const auto accesses = accesses_of(side);
    return std::any_of(accesses.begin(), accesses.end(),
                       [&](std::uint32_t access) { return impact_.accesses[access].impacted; });
  });
}

std::optional<FindingCause> Scope::cause(const Finding& finding) const {
  if (!restricted_) return std::nullopt;
  std::set<std::uint32_t> touched;
  for (const FindingSide& side : finding.sides)
    for (std::uint32_t access : accesses_of(side)) touched.insert(access);
  const auto describe = [&](const SharedAccess& access) {
    FindingCause cause;
    cause.rule = report::to_string(access.rule);
    cause.text = access.cause;
    cause.file = access.cause_file;
    cause.line = access.cause_at.line;
    return cause;
  };
  for (const AccessPair& pair : impact_.pairs) {
    if (!touched.contains(pair.first) || !touched.contains(pair.second)) continue;
    const SharedAccess& first = impact_.accesses[pair.first];
    const SharedAccess& second = impact_.accesses[pair.second];
    FindingCause cause = describe(first.impacted ? first : second);
    cause.first = texts_[pair.first];
    cause.second = texts_[pair.second];
    return cause;
  }
  for (std::uint32_t access : touched)
    if (impact_.accesses[access].impacted) return describe(impact_.accesses[access]);
  return std::nullopt;
}

std::map<std::string, std::vector<std::uint32_t>> Scope::places() const {
  std::map<std::string, std::vector<std::uint32_t>> places;
  for (const auto& [at, accesses] : at_)
    if (std::any_of(accesses.begin(), accesses.end(),
                    [&](std::uint32_t access) { return impact_.accesses[access].impacted; }))
      places[at.first].push_back(at.second);
  return places;
}

WatchedSites Scope::watched(const std::string& program, const std::string& build,
                            const std::string& root) const {
  if (!restricted_) return {};
  const std::lock_guard lock(known_->mutex);
  auto known = known_->by_program.find(program);
  if (known == known_->by_program.end())
    known = known_->by_program
                .emplace(program, watched_sites(impact_, *head_, program, build, root, known_->sources,
                                                known_->libraries))
                .first;
  return known->second;
}

}  // namespace simrt::pipeline
