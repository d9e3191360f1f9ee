#include "git/work_tree.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <vector>

#include "git/build_trees.h"
#include "git/path_table.h"
#include "git/submodule.h"

namespace simrt::git {

namespace {

constexpr int kMaximumNesting = 16;

std::optional<std::string> read_disk(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return std::nullopt;
  return bytes;
}

class WorkTree final : public SourceTree {
 public:
  Status add_repository(RepositoryHandle repository, const std::string& prefix, int nesting);

  std::optional<TreeEntry> find(std::string_view path) const override {
    const PathTable::Node* node = paths_.find(path);
    if (node == nullptr) return std::nullopt;
    return entry(*node);
  }

  std::vector<std::pair<std::string, TreeEntry>> list(std::string_view directory) const override {
    std::vector<std::pair<std::string, TreeEntry>> result;
    if (const PathTable::Node* node = paths_.find(directory)) {
      for (const std::size_t child : node->children) {
        if (auto found = entry(paths_.node(child))) {
          result.emplace_back(base_name(paths_.node(child).path), std::move(*found));
        }
      }
    }
    std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return result;
  }

  std::optional<std::string> read(std::string_view path) const override {
    const PathTable::Node* node = paths_.find(path);
    if (node == nullptr || node->kind == TreeEntry::Kind::Directory) return std::nullopt;
    const std::shared_ptr<const Content> content = load(*node);
    if (!content) return std::nullopt;
    return content->bytes;
  }

  std::vector<std::string> files() const override { return paths_.files(); }
  std::string identity() const override { return "worktree"; }

 private:
  struct Content {
    std::string bytes;
    std::string id;
  };
  struct Source {
    RepositoryHandle repository;
    std::string root;    ///< with trailing slash
    std::string prefix;  ///< of its paths in this tree, "" or with trailing slash
  };

  std::optional<TreeEntry> entry(const PathTable::Node& node) const;
  std::shared_ptr<const Content> load(const PathTable::Node& node) const;
  static std::optional<std::string> stored_form(const Source& source, const std::string& path);
  void add_path(std::size_t source, const std::string& path);
  Status add_untracked(std::size_t source);

