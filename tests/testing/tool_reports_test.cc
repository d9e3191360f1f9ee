// Reports of other detectors: real ones (of reports/misuse.cc and
// fixtures/programs/deadlock/lock_inversion_three.cc), and damage of every kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "support/files.h"
#include "testing/elf_symbols.h"
#include "testing/tsan_report.h"
#include "testing/valgrind_report.h"

namespace simrt::testing {
namespace {

using format::EventKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string report(const std::string& name) {
  const auto text = read_file(std::string(SIMRT_TEST_REPORTS) + "/" + name);
  EXPECT_TRUE(text) << name;
  return text ? *text : std::string();
}

EventKind kind(const format::FindingAccess& access) { return static_cast<EventKind>(access.kind); }

std::vector<std::uint64_t> offsets(const Execution& execution, std::uint32_t stack) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t pc : execution.stacks.at(stack)) {
    // Modules have no extents yet: the nearest one below.
    std::uint64_t bias = 0;
    for (const ExecutionModule& module : execution.modules)
      if (module.bias <= pc) bias = std::max(bias, module.bias);
    all.push_back(pc - bias);
  }
  return all;
}

TEST(TsanReport, RacesHaveBothSidesWithStacksThreadsAndLocks) {
  const Execution execution = parse_tsan_report(report("tsan_misuse.txt"));
  EXPECT_EQ(execution.state, format::RunState::Finished);
  ASSERT_EQ(execution.races.size(), 3U);
  const format::RunRace& counted = execution.races[0];
  EXPECT_EQ(counted.flags, format::kFindingWitnessed);
  EXPECT_EQ(kind(counted.first), EventKind::Write) << "the previous one happened first";
  EXPECT_EQ(kind(counted.second), EventKind::Read);
  EXPECT_EQ(counted.first.thread, 1U);
  EXPECT_EQ(counted.second.thread, 2U);
  EXPECT_EQ(counted.first.size, 4U);
  EXPECT_EQ(counted.first.address, 0x55910803f130U);
  EXPECT_EQ(counted.first.pc, 0x5591080394e1U);
  // A return address: one behind what the report calls the offset.
  EXPECT_THAT(offsets(execution, counted.second.stack),
              ElementsAre(0x24c9, 0x38e3, 0x3846, 0x37fe, 0x37a6, 0x366a, 0xd44a3));
  const auto& locks = execution.lock_sets.at(counted.first.lock_set);
  ASSERT_EQ(locks.size(), 1U);
  EXPECT_EQ(locks[0].shared, 1U);
  EXPECT_NE(locks[0].lock, 0U);
  EXPECT_EQ(kind(execution.races[2].first), EventKind::AtomicStore);
  ASSERT_EQ(execution.threads.size(), 4U);
  for (const ExecutionThread& thread : execution.threads) {
    EXPECT_EQ(thread.parent, 0U);
    EXPECT_GE(thread.frames.size(), 3U);
  }
  EXPECT_THAT(execution.notes, ElementsAre(HasSubstr("unlock of an unlocked mutex")));
  std::vector<std::string> paths;
  for (const ExecutionModule& module : execution.modules) paths.push_back(module.name.path);
  EXPECT_THAT(paths,
              ::testing::IsSupersetOf({"/tmp/programs/tsan/misuse", "/tmp/simrt-tsan/libsimrt_check.so"}));
}

TEST(TsanReport, FramesOfTheRuntimeGo) {
  Execution execution = parse_tsan_report(report("tsan_misuse.txt"));
  settle_tsan_report(execution);
  for (const format::RunRace& race : execution.races)
    for (const auto* access : {&race.first, &race.second})
      for (const ExecutionModule& module : execution.modules)
        if (module.name.path.find("libsimrt_check") != std::string::npos) {
          EXPECT_FALSE(access->pc >= module.begin && access->pc < module.end);
          EXPECT_EQ(access->pc, execution.stacks.at(access->stack).front());
        }
}

TEST(TsanReport, ALockCycleHasAnEdgeForEachThread) {
  const Execution execution = parse_tsan_report(report("tsan_lock_inversion_three.txt"));
  ASSERT_EQ(execution.lock_cycles.size(), 1U);
  const auto& edges = execution.lock_cycles[0].edges;
  ASSERT_EQ(edges.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(edges[i].wanted, edges[(i + 1) % 3].held);
    EXPECT_NE(edges[i].held, edges[i].wanted);
    EXPECT_NE(edges[i].held_pc, 0U);
    EXPECT_NE(edges[i].wanted_pc, 0U);
  }
  EXPECT_EQ(edges[0].thread, 1U);
  EXPECT_EQ(edges[2].thread, 0U) << "main";
}

TEST(TsanReport, NothingButTheBannerIsARunWithoutFindings) {
  const Execution quiet = parse_tsan_report("***** Running under ThreadSanitizer v3 (pid 18626) *****\n");
  EXPECT_EQ(quiet.state, format::RunState::Finished);
  EXPECT_TRUE(quiet.races.empty());
  EXPECT_EQ(parse_tsan_report("").state, format::RunState::NotStarted);
}

