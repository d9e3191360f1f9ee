#include "git/submodule.h"

namespace simrt::git {

namespace {
RepositoryHandle open_exactly(const std::string& path) {
  git_repository* raw = nullptr;
  // No search: an empty submodule directory must not be taken for its parent repository.
  if (git_repository_open_ext(&raw, path.c_str(), GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr) != 0)
    return nullptr;
  return RepositoryHandle(raw);
}
}  // namespace

RepositoryHandle open_submodule(git_repository* parent, const std::string& path) {
  if (const char* workdir = git_repository_workdir(parent); workdir != nullptr) {
    if (RepositoryHandle checkout = open_exactly(std::string(workdir) + path)) return checkout;
  }
  std::string name = path;  // git's default name; .gitmodules may give another one
  git_submodule* raw = nullptr;
  if (git_submodule_lookup(&raw, parent, path.c_str()) == 0) {
    const SubmoduleHandle submodule(raw);
    if (const char* configured = git_submodule_name(raw); configured != nullptr) name = configured;
  }
  return open_exactly(without_slash(git_repository_commondir(parent)) + "/modules/" + name);
}

std::string objects_directory(git_repository* repository) {
  return without_slash(git_repository_commondir(repository)) + "/objects";
}

}  // namespace simrt::git
