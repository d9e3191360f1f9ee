#include "pipeline/check/witness.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "pipeline/check/describe.h"

namespace simrt::pipeline {
namespace {

using Json = nlohmann::ordered_json;
using testing::CheckPlan;

constexpr int kVersion = 1;

}  // namespace

CheckPlan following(const CheckPlan& plan, const testing::Execution& execution) {
  CheckPlan next = plan;
  next.strategy = format::StrategyKind::Default;
  next.pairs.clear();
  next.steps.clear();
  next.weights.clear();
  // Sites of the plan and of the schedule speak of different lists of modules: one list for both.
  const auto modules = execution.module_names();
  const auto renumbered = [&](std::uint32_t module) {
    if (module >= plan.modules.size()) return module;
    const auto& wanted = plan.modules[module];
    for (std::uint32_t i = 0; i < modules.size(); ++i) {
      const bool main = wanted.path.empty() && wanted.build_id.empty();
      if (main ? execution.modules[i].executable
               : (!wanted.build_id.empty() && wanted.build_id == modules[i].build_id) ||
                     wanted.path == modules[i].path)
        return i;
    }
    return format::kPlanNone;
  };
  for (testing::CheckSite& site : next.watched) site.module = renumbered(site.module);
  next.modules = modules;
  next.schedule = execution.schedule;
  return next;
}

std::string encode_plan(const CheckPlan& plan) {
  Json json{{"version", kVersion},      {"flags", plan.flags},           {"detectors", plan.detectors},
            {"seed", plan.seed},        {"max_points", plan.max_points}, {"epoch_ns", plan.epoch_ns},
            {"modules", Json::array()}, {"watched", Json::array()},      {"schedule", Json::array()}};
  for (const auto& module : plan.modules) json["modules"].push_back({module.path, module.build_id});
  for (const auto& site : plan.watched) json["watched"].push_back({site.module, site.offset});
  for (const auto& item : plan.schedule)
    json["schedule"].push_back({item.decision, item.thread, static_cast<int>(item.choice),
                                static_cast<int>(item.kind), item.module, item.offset});
  return json.dump();
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
    for (const Json& module : json.at("modules")) plan.modules.push_back({module.at(0), module.at(1)});
    for (const Json& site : json.at("watched")) plan.watched.push_back({site.at(0), site.at(1)});
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

Shortened shorten(CheckPlan plan, std::uint64_t switches, unsigned tries, const Attempt& attempt) {
  Shortened best{std::move(plan), switches};
  std::size_t piece = std::max<std::size_t>(1, best.plan.schedule.size() / 2);
  for (std::size_t at = 0; tries > 0 && !best.plan.schedule.empty();) {
    if (at >= best.plan.schedule.size()) {
      if (piece == 1) break;
      piece = std::max<std::size_t>(1, piece / 2);
      at = 0;
      continue;
    }
    CheckPlan candidate = best.plan;
    const auto begin = candidate.schedule.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(piece, candidate.schedule.size() - at));
    candidate.schedule.erase(begin, end);
    // Behind the gap other decisions have other sites: they bind by number and thread alone.
    for (format::ScheduleItem& item : candidate.schedule) item.kind = {}, item.module = format::kPlanNone;
    --tries;
    const auto execution = attempt(candidate);
    if (execution && execution->switches <= best.switches &&
        (execution->switches < best.switches || execution->schedule.size() < best.plan.schedule.size())) {
      best = {following(candidate, *execution), execution->switches};
      piece = std::min(piece, std::max<std::size_t>(1, best.plan.schedule.size()));
    } else {
      at += piece;
    }
  }
  return best;
}

std::vector<InterleavingStep> interleaving_of(const testing::Execution& execution, const Finding& finding,
                                              Symbols& symbols, std::size_t limit) {
  symbols.learn(execution, true);
  std::set<std::pair<std::string, std::uint32_t>> places;
  std::set<std::uint32_t> threads;
  for (const FindingSide& side : finding.sides) {
    if (const CodeFrame* frame = own_frame(side.stack)) places.insert({frame->file, frame->line});
    threads.insert(side.thread.index);
  }
  std::vector<InterleavingStep> steps;
  for (const format::RunEvent& event : execution.events) {
    const auto kind = static_cast<format::EventKind>(event.kind);
    InterleavingStep step;
    step.kind = step_kind(kind);
    const bool start_or_end = kind == format::EventKind::Begin || kind == format::EventKind::End;
    if (event.pc == 0 || start_or_end || step.kind == StepKind::Other) continue;
    const auto stack = symbols.stack(execution, {event.pc});
    const CodeFrame* frame = own_frame(stack);
    if (frame == nullptr) continue;
    step.thread = event.thread;
    step.at = *frame;
    step.text = symbols.source_line(*frame);
    step.key = frame->own() && places.contains({frame->file, frame->line});
    if (!frame->own() && (step.kind == StepKind::Read || step.kind == StepKind::Write)) continue;
    if (!steps.empty() && steps.back().thread == step.thread && steps.back().at.line == step.at.line &&
        steps.back().at.file == step.at.file && steps.back().kind == step.kind)
      continue;  // one line of the source, one step
    steps.push_back(std::move(step));
  }
  if (steps.size() <= limit) return steps;
  // Around the last key step of each thread that takes part; else the end.
  std::size_t last = steps.size();
  for (std::size_t i = steps.size(); i-- > 0;)
    if (steps[i].key) {
      last = i + 1;
      break;
    }
  const std::size_t end = std::min(steps.size(), last + limit / 4);
  const std::size_t begin = end > limit ? end - limit : 0;
  return {steps.begin() + static_cast<std::ptrdiff_t>(begin),
          steps.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace simrt::pipeline
