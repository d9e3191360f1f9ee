#include "schedule/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <random>
#include <set>

#include "interpreter.h"
#include "schedule/search/dependence.h"

namespace simrt::schedule {
namespace {

struct Explored {
  std::set<std::string> states;  ///< of runs that ended by themselves
  std::set<Choices> interleavings;
  SearchReport report;
  bool deadlock = false, failed = false;
};

Explored explore(const Program& program, SearchOptions options, std::uint64_t limit = 100000) {
  SystematicSearch search = SystematicSearch::create(options).value();
  Interpreter interpreter(program);
  Explored explored;
  while (search.report().executions < limit) {
    const auto prefix = search.next_prefix();
    if (!prefix) break;
    const Execution execution = interpreter.run(*prefix);
    explored.states.insert(interpreter.final_state());
    explored.interleavings.insert(choices_of(execution));
    explored.deadlock |= execution.outcome.end == ExecutionEnd::Deadlock;
    explored.failed |= execution.outcome.end == ExecutionEnd::Failed;
    search.learn(execution);
  }
  explored.report = search.report();
  return explored;
}

/// Straight-line threads with reads, writes, additions and nested critical sections; half of them can
/// deadlock.
Program random_program(std::mt19937_64& random) {
  Program program;
  program.variables.assign(1 + random() % 3, 0);
  program.mutexes = 2;
  const std::size_t threads = 2 + random() % 2, most = threads == 2 ? 6 : 3;
  for (std::size_t t = 0; t < threads; ++t) {
    std::vector<Instruction> code;
    std::vector<std::uint64_t> held;
    for (std::size_t i = 2 + random() % (most - 1); i-- > 0;) {
      const std::string site = "t" + std::to_string(t) + "." + std::to_string(code.size());
      const std::uint64_t variable = random() % program.variables.size();
      const std::uint64_t mutex = random() % 2;
      switch (random() % 5) {
        case 0:
          code.push_back({Op::Read, variable, 0, site});
          break;
        case 1:
          code.push_back({Op::Write, variable, static_cast<int>(10 * t + i + 1), site});
          break;
        case 2:
          code.push_back({Op::Add, variable, 1, site});
          break;
        default:
          if (std::ranges::find(held, mutex) == held.end()) {
            code.push_back({Op::Lock, mutex, 0, site});
            held.push_back(mutex);
          }
      }
    }
    for (; !held.empty(); held.pop_back())
      code.push_back({Op::Unlock, held.back(), 0, "u" + std::to_string(t)});
    program.threads.push_back(code);
  }
  return program;
}

/// Threads that take a lock for writing or reading, or count at a semaphore, some by trying, which may fail
/// because of another thread or because they have it themselves; what they do under it can be nothing at all.
/// They look at the semaphore, and whether another thread has ended.
Program program_with_tries(std::mt19937_64& random) {
  struct Section {
    Op begin, tried, end;
  };
  static constexpr std::array<Section, 3> kSections = {{{Op::Lock, Op::Try, Op::Unlock},
                                                        {Op::Share, Op::TryShare, Op::Unshare},
                                                        {Op::Wait, Op::TryWait, Op::Post}}};
  Program program;
  program.variables = {0};
  program.mutexes = 1;
  program.semaphores = {static_cast<int>(random() % 2)};
  const bool joins = random() % 4 == 0;
  const std::size_t threads = 2 + random() % 6 / 5;
  for (std::size_t t = 0; t < threads; ++t) {
    std::vector<Instruction> code;
    const auto add = [&](Op op, int value, std::uint64_t object = 0) {
      code.push_back({op, object, value, "t" + std::to_string(t) + "." + std::to_string(code.size())});
    };
    for (std::size_t i = threads > 2 || joins ? 1 : 1 + random() % 2; i-- > 0;) {
      const Section& section = kSections[random() % 3];
      const bool again = random() % 3 == 0, empty = threads > 2 || random() % 3 == 0;
      const bool nested = again && section.begin == Op::Share && random() % 2 == 0;
      const Op begin = random() % 2 == 0 ? section.begin : section.tried;
      add(begin, 1 + (again ? 1 : 0) + (nested ? 1 : 0) + (empty ? 0 : 1));
      if (again) add(nested ? Op::Share : section.begin == Op::Share ? Op::Try : section.tried, 0);
      const std::array<Op, 3> inner = {Op::Read, Op::Write, Op::Count};
      if (!empty) add(inner[random() % 3], static_cast<int>(10 * t + i + 1));
      if (nested) add(section.end, 0);
      add(section.end, 0);
    }
    if (joins && t == 0) add(Op::TryJoin, 0, 1);
    if (joins && t == 1) add(Op::End, 0, t);
    program.threads.push_back(code);
  }
  return program;
}

TEST(Search, ReductionsReachWhatExhaustiveSearchReaches) {
  std::mt19937_64 random(2014);
  std::uint64_t all = 0, conflicts = 0, source = 0;
  int deadlocks = 0;
  for (int round = 0; round < 800; ++round) {
    const Program program = round % 2 == 0 ? random_program(random) : program_with_tries(random);
    const Explored every = explore(program, {.reduction = Reduction::None});
    ASSERT_TRUE(every.report.complete);
    ASSERT_EQ(every.interleavings.size(), every.report.executions);
    deadlocks += every.deadlock ? 1 : 0;
    std::vector<std::uint64_t> runs;
    for (const Reduction reduction : {Reduction::Conflicts, Reduction::Source}) {
      const Explored reduced = explore(program, {.reduction = reduction});
      ASSERT_TRUE(reduced.report.complete);
      ASSERT_EQ(reduced.states, every.states) << "round " << round << ", reduction " << int(reduction);
      ASSERT_EQ(reduced.deadlock, every.deadlock);
      ASSERT_LE(reduced.report.executions, every.report.executions);
      ASSERT_EQ(reduced.interleavings.size(), reduced.report.executions) << "an interleaving was run twice";
      runs.push_back(reduced.report.executions);
    }
    all += every.report.executions;
    conflicts += runs[0];
    source += runs[1];
  }
  EXPECT_GE(deadlocks, 10);
  EXPECT_LT(source, all / 4);
  EXPECT_LE(source, conflicts);
  RecordProperty("exhaustive", std::to_string(all));
  std::printf("executions: exhaustive %lu, conflicts %lu, source %lu\n", static_cast<unsigned long>(all),
              static_cast<unsigned long>(conflicts), static_cast<unsigned long>(source));
}

/// The Mazurkiewicz trace of an execution: its dependent pairs in their order, each step named by its thread
/// and its number in it.
std::set<std::array<std::size_t, 4>> trace_of(const Execution& execution) {
  std::map<ThreadIndex, std::size_t> made;
  std::vector<std::pair<std::size_t, std::size_t>> names;
  for (const ExecutionEvent& event : execution.events) names.emplace_back(event.thread, made[event.thread]++);
  std::set<std::array<std::size_t, 4>> trace;
  for (std::size_t i = 0; i < names.size(); ++i) {
    trace.insert({names[i].first, names[i].second, 0, 0});
    for (std::size_t j = i + 1; j < names.size(); ++j)
      if (names[i].first != names[j].first && dependent(execution.events[i], execution.events[j]))
        trace.insert({names[i].first, names[i].second, 1 + names[j].first, names[j].second});
  }
  return trace;
}

// The optimum: one execution for each trace, and none that only repeats.
TEST(Search, PartialOrderReductionRunsEveryTraceOnceWhateverTheOrder) {
  std::mt19937_64 random(2017);
  std::uint64_t optimum = 0, executions[2] = {}, redundant[2] = {};
  for (int round = 0; round < 300; ++round) {
    const Program program = round < 200 ? random_program(random) : program_with_tries(random);
    Interpreter interpreter(program);
    std::set<std::set<std::array<std::size_t, 4>>> traces;
    SystematicSearch every = SystematicSearch::create({.reduction = Reduction::None}).value();
    while (const auto prefix = every.next_prefix()) {
      const Execution execution = interpreter.run(*prefix);
      traces.insert(trace_of(execution));
      every.learn(execution);
    }
    optimum += traces.size();
    for (const SearchOrder order : {SearchOrder::Newest, SearchOrder::Alternating}) {
      SystematicSearch search = SystematicSearch::create({.order = order}).value();
      std::set<std::set<std::array<std::size_t, 4>>> found;
      while (const auto prefix = search.next_prefix()) {
        const Execution execution = interpreter.run(*prefix);
        found.insert(trace_of(execution));
        search.learn(execution);
      }
      ASSERT_EQ(found, traces) << "round " << round << ", order " << int(order);
      ASSERT_TRUE(search.report().complete);
      ASSERT_EQ(search.report().executions - search.report().redundant, traces.size());
      executions[int(order)] += search.report().executions;
      redundant[int(order)] += search.report().redundant;
    }
  }
  std::printf("traces %lu; executions: depth first %lu (%lu redundant), alternating %lu (%lu redundant)\n",
              static_cast<unsigned long>(optimum), static_cast<unsigned long>(executions[0]),
              static_cast<unsigned long>(redundant[0]), static_cast<unsigned long>(executions[1]),
              static_cast<unsigned long>(redundant[1]));
}

// A try that gets its lock could have come before the release and failed.
TEST(Search, ATryIsBroughtWhereItFails) {
  struct Pair {
    Op begin, end, tried;
  };
  for (const Pair& pair : {Pair{Op::Lock, Op::Unlock, Op::Try}, Pair{Op::Lock, Op::Unlock, Op::TryShare},
                           Pair{Op::Share, Op::Unshare, Op::Try}, Pair{Op::Wait, Op::Post, Op::TryWait}}) {
    Program program;
    program.mutexes = 1;
    program.semaphores = {1};
    const Op end = pair.tried == Op::TryShare ? Op::Unshare : pair.tried == Op::Try ? Op::Unlock : Op::Post;
    program.threads = {{{pair.begin, 0, 0, "a"}, {pair.end, 0, 0, "b"}},
                       {{pair.tried, 0, 1, "c"}, {end, 0, 0, "d"}, {Op::End, 1, 0, "e"}}};
    for (const Reduction reduction : {Reduction::Conflicts, Reduction::Source}) {
      const Explored explored = explore(program, {.reduction = reduction});
      EXPECT_TRUE(explored.report.complete);
      EXPECT_EQ(explored.report.executions - explored.report.redundant, 3U) << "before, between and behind";
    }
    const Explored guided = explore(program, {.guided = true});
    EXPECT_TRUE(guided.report.finished) << "releases are no statements of HaPSets";
    EXPECT_LE(guided.report.executions, 4U);
  }
}

TEST(Search, PreemptionBoundsGrowTowardsExhaustiveSearch) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 60; ++round) {
    const Program program = random_program(random);
    const Explored every = explore(program, {.reduction = Reduction::None});
    std::set<Choices> smaller;
    for (unsigned bound = 0; bound <= 4; ++bound) {
      const Explored bounded = explore(program, {.reduction = Reduction::None, .preemptions = bound});
      for (const Choices& each : smaller) ASSERT_TRUE(bounded.interleavings.contains(each));
      for (const Choices& each : bounded.interleavings) ASSERT_TRUE(every.interleavings.contains(each));
      smaller = bounded.interleavings;
    }
  }
}

