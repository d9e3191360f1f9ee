#include "pipeline/commands.h"

#include <algorithm>
#include <filesystem>

#include "pipeline/unit_plan.h"
#include "support/files.h"

namespace simrt::pipeline {
namespace {

using analysis::CompileCommand;
using CommandMap = std::map<std::string, CompileCommand>;

std::string directory_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}
std::string extension_of(const std::string& path) { return std::filesystem::path(path).extension().string(); }

/// `command`, compiling `file` instead of its own source.
CompileCommand for_other_file(const CompileCommand& command, const std::string& file,
                              const std::string& root) {
  CompileCommand other = command;
  other.file = file;
  const std::string old_path = canonical_path(absolute_path(command.file, root));
  for (std::string& argument : other.arguments)
    if (!argument.empty() && argument.front() != '-' &&
        canonical_path(absolute_path(argument, command.directory)) == old_path)
      argument = root + "/" + file;
  return other;
}

/// Longest common directory prefix, in characters: a near neighbour is compiled alike.
std::size_t nearness(const std::string& a, const std::string& b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(end.first - a.begin());
}

const CompileCommand* neighbour(const CommandMap& all, const std::string& file) {
  const CompileCommand* best = nullptr;
  std::size_t best_nearness = 0;
  for (const auto& [path, command] : all) {
    if (extension_of(path) != extension_of(file)) continue;
    const bool same_directory = directory_of(path) == directory_of(file);
    const std::size_t near = nearness(directory_of(path), directory_of(file)) + (same_directory ? 100000 : 0);
    if (!best || near > best_nearness) {
      best = &command;
      best_nearness = near;
    }
  }
  return best;
}

}  // namespace

UnitCommands unit_commands(const std::vector<CompileCommand>& database,
                           const std::vector<RecordedCommand>& recorded, const SourceTree& tree,
                           const std::vector<FileChange>& changes, const std::string& repository_root) {
  CommandMap all;
  for (const CompileCommand& command : database) all.try_emplace(command.file, command);

  UnitCommands units;
  for (const auto& [command, hash] : recorded) {
    const auto [entry, missing] = all.try_emplace(command.file, command);
    if (!tree.find(command.file)) continue;
    if (missing) {
      units.hashes[command.file] = hash;
      units.recorded.push_back(command.file);
    } else if (analysis::command_hash(entry->second, repository_root) != hash) {
      units.differing.push_back(command.file);
    }
  }
  for (const auto& [path, command] : all)
    if (tree.find(path)) units.by_path.emplace(path, command);
  for (const FileChange& change : changes) {
    const std::string& file = change.new_path;
    if (file.empty() || units.by_path.contains(file) || !is_source_file(file) || !tree.find(file)) continue;
    const auto origin = all.find(change.old_path);
    const CompileCommand* model = origin != all.end() ? &origin->second : nullptr;
    if (!model && change.status == FileStatus::Added) model = neighbour(all, file);
    if (!model) continue;
    units.by_path.emplace(file, for_other_file(*model, file, repository_root));
    units.guessed.push_back(file);
  }
  for (const auto& [path, command] : units.by_path)
    if (!units.hashes.contains(path)) units.hashes[path] = analysis::command_hash(command, repository_root);
  return units;
}

}  // namespace simrt::pipeline
