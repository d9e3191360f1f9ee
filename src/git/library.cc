#include "git/library.h"

#include <fmt/format.h>

#include <array>
#include <mutex>

namespace simrt::git {

void initialise_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    git_libgit2_init();
    // None of these changes how objects are stored; without them libgit2 refuses sparse and partial clones.
    std::array<const char*, 3> extensions{"worktreeconfig", "preciousobjects", "partialclone"};
    git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions.data(), extensions.size());
  });
}

Error library_error(int code, std::string what) {
  const git_error* last = git_error_last();
  const std::string detail = last != nullptr && last->message != nullptr ? last->message : "unknown error";
  std::string hint = "run 'git fsck' to see whether the repository is damaged";
  if (code == GIT_ENOTFOUND) {
    hint =
        "an object is missing: fetch it ('git fetch --unshallow' in a shallow clone, 'git fetch --refetch' "
        "in a "
        "partial one), then 'git fsck'";
  } else if (code == GIT_ELOCKED) {
    hint = "another git process holds a lock; try again when it has finished";
  }
  return Error{ErrorCode::Repository, fmt::format("{}: {}", what, detail), std::move(hint)};
}

std::string hex(const git_oid& id) {
  std::array<char, GIT_OID_HEXSZ + 1> text{};
  git_oid_tostr(text.data(), text.size(), &id);
  return text.data();
}

bool parse_id(std::string_view text, git_oid& id) {
  return text.size() == GIT_OID_HEXSZ && git_oid_fromstrn(&id, text.data(), text.size()) == 0;
}

std::string without_slash(const char* path) {
  std::string text = path == nullptr ? "" : path;
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

}  // namespace simrt::git