TEST(Search, PartialOrderReductionRefusesAPreemptionBound) {
  for (const Reduction reduction : {Reduction::Source}) {
    const auto refused = SystematicSearch::create({.reduction = reduction, .preemptions = 2});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("would be missed"), std::string::npos);
  }
  EXPECT_TRUE(SystematicSearch::create({.reduction = Reduction::None, .preemptions = 2}));
  EXPECT_FALSE(SystematicSearch::create({.reduction = Reduction::None, .preemptions = 5}));
}

Program busy_wait() {
  Program program;
  program.variables = {1};
  program.mutexes = 1;
  program.threads = {{{Op::Lock, 0, 0, "b"},
                      {Op::Read, 0, 0, "c"},
                      {Op::Unlock, 0, 0, "d"},
                      {Op::LoopWhileNotZero, 0, 0, "e"}},
                     {{Op::Lock, 0, 0, "f"}, {Op::Write, 0, 0, "g"}, {Op::Unlock, 0, 0, "h"}}};
  return program;
}

TEST(Search, GuidedSearchEndsOnTheBusyWaitWhereDporGoesOn) {
  const Explored guided = explore(busy_wait(), {.reduction = Reduction::Source, .guided = true});
  EXPECT_TRUE(guided.report.finished);
  EXPECT_FALSE(guided.report.complete) << "guided search proves nothing";
  EXPECT_LE(guided.report.executions, 4U);
  EXPECT_GT(guided.report.pruned, 0U);
  for (const Reduction reduction : {Reduction::Source}) {
    const Explored plain = explore(busy_wait(), {.reduction = reduction}, 60);
    EXPECT_FALSE(plain.report.finished);
    EXPECT_EQ(plain.report.executions, 60U);
  }
}

