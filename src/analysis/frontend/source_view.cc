#include "analysis/frontend/source_view.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include "support/hash.h"

namespace simrt::analysis {

namespace {

constexpr int kMaximumLinks = 40;  // as the kernel

std::error_code not_found() { return std::make_error_code(std::errc::no_such_file_or_directory); }

// One entry a device that no real file system has, so that a tree's files never look like files of the disk;
// the device is the mount root, the file the path in it. Equal contents at two paths are two files.
llvm::sys::fs::UniqueID unique_id(const std::string& root, const std::string& path) {
  return {hash_bytes(root) | (1ULL << 63), hash_bytes(path) | 1};
}

// Precompiled headers are validated by size and modification time only, so the time must follow the content.
llvm::sys::TimePoint<> time_of(const std::string& blob_id) {
  std::uint32_t seconds = 0;
  const std::string digits = blob_id.substr(0, 7);
  std::from_chars(digits.data(), digits.data() + digits.size(), seconds, 16);
  return llvm::sys::TimePoint<>(std::chrono::seconds(seconds));
}

std::vector<std::string> components(std::string_view path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) parts.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? (path.empty() || path[0] != '/' ? "" : "/")
                                                  : path.substr(0, slash);
}

}  // namespace

// Resolves a path component by component. The position is always free of symlinks, which is what makes ".."
// simple.
class SourceView::Walk {
 public:
  Walk(const SourceView& view, const Route& start) : view_(view), position_(start) {}

  Route run(std::string_view rest) {
    pending_ = components(rest);
    std::reverse(pending_.begin(), pending_.end());  // the next one is at the back
    while (!pending_.empty() && position_.kind != Route::Kind::Missing) {
      const std::string part = std::move(pending_.back());
      pending_.pop_back();
      if (part == ".") continue;
      if (part == "..") {
        up();
      } else if (position_.kind == Route::Kind::Tree) {
        down_tree(part);
      } else {
        down_disk(part);
      }
    }
    return std::move(position_);
  }

 private:
  std::string absolute() const {
    if (position_.kind != Route::Kind::Tree) return position_.path;
    return position_.path.empty() ? view_.root_ : view_.root_ + "/" + position_.path;
  }

  void stand_at(const std::string& absolute_path) {
    position_.kind = Route::Kind::Disk;
    position_.path = absolute_path;
    if (absolute_path == view_.root_) {
      position_.kind = Route::Kind::Tree;
      position_.path.clear();
    } else if (absolute_path.starts_with(view_.root_ + "/")) {
      const std::string inside = absolute_path.substr(view_.root_.size() + 1);
      if (view_.tree_->find(inside)) {
        position_.kind = Route::Kind::Tree;
        position_.path = inside;
      }
    }
  }

  void up() { stand_at(parent_of(absolute())); }

  void down_tree(const std::string& part) {
    const std::string inside = position_.path.empty() ? part : position_.path + "/" + part;
    const auto entry = view_.tree_->find(inside);
    if (!entry) {
      if (view_.other_paths_.contains(inside)) {
        position_.kind = Route::Kind::Missing;  // only the other revision has it, whatever lies on the disk
        return;
      }
      const std::string parent = absolute();
      position_.kind = Route::Kind::Disk;
      position_.path = parent;
      down_disk(part);
      return;
    }
    if (entry->kind != TreeEntry::Kind::Symlink) {
      position_.path = inside;
      return;
    }
    position_.links.push_back(inside);
    follow(view_.tree_->read(inside).value_or(""), absolute());
  }

  void down_disk(const std::string& part) {
    const std::string next = position_.path == "/" ? "/" + part : position_.path + "/" + part;
    std::error_code error;
    const auto type = std::filesystem::symlink_status(next, error).type();
    if (type == std::filesystem::file_type::symlink) {
      const std::string target = std::filesystem::read_symlink(next, error).string();
      follow(target, position_.path);
      return;
    }
    if (next.starts_with(view_.root_ + "/") &&
        view_.other_paths_.contains(next.substr(view_.root_.size() + 1))) {
      position_.kind = Route::Kind::Missing;
      return;
    }
    stand_at(next);
  }

  void follow(const std::string& target, const std::string& from) {
    if (target.empty() || ++links_ > kMaximumLinks) {
      position_.kind = Route::Kind::Missing;
      return;
    }
    std::vector<std::string> parts = components(target);
    pending_.insert(pending_.end(), parts.rbegin(), parts.rend());
    stand_at(target[0] == '/' ? "/" : from);
  }

  const SourceView& view_;
  Route position_;
  std::vector<std::string> pending_;
  int links_ = 0;
};

SourceView::SourceView(const std::string& root, std::shared_ptr<const SourceTree> tree,
                       const std::vector<std::string>& other_paths)
    : tree_(std::move(tree)), other_paths_(other_paths.begin(), other_paths.end()) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(root, error);
  root_ = (error ? std::filesystem::path(root).lexically_normal() : real).string();
  while (root_.size() > 1 && root_.back() == '/') root_.pop_back();
}

Route SourceView::resolve(const Route& parent, std::string_view rest) const {
  return Walk(*this, parent).run(rest);
}

// Most look-ups of a parse are for other names in the same few directories, so those are resolved once.
Route SourceView::directory_route(std::string_view absolute) const {
  {
    const std::shared_lock lock(mutex_);
    if (const auto known = directories_.find(absolute); known != directories_.end()) return known->second;
  }
  const Route result = resolve(Route{Route::Kind::Disk, "/", {}}, absolute);
  const std::unique_lock lock(mutex_);
  return directories_.try_emplace(std::string(absolute), result).first->second;
}

