#include "pipeline/check/witness.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "pipeline/check/describe.h"
#include "schedule/minimise.h"

namespace simrt::pipeline {
namespace {

using Json = nlohmann::ordered_json;
using testing::CheckPlan;

constexpr int kVersion = 1;

/// Who went on at every decision; nothing when the execution's events were cut off.
std::optional<schedule::Stretches> decisions_of(const testing::Execution& execution) {
  if ((execution.flags & format::kRunOverflow) != 0 || execution.events.empty()) return std::nullopt;
  schedule::Stretches stretches;
  for (const format::RunEvent& event : execution.events)
    if ((event.order & format::kEventWithoutDecision) == 0) schedule::append(stretches, event.thread);
  return stretches;
}

/// The schedule as items: one wherever the thread changes, bound by number and thread alone, since the
/// operations behind a change are others. Items that are no such change (who is woken, ...) stay at their
/// decision.
std::vector<format::ScheduleItem> departures(const schedule::Stretches& stretches,
                                             const std::vector<format::ScheduleItem>& before) {
  std::vector<format::ScheduleItem> items;
  std::uint64_t decision = 1;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    format::ScheduleItem item = {};
    item.decision = decision;
    item.thread = stretches[i].thread;
    item.choice = format::ChoiceKind::Run;
    item.module = format::kPlanNone;
    if (i != 0) items.push_back(item);
    decision += stretches[i].steps;
  }
  for (format::ScheduleItem item : before) {
    if (item.choice == format::ChoiceKind::Run || item.decision >= decision) continue;
    item.kind = {};
    item.module = format::kPlanNone;
    items.push_back(item);
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const auto& a, const auto& b) { return a.decision < b.decision; });
  return items;
}

}  // namespace

CheckPlan following(const CheckPlan& plan, const testing::Execution& execution) {
  CheckPlan next = plan;
  next.strategy = format::StrategyKind::Default;
  next.flags &= ~std::uint32_t{format::kPlanStopAtMeeting};
  next.pairs.clear();
  next.steps.clear();
  next.weights.clear();
  next.cuts.clear();
  // Sites of the plan and of the schedule speak of different lists of modules: one list for both.
  const auto modules = execution.module_names();
  const auto renumbered = [&](std::uint32_t module) {
    if (module >= plan.modules.size()) return module;
    return execution.find_module(plan.modules[module]);
  };
  for (testing::CheckSite& site : next.watched) site.module = renumbered(site.module);
  next.modules = modules;
  next.schedule = execution.schedule;
  return next;
}

