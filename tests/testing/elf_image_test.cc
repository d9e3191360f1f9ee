#include "testing/elf_image.h"

#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>

#include "sample_programs.h"
#include "support/files.h"

namespace simrt::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;

TEST(ParseElf, NamesLibrariesAndSearchPaths) {
  const auto image = parse_elf(read_file(sample("library_user")).value());
  ASSERT_TRUE(image);
  EXPECT_THAT(image->needed, Contains("libsample.so"));
  std::vector<std::string> folders = image->runpath;
  folders.insert(folders.end(), image->rpath.begin(), image->rpath.end());
  EXPECT_THAT(folders, Contains(sample("library_1")));
}

TEST(ParseElf, TheLoadedPartHasAllOfIt) {
  const std::string whole = read_file(sample("library_user")).value();
  const auto loaded = read_loaded_part(sample("library_user"));
  ASSERT_TRUE(loaded);
  EXPECT_LT(loaded->size(), whole.size());
  EXPECT_EQ(*loaded, whole.substr(0, loaded->size()));
  const auto image = parse_elf(*loaded), same = parse_elf(whole);
  ASSERT_TRUE(image && same);
  EXPECT_EQ(image->needed, same->needed);
  EXPECT_EQ(image->runpath, same->runpath);
}

TEST(ParseElf, TheLoadedPartOfOtherFilesIsNothing) {
  EXPECT_EQ(read_loaded_part("/"), std::nullopt);
  EXPECT_EQ(read_loaded_part("/nowhere/at/all"), std::nullopt);
  EXPECT_EQ(read_loaded_part(__FILE__), std::nullopt);
}

TEST(ParseElf, OtherBytesAreNoImage) {
  EXPECT_EQ(parse_elf(""), std::nullopt);
  EXPECT_EQ(parse_elf("#!/bin/sh\n"), std::nullopt);
  EXPECT_EQ(parse_elf(std::string(1000, '\0')), std::nullopt);
}

TEST(ParseElf, AnyCutOrDamageIsSurvived) {
  const std::string bytes = read_file(sample("library_user")).value();
  for (std::size_t size = 0; size < bytes.size(); size += 97)
    parse_elf(std::string_view(bytes).substr(0, size));
  // Every 8-byte word of the headers and the dynamic section, set to the extremes.
  for (std::size_t at = EI_NIDENT; at + 8 < std::min<std::size_t>(bytes.size(), 16'384); at += 8) {
    for (const int value : {0x00, 0x7f, 0xff}) {
      std::string damaged = bytes;
      std::memset(damaged.data() + at, value, 8);
      parse_elf(damaged);
    }
  }
}

TEST(FindLibraries, ThroughTheRunpathAndTheEnvironment) {
  EXPECT_THAT(find_libraries(sample("library_user"), ""), ElementsAre(EndsWith("library_1/libsample.so")));
  EXPECT_THAT(find_libraries(sample("plain"), ""), ElementsAre());
  EXPECT_THAT(find_libraries("/no/such/file", ""), ElementsAre());
}

}  // namespace
}  // namespace simrt::testing
