#include "git/commit_tree.h"

#include <algorithm>
#include <vector>

#include "git/object_reader.h"
#include "git/path_table.h"
#include "git/submodule.h"

namespace simrt::git {

namespace {

constexpr int kMaximumNesting = 16;  // submodules in submodules

class CommitTree final : public SourceTree {
 public:
  explicit CommitTree(std::string identity) : identity_(std::move(identity)) {}

  Status add_commit(git_repository* repository, const git_oid& id, const std::string& prefix, int nesting);

  std::optional<TreeEntry> find(std::string_view path) const override {
    const PathTable::Node* node = paths_.find(path);
    if (node == nullptr) return std::nullopt;
    return entry(*node);
  }

  std::vector<std::pair<std::string, TreeEntry>> list(std::string_view directory) const override {
    std::vector<std::pair<std::string, TreeEntry>> result;
    if (const PathTable::Node* node = paths_.find(directory)) {
      for (const std::size_t child : node->children) {
        result.emplace_back(base_name(paths_.node(child).path), entry(paths_.node(child)));
      }
    }
    std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return result;
  }

  std::optional<std::string> read(std::string_view path) const override {
    const PathTable::Node* node = paths_.find(path);
    if (node == nullptr || node->kind == TreeEntry::Kind::Directory) return std::nullopt;
    const Blob& blob = blobs_[node->value];
    return stores_[blob.store]->read(blob.id);
  }

  std::vector<std::string> files() const override { return paths_.files(); }
  std::string identity() const override { return identity_; }

 private:
  struct Blob {
    git_oid id;
    std::size_t store = 0;
  };

  TreeEntry entry(const PathTable::Node& node) const {
    TreeEntry result;
    result.kind = node.kind;
    if (node.kind != TreeEntry::Kind::Directory) {
      const Blob& blob = blobs_[node.value];
      result.id = hex(blob.id);
      result.size = stores_[blob.store]->size(blob.id).value_or(0);
    }
    return result;
  }

  Status add_tree(git_repository* repository, const git_tree* tree, const std::string& prefix,
                  std::size_t store, int nesting);
  Status add_entry(git_repository* repository, const git_tree_entry* entry, const std::string& path,
                   std::size_t store, int nesting);

  std::string identity_;
  PathTable paths_;
  std::vector<Blob> blobs_;
  std::vector<std::unique_ptr<ObjectReader>> stores_;
};

Status CommitTree::add_commit(git_repository* repository, const git_oid& id, const std::string& prefix,
                              int nesting) {
  git_commit* raw_commit = nullptr;
  if (const int rc = git_commit_lookup(&raw_commit, repository, &id); rc < 0) {
    return fail(library_error(rc, "cannot read commit " + hex(id)));
  }
  const CommitHandle commit(raw_commit);
  git_tree* raw_tree = nullptr;
  if (const int rc = git_commit_tree(&raw_tree, raw_commit); rc < 0) {
    return fail(library_error(rc, "cannot read the tree of commit " + hex(id)));
  }
  const TreeHandle tree(raw_tree);
  stores_.push_back(std::make_unique<ObjectReader>(objects_directory(repository)));
  return add_tree(repository, raw_tree, prefix, stores_.size() - 1, nesting);
}

Status CommitTree::add_tree(git_repository* repository, const git_tree* tree, const std::string& prefix,
                            std::size_t store, int nesting) {
  for (std::size_t i = 0; i < git_tree_entrycount(tree); ++i) {
    const git_tree_entry* entry = git_tree_entry_byindex(tree, i);
    if (Status status = add_entry(repository, entry, prefix + git_tree_entry_name(entry), store, nesting);
        !status) {
      return status;
    }
  }
  return {};
}

Status CommitTree::add_entry(git_repository* repository, const git_tree_entry* entry, const std::string& path,
                             std::size_t store, int nesting) {
  const git_oid& id = *git_tree_entry_id(entry);
  switch (git_tree_entry_filemode(entry)) {
    case GIT_FILEMODE_TREE: {
      git_tree* raw = nullptr;
      if (const int rc = git_tree_lookup(&raw, repository, &id); rc < 0) {
        return fail(library_error(rc, "cannot read directory " + path));
      }
      const TreeHandle tree(raw);
      return add_tree(repository, raw, path + "/", store, nesting);
    }
    case GIT_FILEMODE_COMMIT: {
      paths_.add(path, TreeEntry::Kind::Directory);
      const RepositoryHandle inner = nesting < kMaximumNesting ? open_submodule(repository, path) : nullptr;
      // A submodule that was never fetched, or not that far, is an empty directory.
      if (inner) static_cast<void>(add_commit(inner.get(), id, path + "/", nesting + 1));
      return {};
    }
    case GIT_FILEMODE_LINK:
      paths_.add(path, TreeEntry::Kind::Symlink, blobs_.size());
      break;
    default:
      paths_.add(path, TreeEntry::Kind::File, blobs_.size());
      break;
  }
  blobs_.push_back({id, store});
  return {};
}

}  // namespace

Result<std::shared_ptr<const SourceTree>> read_commit_tree(git_repository* repository,
                                                           const git_oid& commit) {
  auto tree = std::make_shared<CommitTree>(hex(commit));
  if (Status status = tree->add_commit(repository, commit, "", 0); !status) return fail(status.error());
  return tree;
}

}  // namespace simrt::git
