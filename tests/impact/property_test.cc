// Properties over random programs: soundness of must-locksets against running the code, and what must never
// be impacted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <sstream>

#include "impact/locksets.h"
#include "impact_case.h"

namespace simrt::impact {
namespace {

constexpr int kLocks = 3;
const std::string kHeader =
    "var x int\nvar g0 std::mutex mutex\nvar g1 std::mutex mutex\nvar g2 std::mutex mutex\n";

/// Functions f0 (calls nobody) to f<n>; each locks, unlocks, calls lower ones and accesses x along a random
/// CFG.
std::string random_program(std::mt19937& random, int functions) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::ostringstream out;
  for (int f = 0; f < functions; ++f) {
    out << "fn f" << f << "()\n";
    const int blocks = 2 + pick(4);
    for (int b = blocks; b >= 1; --b) {
      out << "B" << b << " -> B" << (b - 1);
      if (pick(2)) out << " T, B" << pick(b + 1) << " F";  // forward or back to itself
      out << "\n";
      for (int e = pick(4); e > 0; --e) {
        switch (pick(f > 0 ? 5 : 4)) {
          case 0:
            out << "  lock g" << pick(kLocks) << "\n";
            break;
          case 1:
            out << "  unlock g" << pick(kLocks) << "\n";
            break;
          case 2:
            out << "  slock g" << pick(kLocks) << "\n";
            break;
          case 3:
            out << "  W x\n";
            break;
          default:
            out << "  call f" << pick(f) << "()\n";
        }
      }
    }
  }
  return out.str();
}

/// Runs one random path of a function; records the locks held in fact at each access.
class Interpreter {
 public:
  Interpreter(const Program& program, const ProgramIndex& index, std::mt19937& random)
      : program_(program), index_(index), random_(random) {}

  using Held = std::map<VariableId, std::vector<LockMode>>;  ///< recursive locks: one entry a level

  void run(std::uint32_t function, Held& held, bool top) {
    const FunctionFacts& facts = program_.functions[function];
    std::uint32_t block = index_.block_position(function, facts.entry);
    for (int steps = 0; steps < 40; ++steps) {
      const Range elements = index_.elements_of_block(function, block);
      for (std::uint32_t element = elements.begin; element < elements.end; ++element) {
        const Range events = index_.events_of_element(element);
        for (std::uint32_t event = events.begin; event < events.end; ++event) act(event, held, top);
      }
      const auto& next = facts.blocks[block].successors;
      if (next.empty()) return;
      block = index_.block_position(function, next[random_() % next.size()].target);
    }
    cut_ = true;  // did not end: its callers learn nothing from this path
  }

  bool cut() const { return cut_; }
  /// Per access event of the top function: the locks held at some moment, one entry a visit.
  std::map<std::uint32_t, std::vector<Held>> seen;

 private:
  void act(std::uint32_t event, Held& held, bool top) {
    if (cut_) return;
    const auto& what = index_.event(event).what;
    if (const auto* op = std::get_if<LockOp>(&what)) {
      for (const Place& lock : op->locks) {
        auto& levels = held[lock.base];
        if (op->action != LockAction::Release) {
          levels.push_back(op->mode);
        } else if (!levels.empty()) {
          levels.pop_back();
        }
      }
    } else if (const auto* call = std::get_if<Call>(&what)) {
      run(index_.find(call->callee), held, false);
    } else if (std::holds_alternative<Access>(what) && top) {
      seen[event].push_back(held);
    }
  }

