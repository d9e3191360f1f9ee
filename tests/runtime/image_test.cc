// The process' own ELF image, and bounded text.
#include "sys/image.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <filesystem>

extern "C" const char __ehdr_start[];

namespace simrt::runtime {
namespace {

using ::testing::HasSubstr;

TEST(Image, DescribesTheRunningProgram) {
  Image image;
  ASSERT_TRUE(read_image(__ehdr_start, image));
  EXPECT_TRUE(image.executable);
  const auto code = reinterpret_cast<std::uintptr_t>(&read_image);
  EXPECT_LE(image.text_begin, code);
  EXPECT_LT(code, image.text_end);
  EXPECT_LE(image.begin, image.text_begin);
  EXPECT_LE(image.text_end, image.end);
  static int data = 1;
  EXPECT_LT(reinterpret_cast<std::uintptr_t>(&data), image.end);
}

TEST(Image, RefusesWhatIsNoElfHeader) {
  Image image;
  const char text[64] = "#!/bin/sh";
  EXPECT_FALSE(read_image(text, image));
  EXPECT_FALSE(read_image(nullptr, image));
}

TEST(Image, NamesTheFileBehindAnAddress) {
  Mapping mapping;
  ASSERT_TRUE(find_mapping(reinterpret_cast<std::uintptr_t>(&read_image), mapping));
  EXPECT_EQ(std::string(mapping.path.text), std::filesystem::read_symlink("/proc/self/exe").string());
  EXPECT_LE(mapping.begin, reinterpret_cast<std::uintptr_t>(&read_image));
  EXPECT_LT(reinterpret_cast<std::uintptr_t>(&read_image), mapping.end);
}

TEST(Image, AnonymousMemoryHasNoName) {
  int on_stack = 0;
  Mapping mapping;
  ASSERT_TRUE(find_mapping(reinterpret_cast<std::uintptr_t>(&on_stack), mapping));
  EXPECT_EQ(mapping.path.size, 0u);
  EXPECT_FALSE(find_mapping(0, mapping));
}

TEST(Text, PathsDoNotOverflow) {
  Path path;
  path.append("/a");
  path.append(std::uint64_t{18446744073709551615u});
  path.append(".");
  path.append(std::uint64_t{0});
  EXPECT_STREQ(path.text, "/a18446744073709551615.0");
  EXPECT_TRUE(path.ok);
  const std::string long_part(4096, 'x');
  path.append(long_part.c_str());
  EXPECT_FALSE(path.ok);
  EXPECT_STREQ(path.text, "/a18446744073709551615.0");
}

TEST(Text, Numbers) {
  std::uint64_t value = 7;
  EXPECT_TRUE(parse_number("1073741824", value));
  EXPECT_EQ(value, 1073741824u);
  for (const char* bad : {"", "-1", "1k", " 1", "99999999999999999999"}) {
    EXPECT_FALSE(parse_number(bad, value)) << bad;
  }
  EXPECT_FALSE(parse_number(nullptr, value));
  EXPECT_EQ(value, 1073741824u);
}

}  // namespace
}  // namespace simrt::runtime
