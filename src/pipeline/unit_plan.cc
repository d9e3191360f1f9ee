#include "pipeline/unit_plan.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace simrt::pipeline {
namespace {

std::string extension(const std::string& path) { return std::filesystem::path(path).extension().string(); }
std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

bool one_of(const std::string& text, std::initializer_list<const char*> list) {
  return std::any_of(list.begin(), list.end(), [&](const char* item) { return text == item; });
}

/// file -> indices of the recorded units whose closure holds it.
using Includers = std::unordered_map<std::string, std::vector<std::size_t>>;

Includers includers_of(const std::vector<UnitSummary>& recorded) {
  Includers includers;
  for (std::size_t i = 0; i < recorded.size(); ++i)
    for (const FileFacts& file : recorded[i].files) includers[file.path].push_back(i);
  return includers;
}

/// Most functions first (it sees most of the header's neighbours), then the smallest closure, then the path.
std::string choose_representative(const std::vector<UnitSummary>& recorded,
                                  const std::vector<std::size_t>& candidates,
                                  const std::set<std::string>& already_parsed) {
  const UnitSummary* best = nullptr;
  for (std::size_t index : candidates) {
    const UnitSummary& unit = recorded[index];
    if (already_parsed.contains(unit.path)) return unit.path;
    if (unit.errors != 0) continue;
    const auto key = [](const UnitSummary& u) {
      return std::tuple(u.files.size(), -static_cast<long>(u.functions.size()), u.path);
    };
    if (!best || key(unit) < key(*best)) best = &unit;
  }
  return best ? best->path : recorded[candidates.front()].path;
}

class Planner {
 public:
  Planner(const std::vector<UnitSummary>& recorded, const std::map<std::string, std::uint64_t>& commands)
      : recorded_(recorded), commands_(commands), includers_(includers_of(recorded)) {}

  UnitPlan plan(const std::vector<FileChange>& changes) {
    plan_commands();
    for (const FileChange& change : changes) plan_change(change);
    for (const std::string& header : changed_headers_) plan_header(header);
    return std::move(plan_);
  }

 private:
  void plan_commands() {
    std::set<std::string> known;
    for (const UnitSummary& unit : recorded_) {
      known.insert(unit.path);
      const auto command = commands_.find(unit.path);
      if (command == commands_.end())
        plan_.removed.push_back(unit.path);
      else if (command->second != unit.command || unit.errors != 0)
        plan_.parse.insert(unit.path);
    }
    for (const auto& [path, hash] : commands_)
      if (!known.contains(path)) plan_.parse.insert(path);
  }

  void plan_change(const FileChange& change) {
    bool analysed = false;
    if (!change.old_path.empty()) analysed |= plan_old_path(change);
    if (!change.new_path.empty() && commands_.contains(change.new_path)) {
      plan_.parse.insert(change.new_path);
      analysed = true;
    } else if (is_source_file(change.new_path) &&
               (change.status != FileStatus::Modified || includers_.contains(change.old_path))) {
      // A modified source that was not compiled when the base was recorded, and still is not, is left to the
      // rules.
      plan_.without_command.push_back(change.new_path);
      analysed = true;
    }
    if (change.status != FileStatus::Modified && !change.new_path.empty() &&
        is_header_file(change.new_path)) {
      shadowed_by(change.new_path);
      analysed = true;
    }
    if (!analysed) plan_.outside.push_back(change);
  }

  bool plan_old_path(const FileChange& change) {
    const auto found = includers_.find(change.old_path);
    if (found == includers_.end()) return false;
    const bool gone = change.new_path != change.old_path;
    for (std::size_t index : found->second) {
      const std::string& unit = recorded_[index].path;
      if (!commands_.contains(unit)) continue;
      // A deleted or renamed header: each includer finds another file now, or none.
      if (gone || unit == change.old_path) plan_.parse.insert(unit);
    }
    if (!gone && !(found->second.size() == 1 && recorded_[found->second.front()].path == change.old_path))
      changed_headers_.insert(change.old_path);
    return true;
  }

  /// A new header can be found before another one of the same name.
  void shadowed_by(const std::string& header) {
    for (const UnitSummary& unit : recorded_) {
      const bool same_name = std::any_of(unit.files.begin(), unit.files.end(), [&](const FileFacts& file) {
        return file.path != header && base_name(file.path) == base_name(header);
      });
      if (same_name && commands_.contains(unit.path)) plan_.parse.insert(unit.path);
    }
  }

  void plan_header(const std::string& header) {
    std::vector<std::size_t> candidates;
    for (std::size_t index : includers_[header])
      if (commands_.contains(recorded_[index].path)) candidates.push_back(index);
    if (candidates.empty()) return;
    const std::string unit = choose_representative(recorded_, candidates, plan_.parse);
    plan_.parse.insert(unit);
    plan_.representative[header] = unit;
  }

  const std::vector<UnitSummary>& recorded_;
  const std::map<std::string, std::uint64_t>& commands_;
  Includers includers_;
  std::set<std::string> changed_headers_;
  UnitPlan plan_;
};

const FileFacts* file_of(const std::vector<FileFacts>& files, const std::string& path) {
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const FileFacts& file) { return file.path == path; });
  return found == files.end() ? nullptr : &*found;
}