Route SourceView::route(std::string_view absolute) const {
  {
    const std::shared_lock lock(mutex_);
    if (const auto known = routes_.find(absolute); known != routes_.end()) return known->second;
  }
  const std::size_t slash = absolute.rfind('/');
  const std::string_view directory = slash == std::string_view::npos ? "/" : absolute.substr(0, slash + 1);
  const Route result = resolve(directory_route(directory), absolute.substr(slash + 1));
  const std::unique_lock lock(mutex_);
  return routes_.try_emplace(std::string(absolute), result).first->second;
}

llvm::ErrorOr<llvm::vfs::Status> SourceView::status(const Route& route, const std::string& requested) const {
  using llvm::sys::fs::file_type;
  using llvm::vfs::Status;
  if (route.kind == Route::Kind::Missing) return not_found();
  if (route.kind == Route::Kind::Tree) {
    const auto entry = tree_->find(route.path);
    if (!entry) return not_found();
    const bool directory = entry->kind == TreeEntry::Kind::Directory;
    return Status(requested, unique_id(root_, route.path),
                  directory ? llvm::sys::TimePoint<>() : time_of(entry->id), 0, 0, entry->size,
                  directory ? file_type::directory_file : file_type::regular_file,
                  llvm::sys::fs::perms::all_read);
  }
  if (const auto bytes = virtual_file(route.path)) {
    return Status(requested, unique_id("virtual", route.path), llvm::sys::TimePoint<>(), 0, 0, bytes->size(),
                  file_type::regular_file, llvm::sys::fs::perms::all_read);
  }
  const auto renamed = [&](const llvm::ErrorOr<Status>& found) -> llvm::ErrorOr<Status> {
    if (!found) return found.getError();
    return Status::copyWithNewName(*found, requested);
  };
  {
    const std::shared_lock lock(mutex_);
    if (const auto known = disk_status_.find(route.path); known != disk_status_.end())
      return renamed(known->second);
  }
  llvm::sys::fs::file_status raw;
  const std::error_code error = llvm::sys::fs::status(route.path, raw);
  const llvm::ErrorOr<Status> result =
      error ? llvm::ErrorOr<Status>(error) : llvm::ErrorOr<Status>(Status::copyWithNewName(raw, route.path));
  const std::unique_lock lock(mutex_);
  return renamed(disk_status_.try_emplace(route.path, result).first->second);
}

std::uint64_t SourceView::answer(const std::string& question) const {
  {
    const std::shared_lock lock(mutex_);
    if (const auto known = answers_.find(question); known != answers_.end()) return known->second;
  }
  const bool listing = !question.empty() && question[0] == kListingQuestion;
  const Route where = route(listing ? std::string_view(question).substr(1) : std::string_view(question));
  std::uint64_t result = hash_combine(static_cast<std::uint64_t>(where.kind), hash_bytes(where.path));
  result = hash_combine(result, listing ? listing_answer(where) : content_answer(where));
  const std::unique_lock lock(mutex_);
  return answers_.try_emplace(question, result).first->second;
}

std::uint64_t SourceView::content_answer(const Route& route) const {
  if (route.kind == Route::Kind::Tree) {
    const auto entry = tree_->find(route.path);
    if (!entry) return 0;
    return entry->kind == TreeEntry::Kind::Directory ? 1 : hash_bytes(entry->id);
  }
  const auto found = status(route, route.path);
  if (!found) return 0;
  if (found->isDirectory()) return 1;  // its time follows its entries, and those are questions of their own
  const auto time = found->getLastModificationTime().time_since_epoch().count();
  return hash_combine(found->getSize(), static_cast<std::uint64_t>(time));
}

std::uint64_t SourceView::listing_answer(const Route& route) const {
  std::vector<std::string> names;
  std::string on_disk = route.path;
  if (route.kind == Route::Kind::Tree) {
    for (const auto& [name, entry] : tree_->list(route.path)) names.push_back(name);
    on_disk = root_ + "/" + route.path;
  }
  std::error_code error;
  if (route.kind != Route::Kind::Missing)
    for (std::filesystem::directory_iterator it(on_disk, error), end; !error && it != end;
         it.increment(error))
      names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  std::uint64_t result = 0;
  for (const std::string& name : names) result = hash_combine(result, hash_bytes(name));
  return result;
}

std::shared_ptr<const std::string> SourceView::contents(const std::string& repository_path) const {
  {
    const std::shared_lock lock(mutex_);
    if (const auto known = contents_.find(repository_path); known != contents_.end()) return known->second;
  }
  auto bytes = tree_->read(repository_path);
  if (!bytes) return nullptr;
  auto shared = std::make_shared<const std::string>(std::move(*bytes));
  const std::unique_lock lock(mutex_);
  return contents_.try_emplace(repository_path, std::move(shared)).first->second;
}

void SourceView::add_virtual_file(const std::string& absolute, std::string bytes) {
  const Route where = route(absolute);
  const std::unique_lock lock(mutex_);
  virtual_files_[where.path] = std::make_shared<const std::string>(std::move(bytes));
}

std::shared_ptr<const std::string> SourceView::virtual_file(std::string_view absolute) const {
  const std::shared_lock lock(mutex_);
  const auto known = virtual_files_.find(absolute);
  return known == virtual_files_.end() ? nullptr : known->second;
}

std::optional<std::string> SourceView::repository_path(std::string_view absolute) const {
  Route where = route(absolute);
  if (where.kind != Route::Kind::Tree) return std::nullopt;
  const auto entry = tree_->find(where.path);
  if (!entry || entry->kind != TreeEntry::Kind::File) return std::nullopt;
  return std::move(where.path);
}

}  // namespace simrt::analysis
