#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "git/hooks.h"
#include "pipeline/hook.h"
#include "support/files.h"

namespace simrt::pipeline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMark = "# written by simrt hook install";
constexpr const char* kKeptName = "pre-push.before-simrt";

/// The path as one word of a POSIX shell, whatever it holds.
std::string shell_quoted(const std::string& word) {
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string hook_text(const HookInstallation& installation) {
  const std::string program = shell_quoted(installation.simrt_program);
  return fmt::format(
      "#!/bin/sh\n"
      "{}\n"
      "# Lists the tests that the pushed commits put at risk; never stops a push for a reason of its own.\n"
      "refs=$(cat)\n"
      "previous=\"$(dirname \"$0\")/{}\"\n"
      "if [ -x \"$previous\" ]; then printf '%s\\n' \"$refs\" | \"$previous\" \"$@\" || exit $?; fi\n"
      "[ -x {} ] || exit 0\n"
      "[ -n \"$refs\" ] || exit 0\n"
      "printf '%s\\n' \"$refs\" | {} hook run --budget {:g} || echo 'simrt: the push goes on without its "
      "advice' >&2\n"
      "exit 0\n",
      kMark, kKeptName, program, program, installation.budget_seconds);
}

bool is_ours(const fs::path& hook) {
  const auto text = read_file(hook.string());
  return text && text->find(kMark) != std::string::npos;
}

Status make_executable(const fs::path& file) {
  std::error_code error;
  fs::permissions(file, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::add, error);
  if (error)
    return fail(ErrorCode::Storage,
                fmt::format("cannot make {} executable: {}", file.string(), error.message()));
  return {};
}

Status move_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error)
    return fail(ErrorCode::Storage,
                fmt::format("cannot move {} to {}: {}", from.string(), to.string(), error.message()));
  return {};
}

}  // namespace

Result<std::string> install_hook(const HookInstallation& installation) {
  const auto directory = git::hooks_directory(installation.directory);
  if (!directory) return fail(directory.error());
  const fs::path hook = *directory / "pre-push";
  if (fs::exists(hook) && !is_ours(hook)) {
    if (!installation.force)
      return fail(ErrorCode::Usage, fmt::format("{} exists and is not simrt's", hook.string()),
                  "simrt hook install --force keeps it and calls it first");
    if (Status moved = move_file(hook, *directory / kKeptName); !moved) return fail(moved.error());
  }
  if (Status made = make_directories(directory->string()); !made) return fail(made.error());
  if (Status written = write_file_atomically(hook.string(), hook_text(installation)); !written)
    return fail(written.error());
  if (Status mode = make_executable(hook); !mode) return fail(mode.error());
  return fmt::format("installed {} (budget {:g} s of tests)\n", hook.string(), installation.budget_seconds);
}

Result<std::string> uninstall_hook(const std::string& inside) {
  const auto directory = git::hooks_directory(inside);
  if (!directory) return fail(directory.error());
  const fs::path hook = *directory / "pre-push";
  if (!fs::exists(hook) || !is_ours(hook))
    return fail(ErrorCode::Usage, "no hook of simrt is installed here");
  std::error_code error;
  fs::remove(hook, error);
  if (error)
    return fail(ErrorCode::Storage, fmt::format("cannot remove {}: {}", hook.string(), error.message()));
  if (fs::exists(*directory / kKeptName)) {
    if (Status moved = move_file(*directory / kKeptName, hook); !moved) return fail(moved.error());
    return fmt::format("removed; the hook that was there before is back at {}\n", hook.string());
  }
  return fmt::format("removed {}\n", hook.string());
}

}  // namespace simrt::pipeline
