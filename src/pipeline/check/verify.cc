#include "pipeline/check/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "support/hash.h"

namespace simrt::pipeline {
namespace {

using format::StrategyKind;
using testing::CheckPlan;
using testing::CheckSite;
using testing::Execution;

constexpr std::size_t kStepsShown = 40;
constexpr unsigned kHangTries = 4;
constexpr unsigned kIdleSurveys = 6;            // executions in a row that showed no race of those aimed at
constexpr std::uint64_t kBehindMeeting = 2000;  // scheduling points in which the two accesses happen
constexpr double kForShortening = 0.4;          // of the time for a race, once it is proven
constexpr std::uint64_t kManyPoints = 20'000;   // of an execution in which every access is one

/// Adds the site's module to the plan's list and gives the site with that number.
CheckSite adopt(CheckPlan& plan, const std::vector<testing::CheckModule>& modules, CheckSite site) {
  if (site.module >= modules.size()) return {format::kPlanNone, site.offset};
  const testing::CheckModule& module = modules[site.module];
  for (std::uint32_t i = 0; i < plan.modules.size(); ++i)
    if (plan.modules[i] == module) return {i, site.offset};
  plan.modules.push_back(module);
  return {static_cast<std::uint32_t>(plan.modules.size() - 1), site.offset};
}

bool same_site(const Execution& execution, std::uint64_t pc, const std::vector<testing::CheckModule>& modules,
               CheckSite site) {
  const auto at = execution.site_of(pc);
  return at && site.module < modules.size() && at->offset == site.offset &&
         execution.modules[at->module].name == modules[site.module];
}

/// A lost wake-up is told by the wait that nobody ends; where its notification was is part of the proof.
void tell_notification(Finding& found, const Finding& hint) {
  if (found.kind != FindingKind::Hang) return;
  for (const FindingSide& side : hint.sides) {
    const CodeFrame* at = side.kind == StepKind::Notify ? own_frame(side.stack) : nullptr;
    if (at == nullptr || at->file.empty()) continue;
    found.evidence += fmt::format("; the notification at {}:{} came before the wait", at->file, at->line);
  }
}

/// The same with its events written, those of accesses that are no scheduling points as well or not; a
/// detector is on so that they know their callers.
CheckPlan recorded(CheckPlan plan, bool unwatched = true) {
  plan.flags |= format::kPlanRecordEvents | (unwatched ? format::kPlanRecordUnwatched : 0u);
  plan.detectors |= format::kDetectRaces;
  return plan;
}

}  // namespace

bool shows_race(const Execution& execution, const std::vector<testing::CheckModule>& modules,
                const testing::CheckPair& pair) {
  for (const format::RunRace& race : execution.races) {
    if ((race.flags & format::kFindingWitnessed) == 0) continue;
    const auto at = [&](std::uint64_t pc, CheckSite site) { return same_site(execution, pc, modules, site); };
    if ((at(race.first.pc, pair.first) && at(race.second.pc, pair.second)) ||
        (at(race.first.pc, pair.second) && at(race.second.pc, pair.first)))
      return true;
  }
  return false;
}

Result<std::optional<Verified>> Verifier::verify(const Candidate& candidate) {
  if (candidate.finding.kind == FindingKind::Race) return race(candidate);
  return sequence(candidate);
}

/// Attempts come in twos, one for each order. Who goes on while threads are held: first what hinted at the
/// race, then by turns; where threads have to be far apart for the two accesses to meet, a uniform walk does
/// not come there. Where all accesses of a program would be points, the aimed ones and synchronisation are
/// enough for a meeting (as in the paper), and executions are quick.
CheckPlan Verifier::pair_plan(std::span<const Candidate* const> races, unsigned attempt) const {
  CheckPlan plan = options_.base;
  plan.mode = format::RunMode::Control;
  plan.strategy = StrategyKind::Pair;
  plan.detectors = format::kDetectRaces;
  const Candidate& first = *races.front();
  const bool all_are_points = options_.base.watched.empty() && options_.length > kManyPoints;
  // The points of a hint's walk are those of the plain plan.
  const bool repeatable = !all_are_points || (races.size() == 1 && pace_ == Pace::Quick);
  const bool hinted = first.walk && repeatable;
  const bool as_hinted = hinted && attempt < 2;
  const unsigned round = attempt / 2 - (hinted && !as_hinted ? 1 : 0);
  constexpr StrategyKind kKinds[] = {StrategyKind::Random, StrategyKind::Pct, StrategyKind::Default,
                                     StrategyKind::Pct};
  plan.walk = as_hinted ? first.walk->strategy : kKinds[round % 4];
  plan.seed = as_hinted ? first.walk->seed
                        : hash_combine(options_.seed, hash_combine(first.fingerprint, attempt / 2));
  plan.length = as_hinted ? first.walk->length : options_.length;
  plan.depth = as_hinted ? first.walk->depth : 2 + round / 4 % 3;
  for (const Candidate* race : races) {
    const testing::CheckPair& wanted = race->pairs.front();
    plan.pairs.push_back({adopt(plan, race->modules, wanted.first), adopt(plan, race->modules, wanted.second),
                          attempt % 2 == 0});
  }
  if (!all_are_points || as_hinted) return plan;
  for (const testing::CheckPair& pair : plan.pairs) {
    plan.watched.push_back(pair.first);
    plan.watched.push_back(pair.second);
  }
  std::sort(plan.watched.begin(), plan.watched.end());
  plan.watched.erase(std::unique(plan.watched.begin(), plan.watched.end()), plan.watched.end());
  if (options_.synchronization_points != 0) plan.length = options_.synchronization_points;
  return plan;
}

Status Verifier::survey(std::span<Candidate* const> races) {
  std::vector<Candidate*> left(races.begin(), races.end());
  for (unsigned attempt = 0, idle = 0; attempt < 2 * options_.tries && idle < kIdleSurveys;
       ++attempt, ++idle) {
    if (left.empty() || over()) break;
    const CheckPlan plan = pair_plan(std::vector<const Candidate*>(left.begin(), left.end()), attempt);
    const auto seen = execute_(plan);
    if (!seen) return fail(seen.error());
    std::erase_if(left, [&](Candidate* race) {
      if (!shows_race(seen->result.execution, race->modules, race->pairs.front())) return false;
      race->shown_by = following(plan, seen->result.execution);
      idle = 0;
      return true;
    });
  }
  for (Candidate* race : left) race->missed = true;
  return {};
}

/// The execution that hinted at it, again.
Status Verifier::follow_shown(const Candidate& candidate, Race& race) {
  if (!candidate.shown_by || over()) return {};
  CheckPlan plan = *candidate.shown_by;
  plan.detectors = format::kDetectRaces;
  auto seen = execute_(plan);
  if (!seen) return fail(seen.error());
  if (shows_race(seen->result.execution, candidate.modules, candidate.pairs.front()))
    race.unordered = Shown{std::move(plan), std::move(*seen)};
  return {};
}

/// Sen, "Race Directed Random Testing of Concurrent Programs" (PLDI 2008): both threads before the same
/// memory at once is the proof; then each order is taken, several times, and the ends are compared.
Status Verifier::meet(const Candidate& candidate, Race& race) {
  const Candidate* const aimed[] = {&candidate};
  const testing::CheckPair& wanted = candidate.pairs.front();
  for (unsigned attempt = 0; attempt < 2 * options_.tries && !(race.met && race.harm); ++attempt) {
    if (!race.met && attempt >= options_.tries) break;  // neither order was ever reached
    if (race.met && pace_ == Pace::Endless) break;
    if (over(race.met || race.unordered ? kForShortening : 0)) break;
    const unsigned order = attempt % 2;
    CheckPlan plan = pair_plan(aimed, attempt);
    if (pace_ != Pace::Quick && !race.met) plan.flags |= format::kPlanStopAtMeeting;
    auto seen = execute_(plan);
    if (!seen) return fail(seen.error());
    const Execution& execution = seen->result.execution;
    const bool met =
        (execution.flags & format::kRunPairMet) != 0 || shows_race(execution, candidate.modules, wanted);
    if (!met || execution.state == format::RunState::NotStarted) continue;
    if (harmful(*seen)) race.harm = Shown{plan, *seen};
    if (!seen->cut) race.outputs[order].insert(seen->output);
    if (!race.met || (race.met->seen.cut && !seen->cut)) race.met = Shown{plan, std::move(*seen)};
  }
  return {};
}

/// Where the one access comes about only behind the other, they never stand side by side: then nothing that
/// orders them (happens-before) is the proof.
Status Verifier::chance(const Candidate& candidate, Race& race) {
  for (unsigned attempt = 1; attempt <= options_.tries && !over(); ++attempt) {
    CheckPlan plan = options_.base;
    plan.detectors = format::kDetectRaces;
    plan.strategy = attempt % 2 == 0 ? StrategyKind::Random : StrategyKind::Pct;
    plan.depth = 2;
    plan.seed = hash_combine(options_.seed, hash_combine(candidate.fingerprint, 1000 + attempt));
    auto seen = execute_(plan);
    if (!seen) return fail(seen.error());
    if (!shows_race(seen->result.execution, candidate.modules, candidate.pairs.front())) continue;
    race.unordered = Shown{std::move(plan), std::move(*seen)};
    return {};
  }
  return {};
}

Result<std::optional<Verified>> Verifier::race(const Candidate& candidate) {
  Race race;
  for (auto step : {&Verifier::follow_shown, &Verifier::meet, &Verifier::chance}) {
    if (step == &Verifier::chance && (race.met || race.unordered)) break;
    if (Status done = (this->*step)(candidate, race); !done) return fail(done.error());
  }
  if (!race.met && !race.unordered) return std::optional<Verified>();
  if (!race.harm && !race.met && harmful(race.unordered->seen)) race.harm = race.unordered;
  const Shown& shown = race.harm ? *race.harm : race.met ? *race.met : *race.unordered;
  Verified verified;
  verified.finding = candidate.finding;
  verified.fingerprint = candidate.fingerprint;
  verified.finding.status = FindingStatus::Confirmed;
  verified.finding.evidence =
      race.met ? "both threads stood before the same memory at once, and nothing ordered them"
               : "in this execution nothing ordered the two accesses (no lock, no happens-before)";
  verified.finding.harm = Harm::NoDifferenceSeen;
  const auto& outputs = race.outputs;
  if (race.harm) {
    verified.finding.harm = Harm::Shown;
    verified.finding.difference = difference("an order", race.harm->seen.ending);
  } else if (outputs[0].size() == 1 && outputs[1].size() == 1 && outputs[0] != outputs[1]) {
    verified.finding.harm = Harm::Shown;
    verified.finding.difference = "the two orders print different output";
  }
  verified.ending = shown.seen.ending;
  verified.plan = following(shown.plan, shown.seen.result.execution);
  if (shown.seen.result.end == testing::CheckEnd::Stopped) {
    verified.plan.max_points = shown.seen.result.execution.points + kBehindMeeting;
    verified.finding.difference = "how the two orders end was not compared: the test takes too long";
  }
  const bool failing = race.harm.has_value();
  const Status kept = keep_short(verified, shown.seen.result.execution.switches, [&](const Observed& seen) {
    return (!failing || seen.ending == verified.ending) &&
           (failing || shows_race(seen.result.execution, candidate.modules, candidate.pairs.front()));
  });
  if (!kept) return fail(kept.error());
  if (Status done = add_interleaving(verified); !done) return fail(done.error());
  const testing::CheckPair& pair = candidate.pairs.front();
  verified.plan.pairs = {{adopt(verified.plan, candidate.modules, pair.first),
                          adopt(verified.plan, candidate.modules, pair.second)}};
  return std::optional(std::move(verified));
}

/// The steps in their order: for a lock cycle all first locks, then all second ones; for an atomicity
/// violation the accesses of its pattern; for a lost wake-up the notification, then the wait.
Result<std::optional<Verified>> Verifier::sequence(const Candidate& candidate) {
  const bool hang = candidate.finding.kind == FindingKind::Hang;
  const bool deadlock = hang || candidate.finding.kind == FindingKind::Deadlock;
  CheckPlan plan = options_.base;
  plan.mode = format::RunMode::Control;
  if (deadlock) {
    plan.watched.clear();
    plan.flags |= format::kPlanSynchronizationOnly;
  }
  for (const testing::CheckStep& step : candidate.steps) {
    testing::CheckStep adopted = step;
    adopted.site = adopt(plan, candidate.modules, step.site);
    plan.steps.push_back(adopted);
  }
  // Most waits cannot be overtaken by the notification; a few executions tell.
  const unsigned tries = hang ? std::min(kHangTries, options_.tries) : 2 * options_.tries;
  for (unsigned attempt = 0; attempt < tries && !over(); ++attempt) {
    // Where the sites alone do not lead there (one line takes all the locks), chance may.
    const bool directed = !deadlock || hang || attempt % 4 != 3;
    plan.strategy = directed ? StrategyKind::Sequence : StrategyKind::Pct;
    // The first time that the steps can be taken in their order is not always the one that does harm.
    plan.depth = !directed ? 3 : hang ? attempt / 2 : attempt / 4;
    // Locks lie at the same addresses in most executions; without debug inlining all are taken at one place.
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
      plan.steps[i].address = attempt % 2 == 0 ? candidate.steps[i].address : 0;
    plan.seed = hash_combine(options_.seed, hash_combine(candidate.fingerprint, attempt));
    auto seen = execute_(plan);
    if (!seen) return fail(seen.error());
    if (!seen->failed || !harmful(*seen)) continue;
    if (deadlock && seen->result.end != testing::CheckEnd::Deadlock) continue;
    if (!deadlock && (seen->result.execution.flags & format::kRunSequenceDone) == 0) continue;
    if (deadlock) {
      auto verified = explain(plan, *seen);
      if (hang && verified && *verified) tell_notification((*verified)->finding, candidate.finding);
      return verified;
    }
    Verified verified;
    verified.finding = candidate.finding;
    verified.fingerprint = candidate.fingerprint;
    verified.finding.status = FindingStatus::Confirmed;
    verified.finding.harm = Harm::Shown;
    verified.finding.evidence = "the accesses happened in this order, which no serial execution gives";
    verified.finding.difference = difference("this order", seen->ending);
    verified.ending = seen->ending;
    verified.plan = following(plan, seen->result.execution);
    const Status kept = keep_short(verified, seen->result.execution.switches,
                                   [&](const Observed& again) { return again.ending == verified.ending; });
    if (!kept) return fail(kept.error());
    if (Status done = add_interleaving(verified); !done) return fail(done.error());
    return std::optional(std::move(verified));
  }
  return std::optional<Verified>();
}

std::string Verifier::difference(const char* which, const std::string& ending) const {
  return fmt::format("{} ends with: {}; {}", which, ending,
                     usual_.empty() ? "no execution has passed" : "others: " + usual_);
}

Result<std::optional<Verified>> Verifier::explain(const CheckPlan& plan, const Observed& failed) {
  Verified verified;
  verified.ending = failed.ending;
  verified.plan = following(plan, failed.result.execution);
  auto again = execute_(verified.plan);
  // Too long to be written down: the strategy takes the same schedule again.
  const bool written = !again || again->result.end != testing::CheckEnd::PlanTooLong;
  if (!written) again = execute_(verified.plan = plan);
  if (!again) return fail(again.error());
  if (again->ending != failed.ending) return std::optional<Verified>();
  verified.switches = failed.result.execution.switches;
  const Status kept =
      !written ? Status() : keep_short(verified, failed.result.execution.switches, [&](const Observed& seen) {
        return seen.ending == failed.ending;
      });
  if (!kept) return fail(kept.error());
  auto last = with_events(verified.plan);
  if (last && last->ending != failed.ending) last = execute_(verified.plan);
  if (!last) return fail(last.error());
  if (last->result.end == testing::CheckEnd::Deadlock) {
    verified.finding = describe_stuck(last->result.execution, symbols_);
  } else {
    verified.finding = describe_failure(last->result, failed.ending, symbols_);
    if (last->result.end == testing::CheckEnd::Livelock) {
      verified.finding.kind = FindingKind::Hang;
    } else if (last->ending == failed.ending) {
      auto cause = cause_of(verified.plan, *last);
      if (!cause) return fail(cause.error());
      if (*cause && (*cause)->race) {
        // An access that the failure cuts off is in no failing execution: the detector sees no race there.
        (*cause)->race->walk = Walk{plan.strategy, plan.seed, plan.length, plan.depth};
        auto behind = race(*(*cause)->race);
        if (!behind || (*behind && (*behind)->ending == failed.ending)) return behind;
      }
      if (*cause) verified.finding = std::move((*cause)->finding);
    }
  }
  verified.finding.harm = Harm::Shown;
  if (!usual_.empty() && verified.finding.kind == FindingKind::Crash)
    verified.finding.evidence += fmt::format("; another schedule ends with: {}", usual_);
  verified.finding.difference = difference("this schedule", failed.ending);
  verified.finding.interleaving =
      interleaving_of(last->result.execution, verified.finding, symbols_, kStepsShown);
  verified.fingerprint = fingerprint(verified.finding);
  return std::optional(std::move(verified));
}

/// What failing executions have in common that passing ones lack: of the witness, of those that miss one of
/// its departures from the default schedule, and of some at random.
Result<std::optional<Verifier::Cause>> Verifier::cause_of(const CheckPlan& plan, Observed failed) {
  constexpr std::uint64_t kLong = 30'000, kTooLong = 300'000;  // scheduling points
  constexpr std::size_t kMostEvents = 4'000'000;               // held at once: about 200 MB
  const std::uint64_t points = failed.result.execution.points;
  if (points > kTooLong) return std::optional<Cause>();
  const std::string ending = failed.ending;
  // Of a program in which little is watched, nobody could hold the events of so many executions.
  const bool unwatched = failed.result.execution.events.size() <= kTooLong;
  if (!unwatched) {
    auto again = execute_(recorded(plan, false));
    if (!again) return fail(again.error());
    if (again->ending != ending) return std::optional<Cause>();
    failed = std::move(*again);
  }
  std::vector<CheckPlan> plans;
  const std::size_t departures = std::min<std::size_t>(plan.schedule.size(), 8);
  for (std::size_t i = 0; i < departures; ++i) {
    CheckPlan other = plan;
    other.schedule.erase(other.schedule.end() - 1 - static_cast<std::ptrdiff_t>(i));
    for (format::ScheduleItem& item : other.schedule) item.kind = {}, item.module = format::kPlanNone;
    plans.push_back(std::move(other));
  }
  const unsigned random = points > kLong ? 8 : 128;
  for (unsigned number = 0; number < random; ++number) {
    CheckPlan other = options_.base;
    other.strategy = number % 2 == 0 ? StrategyKind::Random : StrategyKind::Pct;
    other.depth = 2 + number % 4 / 2;
    other.length = points;
    other.seed = hash_combine(options_.seed, hash_combine(hash_bytes(ending), number));
    plans.push_back(std::move(other));
  }
  std::vector<JudgedExecution> executions;
  std::size_t events = failed.result.execution.events.size();
  executions.push_back({std::move(failed.result.execution), true});
  for (const CheckPlan& other : plans) {
    if (over()) return std::optional<Cause>();  // too few to judge by
    if (events > kMostEvents) break;
    auto seen = execute_(recorded(other, unwatched));
    if (!seen) return fail(seen.error());
    if (seen->cut || (seen->failed && seen->ending != ending)) continue;
    events += seen->result.execution.events.size();
    executions.push_back({std::move(seen->result.execution), seen->failed});
  }
  const auto diagnosis = diagnose(executions);
  if (!diagnosis) return std::optional<Cause>();
  Cause cause{describe_diagnosis(*diagnosis, executions, symbols_), std::nullopt};
  cause.race = race_of(*diagnosis, executions, cause.finding);
  return std::optional(std::move(cause));
}

Status Verifier::keep_short(Verified& verified, std::uint64_t switches,
                            const std::function<bool(const Observed&)>& same) {
  Status status;
  const Attempt attempt = [&](const CheckPlan& plan) -> std::optional<Execution> {
    if (!status || over()) return std::nullopt;
    auto seen = execute_(plan);
    if (!seen) {
      status = fail(seen.error());
      return std::nullopt;
    }
    if (seen->result.end == testing::CheckEnd::Diverged || !same(*seen)) return std::nullopt;
    return std::move(seen->result.execution);
  };
  verified.switches = switches;
  // Nothing: the schedule alone does not bring it back; it is kept as it was.
  if (auto shorter = shorten(verified.plan, options_.shorten_tries, attempt)) {
    verified.plan = std::move(shorter->plan);
    verified.switches = shorter->switches;
  }
  return status;
}

/// The log keeps the beginning of an execution. Where it is full before the end, what was to be seen may lie
/// behind it; most of it are accesses that are no points, and those of a finding are points.
Result<Observed> Verifier::with_events(const CheckPlan& plan) {
  auto seen = execute_(recorded(plan));
  if (!seen || (seen->result.execution.flags & format::kRunOverflow) == 0) return seen;
  seen->result = {};  // its events are millions
  return execute_(recorded(plan, false));
}

Status Verifier::add_interleaving(Verified& verified) {
  auto seen = with_events(verified.plan);
  if (!seen) return fail(seen.error());
  verified.finding.interleaving =
      interleaving_of(seen->result.execution, verified.finding, symbols_, kStepsShown);
  if (verified.finding.harm == Harm::Shown) return {};
  verified.ending = seen->ending;
  if (!harmful(*seen)) return {};
  verified.finding.harm = Harm::Shown;  // the execution that proved it had ended before
  verified.finding.difference = difference("this schedule", seen->ending);
  return {};
}

}  // namespace simrt::pipeline
