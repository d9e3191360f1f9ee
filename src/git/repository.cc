#include "git/repository.h"

#include <fmt/format.h>

#include <mutex>

#include "git/commit_graph.h"
#include "git/commit_tree.h"
#include "git/diff.h"
#include "git/library.h"
#include "git/work_tree.h"

namespace simrt::git {

namespace {

constexpr const char* kUnshallow = "run 'git fetch --unshallow' (GitHub Actions: fetch-depth: 0)";

// libgit2 1.5 reports a foreign owner as "not found" when no safe.directory is configured at all; but then
// the search, which checks no owner, does find the repository.
bool exists_nevertheless(const std::filesystem::path& directory) {
  git_buf found = GIT_BUF_INIT;
  const int rc = git_repository_discover(&found, directory.c_str(), 0, nullptr);
  git_buf_dispose(&found);
  return rc == 0;
}

Error open_error(int code, const std::filesystem::path& directory) {
  if (code == GIT_ENOTFOUND && exists_nevertheless(directory)) code = GIT_EOWNER;
  if (code == GIT_ENOTFOUND) {
    return {ErrorCode::Repository, fmt::format("{} is not inside a git repository", directory.string()),
            "run simrt inside a clone of the project, or 'git init' it"};
  }
  if (code == GIT_EOWNER) {
    return {ErrorCode::Repository,
            fmt::format("the git repository at {} belongs to another user", directory.string()),
            fmt::format("if you trust it: git config --global --add safe.directory {}",
                        std::filesystem::absolute(directory).lexically_normal().string())};
  }
  return library_error(code, fmt::format("cannot open the git repository at {}", directory.string()));
}

}  // namespace

struct Repository::State {
  RepositoryHandle handle;
  mutable std::mutex mutex;

  git_repository* get() const { return handle.get(); }
  bool shallow() const { return git_repository_is_shallow(get()) == 1; }
  Error revision_error(int code, const std::string& revision) const;
  Result<git_oid> commit(std::string_view revision) const;
};

Error Repository::State::revision_error(int code, const std::string& revision) const {
  const bool about_head = revision.starts_with("HEAD") || revision.starts_with("@");
  switch (code) {
    case GIT_ENOTFOUND:
    case GIT_EUNBORNBRANCH:
      if (about_head && git_repository_head_unborn(get()) == 1) {
        return {ErrorCode::Repository, "the repository has no commit yet", "commit the project first"};
      }
      if (shallow()) {
        return {ErrorCode::Repository, fmt::format("revision '{}' is not in this shallow clone", revision),
                kUnshallow};
      }
      return {ErrorCode::Repository, fmt::format("unknown revision '{}'", revision),
              "check its name, or 'git fetch' it"};
    case GIT_EAMBIGUOUS:
      return {ErrorCode::Repository, fmt::format("revision '{}' is ambiguous", revision),
              "give more digits of the commit id"};
    case GIT_EINVALIDSPEC:
      return {ErrorCode::Repository, fmt::format("'{}' is not a revision", revision),
              "give one commit, branch or tag (no range)"};
    case GIT_EPEEL:
      return {ErrorCode::Repository, fmt::format("'{}' does not name a commit", revision),
              "give a commit, branch or tag"};
    default:
      return library_error(code, fmt::format("cannot read revision '{}'", revision));
  }
}

Result<git_oid> Repository::State::commit(std::string_view revision) const {
  const std::string text(revision);
  if (text.empty()) return fail(revision_error(GIT_EINVALIDSPEC, text));
  git_object* raw = nullptr;
  if (const int rc = git_revparse_single(&raw, get(), text.c_str()); rc < 0)
    return fail(revision_error(rc, text));
  const ObjectHandle object(raw);
  git_object* peeled = nullptr;
  if (const int rc = git_object_peel(&peeled, raw, GIT_OBJECT_COMMIT); rc < 0) {
    return fail(revision_error(rc == GIT_EINVALIDSPEC ? GIT_EPEEL : rc, text));
  }
  const ObjectHandle commit(peeled);
  return *git_object_id(peeled);
}

Result<Repository> Repository::open(const std::filesystem::path& directory) {
  initialise_library();
  git_repository* raw = nullptr;
  if (const int rc = git_repository_open_ext(&raw, directory.c_str(), 0, nullptr); rc < 0) {
    return fail(open_error(rc, directory));
  }
  auto state = std::make_shared<State>();
  state->handle.reset(raw);
  return Repository(std::move(state));
}

std::string Repository::workdir() const { return without_slash(git_repository_workdir(state_->get())); }

bool Repository::is_shallow() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->shallow();
}