TEST(Search, GuidedSearchFindsTheCheckThenUse) {
  Program program;  // t0: if (p) use p; t1: p = 0
  program.variables = {1};
  program.threads = {{{Op::Read, 0, 0, "check"}, {Op::Read, 0, 0, "use"}, {Op::AssertEqual, 0, 1, "assert"}},
                     {{Op::Write, 0, 0, "clear"}}};
  for (const Reduction reduction : {Reduction::Conflicts, Reduction::Source})
    EXPECT_TRUE(explore(program, {.reduction = reduction, .guided = true}).failed);
  EXPECT_TRUE(explore(program, {.reduction = Reduction::None, .preemptions = 0}).failed);
}

// The write that comes last is the one that the read races with; the bug is before another one.
TEST(Search, GuidedSearchComesInBeforeEveryTurnOfALoop) {
  Program program;
  program.variables = {3};
  program.threads = {{{Op::Write, 0, 3, "loop"},
                      {Op::Write, 0, 1, "loop"},
                      {Op::Write, 0, 3, "loop"},
                      {Op::Write, 0, 3, "loop"},
                      {Op::Write, 0, 3, "loop"}},
                     {{Op::Read, 0, 0, "look"}, {Op::AssertEqual, 0, 3, "assert"}}};
  const Explored guided = explore(program, {.guided = true});
  EXPECT_TRUE(guided.failed);
  EXPECT_TRUE(guided.report.finished);
  EXPECT_LE(guided.report.executions, 6U);
}