TEST(ValgrindReport, HelgrindTellsBothSides) {
  const ValgrindReport parsed = parse_valgrind_report(report("helgrind_misuse.xml"));
  const Execution& execution = parsed.execution;
  EXPECT_EQ(execution.state, format::RunState::Finished);
  ASSERT_EQ(execution.races.size(), 2U);
  const format::RunRace& race = execution.races[0];
  EXPECT_EQ(race.first.address, 0x10E0C8U);
  EXPECT_EQ(kind(race.first), EventKind::Write);
  EXPECT_EQ(kind(race.second), EventKind::Write);
  EXPECT_EQ(race.first.thread, 1U) << "valgrind counts from 1";
  EXPECT_EQ(race.second.thread, 2U);
  EXPECT_NE(race.first.pc, 0U);
  EXPECT_EQ(kind(execution.races[1].first), EventKind::Read);
  EXPECT_THAT(execution.notes, ElementsAre(HasSubstr("unlocked an invalid lock")));
  for (const ExecutionThread& thread : execution.threads) EXPECT_EQ(thread.parent, 0U);
  ASSERT_TRUE(parsed.places.contains("/tmp/programs/plain/misuse"));
  EXPECT_GT(parsed.places.at("/tmp/programs/plain/misuse").size(), 10U);
}

TEST(ValgrindReport, DrdTellsOneSide) {
  const Execution execution = parse_valgrind_report(report("drd_misuse.xml")).execution;
  ASSERT_EQ(execution.races.size(), 3U);
  EXPECT_EQ(kind(execution.races[0].second), EventKind::Read);
  EXPECT_EQ(kind(execution.races[1].second), EventKind::Write);
  EXPECT_EQ(execution.races[0].second.thread, 2U);
  EXPECT_EQ(execution.races[0].second.address, 0x10e0c8U);
  for (const format::RunRace& race : execution.races) EXPECT_EQ(race.first.pc, 0U);
  EXPECT_THAT(execution.notes, ElementsAre(HasSubstr("is not a mutex")));
}

TEST(ValgrindReport, AViolatedLockOrderIsACycle) {
  const Execution execution = parse_valgrind_report(report("helgrind_lock_inversion_three.xml")).execution;
  ASSERT_EQ(execution.lock_cycles.size(), 1U);
  const auto& edges = execution.lock_cycles[0].edges;
  ASSERT_EQ(edges.size(), 2U);
  EXPECT_EQ(edges[0].wanted, 0x10C090U);
  EXPECT_EQ(edges[0].held, 0x10C0E0U);
  EXPECT_EQ(edges[1].held, edges[0].wanted);
  EXPECT_NE(edges[0].wanted_pc, 0U);
}

TEST(ValgrindReport, ACutReportKeepsWhatStandsInFrontOfTheCut) {
  const std::string whole = report("helgrind_misuse.xml");
  const std::string cut = whole.substr(0, whole.find("<kind>UnlockBogus"));
  const Execution execution = parse_valgrind_report(cut).execution;
  EXPECT_EQ(execution.races.size(), 2U);
  EXPECT_THAT(execution.notes, ::testing::Contains(HasSubstr("cut off")));
  EXPECT_EQ(parse_valgrind_report("").execution.state, format::RunState::NotStarted);
  EXPECT_EQ(parse_valgrind_report("<other/>").execution.state, format::RunState::NotStarted);
}

TEST(LoadBias, IsWhereTheFunctionsFit) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<ElfFunction> functions;
    std::uint64_t at = 0x1000 + random() % 64 * 16;
    for (int i = 0; i < 40; ++i) {
      functions.push_back({"f" + std::to_string(i % 37), at, 16 + random() % 9000});  // some names twice
      at += functions.back().size + random() % 32;
    }
    const std::uint64_t bias = (random() % 3 == 0 ? 0 : 0x108 + random() % 5000) * 0x1000;
    std::vector<std::pair<std::uint64_t, std::string>> places;
    for (int i = 0; i < 12; ++i) {
      const ElfFunction& function = functions[random() % functions.size()];
      places.emplace_back(bias + function.address + random() % function.size, function.name);
    }
    places.emplace_back(bias + 5, "no such function");
    const auto found = load_bias(places, functions);
    ASSERT_TRUE(found);
    for (const auto& [ip, name] : places) {
      if (name[0] != 'f') continue;
      const bool inside = std::any_of(functions.begin(), functions.end(), [&](const ElfFunction& function) {
        return function.name == name && ip - *found >= function.address &&
               ip - *found - function.address < function.size;
      });
      EXPECT_TRUE(inside) << "round " << round;
    }
  }
  EXPECT_FALSE(load_bias({{0x1000, "f"}}, {}));
  EXPECT_FALSE(load_bias({}, {{"f", 1, 2}}));
  EXPECT_FALSE(load_bias({{0, "f"}}, {{"f", UINT64_MAX, UINT64_MAX}}));
}

