#include "pipeline/head_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "history/command_store.h"
#include "pipeline/recorded_commands.h"

namespace simrt::pipeline {
namespace {

/// Files whose change can change how sources are compiled.
bool is_build_description(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string name = file.filename().string();
  return name == "CMakeLists.txt" || file.extension() == ".cmake" || name == "CMakePresets.json" ||
         name == "meson.build" || name == "meson_options.txt" || name == "meson.options" ||
         name == "Makefile" || name == "Makefile.am" || name == "configure.ac" || name == "BUILD" ||
         name == "BUILD.bazel";
}

std::string first_changed_build_description(const std::vector<FileChange>& changes) {
  for (const FileChange& change : changes)
    for (const std::string& path : {change.new_path, change.old_path})
      if (is_build_description(path)) return path;
  return {};
}

std::string units_text(const std::vector<std::string>& units) {
  return fmt::format("{} unit{} ({}{})", units.size(), units.size() == 1 ? "" : "s", units.front(),
                     units.size() == 1 ? "" : ", ...");
}

void note_differences(HeadCommands& commands, const std::string& database,
                      const std::vector<FileChange>& changes) {
  const UnitCommands& units = commands.units;
  if (!units.differing.empty())
    commands.fallbacks.push_back(
        {"other-commands",
         fmt::format("{} compiles {} otherwise than recorded: parsed again as it says", database,
                     units_text(units.differing)),
         ""});
  if (units.recorded.empty()) return;
  if (!database.empty())
    commands.fallbacks.push_back(
        {"recorded-commands",
         fmt::format("{} lacks {}: taken as recorded", database, units_text(units.recorded)), ""});
  if (const std::string file = first_changed_build_description(changes); !file.empty())
    commands.fallbacks.push_back(
        {"recorded-commands",
         fmt::format("{} changed, and the build is not configured: the recorded compile commands are used",
                     file),
         file});
}

}  // namespace

Result<HeadCommands> head_commands(const Workspace& workspace, history::Database& database,
                                   history::RevisionId base, const SourceTree& tree,
                                   const std::vector<FileChange>& changes) {
  const auto stored = history::revision_commands(database, base);
  if (!stored) return fail(stored.error());
  auto configured = configured_compile_database(workspace);
  if (stored->empty() && (!configured || configured->empty())) configured = find_compile_database(workspace);
  if (!configured && stored->empty()) return fail(configured.error());
  const std::string path = configured.value_or(std::string());
  std::vector<analysis::CompileCommand> present;
  if (!path.empty()) {
    auto loaded = load_commands(workspace, path);
    if (!loaded) return fail(loaded.error());
    present = std::move(*loaded);
  }
  HeadCommands commands;
  const BuildLocation location{workspace.root, workspace.config.instrumented_directory};
  commands.units = unit_commands(present, commands_at(*stored, location), tree, changes, workspace.root);
  const auto shown = std::filesystem::path(path).lexically_relative(workspace.root);
  note_differences(commands, path.empty() || shown.empty() ? path : shown.string(), changes);
  return commands;
}

}  // namespace simrt::pipeline