// One statement that reads and writes: its order with itself is known, that of its two halves is not.
TEST(Search, GuidedSearchFindsALostUpdate) {
  Program program;
  program.variables = {0};
  program.threads = {{{Op::Read, 0, 0, "n++"}, {Op::Add, 0, 1, "n++"}},
                     {{Op::Read, 0, 0, "n++"}, {Op::Add, 0, 1, "n++"}},
                     {{Op::Read, 0, 0, "look"}}};
  const Explored every = explore(program, {.reduction = Reduction::None});
  const Explored guided = explore(program, {.guided = true});
  const auto lost = [](const std::set<std::string>& states) {
    return std::ranges::any_of(states, [](const std::string& state) { return state.starts_with("1,"); });
  };
  EXPECT_TRUE(lost(every.states));
  EXPECT_TRUE(lost(guided.states));
  EXPECT_LT(guided.report.executions, explore(program, {}).report.executions);
}

// A wider guidance (what a step would come behind counts, too) has the same end.
TEST(Search, WiderGuidanceFindsOrdersThatNoReversalAsksFor) {
  Program program;  // t1 looks between two writes of t0: with the look first and with it last it is all right
  program.variables = {0};
  program.threads = {{{Op::Write, 0, 1, "begin"}, {Op::Write, 0, 0, "end"}},
                     {{Op::Read, 0, 0, "look"}, {Op::AssertEqual, 0, 0, "assert"}}};
  HapSets known;  // both seen elsewhere
  const auto statement = [](const char* site, EventKind kind, StatementThread thread) {
    ExecutionEvent event;
    event.site = site_id(site);
    event.kind = kind;
    return HapSets().statement({}, event, thread);
  };
  for (const char* write : {"begin", "end"})
    known.insert(statement(write, EventKind::Write, StatementThread::Local),
                 statement("look", EventKind::Read, StatementThread::Remote));
  for (const Novelty novelty : {Novelty::Reversed, Novelty::Either}) {
    SystematicSearch search = SystematicSearch::create({.guided = true, .novelty = novelty}, known).value();
    Interpreter interpreter(program);
    bool failed = false;
    while (const auto prefix = search.next_prefix()) {
      const Execution execution = interpreter.run(*prefix);
      failed |= execution.outcome.failed();
      search.learn(execution);
    }
    EXPECT_EQ(failed, novelty == Novelty::Either);
  }
  const Explored busy = explore(busy_wait(), {.guided = true, .novelty = Novelty::Either}, 60);
  EXPECT_TRUE(busy.report.finished);
}

TEST(Search, WhatWasLearnedBeforeCostsOneRun) {
  SystematicSearch first = SystematicSearch::create({.guided = true}).value();
  const Program program = busy_wait();
  Interpreter interpreter(program);
  while (const auto prefix = first.next_prefix()) first.learn(interpreter.run(*prefix));
  SystematicSearch again = SystematicSearch::create({.guided = true}, first.hapsets()).value();
  while (const auto prefix = again.next_prefix()) again.learn(interpreter.run(*prefix));
  EXPECT_EQ(again.report().executions, 1U);
}

TEST(Search, NondeterminismIsSaid) {
  SystematicSearch search = SystematicSearch::create({}).value();
  Program program = busy_wait();
  Interpreter interpreter(program);
  search.learn(interpreter.run(*search.next_prefix()));
  program.threads[1].insert(program.threads[1].begin(), {Op::Read, 0, 0, "other"});
  program.threads.pop_back();
  const auto prefix = search.next_prefix();
  ASSERT_TRUE(prefix);
  search.learn(interpreter.run(*prefix));
  EXPECT_EQ(search.report().diverged, 1U);
  while (search.next_prefix()) {
    Execution nothing;
    nothing.outcome.end = ExecutionEnd::Diverged;
    search.learn(nothing);
  }
  EXPECT_TRUE(search.report().finished);
  EXPECT_FALSE(search.report().complete);
}

}  // namespace
}  // namespace simrt::schedule
