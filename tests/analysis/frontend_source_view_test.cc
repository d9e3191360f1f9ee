// Which file a path means at a revision: the traps of reading without a checkout.
#include <gtest/gtest.h>

#include <filesystem>

#include "analysis/frontend/source_filesystem.h"
#include "analysis/frontend/source_view.h"
#include "frontend_memory_tree.h"

namespace simrt::analysis {
namespace {

struct SourceViewTest : ::testing::Test {
  ProjectDirectory project;
  std::shared_ptr<const SourceView> view(std::map<std::string, std::string> files,
                                         std::vector<std::string> other = {}) const {
    return std::make_shared<SourceView>(project.root(), std::make_shared<MemoryTree>(std::move(files)),
                                        other);
  }
  std::string at(const std::string& path) const { return project.root() + "/" + path; }
};

TEST_F(SourceViewTest, TreeWinsOverTheDisk) {
  project.write("project/a.h", "on the disk");
  const auto files = view({{"a.h", "in the tree"}});
  auto system = make_source_filesystem(files, project.root());
  EXPECT_EQ((*system->getBufferForFile("a.h"))->getBuffer(), "in the tree");
  EXPECT_EQ((*system->getBufferForFile(at("build/../a.h")))->getBuffer(), "in the tree");
  EXPECT_EQ(system->status("a.h")->getSize(), 11u);
}

TEST_F(SourceViewTest, FileOfTheOtherRevisionIsAbsentAlthoughOnTheDisk) {
  project.write("project/removed.h", "still checked out");
  project.write("project/build/generated.h", "generated");
  auto system = make_source_filesystem(view({{"a.h", ""}}, {"removed.h"}), project.root());
  EXPECT_FALSE(system->exists("removed.h"));
  EXPECT_FALSE(system->openFileForRead(at("removed.h")));
  EXPECT_TRUE(system->exists("build/generated.h")) << "tracked by nobody: the real file";
  EXPECT_FALSE(system->exists("build/nothing.h"));
}

TEST_F(SourceViewTest, SymlinksAreFollowedComponentByComponent) {
  project.write("outside/real.h", "outside");
  const auto files = view({{"include", "-> src/api"},
                           {"src/api/x.h", "x"},
                           {"src/y.h", "y"},
                           {"loop", "-> loop"},
                           {"far", "-> " + project.base() + "/outside"}});
  auto system = make_source_filesystem(files, project.root());
  EXPECT_EQ((*system->getBufferForFile("include/x.h"))->getBuffer(), "x");
  EXPECT_EQ((*system->getBufferForFile("include/../y.h"))->getBuffer(), "y") << ".. of the link's target";
  EXPECT_EQ((*system->getBufferForFile("far/real.h"))->getBuffer(), "outside");
  EXPECT_FALSE(system->exists("loop"));
  EXPECT_EQ(files->route(at("include/x.h")).links, std::vector<std::string>{"include"});
  EXPECT_EQ(files->repository_path(at("include/x.h")), "src/api/x.h");
  EXPECT_EQ(files->repository_path(at("far/real.h")), std::nullopt);
  EXPECT_EQ(system->status("include/x.h")->getUniqueID(), system->status("src/api/x.h")->getUniqueID());
}

TEST_F(SourceViewTest, DiskSymlinksLeadIntoTheTree) {
  std::filesystem::create_directory_symlink(project.root(), project.base() + "/checkout");
  std::filesystem::create_directory_symlink("../src", at("build/forward"));
  const auto files = view({{"src/x.h", "x"}});
  EXPECT_EQ(files->repository_path(project.base() + "/checkout/src/x.h"), "src/x.h");
  EXPECT_EQ(files->repository_path(at("build/forward/x.h")), "src/x.h");
  const SourceView linked(project.base() + "/checkout",
                          std::make_shared<MemoryTree>(std::map<std::string, std::string>{{"src/x.h", "x"}}),
                          {});
  EXPECT_EQ(linked.repository_path(at("src/x.h")), "src/x.h");
}

TEST_F(SourceViewTest, IdentityOfAFileIsItsPathAndItsTimeFollowsItsContent) {
  const auto old_files = view({{"a.h", "same"}, {"b.h", "same"}});
  const auto new_files = view({{"a.h", "else"}, {"b.h", "same"}});
  const auto status = [&](const std::shared_ptr<const SourceView>& files, const std::string& path) {
    return *files->status(files->route(at(path)), path);
  };
  EXPECT_NE(status(old_files, "a.h").getUniqueID(), status(old_files, "b.h").getUniqueID());
  EXPECT_EQ(status(old_files, "a.h").getUniqueID(), status(new_files, "a.h").getUniqueID());
  EXPECT_NE(status(old_files, "a.h").getLastModificationTime(),
            status(new_files, "a.h").getLastModificationTime());
  EXPECT_EQ(status(old_files, "b.h").getLastModificationTime(),
            status(new_files, "b.h").getLastModificationTime());
  const SourceView elsewhere(
      project.base() + "/other",
      std::make_shared<MemoryTree>(std::map<std::string, std::string>{{"a.h", "same"}}), {});
  EXPECT_NE(elsewhere.status(elsewhere.route(project.base() + "/other/a.h"), "a")->getUniqueID(),
            status(old_files, "a.h").getUniqueID());
}

TEST_F(SourceViewTest, DirectoriesShowTreeAndGeneratedFilesTogether) {
  project.write("project/src/generated.h", "g");
  project.write("project/src/removed.h", "r");
  auto system = make_source_filesystem(view({{"src/a.h", ""}}, {"src/removed.h"}), project.root());
  std::set<std::string> names;
  std::error_code error;
  for (auto it = system->dir_begin("src", error), end = llvm::vfs::directory_iterator(); !error && it != end;
       it.increment(error)) {
    names.insert(std::filesystem::path(it->path().str()).filename().string());
  }
  EXPECT_EQ(names, (std::set<std::string>{"a.h", "generated.h"}));
  EXPECT_TRUE(system->status("src")->isDirectory());
  EXPECT_FALSE(system->openFileForRead("src"));
}

}  // namespace
}  // namespace simrt::analysis
