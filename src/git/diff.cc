#include "git/diff.h"

#include <algorithm>
#include <string>

#include "git/build_trees.h"
#include "git/commit_tree.h"
#include "git/submodule.h"
#include "git/work_tree.h"

namespace simrt::git {

namespace {

constexpr int kMaximumNesting = 16;
// A larger file is no source; it is reported without hunks rather than compared line by line.
constexpr git_off_t kLargestText = 16 << 20;

class Differ {
 public:
  explicit Differ(std::vector<FileChange>& changes) : changes_(changes) {}
  Status add(git_repository* repository, const git_oid& base, const git_oid* head, const std::string& prefix,
             int nesting);

 private:
  Status add_delta(git_repository* repository, git_diff* diff, std::size_t index, bool work_tree,
                   const std::string& prefix, int nesting);
  void add_submodule(git_repository* repository, const git_diff_delta& delta, bool work_tree,
                     const std::string& prefix, int nesting);
  /// Every file of a submodule that came or went. False when its commit is not available.
  bool add_whole(git_repository* inner, const git_diff_file& side, bool on_disk, const std::string& prefix,
                 FileStatus status);

  std::vector<FileChange>& changes_;
};

Result<TreeHandle> tree_of(git_repository* repository, const git_oid& id) {
  git_object* raw = nullptr;
  if (const int rc = git_object_lookup(&raw, repository, &id, GIT_OBJECT_COMMIT); rc < 0) {
    return fail(library_error(rc, "cannot read commit " + hex(id)));
  }
  const ObjectHandle commit(raw);
  git_object* tree = nullptr;
  if (const int rc = git_object_peel(&tree, raw, GIT_OBJECT_TREE); rc < 0) {
    return fail(library_error(rc, "cannot read the tree of commit " + hex(id)));
  }
  return TreeHandle(reinterpret_cast<git_tree*>(tree));
}

// Asked before a difference is added; above 0: it is left out.
int leave_out_build_trees(const git_diff*, const git_diff_delta* delta, const char*, void* trees) {
  return delta->status == GIT_DELTA_UNTRACKED &&
                 static_cast<BuildTrees*>(trees)->contain(delta->new_file.path)
             ? 1
             : 0;
}

Result<DiffHandle> raw_diff(git_repository* repository, const git_oid& base, const git_oid* head) {
  auto old_tree = tree_of(repository, base);
  if (!old_tree) return fail(old_tree.error());
  git_diff_options options{};
  git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
  options.context_lines = 0;
  options.interhunk_lines = 0;
  options.max_size = kLargestText;
  options.flags = GIT_DIFF_INCLUDE_TYPECHANGE;
  git_diff* raw = nullptr;
  int rc = 0;
  BuildTrees made(repository);
  if (head != nullptr) {
    auto new_tree = tree_of(repository, *head);
    if (!new_tree) return fail(new_tree.error());
    rc = git_diff_tree_to_tree(&raw, repository, old_tree->get(), new_tree->get(), &options);
  } else {
    options.flags |=
        GIT_DIFF_INCLUDE_UNTRACKED | GIT_DIFF_RECURSE_UNTRACKED_DIRS | GIT_DIFF_SHOW_UNTRACKED_CONTENT;
    options.notify_cb = leave_out_build_trees;
    options.payload = &made;
    git_index* index = nullptr;
    if (git_repository_index(&index, repository) == 0) {
      const IndexHandle handle(index);
      git_index_read(index, 0);  // another process may have written it since the repository was opened
      rc = git_diff_tree_to_workdir_with_index(&raw, repository, old_tree->get(), &options);
    } else {
      rc = git_diff_tree_to_workdir(&raw, repository, old_tree->get(), &options);
    }
  }
  if (rc < 0) return fail(library_error(rc, "cannot compare with " + hex(base)));
  DiffHandle diff(raw);
  git_diff_find_options renames{};
  git_diff_find_options_init(&renames, GIT_DIFF_FIND_OPTIONS_VERSION);
  renames.flags = GIT_DIFF_FIND_RENAMES | GIT_DIFF_FIND_FOR_UNTRACKED;
  if (rc = git_diff_find_similar(raw, &renames); rc < 0)
    return fail(library_error(rc, "cannot detect renames"));
  return diff;
}

FileStatus status_of(git_delta_t delta) {
  switch (delta) {
    case GIT_DELTA_ADDED:
    case GIT_DELTA_COPIED:
    case GIT_DELTA_UNTRACKED:
      return FileStatus::Added;
    case GIT_DELTA_DELETED:
      return FileStatus::Deleted;
    case GIT_DELTA_RENAMED:
      return FileStatus::Renamed;
    case GIT_DELTA_TYPECHANGE:
      return FileStatus::TypeChanged;
    default:
      return FileStatus::Modified;  // also conflicted and unreadable: changed in a way nobody can say
  }
}

std::vector<Hunk> hunks_of(git_diff* diff, std::size_t index) {
  git_patch* raw = nullptr;
  std::vector<Hunk> hunks;
  if (git_patch_from_diff(&raw, diff, index) != 0 || raw == nullptr)
    return hunks;  // binary, or vanished meanwhile
  const PatchHandle patch(raw);
  for (std::size_t i = 0; i < git_patch_num_hunks(raw); ++i) {
    const git_diff_hunk* hunk = nullptr;
    if (git_patch_get_hunk(&hunk, nullptr, raw, i) != 0) continue;
    hunks.push_back({static_cast<std::uint32_t>(hunk->old_start), static_cast<std::uint32_t>(hunk->old_lines),
                     static_cast<std::uint32_t>(hunk->new_start),
                     static_cast<std::uint32_t>(hunk->new_lines)});
  }
  return hunks;
}

bool is_link(const git_diff_file& side) { return side.mode == GIT_FILEMODE_COMMIT; }

bool Differ::add_whole(git_repository* inner, const git_diff_file& side, bool on_disk,
                       const std::string& prefix, FileStatus status) {
  if (inner == nullptr) return false;
  const auto tree = on_disk ? read_work_tree(inner) : read_commit_tree(inner, side.id);
  if (!tree) return false;
  for (const std::string& file : (*tree)->files()) {
    FileChange change;
    change.status = status;
    (status == FileStatus::Added ? change.new_path : change.old_path) = prefix + file;
    changes_.push_back(std::move(change));
  }
  return true;
}

void Differ::add_submodule(git_repository* repository, const git_diff_delta& delta, bool work_tree,
                           const std::string& prefix, int nesting) {
  const std::string path = delta.new_file.path;
  const RepositoryHandle inner = open_submodule(repository, path);
  const std::string inside = prefix + path + "/";
  const std::size_t before = changes_.size();
  bool known = inner != nullptr && nesting < kMaximumNesting;
  if (known && is_link(delta.old_file) && is_link(delta.new_file)) {
    const bool on_disk = work_tree && git_repository_workdir(inner.get()) != nullptr;
    known = add(inner.get(), delta.old_file.id, on_disk ? nullptr : &delta.new_file.id, inside, nesting + 1)
                .has_value();
  } else if (known) {
    const bool came = is_link(delta.new_file);
    known = add_whole(inner.get(), came ? delta.new_file : delta.old_file, came && work_tree, inside,
                      came ? FileStatus::Added : FileStatus::Deleted);
  }
  if (known) return;
  changes_.resize(before);
  FileChange change;
  change.status = status_of(delta.status);
  if (change.status != FileStatus::Added) change.old_path = prefix + path;
  if (change.status != FileStatus::Deleted) change.new_path = prefix + path;
  changes_.push_back(std::move(change));
}

Status Differ::add_delta(git_repository* repository, git_diff* diff, std::size_t index, bool work_tree,
                         const std::string& prefix, int nesting) {
  const git_diff_delta& delta = *git_diff_get_delta(diff, index);
  const std::string new_path = delta.new_file.path;
  if (delta.status == GIT_DELTA_UNMODIFIED || delta.status == GIT_DELTA_IGNORED) return {};
  if (delta.status == GIT_DELTA_UNTRACKED && !new_path.empty() && new_path.back() == '/') {
    return {};  // a foreign repository in the work tree
  }
  if (is_link(delta.old_file) || is_link(delta.new_file)) {
    add_submodule(repository, delta, work_tree, prefix, nesting);
    return {};
  }
  FileChange change;
  change.status = status_of(delta.status);
  if (change.status != FileStatus::Added) change.old_path = prefix + delta.old_file.path;
  if (change.status != FileStatus::Deleted) change.new_path = prefix + new_path;
  change.hunks = hunks_of(diff, index);
  changes_.push_back(std::move(change));
  return {};
}

Status Differ::add(git_repository* repository, const git_oid& base, const git_oid* head,
                   const std::string& prefix, int nesting) {
  const auto diff = raw_diff(repository, base, head);
  if (!diff) return fail(diff.error());
  for (std::size_t i = 0; i < git_diff_num_deltas(diff->get()); ++i) {
    if (Status status = add_delta(repository, diff->get(), i, head == nullptr, prefix, nesting); !status)
      return status;
  }
  return {};
}

const std::string& key_of(const FileChange& change) {
  return change.new_path.empty() ? change.old_path : change.new_path;
}

}  // namespace

Result<std::vector<FileChange>> diff_commits(git_repository* repository, const git_oid& base,
                                             const git_oid* head) {
  std::vector<FileChange> changes;
  if (Status status = Differ(changes).add(repository, base, head, "", 0); !status)
    return fail(status.error());
  std::stable_sort(changes.begin(), changes.end(),
                   [](const FileChange& a, const FileChange& b) { return key_of(a) < key_of(b); });
  return changes;
}

}  // namespace simrt::git