std::string encode_plan(const CheckPlan& plan, const TestCase* program) {
  Json json{{"version", kVersion},
            {"flags", plan.flags},
            {"detectors", plan.detectors},
            {"seed", plan.seed},
            {"max_points", plan.max_points},
            {"epoch_ns", plan.epoch_ns},
            {"short_sleep_ns", plan.short_sleep_ns},
            {"modules", Json::array()},
            {"watched", Json::array()},
            {"pairs", Json::array()},
            {"schedule", Json::array()}};
  for (const auto& module : plan.modules) json["modules"].push_back({module.path, module.build_id});
  for (const auto& site : plan.watched) json["watched"].push_back({site.module, site.offset});
  for (const auto& pair : plan.pairs)
    json["pairs"].push_back({pair.first.module, pair.first.offset, pair.second.module, pair.second.offset});
  for (const auto& item : plan.schedule)
    json["schedule"].push_back({item.decision, item.thread, static_cast<int>(item.choice),
                                static_cast<int>(item.kind), item.module, item.offset});
  if (program != nullptr)
    json["program"] = {
        {"name", program->name}, {"command", program->command}, {"directory", program->directory}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<TestCase> decode_program(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("program")) return std::nullopt;
  try {
    TestCase program;
    program.name = json["program"].at("name");
    program.command = json["program"].at("command");
    program.directory = json["program"].at("directory");
    program.id = test_id(program.name);
    return program.command.empty() ? std::nullopt : std::optional(std::move(program));
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

Result<CheckPlan> decode_plan(const std::string& text) {
  const auto damaged = [] {
    return fail(ErrorCode::History, "the witness in the history is damaged", "run simrt check again");
  };
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || json.value("version", 0) != kVersion) return damaged();
  try {
    CheckPlan plan;
    plan.flags = json.at("flags");
    plan.detectors = json.at("detectors");
    plan.seed = json.at("seed");
    plan.max_points = json.at("max_points");
    plan.epoch_ns = json.at("epoch_ns");
    plan.short_sleep_ns = json.value("short_sleep_ns", std::uint64_t{0});
    for (const Json& module : json.at("modules")) plan.modules.push_back({module.at(0), module.at(1)});
    for (const Json& site : json.at("watched")) plan.watched.push_back({site.at(0), site.at(1)});
    if (json.contains("pairs"))  // witnesses of earlier versions have none
      for (const Json& pair : json.at("pairs"))
        plan.pairs.push_back({{pair.at(0), pair.at(1)}, {pair.at(2), pair.at(3)}});
    for (const Json& item : json.at("schedule")) {
      format::ScheduleItem next = {};
      next.decision = item.at(0);
      next.thread = item.at(1);
      next.choice = static_cast<format::ChoiceKind>(item.at(2).get<int>());
      next.kind = static_cast<format::EventKind>(item.at(3).get<int>());
      next.module = item.at(4);
      next.offset = item.at(5);
      plan.schedule.push_back(next);
    }
    return plan;
  } catch (const nlohmann::json::exception&) {
    return damaged();
  }
}

std::optional<Shortened> shorten(const CheckPlan& plan, unsigned tries, const Attempt& attempt) {
  CheckPlan recorded = plan;
  recorded.flags |= format::kPlanRecordEvents;
  auto original = attempt(recorded);
  if (!original) return std::nullopt;
  Shortened best{following(plan, *original), original->switches};
  const auto whole = decisions_of(*original);
  original.reset();  // its events may be millions
  if (!whole) return best;
  const auto still_fails = [&](const schedule::Stretches& wanted) -> std::optional<schedule::Stretches> {
    CheckPlan candidate = best.plan;
    candidate.schedule = departures(wanted, candidate.schedule);
    candidate.flags |= format::kPlanRecordEvents;
    const auto execution = attempt(candidate);
    if (!execution) return std::nullopt;
    auto real = decisions_of(*execution);
    if (!real) return std::nullopt;
    if (execution->switches < best.switches) {
      best = {following(candidate, *execution), execution->switches};
      best.plan.flags = plan.flags;
    }
    return real;
  };
  schedule::minimise(*whole, still_fails, tries);
  return best;
}

namespace {

bool writes(StepKind kind) {
  return kind == StepKind::Write || kind == StepKind::AtomicWrite || kind == StepKind::Free;
}

/// The innermost frame of the project's own code that has a line (what the compiler adds has none); else of
/// any code.
const CodeFrame* shown_frame(const std::vector<CodeFrame>& stack) {
  for (const bool own : {true, false})
    for (const CodeFrame& frame : stack)
      if (frame.line != 0 && (frame.own() || !own)) return &frame;
  return nullptr;
}

/// An event has no stack. One inside a library is told by the part of the finding that it is, which has the
/// line of the project's own code that called it: a side, or in a deadlock the lock that a side holds.
const CodeFrame* known_caller(const Finding& finding, StepKind kind, std::uint32_t thread,
                              const std::vector<CodeFrame>& stack) {
  if (stack.empty() || stack.front().own()) return nullptr;
  const auto caller = [&](const std::vector<CodeFrame>& told) -> const CodeFrame* {
    if (told.empty() || !(told.front() == stack.front()) || !own_frame(told)->own()) return nullptr;
    return own_frame(told);
  };
  const bool locks = kind == StepKind::Lock || kind == StepKind::LockShared;
  for (const FindingSide& side : finding.sides) {
    if (side.thread.index != thread) continue;
    const CodeFrame* found = nullptr;
    if (finding.kind != FindingKind::Deadlock) {
      if (side.kind == kind) found = caller(side.stack);
    } else if (locks && side.locks.size() == 1) {
      found = caller(side.locks.front().acquired);
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

/// Which sides of a finding a step may be, as bits.
enum Side : unsigned { kNoSide = 0, kFirst = 1, kSecond = 2, kEither = 3 };
using KeyPlaces = std::map<std::pair<std::string, std::uint32_t>, unsigned>;

/// Where the steps of a finding stand. Those of a finding that is no pair of accesses may be any of its
/// sides.
KeyPlaces key_places(const Finding& finding) {
  const bool pair = finding.sides.size() == 2 && finding.kind != FindingKind::Deadlock;
  KeyPlaces places;
  const auto add = [&](const std::vector<CodeFrame>& stack, unsigned sides) {
    if (const CodeFrame* frame = own_frame(stack)) places[{frame->file, frame->line}] |= sides;
  };
  for (const FindingSide& side : finding.sides) {
    add(side.stack, !pair ? kEither : &side == &finding.sides.front() ? kFirst : kSecond);
    if (finding.kind != FindingKind::Deadlock) continue;
    for (const HeldLock& lock : side.locks) add(lock.acquired, kEither);
  }
  return places;
}

/// Where events stand. An execution makes the same few steps again and again: each is looked up once.
class StepPlaces {
 public:
  StepPlaces(const testing::Execution& execution, const Finding& finding, Symbols& symbols)
      : execution_(execution), keys_(key_places(finding)), symbols_(symbols) {}

  struct Place {
    std::vector<CodeFrame> stack;
    const CodeFrame* shown = nullptr;
    unsigned sides = kNoSide;  // of the frame that is shown
  };
  const Place& of(const format::RunEvent& event) {
    auto [known, fresh] = places_.try_emplace({event.pc, event.callers, event.calls});
    Place& place = known->second;
    if (!fresh) return place;
    place.stack = symbols_.stack(execution_, execution_.stack_of(event));
    place.shown = shown_frame(place.stack);
    if (place.shown != nullptr) place.sides = sides_at(*place.shown);
    return place;
  }
  unsigned sides_at(const CodeFrame& frame) const {
    const auto known = frame.own() ? keys_.find({frame.file, frame.line}) : keys_.end();
    return known == keys_.end() ? unsigned{kNoSide} : known->second;
  }

 private:
  const testing::Execution& execution_;
  KeyPlaces keys_;
  Symbols& symbols_;
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>, Place> places_;
};

/// The last two key steps of different threads that may be the two sides of the finding, at one address and
/// one of them a write: what the finding is about, however many other key steps there are.
class Meeting {
 public:
  using Two = std::pair<std::size_t, std::size_t>;  // in their order

  void add(std::size_t step, const format::RunEvent& event, unsigned sides, bool writes) {
    constexpr std::uint64_t kWord = 8;
    add(latest_[event.object / kWord], {step, event.thread, writes}, sides, true, last_);
    // Where the two touch different words of one block (it is released), or one address was not told.
    add(anywhere_, {step, event.thread, writes}, sides, false, last_anywhere_);
  }
  std::optional<Two> last() const { return last_ ? last_ : last_anywhere_; }

 private:
  struct Access {
    std::size_t step = 0;
    std::uint32_t thread = 0;
    bool writes = false;
  };
  struct Latest {
    std::optional<Access> own, other;  // `other`: the latest of another thread
  };
  using BySide = std::array<Latest, 2>;

  static void add(BySide& latest, const Access& access, unsigned sides, bool conflicting,
                  std::optional<Two>& last) {
    std::optional<std::size_t> partner;
    for (unsigned side = 0; side < 2; ++side) {
      if ((sides & (side == 0 ? kSecond : kFirst)) == 0) continue;
      for (const auto* before : {&latest[side].own, &latest[side].other})
        if (*before && (*before)->thread != access.thread &&
            (!conflicting || access.writes || (*before)->writes))
          partner = std::max(partner.value_or(0), (*before)->step);
    }
    if (partner) last = {*partner, access.step};
    for (unsigned side = 0; side < 2; ++side)
      if ((sides & (side == 0 ? kFirst : kSecond)) != 0) remember(latest[side], access);
  }
  static void remember(Latest& latest, const Access& access) {
    if (latest.own && latest.own->thread != access.thread) {
      latest.other = latest.own;
      latest.own.reset();
    }
    // What the thread wrote stays what others meet, though it looks at it again.
    if (!latest.own || access.writes || !latest.own->writes) latest.own = access;
  }

  std::unordered_map<std::uint64_t, BySide> latest_;  // by word
  BySide anywhere_;
  std::optional<Two> last_, last_anywhere_;
};

/// An InterleavingStep before it is told: there may be millions, of which a few are shown.
struct Step {
  std::uint32_t thread;
  StepKind kind;
  bool key;
  const CodeFrame* at;
  std::size_t skipped = 0;
};
using Steps = std::vector<Step>;

Steps part(const Steps& steps, std::size_t begin, std::size_t end) {
  return {steps.begin() + static_cast<std::ptrdiff_t>(begin),
          steps.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// What surrounds the two, in one piece or, where they are far apart, in two.
Steps around(const Steps& steps, std::size_t first, std::size_t second, std::size_t limit) {
  const std::size_t margin = limit / 4, end = std::min(steps.size(), second + margin);
  if (second - first + 2 * margin <= limit) return part(steps, end > limit ? end - limit : 0, end);
  const std::size_t resumed = second - margin + 1;
  Steps shown = part(steps, first > margin ? first - margin : 0, first + margin);
  Steps rest = part(steps, resumed, end);
  rest.front().skipped = resumed - (first + margin);
  shown.insert(shown.end(), rest.begin(), rest.end());
  return shown;
}

/// Around the meeting, or else the last key step, or else the end.
Steps chosen(const Steps& steps, const Meeting& meeting, std::size_t limit) {
  if (steps.size() <= limit) return steps;
  if (const auto met = meeting.last()) return around(steps, met->first, met->second, limit);
  const auto key = std::find_if(steps.rbegin(), steps.rend(), [](const Step& step) { return step.key; });
  const std::size_t last = key == steps.rend() ? steps.size() : static_cast<std::size_t>(steps.rend() - key);
  const std::size_t end = std::min(steps.size(), last + limit / 4);
  return part(steps, end > limit ? end - limit : 0, end);
}

}  // namespace

std::vector<InterleavingStep> interleaving_of(const testing::Execution& execution, const Finding& finding,
                                              Symbols& symbols, std::size_t limit) {
  symbols.learn(execution, true);
  const bool stuck = finding.kind == FindingKind::Deadlock || finding.kind == FindingKind::Hang ||
                     finding.sides.empty();  // of nothing in particular: everything
  Steps steps;
  Meeting meeting;
  StepPlaces step_places(execution, finding, symbols);
  for (const format::RunEvent& event : execution.events) {
    const auto kind = static_cast<format::EventKind>(event.kind);
    const bool start_or_end = kind == format::EventKind::Begin || kind == format::EventKind::End;
    Step step{event.thread, step_kind(kind), false, nullptr};
    if (event.pc == 0 || start_or_end || step.kind == StepKind::Other) continue;
    const StepPlaces::Place& place = step_places.of(event);
    step.at = place.shown;
    unsigned sides = place.sides;
    if (const CodeFrame* caller = known_caller(finding, step.kind, event.thread, place.stack)) {
      step.at = caller;
      sides = step_places.sides_at(*caller);
    }
    step.key = sides != kNoSide;
    if (step.at == nullptr) continue;
    // A library's inside says nothing, unless threads are stuck there.
    if (!step.at->own() && !stuck) continue;
    if (!step.at->own() && step.kind != StepKind::Lock && step.kind != StepKind::Wait) continue;
    const bool same_line = !steps.empty() && steps.back().thread == step.thread &&
                           steps.back().at->line == step.at->line && steps.back().at->file == step.at->file;
    if (step.key && !stuck)
      meeting.add(same_line ? steps.size() - 1 : steps.size(), event, sides, writes(step.kind));
    if (same_line) {
      // One line of the source without another thread in between is one step: what it writes says most.
      if (writes(step.kind) && !writes(steps.back().kind)) steps.back().kind = step.kind;
      continue;
    }
    steps.push_back(step);
  }
  std::vector<InterleavingStep> told;
  for (const Step& step : chosen(steps, meeting, limit))
    told.push_back(
        {step.thread, step.kind, {}, *step.at, symbols.source_line(*step.at), step.key, step.skipped});
  return told;
}

}  // namespace simrt::pipeline