  PathTable paths_;
  std::vector<Source> sources_;
  mutable std::mutex
      mutex_;  // guards contents_ and, as libgit2's attribute cache is not shareable, all filtering
  mutable std::map<const PathTable::Node*, std::shared_ptr<const Content>> contents_;
};

std::optional<TreeEntry> WorkTree::entry(const PathTable::Node& node) const {
  TreeEntry result;
  result.kind = node.kind;
  if (node.kind != TreeEntry::Kind::Directory) {
    const std::shared_ptr<const Content> content = load(node);
    if (!content) return std::nullopt;
    result.id = content->id;
    result.size = content->bytes.size();
  }
  return result;
}

// The bytes that `git add` would store: with core.autocrlf or eol attributes they differ from those on the
// disk, and an unmodified file must be equal to its blob.
std::optional<std::string> WorkTree::stored_form(const Source& source, const std::string& path) {
  const std::string absolute = source.root + path;
  git_filter_list* raw = nullptr;
  if (git_filter_list_load(&raw, source.repository.get(), nullptr, path.c_str(), GIT_FILTER_TO_ODB,
                           GIT_FILTER_ALLOW_UNSAFE) != 0 ||
      raw == nullptr) {
    return read_disk(absolute);
  }
  const FilterHandle filters(raw);
  git_buf buffer = GIT_BUF_INIT;
  std::optional<std::string> bytes;
  if (git_filter_list_apply_to_file(&buffer, raw, source.repository.get(), path.c_str()) == 0) {
    bytes.emplace(buffer.ptr == nullptr ? "" : buffer.ptr, buffer.size);
  } else {
    bytes = read_disk(absolute);
  }
  git_buf_dispose(&buffer);
  return bytes;
}

std::shared_ptr<const WorkTree::Content> WorkTree::load(const PathTable::Node& node) const {
  const std::scoped_lock lock(mutex_);
  if (const auto known = contents_.find(&node); known != contents_.end()) return known->second;
  const Source& source = sources_[node.value];
  const std::string path = node.path.substr(source.prefix.size());
  std::optional<std::string> bytes;
  if (node.kind == TreeEntry::Kind::Symlink) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(source.root + path, error);
    if (!error) bytes = target.string();
  } else {
    bytes = stored_form(source, path);
  }
  std::shared_ptr<const Content> content;
  if (bytes) {
    git_oid id;
    git_odb_hash(&id, bytes->data(), bytes->size(), GIT_OBJECT_BLOB);
    content = std::make_shared<const Content>(Content{std::move(*bytes), hex(id)});
  }
  contents_.emplace(&node, content);
  return content;
}

void WorkTree::add_path(std::size_t source, const std::string& path) {
  struct stat status{};
  if (lstat((sources_[source].root + path).c_str(), &status) != 0) return;  // deleted from the disk
  if (S_ISLNK(status.st_mode)) {
    paths_.add(sources_[source].prefix + path, TreeEntry::Kind::Symlink, source);
  } else if (S_ISREG(status.st_mode)) {
    paths_.add(sources_[source].prefix + path, TreeEntry::Kind::File, source);
  }
}

Status WorkTree::add_untracked(std::size_t source) {
  git_status_options options{};
  git_status_options_init(&options, GIT_STATUS_OPTIONS_VERSION);
  options.show = GIT_STATUS_SHOW_WORKDIR_ONLY;
  options.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS |
                  GIT_STATUS_OPT_EXCLUDE_SUBMODULES;
  git_status_list* raw = nullptr;
  if (const int rc = git_status_list_new(&raw, sources_[source].repository.get(), &options); rc < 0) {
    return fail(library_error(rc, "cannot list the work tree"));
  }
  const StatusHandle status(raw);
  BuildTrees made(sources_[source].repository.get());
  for (std::size_t i = 0; i < git_status_list_entrycount(raw); ++i) {
    const git_status_entry* entry = git_status_byindex(raw, i);
    if ((entry->status & GIT_STATUS_WT_NEW) == 0) continue;
    const std::string path = entry->index_to_workdir->new_file.path;
    if (path.back() == '/') continue;  // marks a foreign repository
    if (!made.contain(path)) add_path(source, path);
  }
  return {};
}

Status WorkTree::add_repository(RepositoryHandle repository, const std::string& prefix, int nesting) {
  git_index* raw = nullptr;
  if (const int rc = git_repository_index(&raw, repository.get()); rc < 0) {
    return fail(library_error(rc, "cannot read the index"));
  }
  const IndexHandle index(raw);
  const std::size_t self = sources_.size();
  sources_.push_back({std::move(repository), "", prefix});
  sources_[self].root = git_repository_workdir(sources_[self].repository.get());
  for (std::size_t i = 0; i < git_index_entrycount(raw); ++i) {
    const git_index_entry* entry = git_index_get_byindex(raw, i);
    if (entry->mode != GIT_FILEMODE_COMMIT) {
      add_path(self, entry->path);
      continue;
    }
    paths_.add(prefix + entry->path, TreeEntry::Kind::Directory);
    RepositoryHandle inner = open_submodule(sources_[self].repository.get(), entry->path);
    if (inner && git_repository_workdir(inner.get()) != nullptr && nesting < kMaximumNesting) {
      static_cast<void>(add_repository(std::move(inner), prefix + entry->path + "/", nesting + 1));
    }
  }
  return add_untracked(self);
}

}  // namespace

Result<std::shared_ptr<const SourceTree>> read_work_tree(git_repository* repository) {
  const char* workdir = git_repository_workdir(repository);
  if (workdir == nullptr) {
    return fail(ErrorCode::Repository, "a bare repository has no work tree",
                "give a commit instead of WORKTREE");
  }
  git_repository* raw = nullptr;
  if (const int rc = git_repository_open(&raw, workdir); rc < 0) {
    return fail(library_error(rc, "cannot open the repository again"));
  }
  RepositoryHandle own(raw);
  auto tree = std::make_shared<WorkTree>();
  if (Status status = tree->add_repository(std::move(own), "", 0); !status) return fail(status.error());
  return tree;
}

}  // namespace simrt::git
