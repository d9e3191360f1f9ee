// The layer table of docs/architecture.md, enforced: every quoted include must point at the own folder or at
// a folder that the table allows.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"support", {}},
    {"model", {"support", "simrt"}},
    {"config", {"support"}},
    {"git", {"model", "support"}},
    {"analysis", {"model", "support"}},
    {"history", {"model", "support"}},
    {"testing", {"model", "support", "simrt"}},
    {"diff", {"model", "support"}},
    {"impact", {"model", "support"}},
    {"select", {"model", "support"}},
    {"schedule", {"model", "support"}},
    {"report", {"model", "support"}},
    {"pipeline",
     {"report", "schedule", "select", "impact", "diff", "testing", "history", "analysis", "git", "config",
      "model", "support"}},
    {"cli", {"pipeline", "report", "config", "history", "analysis", "model", "support"}},
    {"runtime", {"simrt", "cover", "detect", "control", "emit", "hooks", "intercept", "sys"}},
    {"wrappers", {"support"}},
};

bool is_code(const fs::path& path) {
  return path.extension() == ".h" || path.extension() == ".cc" || path.extension() == ".c";
}

std::vector<std::string> quoted_includes(const fs::path& file) {
  static const std::regex kInclude("^\\s*#\\s*include\\s*\"([^\"]+)\"");
  std::vector<std::string> found;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_search(line, match, kInclude)) found.push_back(match[1]);
  }
  return found;
}

TEST(Layers, NoIncludePointsBackUp) {
  const fs::path source = fs::path(SIMRT_SOURCE_DIR) / "src";
  std::size_t looked_at = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source)) {
    if (!entry.is_regular_file() || !is_code(entry.path())) continue;
    const std::string layer = fs::relative(entry.path(), source).begin()->string();
    const auto allowed = kMayInclude.find(layer);
    ASSERT_NE(allowed, kMayInclude.end()) << "no layer is called " << layer;
    for (const std::string& include : quoted_includes(entry.path())) {
      const std::size_t slash = include.find('/');
      if (slash == std::string::npos) continue;  // a header of the same folder
      const std::string target = include.substr(0, slash);
      ++looked_at;
      EXPECT_TRUE(target == layer || allowed->second.contains(target))
          << entry.path() << " includes " << include;
    }
  }
  EXPECT_GT(looked_at, 100U);
}

TEST(Layers, WithinThePipelineExecutionsAreBelowWhatDrivesThem) {
  const std::vector<std::string> order = {"execution", "steer", "check", "explore"};
  const fs::path pipeline = fs::path(SIMRT_SOURCE_DIR) / "src" / "pipeline";
  std::size_t looked_at = 0;
  for (std::size_t at = 0; at < order.size(); ++at)
    for (const auto& entry : fs::directory_iterator(pipeline / order[at]))
      for (const std::string& include : quoted_includes(entry.path()))
        for (std::size_t above = at + 1; above < order.size(); ++above) {
          ++looked_at;
          EXPECT_NE(include.rfind("pipeline/" + order[above] + "/", 0), 0U)
              << entry.path() << " includes " << include;
        }
  EXPECT_GT(looked_at, 50U);
}

TEST(Layers, TheContractOfTheRuntimeStandsAlone) {
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SIMRT_SOURCE_DIR) / "include"))
    if (entry.is_regular_file())
      for (const std::string& include : quoted_includes(entry.path()))
        EXPECT_EQ(include.rfind("simrt/", 0), 0U) << entry.path() << " includes " << include;
}

TEST(Layers, OnlyTheAnalysisSeesClang) {
  static const std::regex kClang("#\\s*include\\s*[<\"](clang|llvm)/");
  const fs::path source = fs::path(SIMRT_SOURCE_DIR) / "src";
  for (const auto& entry : fs::recursive_directory_iterator(source)) {
    if (!entry.is_regular_file() || !is_code(entry.path())) continue;
    if (fs::relative(entry.path(), source).begin()->string() == "analysis") continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);)
      EXPECT_FALSE(std::regex_search(line, kClang)) << entry.path() << ": " << line;
  }
}

}  // namespace
