#include "pipeline/steer/recorded.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/hash.h"

namespace simrt::pipeline {
namespace {

ExecutionOutcome outcome_of(const Observed& seen) {
  ExecutionOutcome outcome;
  if (seen.result.end == testing::CheckEnd::Diverged || seen.result.execution.diverged_at != 0) {
    outcome.end = ExecutionEnd::Diverged;
  } else if (seen.cut || (seen.result.execution.flags & format::kRunOverflow) != 0) {
    outcome.end = ExecutionEnd::Cut;
  } else if (seen.failed) {
    outcome.end = seen.result.end == testing::CheckEnd::Deadlock   ? ExecutionEnd::Deadlock
                  : seen.result.end == testing::CheckEnd::Livelock ? ExecutionEnd::Livelock
                                                                   : ExecutionEnd::Failed;
    outcome.what = seen.ending;
  }
  return outcome;
}

}  // namespace

void RecordedSites::take_modules(const testing::Execution& execution) {
  std::vector<std::uint64_t> biases;
  for (const auto& module : execution.modules) biases.push_back(module.bias);
  const auto names = execution.module_names();
  if (names == modules_ && biases == biases_) return;
  modules_ = names;
  biases_ = std::move(biases);
  known_.clear();
  sites_.clear();
  callers_.clear();
  hooks_.clear();
  known_hooks_.clear();
  creations_.clear();
}

std::uint64_t RecordedSites::key_of(const format::RunEvent& event) {
  return event.calls == 0 ? event.pc : hash_combine(event.pc, event.calls);
}

RecordedSites::Place RecordedSites::name_site(const testing::Execution& execution,
                                              const format::RunEvent& event) {
  std::vector<CodeFrame> frames = symbols_.stack(execution, {event.pc});
  const auto is_own = [](const CodeFrame& frame) { return frame.own(); };
  Place place;
  const auto hook = execution.site_of(event.pc);
  if (hook) place.hook = Hook{*hook, 0};
  if (std::none_of(frames.begin(), frames.end(), is_own)) {
    const auto calls = execution.calls.find(event.calls);
    if (calls != execution.calls.end()) {
      if (place.hook) place.hook->calls = event.calls;
      const auto callers = symbols_.stack(execution, calls->second);
      frames.insert(frames.end(), callers.begin(), callers.end());
    }
  }
  std::string name;
  for (const CodeFrame& frame : frames) {
    name += fmt::format("{}@{}:{};", frame.linkage.empty() ? frame.function : frame.linkage, frame.file,
                        symbols_.position(frame));
    if (frame.own()) break;
  }
  if (frames.empty() || (frames[0].file.empty() && hook))  // no debug information: as in this build
    name += fmt::format("{}+{}", hook ? modules_[hook->module].path : "?", hook ? hook->offset : event.pc);
  place.site = site_id(name);
  if (const CodeFrame* frame = own_frame(frames)) {
    const FunctionId method = function_id(frame->linkage.empty() ? frame->function : frame->linkage);
    places_.try_emplace(place.site,
                        SitePlace{frame->function, frame->file, frame->line, frame->column, method});
    if (frame->own()) methods_.try_emplace(place.site, method);
  }
  return place;
}

/// Call sites in the project's own code. Library code between them is part of the sites' names.
const std::vector<SiteId>& RecordedSites::callers_of(const testing::Execution& execution,
                                                     std::uint64_t calls) {
  static const std::vector<SiteId> kUnknown;
  if (const auto known = callers_.find(calls); known != callers_.end()) return known->second;
  const auto found = execution.calls.find(calls);
  if (found == execution.calls.end()) return kUnknown;  // another execution may tell
  const auto at = callers_.try_emplace(calls).first;
  for (const CodeFrame& frame : symbols_.stack(execution, found->second))
    if (frame.own())
      at->second.push_back(
          site_id(fmt::format("{}@{}:{}", frame.linkage.empty() ? frame.function : frame.linkage, frame.file,
                              symbols_.position(frame))));
  return at->second;
}

void RecordedSites::learn_new(const testing::Execution& execution) {
  const bool known = std::all_of(execution.events.begin(), execution.events.end(), [&](const auto& event) {
    return event.pc == 0 || known_.contains(key_of(event));
  });
  if (known) return;
  symbols_.learn(execution, true);  // all at once: one by one is slow
  for (const auto& event : execution.events) {
    if (event.pc == 0 || known_.contains(key_of(event))) continue;
    Place place = name_site(execution, event);
    sites_.try_emplace(event.pc, place.site);
    known_.emplace(key_of(event), std::move(place));
  }
}

std::vector<ExecutionThread> RecordedSites::threads_of(const testing::Execution& execution) {
  std::size_t count = std::max<std::size_t>(1, execution.thread_count);
  for (const auto& thread : execution.threads) count = std::max<std::size_t>(count, thread.index + 1u);
  std::vector<ExecutionThread> threads(count);
  std::vector<std::string> names(count, "main");
  std::map<std::string, std::size_t> ordinals;
  threads[0].role = role_id("main");
  for (const auto& thread : execution.threads) {
    if (thread.index == 0) continue;
    auto [created, fresh] = creations_.try_emplace(thread.frames);
    if (fresh)
      for (const std::uint64_t pc : thread.frames) {
        const auto frames = symbols_.stack(execution, {pc});
        const CodeFrame* frame = own_frame(frames);
        if (frame != nullptr) created->second += frame->function + "@" + symbols_.position(*frame) + "<";
      }
    const bool known_parent = thread.parent < thread.index;
    const std::string path = (known_parent ? names[thread.parent] : "?") + "/" + created->second;
    names[thread.index] = fmt::format("{}#{}", path, ordinals[path]++);
    threads[thread.index] = {role_id(names[thread.index]), known_parent ? thread.parent : kNoThread};
  }
  return threads;
}

Execution RecordedSites::convert(const Observed& seen) {
  const testing::Execution& from = seen.result.execution;
  take_modules(from);
  learn_new(from);
  Execution to;
  to.threads = threads_of(from);
  to.outcome = outcome_of(seen);
  to.events.reserve(from.events.size());
  std::unordered_map<std::uint64_t, std::uint32_t> stacks;  // by calls
  for (const format::RunEvent& event : from.events) {
    ExecutionEvent step;
    step.object = event.object;
    const Place* place = event.pc == 0 ? nullptr : &known_.at(key_of(event));
    if (place != nullptr) step.site = place->site;
    step.size = event.size;
    step.thread = event.thread;
    step.kind = static_cast<EventKind>(event.kind);
    step.tried = (event.order & format::kEventTried) != 0;
    step.value = event.value;
    if (event.calls != 0) {
      const auto [stack, fresh] =
          stacks.try_emplace(event.calls, static_cast<std::uint32_t>(to.stacks.size()));
      if (fresh) to.stacks.push_back(callers_of(from, event.calls));
      step.stack = stack->second;
    }
    if ((event.order & format::kEventWithoutDecision) == 0)
      to.decisions.push_back({to.events.size(), ThreadSet(event.enabled), event.thread});
    if (place != nullptr && place->hook &&
        known_hooks_.insert(hash_combine(key_of(event), event.kind)).second)
      hooks_[{step.site, step.kind}].push_back(*place->hook);
    if (step.thread >= to.threads.size()) to.threads.resize(step.thread + 1u);
    to.events.push_back(step);
  }
  for (const auto& wait : from.waits) {
    if (wait.wait.state == format::WaitState::Ended) continue;
    ExecutionEvent step;
    step.object = wait.wait.object;
    const auto site = sites_.find(wait.wait.pc);
    if (site != sites_.end()) step.site = site->second;
    step.thread = wait.wait.thread;
    step.kind = wait.wait.kind;
    to.pending.push_back({step});
  }
  return to;
}

const std::vector<Hook>& RecordedSites::hooks_of(SiteId site, EventKind kind) const {
  static const std::vector<Hook> kNone;
  const auto at = hooks_.find({site, kind});
  return at == hooks_.end() ? kNone : at->second;
}

std::unordered_set<SiteId> RecordedSites::sites_at(
    const std::map<std::string, std::vector<std::uint32_t>>& lines) const {
  std::unordered_set<SiteId> sites;
  for (const auto& [site, place] : places_) {
    const auto file = lines.find(place.file);
    if (file == lines.end()) continue;
    if (std::find(file->second.begin(), file->second.end(), place.line) != file->second.end())
      sites.insert(site);
  }
  return sites;
}

std::size_t first_difference(const testing::Execution& one, const testing::Execution& other, bool addresses) {
  const std::size_t count = std::min(one.events.size(), other.events.size());
  for (std::size_t i = 0; i < count; ++i) {
    const format::RunEvent &a = one.events[i], &b = other.events[i];
    if (a.thread != b.thread || a.kind != b.kind || a.pc != b.pc) return i;
    if (addresses && a.object != b.object) return i;
  }
  return one.events.size() == other.events.size() ? SIZE_MAX : count;
}

}  // namespace simrt::pipeline
