// Who reads the time stamp counter, told from compiled code.
#include "sys/instruction.h"

#include <gtest/gtest.h>

#include <vector>

#include "sys/time_stamp.h"

namespace simrt::runtime {
namespace {

using Code = std::vector<std::uint8_t>;

std::uint32_t length_of(const Code& code) {
  return instruction_length(code.data(), code.data() + code.size());
}

TEST(Instruction, HasItsLength) {
  for (const Code& code : {
           Code{0xc3},                                                        // ret
           Code{0x0f, 0x31},                                                  // rdtsc
           Code{0x0f, 0x01, 0xf9},                                            // rdtscp
           Code{0x83, 0xe0, 0x0f},                                            // and $15, %eax
           Code{0x48, 0x8b, 0x44, 0x24, 0x08},                                // mov 8(%rsp), %rax
           Code{0x48, 0x8d, 0x05, 1, 2, 3, 4},                                // lea 0x4030201(%rip), %rax
           Code{0x8b, 0x04, 0x25, 1, 2, 3, 4},                                // mov 0x4030201, %eax
           Code{0x66, 0xc7, 0x00, 1, 2},                                      // movw $0x201, (%rax)
           Code{0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8},                          // movabs
           Code{0x0f, 0x84, 1, 2, 3, 4},                                      // je
           Code{0xeb, 0x10},                                                  // jmp
           Code{0xf6, 0x07, 0x01},                                            // testb $1, (%rdi)
           Code{0xf7, 0xd8},                                                  // neg %eax
           Code{0xf3, 0x0f, 0x1e, 0xfa},                                      // endbr64
           Code{0xc5, 0xf8, 0x77},                                            // vzeroupper
           Code{0xc4, 0xe3, 0x7d, 0x39, 0xc1, 0x01},                          // vextracti128 $1
           Code{0x62, 0xf1, 0x7c, 0x48, 0x10, 0x47, 0x01},                    // vmovups 64(%rdi), %zmm0
           Code{0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},  // nop
       }) {
    EXPECT_EQ(length_of(code), code.size()) << std::hex << int{code[0]} << " " << int{code.back()};
    Code cut = code;
    cut.pop_back();
    if (!cut.empty()) {
      EXPECT_EQ(length_of(cut), 0U) << std::hex << int{code[0]} << " cut";
    }
  }
}

// mov 8(%rsp), %rax over and over, with something in the middle.
struct Found {
  bool time_stamp, random_number;
};
Found found_in(const Code& code) {
  ProcessorReads found;
  find_processor_reads(code.data(), code.data() + code.size(), found);
  return {found.time_stamp != nullptr, found.random_number != nullptr};
}
Found find(const Code& middle) {
  Code code;
  const auto fill = [&] {
    for (int i = 0; i < 50; ++i) code.insert(code.end(), {0x48, 0x8b, 0x44, 0x24, 0x08});
  };
  fill();
  code.insert(code.end(), middle.begin(), middle.end());
  fill();
  return found_in(code);
}
bool reads(const Code& middle) { return find(middle).time_stamp; }
bool draws(const Code& middle) { return find(middle).random_number; }

#if defined(__x86_64__)
TEST(TimeStampRead, IsToldFromTheSameBytesOfOtherInstructions) {
  EXPECT_FALSE(reads({}));
  EXPECT_TRUE(reads({0x0f, 0x31}));
  EXPECT_TRUE(reads({0x0f, 0x01, 0xf9}));
  EXPECT_TRUE(reads({0x0f, 0xae, 0xe8, 0x0f, 0x31}));   // lfence; rdtsc
  EXPECT_FALSE(reads({0x83, 0xe0, 0x0f, 0x31, 0xc8}));  // and $15, %eax; xor %ecx, %eax
  EXPECT_FALSE(reads({0xe8, 0x00, 0x0f, 0x31, 0x00}));  // call
  EXPECT_FALSE(reads({0xb8, 0x00, 0x0f, 0x01, 0xf9}));  // mov, constant
  EXPECT_FALSE(reads({0x0f, 0x01, 0xd0}));              // xgetbv
  const Code few = {0x90, 0x0f, 0x31, 0xc3};
  EXPECT_TRUE(found_in(few).time_stamp);
}

TEST(RandomNumberRead, IsToldFromTheSameBytesOfOtherInstructions) {
  EXPECT_FALSE(draws({}));
  EXPECT_TRUE(draws({0x0f, 0xc7, 0xf0}));               // rdrand %eax
  EXPECT_TRUE(draws({0x0f, 0xc7, 0xf9}));               // rdseed %ecx
  EXPECT_TRUE(draws({0x48, 0x0f, 0xc7, 0xf0}));         // rdrand %rax
  EXPECT_TRUE(draws({0x66, 0x41, 0x0f, 0xc7, 0xf0}));   // rdrand %r8w
  EXPECT_FALSE(draws({0x0f, 0xc7, 0x0f}));              // cmpxchg8b (%rdi)
  EXPECT_FALSE(draws({0x48, 0x0f, 0xc7, 0x0f}));        // cmpxchg16b (%rdi)
  EXPECT_FALSE(draws({0xb8, 0x00, 0x0f, 0xc7, 0xf0}));  // mov, constant
  const Found both = find({0x0f, 0xc7, 0xf0, 0x0f, 0x31});
  EXPECT_TRUE(both.time_stamp && both.random_number);
  EXPECT_FALSE(find({0x0f, 0x31}).random_number);
}
#endif

}  // namespace
}  // namespace simrt::runtime
