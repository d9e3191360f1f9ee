#include "pipeline/explore/failure_kinds.h"

#include <fmt/format.h>

#include <set>

namespace simrt::pipeline {
namespace {

std::string own_place(const std::vector<CodeFrame>& frames) {
  const CodeFrame* frame = own_frame(frames);
  if (frame == nullptr || !frame->own()) return {};
  return fmt::format("{}:{}", frame->file, frame->line);
}

std::string last_step(const testing::Execution& execution, std::uint32_t thread, Symbols& symbols) {
  for (auto event = execution.events.rbegin(); event != execution.events.rend(); ++event) {
    if (event->thread != thread || event->pc == 0) continue;
    std::vector<std::uint64_t> pcs{event->pc};
    if (const auto calls = execution.calls.find(event->calls); calls != execution.calls.end())
      pcs.insert(pcs.end(), calls->second.begin(), calls->second.end());
    std::string place = own_place(symbols.stack(execution, pcs));
    if (!place.empty()) return "behind " + place;
  }
  return {};
}

}  // namespace

std::vector<std::string> stuck_places(const Observed& seen, Symbols& symbols) {
  if (seen.result.end != testing::CheckEnd::Deadlock) return {};
  const testing::Execution& execution = seen.result.execution;
  std::set<std::string> places;
  for (const testing::ExecutionWait& wait : execution.waits) {
    if (wait.wait.state == format::WaitState::Ended) continue;
    std::string place = own_place(symbols.stack(execution, {wait.wait.pc}));
    if (place.empty()) place = last_step(execution, wait.wait.thread, symbols);
    if (!place.empty()) places.insert(std::move(place));
  }
  return {places.begin(), places.end()};
}

std::pair<std::size_t, bool> FailureKinds::add(const Observed& seen, Symbols& symbols, std::uint64_t number) {
  std::vector<std::string> places = stuck_places(seen, symbols);
  const auto known = index_.find({seen.ending, places});
  const bool fresh = known == index_.end() && kinds_.size() < kMost;
  if (fresh) {
    index_.emplace(std::pair(seen.ending, places), kinds_.size());
    kinds_.push_back({seen.ending, std::move(places), number, 0});
  }
  const std::size_t at = fresh || known == index_.end() ? kinds_.size() - 1 : known->second;
  ++kinds_[at].count;
  return {at, fresh};
}

}  // namespace simrt::pipeline
