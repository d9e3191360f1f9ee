#include "schedule/patterns/shared_variables.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace simrt::schedule {
namespace {

constexpr std::uint32_t kPrivate = UINT32_MAX;

/// How often each address was handed out again.
class Generations {
 public:
  void allocate(std::uint64_t begin, std::uint64_t size) {
    const std::uint64_t end = begin + std::max<std::uint64_t>(size, 1);
    auto at = blocks_.lower_bound(begin);
    if (at != blocks_.begin() && std::prev(at)->second.end > begin) --at;
    while (at != blocks_.end() && at->first < end) at = blocks_.erase(at);
    blocks_.emplace(begin, Block{end, ++last_});
  }
  std::uint32_t at(std::uint64_t address) const {
    if (blocks_.empty()) return 0;
    auto at = blocks_.upper_bound(address);
    if (at == blocks_.begin()) return 0;
    --at;
    return address < at->second.end ? at->second.number : 0;
  }

 private:
  struct Block {
    std::uint64_t end;
    std::uint32_t number;
  };
  std::map<std::uint64_t, Block> blocks_;
  std::uint32_t last_ = 0;
};

struct Sharing {
  std::uint64_t address = 0;
  ThreadIndex first = kNoThread;
  bool several = false, written = false;
};

/// Where memory is cut, and what lies behind each cut.
struct Cut {
  std::uint64_t address;
  std::uint32_t generation = 0;
  std::uint32_t piece = kPrivate;  ///< of that generation: the latest that was touched
};

std::uint64_t end_of(const ExecutionEvent& event) { return event.object + std::max(event.size, 1u); }

/// Addresses, each with a number. Open addressing: an execution of millions of events asks for each of them,
/// in any order, so a question costs one line of memory, which can be asked for ahead.
class AddressTable {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  void expect(std::uint64_t address) const { __builtin_prefetch(&slots_[place_of(address)]); }
  void add(std::uint64_t address) {
    Slot& slot = find(address);
    if (slot.used) return;
    slot = {address, 0, true};
    if (++count_ * 2 > slots_.size()) grow();
  }
  /// Must have been added.
  void set(std::uint64_t address, std::uint32_t number) { find(address).number = number; }
  /// kNone when it was not added.
  std::uint32_t number_of(std::uint64_t address) const {
    const Slot& slot = const_cast<AddressTable*>(this)->find(address);
    return slot.used ? slot.number : kNone;
  }
  std::vector<std::uint64_t> sorted() const {
    std::vector<std::uint64_t> all;
    all.reserve(count_);
    for (const Slot& slot : slots_)
      if (slot.used) all.push_back(slot.address);
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  struct Slot {
    std::uint64_t address = 0;
    std::uint32_t number = 0;
    bool used = false;
  };
  std::size_t place_of(std::uint64_t address) const {
    return static_cast<std::size_t>(address * 0x9E3779B97F4A7C15ULL >> shift_);
  }
  Slot& find(std::uint64_t address) {
    std::size_t at = place_of(address);
    while (slots_[at].used && slots_[at].address != address) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    --shift_;
    for (const Slot& slot : old)
      if (slot.used) find(slot.address) = slot;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(256);
  int shift_ = 56;
  std::size_t count_ = 0;
};

constexpr std::size_t kAhead = 32;  // events

/// Every begin and end of an access.
void add_cuts(const Execution& execution, AddressTable& table) {
  const std::vector<ExecutionEvent>& events = execution.events;
  std::uint64_t last_begin = 0, last_end = 0;  // accesses come in runs
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i + kAhead < events.size()) {
      table.expect(events[i + kAhead].object);
      table.expect(end_of(events[i + kAhead]));
    }
    if (!is_memory(events[i].kind)) continue;
    const std::uint64_t begin = events[i].object, end = end_of(events[i]);
    if (begin == last_begin && end == last_end) continue;
    table.add(begin);
    table.add(end);
    last_begin = begin;
    last_end = end;
  }
}

/// Pieces of memory whose address was handed out again, as (generation, number) by cut; the latest one stands
/// at the cut itself.
class EarlierPieces {
 public:
  void keep(std::uint32_t cut, const Cut& latest) { pieces_[{cut, latest.generation}] = latest.piece; }
  /// kPrivate when there is none.
  std::uint32_t find(std::uint32_t cut, std::uint32_t generation) const {
    const auto at = pieces_.find({cut, generation});
    return at == pieces_.end() ? kPrivate : at->second;
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> pieces_;
};

}  // namespace

SharedVariables::SharedVariables(const Execution& execution) {
  const std::vector<ExecutionEvent>& events = execution.events;
  AddressTable table;
  add_cuts(execution, table);
  std::vector<Cut> cuts;
  for (const std::uint64_t address : table.sorted()) {
    table.set(address, static_cast<std::uint32_t>(cuts.size()));
    cuts.push_back({address});
  }

  Generations generations;
  EarlierPieces earlier;
  std::vector<Sharing> sharing;
  // The cuts at which the next events begin.
  std::array<std::uint32_t, kAhead> first_cuts{};
  const auto look_up = [&](std::size_t i) {
    const std::uint32_t cut =
        is_memory(events[i].kind) ? table.number_of(events[i].object) : AddressTable::kNone;
    if (cut != AddressTable::kNone) __builtin_prefetch(&cuts[cut]);
    first_cuts[i % kAhead] = cut;
  };
  for (std::size_t i = 0; i < std::min(kAhead, events.size()); ++i) look_up(i);
  begin_.reserve(events.size() + 1);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const ExecutionEvent& event = events[i];
    const std::uint32_t first = first_cuts[i % kAhead];
    if (i + 2 * kAhead < events.size()) table.expect(events[i + 2 * kAhead].object);
    if (i + kAhead < events.size()) look_up(i + kAhead);
    begin_.push_back(variables_.size());
    if (event.kind == EventKind::Allocate) generations.allocate(event.object, event.size);
    if (first == AddressTable::kNone) continue;
    const std::uint64_t end = end_of(event);
    for (std::uint32_t at = first; cuts[at].address < end; ++at) {
      Cut& cut = cuts[at];
      const std::uint32_t generation = generations.at(cut.address);
      if (cut.piece == kPrivate || cut.generation != generation) {
        if (cut.piece != kPrivate) earlier.keep(at, cut);
        cut.generation = generation;
        cut.piece = earlier.find(at, generation);
        if (cut.piece == kPrivate) {
          cut.piece = static_cast<std::uint32_t>(sharing.size());
          sharing.push_back({.address = cut.address, .first = event.thread});
        }
      }
      Sharing& state = sharing[cut.piece];
      state.several |= state.first != event.thread;
      state.written |= writes_memory(event.kind);
      variables_.push_back(cut.piece);
    }
  }
  begin_.push_back(variables_.size());

  std::vector<VariableNumber> number(sharing.size(), kPrivate);
  for (std::size_t i = 0; i < sharing.size(); ++i)
    if (sharing[i].several && sharing[i].written) {
      number[i] = count_++;
      addresses_.push_back(sharing[i].address);
    }
  std::size_t kept = 0, from = 0;
  for (std::size_t event = 0; event + 1 < begin_.size(); ++event) {
    const std::size_t until = begin_[event + 1];
    begin_[event] = kept;
    for (; from < until; ++from)
      if (number[variables_[from]] != kPrivate) variables_[kept++] = number[variables_[from]];
    std::sort(variables_.begin() + static_cast<std::ptrdiff_t>(begin_[event]),
              variables_.begin() + static_cast<std::ptrdiff_t>(kept));
  }
  begin_.back() = kept;
  variables_.resize(kept);
}

}  // namespace simrt::schedule
