#include "pipeline/known_units.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace simrt::pipeline {
namespace {

bool is_made_by_use(const FunctionFacts& function) {
  return function.has(kInstantiation) || function.has(kImplicit);
}

/// All lines that `hunk` removes, or the two between which it inserts, are the function's.
bool holds(const FunctionFacts& function, const Hunk& hunk) {
  const std::uint32_t last = hunk.old_count == 0 ? hunk.old_line + 1 : hunk.old_line + hunk.old_count - 1;
  return function.begin_line <= hunk.old_line && last <= function.end_line;
}

}  // namespace

UnitKnowledge::UnitKnowledge(const Program& recorded, const std::vector<FileChange>& changes)
    : recorded_(recorded) {
  for (const FileChange& change : changes)
    if (!change.old_path.empty()) changes_.emplace(change.old_path, &change);
}

const analysis::KnownUnit* UnitKnowledge::find(const std::string& path, std::uint64_t command) {
  if (const auto known = found_.find(path); known != found_.end()) return &known->second;
  if (refused_.contains(path)) return nullptr;
  const auto unit = std::lower_bound(recorded_.units.begin(), recorded_.units.end(), path,
                                     [](const UnitSummary& a, const std::string& b) { return a.path < b; });
  if (unit == recorded_.units.end() || unit->path != path || unit->command != command || unit->errors != 0 ||
      !changes_bodies_alone(*unit)) {
    refused_.insert(path);
    return nullptr;
  }
  return &found_.emplace(path, known_unit(*unit)).first->second;
}

std::uint64_t UnitKnowledge::fingerprint(const std::string& path) const {
  const auto known = found_.find(path);
  return known == found_.end() ? 0 : known->second.fingerprint();
}

bool UnitKnowledge::changes_bodies_alone(const UnitSummary& unit) const {
  std::unordered_map<std::string_view, std::vector<const Hunk*>> open;  // hunks that no function holds yet
  for (const FileFacts& file : unit.files) {
    if (widened_.contains(file.path)) return false;
    const auto change = changes_.find(file.path);
    if (change == changes_.end()) continue;
    if (change->second->status != FileStatus::Modified || change->second->hunks.empty()) return false;
    for (const Hunk& hunk : change->second->hunks) open[file.path].push_back(&hunk);
  }
  for (const FunctionId id : unit.functions) {
    const FunctionFacts* const function = recorded_.function(id);
    if (!function) return false;
    const auto hunks = open.find(function->file);
    if (hunks == open.end()) continue;
    if (function->has(kInstantiation) && function->file != unit.path) return false;
    if (!is_made_by_use(*function) && !function->has(kStaticInit))
      std::erase_if(hunks->second, [&](const Hunk* hunk) { return holds(*function, *hunk); });
  }
  return std::ranges::all_of(open, [](const auto& file) { return file.second.empty(); });
}

analysis::KnownUnit UnitKnowledge::known_unit(const UnitSummary& unit) const {
  analysis::KnownUnit known{unit.path, unit.files, {}};
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < unit.files.size(); ++i) numbers.emplace(unit.files[i].path, i);
  for (const FunctionId id : unit.functions) {
    const FunctionFacts& function = *recorded_.function(id);
    const auto number = numbers.find(function.file);
    if (number != numbers.end()) known.functions.push_back({id, number->second, is_made_by_use(function)});
  }
  return known;
}

}  // namespace simrt::pipeline
