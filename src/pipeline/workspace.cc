#include "pipeline/workspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "config/glob.h"
#include "support/files.h"
#include "support/interrupt.h"

namespace simrt::pipeline {
namespace {

namespace fs = std::filesystem;

/// A compile database in `directory`, or empty.
std::string database_in(const std::string& directory) {
  if (directory.empty()) return {};
  const std::string path = directory + "/compile_commands.json";
  return is_file(path) ? path : std::string();
}

}  // namespace

Result<Workspace> open_workspace(const std::string& directory, const std::string& database) {
  auto repository = git::Repository::open(directory);
  if (!repository) return fail(repository.error());
  const std::string root = repository->workdir();
  if (root.empty())
    return fail(ErrorCode::Repository, "this repository has no work tree",
                "run simrt in a clone with a work tree");
  config::Inputs inputs;
  inputs.root = root;
  inputs.directory = canonical_path(directory);
  inputs.environment = config::process_environment();
  if (!database.empty()) inputs.flags.emplace_back("db", database);
  auto config = config::load(inputs);
  if (!config) return fail(config.error());
  return Workspace{std::move(*repository), std::move(*config), root};
}

Result<history::Database> open_history(const Workspace& workspace, history::OpenMode mode) {
  if (mode == history::OpenMode::ReadOnly && !fs::exists(workspace.database_path()))
    return fail(ErrorCode::History, fmt::format("no history at {}", workspace.database_path()),
                "record the tests first: simrt record (or bring the file that CI recorded)");
  return history::Database::open(workspace.database_path(), {mode, std::chrono::milliseconds(5000)});
}

Result<std::string> configured_compile_database(const Workspace& workspace) {
  const config::Config& config = workspace.config;
  if (!config.compile_database.empty()) {
    if (is_file(config.compile_database)) return config.compile_database;
    return fail(
        ErrorCode::Project,
        fmt::format("the configured compile database {} does not exist", config.compile_database),
        "configure the build (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON), or correct build.compile_commands");
  }
  for (const std::string& directory : {config.instrumented_directory, config.build_directory})
    if (std::string path = database_in(directory); !path.empty()) return path;
  return std::string();
}

Result<std::string> find_compile_database(const Workspace& workspace) {
  auto configured = configured_compile_database(workspace);
  if (!configured || !configured->empty()) return configured;
  const auto found = analysis::find_compile_commands(workspace.root);
  if (!found) return fail(found.error());
  return found->string();
}

Result<std::vector<analysis::CompileCommand>> load_commands(const Workspace& workspace,
                                                            const std::string& database) {
  auto commands = analysis::load_compile_commands(database, workspace.root);
  if (!commands) return fail(commands.error());
  std::erase_if(*commands, [&](const analysis::CompileCommand& command) {
    return config::any_glob_match(workspace.config.exclude_sources, command.file);
  });
  return commands;
}

Result<std::vector<analysis::CompileCommand>> compile_commands(const Workspace& workspace) {
  const auto path = find_compile_database(workspace);
  if (!path) return fail(path.error());
  return load_commands(workspace, *path);
}

analysis::Analyzer make_analyzer(const Workspace& workspace, std::shared_ptr<const SourceTree> tree,
                                 const std::vector<std::string>& other_paths, const InterruptToken* interrupt,
                                 bool points) {
  analysis::AnalysisOptions options;
  options.repository_root = workspace.root;
  options.cache_directory = workspace.config.cache_directory;
  options.interrupted = [interrupt] { return interrupt && interrupt->requested(); };
  options.points = points;
  return {std::move(options), std::move(tree), other_paths};
}

}  // namespace simrt::pipeline
