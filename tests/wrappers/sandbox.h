// A scratch directory in which commands are run, for tests of the wrappers as programs.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

namespace simrt::wrappers {

struct Outcome {
  int status = -1;
  std::string output;  ///< both streams
};

class Sandbox : public ::testing::Test {
 protected:
  Sandbox() {
    std::string name = (std::filesystem::temp_directory_path() / "simrt-wrappers-XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  ~Sandbox() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// A shell line in the sandbox, with the wrappers on the path.
  Outcome shell(const std::string& line) const {
    const std::string full = "cd '" + directory_ +
                             "' && export PATH='" SIMRT_WRAPPER_DIRECTORY "':$PATH SIMRT_CACHE_DIR='" +
                             directory_ + "/cache' && unset SIMRT_TRACE CC CXX && { " + line + "; } 2>&1";
    FILE* pipe = popen(full.c_str(), "r");
    Outcome outcome;
    std::array<char, 4096> block;
    for (std::size_t n; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
      outcome.output.append(block.data(), n);
    const int status = pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
  }
  void expect_success(const std::string& line) const {
    const Outcome outcome = shell(line);
    EXPECT_EQ(outcome.status, 0) << line << "\n" << outcome.output;
  }

  std::string directory_;
};

}  // namespace simrt::wrappers
