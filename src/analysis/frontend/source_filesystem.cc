#include "analysis/frontend/source_filesystem.h"

#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

namespace simrt::analysis {

namespace {

// Shares the bytes of a blob between all parses. Blobs are std::strings, hence null-terminated as clang
// wants.
class SharedBuffer final : public llvm::MemoryBuffer {
 public:
  SharedBuffer(std::shared_ptr<const std::string> bytes, std::string name)
      : bytes_(std::move(bytes)), name_(std::move(name)) {
    init(bytes_->data(), bytes_->data() + bytes_->size(), true);
  }
  llvm::StringRef getBufferIdentifier() const override { return name_; }
  BufferKind getBufferKind() const override { return MemoryBuffer_Malloc; }

 private:
  std::shared_ptr<const std::string> bytes_;
  std::string name_;
};

class SharedFile final : public llvm::vfs::File {
 public:
  SharedFile(std::shared_ptr<const std::string> bytes, llvm::vfs::Status status)
      : bytes_(std::move(bytes)), status_(std::move(status)) {}
  llvm::ErrorOr<llvm::vfs::Status> status() override { return status_; }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name, std::int64_t, bool,
                                                               bool) override {
    return std::make_unique<SharedBuffer>(bytes_, name.str());
  }
  std::error_code close() override { return {}; }

 private:
  std::shared_ptr<const std::string> bytes_;
  llvm::vfs::Status status_;
};

// A file of the disk under the name it was asked for by.
class DiskFile final : public llvm::vfs::File {
 public:
  DiskFile(std::unique_ptr<llvm::vfs::File> file, llvm::vfs::Status status)
      : file_(std::move(file)), status_(std::move(status)) {}
  llvm::ErrorOr<llvm::vfs::Status> status() override { return status_; }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name, std::int64_t size,
                                                               bool terminated, bool is_volatile) override {
    return file_->getBuffer(name, size, terminated, is_volatile);
  }
  std::error_code close() override { return file_->close(); }

 private:
  std::unique_ptr<llvm::vfs::File> file_;
  llvm::vfs::Status status_;
};

class Listing final : public llvm::vfs::detail::DirIterImpl {
 public:
  explicit Listing(std::vector<llvm::vfs::directory_entry> entries) : entries_(std::move(entries)) {
    static_cast<void>(increment());
  }
  std::error_code increment() override {
    CurrentEntry = next_ < entries_.size() ? entries_[next_++] : llvm::vfs::directory_entry();
    return {};
  }

 private:
  std::vector<llvm::vfs::directory_entry> entries_;
  std::size_t next_ = 0;
};

class SourceFileSystem final : public llvm::vfs::FileSystem {
 public:
  SourceFileSystem(std::shared_ptr<const SourceView> view, std::string directory,
                   std::unordered_set<std::string>* questions)
      : view_(std::move(view)),
        directory_(std::move(directory)),
        questions_(questions),
        disk_(llvm::vfs::createPhysicalFileSystem()) {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override {
    return view_->status(asked(path), path.str());
  }

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override {
    const Route route = asked(path);
    auto status = view_->status(route, path.str());
    if (!status) return status.getError();
    if (status->isDirectory()) return std::make_error_code(std::errc::is_a_directory);
    std::shared_ptr<const std::string> bytes =
        route.kind == Route::Kind::Tree ? view_->contents(route.path) : view_->virtual_file(route.path);
    if (bytes) return std::make_unique<SharedFile>(std::move(bytes), std::move(*status));
    if (route.kind == Route::Kind::Tree) return std::make_error_code(std::errc::io_error);
    auto file = disk_->openFileForRead(route.path);
    if (!file) return file.getError();
    return std::make_unique<DiskFile>(std::move(*file), std::move(*status));
  }

  llvm::vfs::directory_iterator dir_begin(const llvm::Twine& directory, std::error_code& error) override;

  std::error_code setCurrentWorkingDirectory(const llvm::Twine& path) override {
    directory_ = absolute(path);
    return {};
  }
  llvm::ErrorOr<std::string> getCurrentWorkingDirectory() const override { return directory_; }

  std::error_code getRealPath(const llvm::Twine& path, llvm::SmallVectorImpl<char>& output) override {
    const Route route = asked(path);
    if (!view_->status(route, route.path)) return std::make_error_code(std::errc::no_such_file_or_directory);
    std::string real = route.path;
    if (route.kind == Route::Kind::Tree) real = real.empty() ? view_->root() : view_->root() + "/" + real;
    output.assign(real.begin(), real.end());
    return {};
  }

 private:
  Route asked(const llvm::Twine& path) const {
    const std::string text = absolute(path);
    if (questions_) questions_->insert(text);
    return view_->route(text);
  }

  // No ".." is removed here: what it means depends on the symlinks before it, which the view resolves.
  std::string absolute(const llvm::Twine& path) const {
    std::string text = path.str();
    if (text.empty() || text[0] != '/') text = directory_ + "/" + text;
    return text;
  }

  std::shared_ptr<const SourceView> view_;
  std::string directory_;
  std::unordered_set<std::string>* questions_;
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> disk_;
};

llvm::vfs::directory_iterator SourceFileSystem::dir_begin(const llvm::Twine& directory,
                                                          std::error_code& error) {
  if (questions_) questions_->insert(kListingQuestion + absolute(directory));
  const Route route = view_->route(absolute(directory));
  if (route.kind == Route::Kind::Missing) {
    error = std::make_error_code(std::errc::no_such_file_or_directory);
    return {};
  }
  std::vector<llvm::vfs::directory_entry> entries;
  const auto add = [&](llvm::StringRef name) {
    const std::string path = directory.str() + "/" + name.str();
    if (const auto found = status(path)) entries.emplace_back(path, found->getType());
  };
  std::string on_disk = route.path;
  std::vector<std::string> tracked;
  if (route.kind == Route::Kind::Tree) {
    on_disk = view_->root() + (route.path.empty() ? "" : "/" + route.path);
    for (const auto& [name, entry] : view_->tree().list(route.path)) {
      tracked.push_back(name);
      add(name);
    }
  }
  // What nobody tracks lies beside the tracked files; what only the other revision tracks has no status here.
  std::error_code disk_error;
  for (auto it = disk_->dir_begin(on_disk, disk_error), end = llvm::vfs::directory_iterator();
       !disk_error && it != end; it.increment(disk_error)) {
    const llvm::StringRef name = llvm::sys::path::filename(it->path());
    if (std::find(tracked.begin(), tracked.end(), name.str()) == tracked.end()) add(name);
  }
  if (route.kind == Route::Kind::Disk) error = disk_error;
  if (entries.empty()) return {};
  return llvm::vfs::directory_iterator(std::make_shared<Listing>(std::move(entries)));
}

}  // namespace

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> make_source_filesystem(
    std::shared_ptr<const SourceView> view, std::string directory,
    std::unordered_set<std::string>* questions) {
  return llvm::makeIntrusiveRefCnt<SourceFileSystem>(std::move(view), std::move(directory), questions);
}

}  // namespace simrt::analysis