Result<std::string> Repository::resolve(std::string_view revision) const {
  const std::scoped_lock lock(state_->mutex);
  if (revision == kWorkTree) {
    if (git_repository_workdir(state_->get()) != nullptr) return std::string(kWorkTree);
    return fail(ErrorCode::Repository, "a bare repository has no work tree",
                "give a commit instead of WORKTREE");
  }
  return state_->commit(revision).map([](const git_oid& id) { return hex(id); });
}

Result<std::string> Repository::summary(std::string_view revision) const {
  if (revision == kWorkTree) return std::string("uncommitted changes");
  const std::scoped_lock lock(state_->mutex);
  const auto id = state_->commit(revision);
  if (!id) return fail(id.error());
  git_commit* raw = nullptr;
  if (const int rc = git_commit_lookup(&raw, state_->get(), &*id); rc < 0) {
    return fail(library_error(rc, fmt::format("cannot read commit {}", hex(*id))));
  }
  const CommitHandle commit(raw);
  const char* text = git_commit_summary(raw);
  return std::string(text == nullptr ? "" : text);
}

Result<std::vector<FileChange>> Repository::diff(std::string_view base, std::string_view head) const {
  if (base == kWorkTree) {
    return fail(ErrorCode::Usage, "the work tree cannot be the base of a comparison",
                "give a commit as --base");
  }
  if (head == kWorkTree) {
    if (auto usable = resolve(head); !usable) return fail(usable.error());
  }
  const std::scoped_lock lock(state_->mutex);
  const auto from = state_->commit(base);
  if (!from) return fail(from.error());
  if (head == kWorkTree) return diff_commits(state_->get(), *from, nullptr);
  const auto to = state_->commit(head);
  if (!to) return fail(to.error());
  return diff_commits(state_->get(), *from, &*to);
}

Result<std::optional<std::string>> Repository::merge_base(std::string_view a, std::string_view b) const {
  const std::scoped_lock lock(state_->mutex);
  const auto first = state_->commit(a);
  if (!first) return fail(first.error());
  const auto second = state_->commit(b);
  if (!second) return fail(second.error());
  return CommitGraph(state_->get()).merge_base(*first, *second);
}

Result<bool> Repository::is_ancestor(std::string_view ancestor, std::string_view descendant) const {
  const std::scoped_lock lock(state_->mutex);
  const auto older = state_->commit(ancestor);
  if (!older) return fail(older.error());
  const auto younger = state_->commit(descendant);
  if (!younger) return fail(younger.error());
  return CommitGraph(state_->get()).is_ancestor(*older, *younger);
}

Result<std::optional<Ancestor>> Repository::nearest_ancestor(std::string_view revision,
                                                             const std::set<std::string>& candidates) const {
  const std::scoped_lock lock(state_->mutex);
  const auto start = state_->commit(revision == kWorkTree ? "HEAD" : revision);
  if (!start) return fail(start.error());
  return CommitGraph(state_->get()).nearest(*start, candidates);
}

Result<std::shared_ptr<const SourceTree>> Repository::tree(std::string_view revision) const {
  const std::scoped_lock lock(state_->mutex);
  if (revision == kWorkTree) return read_work_tree(state_->get());
  const auto id = state_->commit(revision);
  if (!id) return fail(id.error());
  return read_commit_tree(state_->get(), *id);
}

}  // namespace simrt::git
