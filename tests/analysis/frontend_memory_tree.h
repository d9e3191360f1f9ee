// A source tree in memory, with real temporary directories beside it for what lies on the disk.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/frontend/compile_commands.h"
#include "model/source_tree.h"

namespace simrt::analysis {

/// One revision. Contents that start with "-> " are symlinks to the rest.
class MemoryTree final : public SourceTree {
 public:
  explicit MemoryTree(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  std::optional<TreeEntry> find(std::string_view path) const override;
  std::vector<std::pair<std::string, TreeEntry>> list(std::string_view directory) const override;
  std::optional<std::string> read(std::string_view path) const override;
  std::vector<std::string> files() const override;
  std::string identity() const override { return "memory"; }

 private:
  std::map<std::string, std::string> files_;
};

/// A temporary directory: project/ (the repository root), build/ inside it, cache/ beside it.
class ProjectDirectory {
 public:
  ProjectDirectory();
  ~ProjectDirectory();
  ProjectDirectory(const ProjectDirectory&) = delete;
  ProjectDirectory& operator=(const ProjectDirectory&) = delete;

  std::string root() const { return (base_ / "project").string(); }
  std::string cache() const { return (base_ / "cache").string(); }
  std::string base() const { return base_.string(); }
  /// Writes a file of the disk, relative to the temporary directory.
  void write(const std::string& path, const std::string& text) const;
  /// `compiler flags... file`, run in project/build.
  CompileCommand command(const std::string& file,
                         std::vector<std::string> flags = {"g++", "-std=c++20"}) const;

 private:
  std::filesystem::path base_;
};

}  // namespace simrt::analysis
