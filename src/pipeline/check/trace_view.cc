#include "pipeline/check/trace_view.h"

#include <algorithm>

#include "support/hash.h"

namespace simrt::pipeline {
namespace {

using format::EventKind;

constexpr std::uint64_t kWord = 8, kMostWords = 64;

bool reads(EventKind kind) {
  return kind == EventKind::Read || kind == EventKind::AtomicLoad || kind == EventKind::AtomicUpdate ||
         kind == EventKind::AtomicFailed;
}
bool writes(EventKind kind) {
  return kind == EventKind::Write || kind == EventKind::AtomicStore || kind == EventKind::AtomicUpdate;
}
bool is_memory(EventKind kind) { return reads(kind) || writes(kind); }

template <class Visit>
void for_words(std::uint64_t address, std::uint32_t size, Visit visit) {
  const std::uint64_t first = address / kWord, last = (address + (size == 0 ? 0 : size - 1)) / kWord;
  for (std::uint64_t word = first; word <= last && word < first + kMostWords; ++word) visit(word);
}

const std::vector<const TraceAccess*>& none() {
  static const std::vector<const TraceAccess*> kNone;
  return kNone;
}

}  // namespace

void add_shared_words(const testing::Execution& execution, std::unordered_set<std::uint64_t>& shared) {
  struct Use {
    std::uint32_t thread;
    bool two = false, written = false;
  };
  std::unordered_map<std::uint64_t, Use> uses;
  for (const format::RunEvent& event : execution.events) {
    const auto kind = static_cast<EventKind>(event.kind);
    if (!is_memory(kind)) continue;
    for_words(event.object, event.size, [&](std::uint64_t word) {
      Use& use = uses.try_emplace(word, Use{event.thread}).first->second;
      use.two = use.two || use.thread != event.thread;
      use.written = use.written || writes(kind);
    });
  }
  for (const auto& [word, use] : uses)
    if (use.two && use.written) shared.insert(word);
}

TraceView::TraceView(const testing::Execution& execution, const std::unordered_set<std::uint64_t>& shared)
    : end_(execution.events.size()) {
  std::unordered_map<std::uint32_t, std::uint64_t> callers;  // stack id -> hash
  const auto site_of = [&](const format::RunEvent& event) {
    auto [known, fresh] = callers.try_emplace(event.callers, 0);
    if (fresh && event.callers < execution.stacks.size())
      for (std::uint64_t pc : execution.stacks[event.callers])
        known->second = hash_combine(known->second, pc);
    return hash_combine(known->second, event.pc);
  };
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> occurrences;
  for (std::size_t i = 0; i < execution.events.size(); ++i) {
    const format::RunEvent& event = execution.events[i];
    const auto kind = static_cast<EventKind>(event.kind);
    last_thread_ = event.thread;
    if (!is_memory(kind)) continue;
    bool is_shared = false;
    for_words(event.object, event.size, [&](std::uint64_t word) { is_shared |= shared.contains(word); });
    if (!is_shared) continue;
    TraceAccess access{i, event.object, event.size,  event.thread, event.pc, site_of(event),
                       0, reads(kind),  writes(kind)};
    access.occurrence = occurrences[{access.thread, access.site}]++;
    accesses_.push_back(access);
  }
  for (const TraceAccess& access : accesses_) {
    by_thread_[access.thread].push_back(&access);
    by_where_[access.place].push_back(&access);
    if (access.site != access.place) by_where_[access.site].push_back(&access);
    if (access.writes)
      for_words(access.address, access.size, [&](std::uint64_t word) { writes_[word].push_back(&access); });
  }
  for (const auto& [thread, list] : by_thread_) threads_.push_back(thread);
  add_clocks(execution);
}

void TraceView::add_clocks(const testing::Execution& execution) {
  std::map<std::uint32_t, Clock> now, born, ended;
  for (std::size_t i = 0; i < execution.events.size(); ++i) {
    const format::RunEvent& event = execution.events[i];
    const std::uint32_t thread = event.thread;
    const auto other = static_cast<std::uint32_t>(event.object);
    Clock& clock = now[thread];
    clock[thread] = i + 1;
    const auto learn = [&](const Clock& known) {
      for (const auto& [whose, until] : known) clock[whose] = std::max(clock[whose], until);
      clocks_[thread].emplace_back(i, clock);
    };
    switch (static_cast<EventKind>(event.kind)) {
      case EventKind::Create:
        born[other] = clock;
        break;
      case EventKind::Begin:
        learn(born[thread]);
        break;
      case EventKind::End:
        ended[thread] = clock;
        break;
      case EventKind::Join:
        learn(ended[other]);
        break;
      default:
        break;
    }
  }
}

const std::vector<const TraceAccess*>& TraceView::of_thread(std::uint32_t thread) const {
  const auto found = by_thread_.find(thread);
  return found == by_thread_.end() ? none() : found->second;
}

const std::vector<const TraceAccess*>& TraceView::at(std::uint64_t where) const {
  const auto found = by_where_.find(where);
  return found == by_where_.end() ? none() : found->second;
}

std::vector<const TraceAccess*> TraceView::candidates(std::uint64_t where, const TraceAccess& before) const {
  std::vector<const TraceAccess*> result;
  for (const TraceAccess* access : at(where))
    if (access->thread == before.thread && access->event > before.event) result.push_back(access);
  return result;
}

std::vector<const TraceAccess*> TraceView::others_between(std::uint32_t thread, std::size_t from,
                                                          std::size_t until) const {
  constexpr std::size_t kMost = 200;  // the nearest to `until`
  std::vector<const TraceAccess*> result;
  auto at =
      std::lower_bound(accesses_.begin(), accesses_.end(), until,
                       [](const TraceAccess& access, std::size_t event) { return access.event < event; });
  while (at != accesses_.begin() && result.size() < kMost) {
    --at;
    if (at->event <= from) break;
    if (at->thread != thread) result.push_back(&*at);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

const TraceAccess* TraceView::writer_of(const TraceAccess& read) const {
  const auto found = writes_.find(read.address / kWord);
  if (found == writes_.end()) return nullptr;
  const auto& list = found->second;
  auto at =
      std::lower_bound(list.begin(), list.end(), read.event,
                       [](const TraceAccess* access, std::size_t event) { return access->event < event; });
  while (at != list.begin())
    if (overlap(**--at, read)) return *at;
  return nullptr;
}

const TraceAccess* TraceView::counterpart(const TraceAccess& access) const {
  for (const TraceAccess* mine : at(access.place))
    if (mine->thread == access.thread && mine->site == access.site && mine->occurrence == access.occurrence)
      return mine;
  return nullptr;
}

bool TraceView::must_precede(const TraceAccess& a, std::size_t position, const TraceAccess& b) const {
  const auto found = clocks_.find(b.thread);
  if (found == clocks_.end()) return false;
  const Clock* known = nullptr;
  for (const auto& [from, clock] : found->second)
    if (from <= b.event) known = &clock;
  if (known == nullptr) return false;
  const auto mine = known->find(a.thread);
  return mine != known->end() && position < mine->second;
}

}  // namespace simrt::pipeline