TEST(ElfSymbols, OfAProgramWithPosition) {
  const auto self = read_file("/proc/self/exe");
  ASSERT_TRUE(self);
  const ElfLayout layout = elf_layout(*self);
  EXPECT_GT(layout.end, 0x1000U);
  const auto functions = elf_functions(*self);
  const auto main =
      std::find_if(functions.begin(), functions.end(), [](const auto& f) { return f.name == "main"; });
  ASSERT_NE(main, functions.end());
  EXPECT_LT(main->address + main->size, layout.end);
  EXPECT_TRUE(elf_imports(*self, "__libc_start_main"));
  EXPECT_FALSE(elf_imports(*self, "main"));
  EXPECT_EQ(elf_layout("garbage").end, 0U);
}

/// Changes of every kind: bytes, cuts, lines twice, lines gone, lines swapped.
std::string damaged(const std::string& text, std::mt19937_64& random) {
  std::string result = text;
  const auto position = [&] { return result.empty() ? 0 : random() % result.size(); };
  const int times = 1 + static_cast<int>(random() % 8);
  for (int i = 0; i < times && !result.empty(); ++i) {
    const std::size_t at = position(), length = random() % 200;
    switch (random() % 6) {
      case 0:
        result[at] = static_cast<char>(random());
        break;
      case 1:
        result.resize(at);
        break;
      case 2:
        result.erase(at, length);
        break;
      case 3:
        result.insert(at, result.substr(position(), length));
        break;
      case 4:
        result.insert(at, std::to_string(random()));
        break;
      default:
        for (std::size_t j = at; j < result.size() && j < at + length; ++j)
          if (std::isxdigit(static_cast<unsigned char>(result[j])) != 0) result[j] = 'f';
        break;
    }
  }
  return result;
}

/// Whatever comes in, the records refer to what exists.
void expect_sound(const Execution& execution) {
  const auto stack = [&](std::uint32_t id) {
    EXPECT_TRUE(id == format::kRunNone || id < execution.stacks.size()) << id;
  };
  for (const format::RunRace& race : execution.races) {
    for (const auto* access : {&race.first, &race.second}) {
      stack(access->stack);
      EXPECT_TRUE(access->lock_set == format::kRunNone || access->lock_set < execution.lock_sets.size());
    }
    EXPECT_TRUE(race.variable == format::kRunNone || race.variable < execution.variables.size());
  }
  for (const auto& cycle : execution.lock_cycles) {
    EXPECT_EQ(cycle.cycle.count, cycle.edges.size());
    EXPECT_GE(cycle.edges.size(), 2U);
    for (const auto& edge : cycle.edges) stack(edge.held_stack), stack(edge.wanted_stack);
  }
  for (const auto& variable : execution.variables) stack(variable.stack);
  EXPECT_LE(execution.notes.size(), 24U);
  for (const auto& found : execution.stacks) EXPECT_FALSE(found.empty());
}

/// Valgrind cannot read some programs (newer debug information than it knows), and gives up.
TEST(ToolReports, ARunThatNeverBeganIsNoCleanOne) {
  const std::string whole = report("helgrind_misuse.xml");
  ASSERT_NE(whole.find("<status>"), std::string::npos);
  EXPECT_EQ(parse_valgrind_report(whole).execution.state, format::RunState::Finished);
  const Execution none = parse_valgrind_report(whole.substr(0, whole.find("<status>"))).execution;
  EXPECT_NE(none.state, format::RunState::Finished);
  ASSERT_EQ(none.notes.size(), 1U);
  EXPECT_EQ(none.notes[0], "valgrind ended before the program began");
}

TEST(ToolReports, DamageNeverConfusesTheReaders) {
  std::mt19937_64 random(20240611);
  const std::vector<std::string> tsan = {report("tsan_misuse.txt"), report("tsan_lock_inversion_three.txt")};
  const std::vector<std::string> valgrind = {report("helgrind_misuse.xml"), report("drd_misuse.xml"),
                                             report("helgrind_lock_inversion_three.xml")};
  for (int round = 0; round < 3000; ++round) {
    expect_sound(parse_tsan_report(damaged(tsan[random() % tsan.size()], random)));
    if (round % 3 == 0)
      expect_sound(parse_valgrind_report(damaged(valgrind[random() % valgrind.size()], random)).execution);
    std::string noise(random() % 400, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    expect_sound(parse_tsan_report("WARNING: ThreadSanitizer: data race (pid=1)\n" + noise));
    expect_sound(parse_valgrind_report("<valgrindoutput>" + noise).execution);
  }
  for (const std::string& text : tsan)
    for (std::size_t cut = 0; cut < text.size(); cut += 7)
      expect_sound(parse_tsan_report(text.substr(0, cut)));
}

TEST(ToolReports, DamagedFilesHaveNoSymbolsThatAreNotThere) {
  const auto self = read_file("/proc/self/exe");
  ASSERT_TRUE(self);
  std::mt19937_64 random(5);
  for (int round = 0; round < 30; ++round) {
    std::string bytes = self->substr(0, 4096);
    for (int i = 0; i < 20; ++i) bytes[random() % 512] = static_cast<char>(random());
    bytes.resize(random() % bytes.size());
    (void)elf_layout(bytes);
    (void)elf_functions(bytes);
    (void)elf_imports(bytes, "x");
  }
}

}  // namespace
}  // namespace simrt::testing
