// A made-up project on disk, with the files that CMake and Meson leave behind.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/files.h"

namespace simrt::project::test {

class ProjectTree {
 public:
  ProjectTree() { EXPECT_TRUE(make_directories(root())); }

  /// The repository; its parent is empty but for what a test puts beside it.
  std::string root() const { return canonical_path(directory_.path()) + "/repo"; }
  std::string path(const std::string& name) const { return root() + "/" + name; }

  void write(const std::string& name, std::string_view text = {}) const { write_at(path(name), text); }

  static void write_at(const std::string& path, std::string_view text) {
    ASSERT_TRUE(make_directories(path.substr(0, path.rfind('/'))));
    ASSERT_TRUE(write_file_atomically(path, text));
  }

  /// As `cmake -S <root>/<source> -B <build>` leaves it; `build` is absolute.
  void cmake_build(const std::string& build, const std::string& compiler = "/usr/bin/clang++-19",
                   const std::string& id = "Clang", const std::string& version = "19.1.7",
                   const std::string& extra_cache = {}, const std::string& source = {}) const {
    write_at(build + "/CMakeCache.txt",
             "# This is the CMakeCache file.\n//Build type\nCMAKE_BUILD_TYPE:STRING=Debug\n" + extra_cache +
                 "CMAKE_CACHEFILE_DIR:INTERNAL=" + build +
                 "\nCMAKE_HOME_DIRECTORY:INTERNAL=" + (source.empty() ? root() : path(source)) + "\n");
    write_at(build + "/CMakeFiles/3.25.1/CMakeCXXCompiler.cmake",
             "set(CMAKE_CXX_COMPILER \"" + compiler + "\")\nset(CMAKE_CXX_COMPILER_ARG1 \"\")\n" +
                 "set(CMAKE_CXX_COMPILER_ID \"" + id + "\")\nset(CMAKE_CXX_COMPILER_VERSION \"" + version +
                 "\")\n");
  }

  void database(const std::string& build) const {
    write_at(build + "/compile_commands.json",
             R"([{"directory": "/", "command": "c++ -c a.cc", "file": "a.cc"}])");
  }

  void ctest(const std::string& build) const {
    write_at(build + "/CTestTestfile.cmake", "# CMake generated Testfile\nsubdirs(\"sub\")\n");
    write_at(build + "/sub/CTestTestfile.cmake", "add_test([=[a]=] \"/x/a\")\n");
  }

 private:
  TemporaryDirectory directory_ = TemporaryDirectory::create("simrt-project").value();
};

}  // namespace simrt::project::test
