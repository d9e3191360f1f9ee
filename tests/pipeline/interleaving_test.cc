// Which steps of a recorded execution a finding's picture shows: a real compiler's debug information, an
// execution made by hand.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "pipeline/check/witness.h"
#include "support/subprocess.h"

namespace simrt::pipeline {
namespace {

namespace fs = std::filesystem;

using format::EventKind;

constexpr std::size_t kLimit = 40;
constexpr std::size_t kMany = 500;
constexpr std::uint64_t kShared = 0x1000, kOther = 0x2000, kPrivate = 0x3000;

/// Each function of the program is one line.
class Interleaving : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string pattern = (fs::temp_directory_path() / "simrt-interleaving-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = fs::canonical(pattern).string();
    std::ofstream(root_ + "/main.c") << "void put(void) {}\nvoid take(void) {}\nvoid work(void) {}\n"
                                        "void rest(void) {}\nint main(void) { return 0; }\n";
    run({"clang-19", "-g", "-O0", "-no-pie", "main.c", "-o", "program"});
    std::istringstream symbols(run({"nm", "--defined-only", "program"}));
    std::string address, kind, name;
    while (symbols >> address >> kind >> name) addresses_[name] = std::stoull(address, nullptr, 16) + 1;
  }
  static void TearDownTestSuite() { fs::remove_all(root_); }

  static std::string run(std::vector<std::string> command) {
    const auto result = run_process(
        {.command = std::move(command), .directory = root_, .environment = {}, .unset_environment = {}});
    EXPECT_TRUE(result && result->succeeded()) << (result ? result->output : "not run");
    return result ? result->output : std::string();
  }

  void SetUp() override { execution_.modules = {{{root_ + "/program", {}}, true, 0, 1, UINT64_MAX}}; }

  void step(std::uint16_t thread, EventKind kind, const std::string& function, std::uint64_t object) {
    format::RunEvent event = {};
    event.thread = thread;
    event.kind = static_cast<std::uint8_t>(kind);
    event.pc = addresses_.at(function);
    event.object = object;
    event.size = 4;
    event.callers = format::kRunNone;
    execution_.events.push_back(event);
  }
  /// By turns, since steps of one line are told as one.
  void work(std::uint16_t thread, std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i)
      step(thread, EventKind::Read, i % 2 == 0 ? "work" : "rest", kPrivate);
  }
  void write(std::uint16_t thread, std::uint64_t object = kShared) {
    step(thread, EventKind::Write, "put", object);
  }
  void read(std::uint16_t thread, std::uint64_t object = kShared) {
    step(thread, EventKind::Read, "take", object);
  }

  std::vector<InterleavingStep> picture() {
    Symbols symbols(root_, nullptr);
    Finding finding;
    finding.kind = FindingKind::Race;
    finding.sides.resize(2);
    finding.sides[0].kind = StepKind::Write;
    finding.sides[0].stack = symbols.stack(execution_, {addresses_.at("put")});
    finding.sides[1].kind = StepKind::Read;
    finding.sides[1].stack = symbols.stack(execution_, {addresses_.at("take")});
    return interleaving_of(execution_, finding, symbols, kLimit);
  }
  /// "0:1 1:2": thread and line of the steps that are marked.
  static std::string marked(const std::vector<InterleavingStep>& steps) {
    std::string text;
    for (const InterleavingStep& step : steps)
      if (step.key)
        text += (text.empty() ? "" : " ") + std::to_string(step.thread) + ":" + std::to_string(step.at.line);
    return text;
  }
  static std::size_t left_out(const std::vector<InterleavingStep>& steps) {
    std::size_t count = 0;
    for (const InterleavingStep& step : steps) count += step.skipped;
    return count;
  }

  static inline std::string root_;
  static inline std::map<std::string, std::uint64_t> addresses_;
  testing::Execution execution_;
};

TEST_F(Interleaving, BothAccessesAreShownHoweverMuchLiesAround) {
  for (const std::size_t before : {std::size_t{0}, std::size_t{5}, kMany})
    for (const std::size_t between : {std::size_t{0}, std::size_t{5}, std::size_t{30}, kMany})
      for (const std::size_t behind : {std::size_t{0}, std::size_t{5}, kMany})
        for (const bool writer_works : {true, false}) {
          SCOPED_TRACE(::testing::Message() << before << " " << between << " " << behind << writer_works);
          execution_.events.clear();
          work(0, before);
          write(0);
          work(writer_works ? 0 : 1, between);
          read(1);
          work(1, behind);
          const auto steps = picture();
          EXPECT_EQ(marked(steps), "0:1 1:2");
          EXPECT_LE(steps.size(), kLimit);
          if (between == kMany) EXPECT_GT(left_out(steps), kMany / 2) << "the middle";
        }
}

/// A line that both threads run at many addresses: one address is the race's.
TEST_F(Interleaving, AccessesElsewhereAreNotTakenForTheRace) {
  work(0, kMany);
  write(0);
  work(1, kMany);
  read(1);
  for (int i = 0; i < 100; ++i) {
    work(1, 1);
    read(1, kOther);
    work(0, 1);
    read(0, kPrivate);
  }
  const auto steps = picture();
  EXPECT_EQ(marked(steps).substr(0, 7), "0:1 1:2") << marked(steps);
}

/// Writes of one line by several threads conflict as well, but are one and the same side.
TEST_F(Interleaving, TwoAccessesOfOneSideAreNotTakenForTheRace) {
  read(1);
  for (std::uint16_t i = 0; i < 10; ++i) {
    work(2 + i % 2, kMany);
    write(2 + i % 2);
  }
  EXPECT_EQ(marked(picture()), "1:2 3:1");
}

/// The release of a block is told with the block's address, an access with its own.
TEST_F(Interleaving, AReleaseAndAnAccessWithinTheBlockAreBothShown) {
  work(0, kMany);
  step(0, EventKind::Free, "put", kShared);
  work(1, kMany);
  read(1, kShared + 256);
  work(1, kMany);
  EXPECT_EQ(marked(picture()), "0:1 1:2");
}

}  // namespace
}  // namespace simrt::pipeline
