// `simrt hook install | uninstall | run`.
#include "pipeline/hook.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/command.h"

namespace simrt::cli {
namespace {

Result<int> shown(const Result<std::string>& text) {
  if (!text) return fail(text.error());
  if (Status done = print(*text); !done) return fail(done.error());
  return 0;
}

/// Absolute path of the running binary, so that the hook finds it whatever PATH git has.
Result<std::string> own_program() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorCode::Internal, "cannot find the path of the simrt binary");
  return path.string();
}

Result<int> install(pipeline::HookInstallation installation, const GlobalOptions& global) {
  const auto program = own_program();
  if (!program) return fail(program.error());
  installation.directory = global.directory;
  installation.simrt_program = *program;
  return shown(pipeline::install_hook(installation));
}

Result<int> run(pipeline::HookRun hook, const GlobalOptions& global) {
  hook.directory = global.directory;
  hook.database = global.database;
  const auto refs = pipeline::read_pushed_refs(std::cin);
  if (!refs) return fail(refs.error());
  return shown(pipeline::run_hook(hook, *refs));
}

}  // namespace

void add_hook(Commands commands) {
  CLI::App* hook =
      commands.app.add_subcommand("hook", "A git pre-push hook that lists the tests a push puts at risk");
  hook->require_subcommand(1);

  auto installation = std::make_shared<pipeline::HookInstallation>();
  CLI::App* install_command = hook->add_subcommand("install", "Write hooks/pre-push of this repository");
  install_command->add_option("--budget", installation->budget_seconds, "Seconds of tests to list")
      ->capture_default_str();
  install_command->add_flag("--force", installation->force, "Keep a hook that is there, and call it first");
  install_command->callback([installation, commands] {
    commands.chosen = [installation, &global = commands.global] { return install(*installation, global); };
  });

  CLI::App* uninstall_command =
      hook->add_subcommand("uninstall", "Remove it; a hook that was replaced comes back");
  uninstall_command->callback([commands] {
    commands.chosen = [&global = commands.global] {
      return shown(pipeline::uninstall_hook(global.directory));
    };
  });

  auto request = std::make_shared<pipeline::HookRun>();
  CLI::App* run_command = hook->add_subcommand("run", "Called by git: reads ref lines from standard input");
  run_command->add_option("--budget", request->budget_seconds, "Seconds of tests to list")
      ->capture_default_str();
  run_command->callback([request, commands] {
    commands.chosen = [request, &global = commands.global] { return run(*request, global); };
  });
}

}  // namespace simrt::cli
