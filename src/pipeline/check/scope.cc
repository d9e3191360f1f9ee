#include "pipeline/check/scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/mapping/module_names.h"
#include "support/files.h"
#include "testing/elf_image.h"

namespace simrt::pipeline {
namespace {

std::string name_or(const std::unordered_map<VariableId, std::string>& names, VariableId id) {
  const auto found = names.find(id);
  return found == names.end() ? "?" : found->second;
}

}  // namespace

Scope::Scope(const report::SelectionView& selection) : restricted_(true), impact_(selection.impact) {
  for (std::uint32_t i = 0; i < impact_.accesses.size(); ++i) {
    const SharedAccess& access = impact_.accesses[i];
    at_[{access.file, access.at.line}].push_back(i);
    texts_.push_back(fmt::format("{} {} at {}", access.mode == AccessMode::Read ? "read" : "write",
                                 name_or(selection.variable_names, access.variable),
                                 report::access_location(access)));
  }
}

/// By the innermost frame of the project's own code: the access itself may lie in a library's template. The
/// lines beside count where the line itself has none: an operator may stand on another line than its operand.
std::vector<std::uint32_t> Scope::accesses_of(const FindingSide& side) const {
  std::vector<std::uint32_t> all;
  const CodeFrame* frame = own_frame(side.stack);
  if (frame == nullptr) return all;
  for (const std::uint32_t line : {frame->line, frame->line - 1, frame->line + 1}) {
    const auto found = at_.find({frame->file, line});
    if (found != at_.end()) return found->second;
  }
  return all;
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

Scope::Watched Scope::watched(const std::string& program, const std::string& build,
                              const std::string& root) const {
  Watched watched;
  if (!restricted_) return watched;
  std::vector<analysis::SourcePlace> places;
  std::set<analysis::SourcePlace> needed;
  for (const SharedAccess& access : impact_.accesses) {
    if ((access.tags & kTagWholeObject) != 0) return {};
    // Whole lines, and the lines beside them: where an operator stands over several lines, or in front of its
    // operand, the hook has the operator's position.
    for (const std::uint32_t line : {access.at.line - 1, access.at.line, access.at.line + 1}) {
      if (line != 0) places.push_back({access.file, line, 0});
    }
    needed.insert({access.file, access.at.line, 0});
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<std::string> files = testing::find_libraries(program, {});
  std::erase_if(files, [&](const std::string& file) { return !relative_to(file, build); });
  files.insert(files.begin(), program);
  for (const std::string& file : files) {
    std::vector<analysis::SourcePlace> absent;
    const auto calls = analysis::calls_at(file, places, root, &absent);
    if (!calls) return {};
    for (const analysis::SourcePlace& place : places)
      if (!std::binary_search(absent.begin(), absent.end(), place)) needed.erase(place);
    if (calls->empty()) continue;
    const auto module = static_cast<std::uint32_t>(watched.modules.size());
    watched.modules.push_back(file == program ? testing::CheckModule{} : testing::CheckModule{file, {}});
    for (std::uint64_t call : *calls) watched.sites.push_back({module, call});
  }
  if (!needed.empty()) return {};
  return watched;
}

}  // namespace simrt::pipeline
