// The reader against files that are cut or damaged anywhere: it may refuse or read less, it may never crash
// or invent.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "recorded.h"
#include "simrt/format/trace.h"

namespace simrt::runtime_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::read_trace;
using ::testing::SizeIs;
using testing::Trace;

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void spit(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// Whatever was read keeps the promises of testing/trace.h.
void expect_consistent(const Trace& trace) {
  ASSERT_EQ(trace.shared.size(), trace.modules.size());
  std::uint32_t last = 0;
  for (const auto& thread : trace.threads) {
    ASSERT_EQ(thread.covered.size(), trace.modules.size());
    ASSERT_GE(thread.index, last);
    last = thread.index;
    for (const auto& frame : thread.frames) ASSERT_LT(frame.module, trace.modules.size());
    for (std::size_t m = 0; m < trace.modules.size(); ++m) {
      ASSERT_TRUE(std::is_sorted(thread.covered[m].begin(), thread.covered[m].end()));
      if (!thread.covered[m].empty() && !trace.modules[m].pcs.empty()) {
        ASSERT_LT(thread.covered[m].back(), trace.modules[m].pcs.size());
      }
    }
  }
  for (const auto& module : trace.modules) ASSERT_EQ(module.pcs.size(), module.entry.size());
}

class Reader : public ::testing::Test {
 protected:
  // A real trace with ended threads (lists), live ones (maps), and two modules.
  void SetUp() override {
    ASSERT_FALSE(variants().empty());
    const std::string variant = variants()[0];
    const std::string file = scratch_.file("trace");
    ASSERT_EQ(
        wait_for(start({program("scenarios-" + variant), "plugin", program("plugin-" + variant + ".so")},
                       {{"SIMRT_TRACE", file}}, scratch_.path())),
        0);
    good_ = slurp(file);
    ASSERT_GT(good_.size(), 4096u);
    ASSERT_TRUE(read_trace(file));
  }

  tl::expected<Trace, Error> read(const std::string& bytes) {
    spit(scratch_.file("damaged"), bytes);
    return read_trace(scratch_.file("damaged"));
  }

  Scratch scratch_;
  std::string good_;
};

TEST_F(Reader, MissingEmptyAndForeignFiles) {
  EXPECT_THAT(read_trace(scratch_.file("nothing")).error().message, HasSubstr("no trace file"));
  EXPECT_EQ(read_trace(scratch_.file("nothing")).error().code, ErrorCode::Execution);
  EXPECT_FALSE(read_trace(scratch_.path()));
  EXPECT_THAT(read("").error().message, HasSubstr("not a trace file"));
  EXPECT_THAT(read(std::string(100000, 'x')).error().message, HasSubstr("not a trace file"));
  EXPECT_FALSE(read(good_.substr(0, sizeof(format::TraceHeader) - 1)));
}

TEST_F(Reader, OtherVersionsAreRefusedByName) {
  std::string other = good_;
  other[8] = static_cast<char>(format::kTraceVersion + 1);
  const auto result = read(other);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("version 2"));
  EXPECT_THAT(result.error().hint, HasSubstr("rebuild"));
}

TEST_F(Reader, EveryTruncationIsReadUpToTheCut) {
  std::size_t threads = 0;
  format::TraceHeader header;
  std::memcpy(&header, good_.data(), sizeof header);
  for (std::size_t size = sizeof header; size < header.used; size += 509) {
    const auto trace = read(good_.substr(0, size));
    ASSERT_TRUE(trace) << size;
    expect_consistent(*trace);
    EXPECT_GE(trace->threads.size(), threads);  // a longer prefix says no less
    threads = trace->threads.size();
    EXPECT_FALSE(trace->notes.empty()) << size;
  }
}

TEST_F(Reader, RandomBitFlips) {
  std::mt19937 random(20140601);
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    std::string damaged = good_;
    // Half of the flips go into the first chunks, where lengths and counts are.
    const std::size_t reach = round % 2 == 0 ? 2048 : damaged.size();
    for (int flips = 1 + round % 4; flips > 0; --flips) {
      damaged[random() % reach] ^= static_cast<char>(1u << random() % 8);
    }
    const auto trace = read(damaged);
    if (trace) {
      expect_consistent(*trace);
    } else {
      ++refused;
    }
  }
  EXPECT_LT(refused, 200);  // damage behind the header costs the rest, not everything
}

TEST_F(Reader, ExtremeNumbersInEveryWord) {
  const std::size_t words = std::min<std::size_t>(good_.size() / 4, 160);
  for (std::size_t word = 2; word < words; ++word) {
    for (const std::uint32_t value : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu}) {
      std::string damaged = good_;
      std::memcpy(damaged.data() + word * 4, &value, sizeof value);
      if (const auto trace = read(damaged)) expect_consistent(*trace);
    }
  }
}

TEST(TraceFiles, FindsTheProcessesOfOneTestOnly) {
  const Scratch scratch;
  for (const char* name : {"t", "t.7", "t.123", "t.7.1", "t.7.1.1", "t.log", "t.", "tt", "t.1x", "u.7"}) {
    spit(scratch.file(name), "");
  }
  EXPECT_EQ(testing::trace_files(scratch.file("t")),
            (std::vector<std::string>{scratch.file("t"), scratch.file("t.7"), scratch.file("t.7.1"),
                                      scratch.file("t.123")}));
  EXPECT_THAT(testing::trace_files(scratch.file("nothing")), IsEmpty());
  EXPECT_THAT(testing::trace_files("/nonexistent/t"), IsEmpty());
}

}  // namespace
}  // namespace simrt::runtime_test
