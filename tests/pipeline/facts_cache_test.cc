#include "pipeline/facts_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/files.h"

namespace simrt::pipeline {
namespace {

namespace fs = std::filesystem;

UnitFacts unit_facts(const std::string& path, std::uint64_t command, std::uint32_t errors = 0) {
  UnitFacts unit;
  unit.path = path;
  unit.command = command;
  unit.files = {{path, command + 1, 2}};
  unit.errors = errors;
  if (errors) unit.messages = {"no"};
  return unit;
}

FactsCache::Answers always(std::uint64_t answer) {
  return [answer](const FactsCache::Questions& questions) { return answer + questions.size(); };
}

class Cache : public testing::Test {
 protected:
  std::string directory() const { return temporary_.path(); }
  std::vector<std::string> entries() const {
    std::vector<std::string> paths;
    for (const auto& entry : fs::recursive_directory_iterator(directory()))
      if (entry.is_regular_file()) paths.push_back(entry.path().string());
    return paths;
  }
  TemporaryDirectory temporary_ = *TemporaryDirectory::create("facts-cache");
  const FactsCache::Questions questions_{"/a", "/b c"};
};

TEST_F(Cache, FindsAParseWhoseQuestionsHaveTheSameAnswers) {
  const FactsCache cache(directory(), 1);
  EXPECT_FALSE(cache.find("a.cc", 7, 0, always(5)));
  cache.store(unit_facts("a.cc", 7), 0, questions_, always(5));
  cache.store(unit_facts("broken.cc", 7, 3), 0, questions_, always(5));
  FactsCache::Questions asked;
  const auto found = cache.find("a.cc", 7, 0, [&](const FactsCache::Questions& questions) {
    asked = questions;
    return 5 + questions.size();
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, unit_facts("a.cc", 7));
  EXPECT_EQ(asked, questions_);
  EXPECT_EQ(cache.find("broken.cc", 7, 0, always(5)), unit_facts("broken.cc", 7, 3));
}

TEST_F(Cache, OtherAnswersCommandsUnitsAndToolsFindNothing) {
  const FactsCache cache(directory(), 1);
  cache.store(unit_facts("a.cc", 7), 0, questions_, always(5));
  EXPECT_FALSE(cache.find("a.cc", 7, 0, always(6)));
  EXPECT_FALSE(cache.find("a.cc", 8, 0, always(5)));
  EXPECT_FALSE(cache.find("b.cc", 7, 0, always(5)));
  EXPECT_FALSE(FactsCache(directory(), 2).find("a.cc", 7, 0, always(5)));
  EXPECT_FALSE(cache.find("a.cc", 7, 1, always(5))) << "parsed with other knowledge";
  EXPECT_TRUE(cache.find("a.cc", 7, 0, always(5)));
}

TEST_F(Cache, KeepsSeveralVersionsOfAUnit) {
  const FactsCache cache(directory(), 1);
  for (std::uint32_t version = 1; version <= 3; ++version)
    cache.store(unit_facts("a.cc", 7, version), 0, questions_, always(version));
  for (std::uint32_t version = 1; version <= 3; ++version)
    EXPECT_EQ(cache.find("a.cc", 7, 0, always(version)), unit_facts("a.cc", 7, version));
}

TEST_F(Cache, ADamagedEntryIsNone) {
  const FactsCache cache(directory(), 1);
  cache.store(unit_facts("a.cc", 7), 0, questions_, always(5));
  ASSERT_EQ(entries().size(), 1U);
  const std::string file = entries().front(), good = *read_file(file);
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    std::ofstream(file, std::ios::trunc) << bad;
    const auto found = cache.find("a.cc", 7, 0, always(5));
    if (found) {
      EXPECT_EQ(*found, unit_facts("a.cc", 7)) << at;  // the case of a digit
    }
    std::ofstream(file, std::ios::trunc) << good.substr(0, at);
    EXPECT_FALSE(cache.find("a.cc", 7, 0, always(5))) << at;
  }
}

TEST_F(Cache, PruningDropsWhatWasNotUsedForLongest) {
  const FactsCache unlimited(directory(), 1);
  unlimited.store(unit_facts("a.cc", 7), 0, questions_, always(5));
  const std::uint64_t size = fs::file_size(entries().front());
  const FactsCache cache(directory(), 1, size * 8);
  const auto now = fs::file_time_type::clock::now();
  for (std::uint32_t i = 0; i < 10; ++i) {
    cache.store(unit_facts("a.cc", 7), 0, questions_, always(100 + i));
    for (const std::string& file : entries())
      if (fs::last_write_time(file) > now - std::chrono::minutes(1))
        fs::last_write_time(file, now - std::chrono::hours(20 - i));
  }
  ASSERT_TRUE(cache.find("a.cc", 7, 0, always(5)));  // the oldest, used just now
  cache.prune();
  EXPECT_LE(entries().size(), 6U);
  EXPECT_GE(entries().size(), 4U);
  EXPECT_TRUE(cache.find("a.cc", 7, 0, always(5)));
  EXPECT_TRUE(cache.find("a.cc", 7, 0, always(109)));
  EXPECT_FALSE(cache.find("a.cc", 7, 0, always(100)));
}

TEST_F(Cache, ADirectoryThatCannotBeWrittenCostsOnlyTheCache) {
  const std::string file = directory() + "/file";
  std::ofstream(file) << "x";
  for (const std::string& place : {file, std::string("/proc/none"), std::string()}) {
    const FactsCache cache(place, 1);
    cache.store(unit_facts("a.cc", 7), 0, questions_, always(5));
    EXPECT_FALSE(cache.find("a.cc", 7, 0, always(5)));
    cache.prune();
  }
}

}  // namespace
}  // namespace simrt::pipeline
