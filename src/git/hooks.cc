#include "git/hooks.h"

#include <fmt/format.h>

#include "git/library.h"

namespace simrt::git {
namespace {

using ConfigHandle = Handle<git_config, git_config_free>;

/// core.hooksPath with "~" expanded; empty when it is not set.
std::string configured_hooks(git_repository* repository) {
  git_config* raw = nullptr;
  if (git_repository_config_snapshot(&raw, repository) != 0) return {};
  const ConfigHandle config(raw);
  git_buf path = GIT_BUF_INIT;
  std::string found;
  if (git_config_get_path(&path, config.get(), "core.hookspath") == 0) found.assign(path.ptr, path.size);
  git_buf_dispose(&path);
  return found;
}

}  // namespace

Result<std::filesystem::path> hooks_directory(const std::filesystem::path& inside_repository) {
  initialise_library();
  git_repository* raw = nullptr;
  const int rc = git_repository_open_ext(&raw, inside_repository.c_str(), 0, nullptr);
  if (rc != 0)
    return fail(
        library_error(rc, fmt::format("cannot open the git repository at {}", inside_repository.string())));
  const RepositoryHandle repository(raw);
  std::filesystem::path configured = configured_hooks(repository.get());
  if (configured.is_absolute()) return configured;
  if (!configured.empty()) {
    // git resolves a relative path against the directory that hooks run in: the top of the work tree.
    const char* top = git_repository_workdir(repository.get());
    return std::filesystem::path(top ? top : git_repository_path(repository.get())) / configured;
  }
  return std::filesystem::path(git_repository_commondir(repository.get())) / "hooks";
}

}  // namespace simrt::git