  const Program& program_;
  const ProgramIndex& index_;
  std::mt19937& random_;
  bool cut_ = false;
};

TEST(LocksetProperty, WhatIsClaimedToBeHeldIsHeldOnEveryRun) {
  std::mt19937 random(20261128);
  std::size_t claims = 0, accesses = 0;
  for (int round = 0; round < 150; ++round) {
    const std::string text = kHeader + random_program(random, 4);
    const Program program = parse_program(text);
    const ProgramIndex index(program);
    const CallGraph calls(index);
    LockNames names;
    const Locksets locksets(index, calls, names);
    for (std::uint32_t f = 0; f < index.function_count(); ++f) {
      for (int path = 0; path < 40; ++path) {
        Interpreter interpreter(program, index, random);
        Interpreter::Held held;
        interpreter.run(f, held, true);
        for (const auto& [event, visits] : interpreter.seen) {
          for (const auto& actual : visits) {
            ++accesses;
            for (const Held& claim : names.set(locksets.at(event))) {
              if (claim.assumed) continue;  // a precondition, not a claim
              ++claims;
              const auto found = actual.find(names.variable(claim.lock));
              ASSERT_TRUE(found != actual.end() && !found->second.empty())
                  << names.display(claim.lock) << " at line " << index.event(event).at.line << "\n"
                  << text;
              const bool exclusive =
                  std::count(found->second.begin(), found->second.end(), LockMode::Exclusive) > 0;
              if (claim.mode == LockMode::Exclusive) {
                ASSERT_TRUE(exclusive) << names.display(claim.lock) << "\n" << text;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(accesses, 10'000U);
  EXPECT_GT(claims, 1'000U);  // the property is not vacuous
}

TEST(ImpactProperty, SameProgramHasNoImpact) {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    const std::string text = kHeader + random_program(random, 5);
    const ImpactCase same(text, text);
    EXPECT_TRUE(same.impact.accesses.empty() && same.impact.pairs.empty() && same.impact.unknowns.empty());
    // Nor when every function is looked at although nothing differs.
    const Program program = parse_program(text);
    ProgramDiff diff;
    for (const FunctionFacts& f : program.functions) {
      FunctionDiff entry{f.id, f.id, FunctionStatus::Changed, {}, {}, {}};
      for (const Block& block : f.blocks) {
        BlockDiff same_block{block.ordinal, block.ordinal, false, false, {}};
        for (std::uint32_t e = 0; e < block.elements.size(); ++e)
          same_block.elements.push_back({ElementStatus::Same, block.ordinal, e});
        entry.blocks.push_back(same_block);
      }
      diff.functions.push_back(entry);
    }
    EXPECT_TRUE(analyse_impact(program, program, diff).accesses.empty());
  }
}

TEST(ImpactProperty, UnreachableNewCodeHasNoImpact) {
  std::mt19937 random(11);
  for (int round = 0; round < 30; ++round) {
    const std::string text = kHeader + random_program(random, 4);
    EXPECT_TRUE(ImpactCase(text, text + "fn extra()\nB1 -> B0\n  lock g0\n  call f3()\n  W x\n")
                    .impact.accesses.empty());
  }
}

/// A straight-line program: every access has a variable of its own, so that runs of two versions compare by
/// name.
std::vector<std::string> random_straight_line(std::mt19937& random, int functions) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<std::string> lines;
  int variable = 0;
  for (int f = 0; f < functions; ++f) {
    lines.push_back("fn f" + std::to_string(f) + "()");
    lines.push_back("B1 -> B0");
    for (int e = 3 + pick(5); e > 0; --e) {
      switch (pick(f > 0 ? 4 : 3)) {
        case 0:
          lines.push_back("  lock g" + std::to_string(pick(kLocks)));
          break;
        case 1:
          lines.push_back("  unlock g" + std::to_string(pick(kLocks)));
          break;
        case 2:
          lines.push_back("  W v" + std::to_string(variable++));
          break;
        default:
          lines.push_back("  call f" + std::to_string(pick(f)) + "()");
      }
    }
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text = kHeader;
  for (int v = 0; v < 40; ++v) text += "var v" + std::to_string(v) + " int\n";
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// (entry function, variable) -> the locks really held at each visit. False when a run locks what it holds
/// already, or releases what it has given up before: no program does that to a mutex. What it releases first,
/// its caller held.
using Observed = std::map<std::pair<std::string, std::string>, std::vector<std::set<std::string>>>;

bool observe(const Program& program, const std::string& entry, std::uint32_t function,
             std::set<std::string>& held, std::set<std::string>& free, Observed& observed) {
  for (const Block& block : program.functions[function].blocks) {
    for (const Element& element : block.elements) {
      for (const Event& event : element.events) {
        if (const auto* op = std::get_if<LockOp>(&event.what)) {
          const std::string lock = program.name_of(op->locks[0].base);
          if (op->action == LockAction::Release) {
            held.erase(lock);
            if (!free.insert(lock).second) return false;
          } else {
            free.erase(lock);
            if (!held.insert(lock).second) return false;
          }
        } else if (const auto* call = std::get_if<Call>(&event.what)) {
          if (!observe(program, entry, static_cast<std::uint32_t>(*program.position(call->callee)), held,
                       free, observed))
            return false;
        } else if (const auto* access = std::get_if<Access>(&event.what)) {
          observed[{entry, program.name_of(access->place.base)}].push_back(held);
        }
      }
    }
  }
  return true;
}

/// What removing or adding one lock operation does to the locks really held anywhere, callees included, is
/// found.
TEST(ImpactProperty, NoRealChangeOfProtectionGoesUnnoticed) {
  std::mt19937 random(17);
  int differences = 0, rounds = 0;
  while (rounds < 400) {
    const std::vector<std::string> lines = random_straight_line(random, 4);
    std::vector<std::string> fewer = lines;
    std::vector<std::size_t> operations;
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (lines[i].find("lock g") != std::string::npos) operations.push_back(i);
    if (operations.empty()) continue;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(operations[random() % operations.size()]));
    const bool removed = random() % 2;
    const ImpactCase change(joined(removed ? lines : fewer), joined(removed ? fewer : lines));
    Observed then, now;
    bool sane = true;
    for (const FunctionFacts& f : change.before.functions) {
      std::set<std::string> held, free;
      sane = sane && observe(change.before, f.name, number_of(change.before, f.name), held, free, then);
      held.clear(), free.clear();
      sane = sane && observe(change.after, f.name, number_of(change.after, f.name), held, free, now);
    }
    if (!sane) continue;  // a lock that is not recursive is locked twice
    ++rounds;
    for (const auto& [where, locks] : then) {
      if (now[where] == locks) continue;
      ++differences;
      bool impacted = false;
      for (const SharedAccess& access : change.impact.accesses)
        impacted = impacted || (access.impacted && change.after.name_of(access.variable) == where.second);
      ASSERT_TRUE(impacted) << where.second << " run from " << where.first << "\n"
                            << joined(lines) << "\nagainst\n"
                            << joined(fewer);
    }
  }
  EXPECT_GT(differences, 200);
}

TEST(ImpactProperty, SameInputSameOutput) {
  std::mt19937 random(13);
  int compared = 0;
  for (int round = 0; round < 20; ++round) {
    const std::string text = random_program(random, 3);
    if (text.find("  W x\n") == std::string::npos) continue;
    const std::string changed = edit(text, {{"  W x\n", "  lock g1\n  W x\n"}});
    const ImpactCase one(kHeader + text, kHeader + changed), again(kHeader + text, kHeader + changed);
    EXPECT_EQ(one.impact.pairs, again.impact.pairs);
    ASSERT_EQ(one.impact.accesses.size(), again.impact.accesses.size());
    for (std::size_t i = 0; i < one.impact.accesses.size(); ++i) {
      EXPECT_EQ(one.impact.accesses[i].cause, again.impact.accesses[i].cause);
      EXPECT_EQ(one.impact.accesses[i].block, again.impact.accesses[i].block);
    }
    EXPECT_FALSE(one.impacted().empty());
    ++compared;
  }
  EXPECT_GT(compared, 5);
}

}  // namespace
}  // namespace simrt::impact
