// A throw-away git repository, driven through the git command line as users do it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace simrt::git {

class TempDirectory {
 public:
  TempDirectory();
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class GitFixture {
 public:
  /// `git init` in `directory`, on branch main.
  explicit GitFixture(std::filesystem::path directory);

  /// Runs git there and returns its output without the last line end; throws when git fails.
  std::string git(const std::vector<std::string>& arguments) const;
  void write(const std::string& path, const std::string& bytes) const;
  /// Adds everything and commits one minute after the last commit; returns the full id.
  std::string commit(const std::string& message);
  std::filesystem::path path() const { return directory_; }
  std::filesystem::path path(const std::string& relative) const { return directory_ / relative; }

 private:
  std::filesystem::path directory_;
  long clock_ = 1700000000;
};

/// Runs git in `directory`; throws when git fails.
std::string run_git(const std::filesystem::path& directory, const std::vector<std::string>& arguments,
                    const std::string& date = "1700000000 +0000");

}  // namespace simrt::git
