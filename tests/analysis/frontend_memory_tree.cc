#include "frontend_memory_tree.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <stdexcept>

#include "support/hash.h"

namespace simrt::analysis {

namespace {
constexpr std::string_view kLink = "-> ";
}

std::optional<TreeEntry> MemoryTree::find(std::string_view path) const {
  TreeEntry entry;
  if (const auto file = files_.find(std::string(path)); file != files_.end()) {
    entry.kind = file->second.starts_with(kLink) ? TreeEntry::Kind::Symlink : TreeEntry::Kind::File;
    entry.id = fmt::format("{:016x}", hash_bytes(file->second));
    entry.size = file->second.size();
    return entry;
  }
  entry.kind = TreeEntry::Kind::Directory;
  const std::string prefix = path.empty() ? "" : std::string(path) + "/";
  const auto inside = files_.lower_bound(prefix);
  if (inside == files_.end() || !inside->first.starts_with(prefix)) return std::nullopt;
  return entry;
}

std::vector<std::pair<std::string, TreeEntry>> MemoryTree::list(std::string_view directory) const {
  const std::string prefix = directory.empty() ? "" : std::string(directory) + "/";
  std::set<std::string> names;
  for (const auto& [path, text] : files_) {
    if (path.starts_with(prefix))
      names.insert(path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size()));
  }
  std::vector<std::pair<std::string, TreeEntry>> entries;
  for (const std::string& name : names) entries.emplace_back(name, *find(prefix + name));
  return entries;
}

std::optional<std::string> MemoryTree::read(std::string_view path) const {
  const auto file = files_.find(std::string(path));
  if (file == files_.end()) return std::nullopt;
  return file->second.starts_with(kLink) ? file->second.substr(kLink.size()) : file->second;
}

std::vector<std::string> MemoryTree::files() const {
  std::vector<std::string> paths;
  for (const auto& [path, text] : files_) paths.push_back(path);
  return paths;
}

ProjectDirectory::ProjectDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "simrt-frontend-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  base_ = std::filesystem::canonical(pattern);
  std::filesystem::create_directories(base_ / "project" / "build");
}

ProjectDirectory::~ProjectDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(base_, ignored);
}

void ProjectDirectory::write(const std::string& path, const std::string& text) const {
  std::filesystem::create_directories((base_ / path).parent_path());
  std::ofstream(base_ / path, std::ios::binary) << text;
}

CompileCommand ProjectDirectory::command(const std::string& file, std::vector<std::string> flags) const {
  flags.insert(flags.end(), {"-I../include", "-c", "../" + file, "-o", "x.o"});
  return {file, root() + "/build", std::move(flags)};
}

}  // namespace simrt::analysis
