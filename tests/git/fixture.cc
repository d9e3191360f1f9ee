#include "fixture.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace simrt::git {

namespace {
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}
}  // namespace

TempDirectory::TempDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "simrt-git-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = std::filesystem::canonical(pattern);
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string run_git(const std::filesystem::path& directory, const std::vector<std::string>& arguments,
                    const std::string& date) {
  std::string command =
      "cd " + quoted(directory.string()) +
      " && env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE GIT_CONFIG_NOSYSTEM=1"
      " GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b"
      " GIT_AUTHOR_DATE=" +
      quoted(date) + " GIT_COMMITTER_DATE=" + quoted(date) +
      " git -c protocol.file.allow=always -c init.defaultBranch=main -c core.autocrlf=false";
  for (const std::string& argument : arguments) command += " " + quoted(argument);
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen failed");
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), got);
  if (pclose(pipe) != 0) throw std::runtime_error(command + ": " + output);
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return output;
}

GitFixture::GitFixture(std::filesystem::path directory) : directory_(std::move(directory)) {
  std::filesystem::create_directories(directory_);
  git({"init", "-q"});
}

std::string GitFixture::git(const std::vector<std::string>& arguments) const {
  return run_git(directory_, arguments, std::to_string(clock_) + " +0000");
}

void GitFixture::write(const std::string& path, const std::string& bytes) const {
  const std::filesystem::path file = directory_ / path;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

std::string GitFixture::commit(const std::string& message) {
  clock_ += 60;
  git({"add", "-A"});
  git({"commit", "-q", "--allow-empty", "-m", message});
  return git({"rev-parse", "HEAD"});
}

}  // namespace simrt::git