const UnitSummary* summary_of(const std::vector<UnitSummary>& units, const std::string& path) {
  const auto found =
      std::find_if(units.begin(), units.end(), [&](const UnitSummary& unit) { return unit.path == path; });
  return found == units.end() ? nullptr : &*found;
}

const UnitFacts* unit_of(const std::vector<UnitFacts>& units, const std::string& path) {
  const auto found =
      std::find_if(units.begin(), units.end(), [&](const UnitFacts& unit) { return unit.path == path; });
  return found == units.end() ? nullptr : &*found;
}

bool only_bodies_changed(const UnitSummary& before, const UnitFacts* after, const std::string& header) {
  if (!after || after->errors != 0) return false;
  const FileFacts* was = file_of(before.files, header);
  const FileFacts* is = file_of(after->files, header);
  return was && is && was->declarations == is->declarations;
}

}  // namespace

bool is_source_file(const std::string& path) {
  return one_of(extension(path), {".c", ".cc", ".cpp", ".cxx", ".C", ".c++", ".cp"});
}

bool is_header_file(const std::string& path) {
  return one_of(extension(path),
                {".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".tcc", ".def", ".h++"});
}

UnitPlan plan_units(const std::vector<UnitSummary>& recorded,
                    const std::map<std::string, std::uint64_t>& commands,
                    const std::vector<FileChange>& changes) {
  return Planner(recorded, commands).plan(changes);
}

FurtherUnits further_units(const UnitPlan& plan, const std::vector<UnitSummary>& recorded,
                           const std::vector<UnitFacts>& parsed) {
  FurtherUnits further;
  for (const auto& [header, unit] : plan.representative) {
    const UnitSummary* before = summary_of(recorded, unit);
    if (before && only_bodies_changed(*before, unit_of(parsed, unit), header)) continue;
    further.widened_headers.push_back(header);
    for (const UnitSummary& includer : recorded)
      if (file_of(includer.files, header)) further.units.insert(includer.path);
  }
  for (const UnitFacts& unit : parsed) further.units.erase(unit.path);
  for (const std::string& path : plan.removed) further.units.erase(path);
  return further;
}

namespace {

using Definition = std::pair<std::string_view, std::uint64_t>;  ///< USR and body

class OtherVersions {
 public:
  OtherVersions(const Program& recorded, const std::set<std::string>& represented)
      : recorded_(recorded), represented_(represented) {}

  void compare(const UnitFacts& unit) {
    const UnitSummary* summary = summary_of(recorded_.units, unit.path);
    if (!summary) return;
    const std::unordered_set<FunctionId> own(summary->functions.begin(), summary->functions.end());
    for (const FunctionFacts& function : unit.functions) {
      FunctionId id = variant_id(function.id, unit.path);
      if (!own.contains(id)) id = function.id;
      const FunctionFacts* before = recorded_.function(id);
      if (!before) continue;
      // Units may well declare it otherwise; where a header declares something else now, all its includers
      // are parsed.
      seen_.emplace(before->usr, before->body);
      seen_ids_.insert(id);
      if (before->body == function.body) continue;
      if (!function.usr.empty()) changed_.insert(before->usr);
      if (function.pattern) patterns_.insert(function.pattern);
      if (function.has(kDependent)) patterns_.insert(function.id);
    }
  }

  /// Units in order; one that adds nothing to those before it is left out.
  std::set<std::string> units(const std::set<std::string>& parsed) {
    std::set<std::string> units;
    if (changed_.empty() && patterns_.empty()) return units;
    for (const UnitSummary& unit : recorded_.units) {
      if (parsed.contains(unit.path)) continue;
      bool needed = false;
      std::vector<Definition> represents;
      for (FunctionId id : unit.functions) {
        const FunctionFacts* function = recorded_.function(id);
        if (!function || !is_other_version(*function)) continue;
        if (represented_.contains(function->file) && !function->usr.empty()) {
          const Definition definition{function->usr, function->body};
          represents.push_back(definition);
          needed |= !seen_.contains(definition);
        } else {
          needed |= !seen_ids_.contains(id);
        }
      }
      if (!needed) continue;
      units.insert(unit.path);
      seen_.insert(represents.begin(), represents.end());
    }
    return units;
  }

 private:
  bool is_other_version(const FunctionFacts& function) const {
    return changed_.contains(function.usr) || (function.pattern && patterns_.contains(function.pattern));
  }

  const Program& recorded_;
  const std::set<std::string>& represented_;
  std::unordered_set<FunctionId> patterns_, seen_ids_;
  std::unordered_set<std::string_view> changed_;
  std::set<Definition> seen_;
};

}  // namespace

std::set<std::string> units_with_other_versions(const Program& recorded, const std::vector<UnitFacts>& parsed,
                                                const std::set<std::string>& represented) {
  OtherVersions others(recorded, represented);
  std::set<std::string> paths;
  for (const UnitFacts& unit : parsed) {
    others.compare(unit);
    paths.insert(unit.path);
  }
  return others.units(paths);
}

}  // namespace simrt::pipeline
