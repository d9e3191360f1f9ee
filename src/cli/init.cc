// `simrt init` and `simrt toolchain`: getting a project ready.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "pipeline/project/discover.h"
#include "pipeline/workspace.h"
#include "support/files.h"

namespace simrt::cli {
namespace {

namespace fs = std::filesystem;

/// The toolchain file of the build tree or the installation that this binary belongs to.
Result<std::string> toolchain_file() {
  std::error_code error;
  const fs::path directory = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return fail(ErrorCode::Internal, "cannot find the path of the simrt binary");
  for (const char* place : {"../lib", SIMRT_INSTALLED_LIB_FROM_BIN}) {
    const fs::path file = (directory / place / "simrt-toolchain.cmake").lexically_normal();
    if (fs::exists(file)) return file.string();
  }
  return fail(ErrorCode::Project, fmt::format("no simrt-toolchain.cmake belongs to {}", directory.string()),
              "reinstall simrt");
}

std::string next_steps(const project::ProjectFindings& findings, const config::Config& config) {
  if (findings.instrumented_build() || !findings.instrumented_by_hand.empty()) return "next: simrt record\n";
  return fmt::format("next: {}\n      simrt record\n",
                     project::instrumented_build_command(findings, config.instrumented_directory));
}

Result<int> init(bool force, const GlobalOptions& global) {
  const auto workspace = pipeline::open_workspace(global.directory, global.database);
  if (!workspace) return fail(workspace.error());
  const std::string file = workspace->root + "/" + config::kConfigFile;
  if (is_file(file) && !force)
    return fail(ErrorCode::Usage, fmt::format("{} exists", file),
                "edit it, or simrt init --force writes it anew");
  const auto findings = project::discover_project(workspace->root);
  if (!findings) return fail(findings.error());
  const config::Config suggested = project::suggested_config(*findings, workspace->config);
  if (Status written = write_file_atomically(file, config::render_default_toml(suggested)); !written)
    return fail(written.error());
  std::string out = fmt::format("wrote {}\n", file);
  for (const project::BuildDirectory& build : findings->builds)
    out += fmt::format("found {} build {}{}{}\n", project::name_of(build.system), build.path,
                       build.instrumented ? " (instrumented)" : "", build.has_tests ? ", with tests" : "");
  if (!findings->instrumented_by_hand.empty())
    out += fmt::format("found build {} (instrumented)\n", findings->instrumented_by_hand);
  for (const project::Missing& missing : findings->missing)
    out += fmt::format("missing: {}\n  {}\n", missing.what, missing.hint);
  if (Status done = print(out + next_steps(*findings, suggested)); !done) return fail(done.error());
  return 0;
}

}  // namespace

void add_init(Commands commands) {
  auto force = std::make_shared<bool>(false);
  CLI::App* command =
      commands.app.add_subcommand("init", "Find build system, compile database and tests; write .simrt.toml");
  command->add_flag("--force", *force, "Replace an existing .simrt.toml");
  command->callback([force, commands] {
    commands.chosen = [force, &global = commands.global] { return init(*force, global); };
  });

  CLI::App* toolchain = commands.app.add_subcommand(
      "toolchain", "Print the path of the CMake toolchain file for an instrumented build");
  toolchain->callback([commands] {
    commands.chosen = []() -> Result<int> {
      const auto file = toolchain_file();
      if (!file) return fail(file.error());
      if (Status done = print(*file + "\n"); !done) return fail(done.error());
      return 0;
    };
  });
}

}  // namespace simrt::cli
