#include "schedule/patterns/shared_variables.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "support/hash.h"

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

struct Piece {
  std::uint64_t address;
  std::uint32_t generation;
  bool operator==(const Piece&) const = default;
};
struct PieceHash {
  std::size_t operator()(const Piece& piece) const { return hash_combine(piece.address, piece.generation); }
};

struct Sharing {
  ThreadIndex first = kNoThread;
  bool several = false, written = false;
};

/// Where memory is cut: every begin and end of an access.
std::vector<std::uint64_t> cuts_of(const Execution& execution) {
  std::vector<std::uint64_t> cuts;
  std::size_t sort_at = 1u << 22;
  for (const ExecutionEvent& event : execution.events) {
    if (!is_memory(event.kind)) continue;
    // Accesses come in runs; the sort below drops what is left of the repetitions.
    if (cuts.size() >= 2 && cuts[cuts.size() - 2] == event.object) {
      if (cuts.back() == event.object + std::max(event.size, 1u)) continue;
    }
    cuts.push_back(event.object);
    cuts.push_back(event.object + std::max(event.size, 1u));
    if (cuts.size() >= sort_at) {
      std::sort(cuts.begin(), cuts.end());
      cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
      sort_at = std::max<std::size_t>(sort_at, 2 * cuts.size());
    }
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

}  // namespace

SharedVariables::SharedVariables(const Execution& execution) {
  const std::vector<std::uint64_t> cuts = cuts_of(execution);
  std::unordered_map<std::uint64_t, std::size_t> cut_at;
  cut_at.reserve(cuts.size());
  for (std::size_t i = 0; i < cuts.size(); ++i) cut_at.emplace(cuts[i], i);

  Generations generations;
  std::unordered_map<Piece, std::uint32_t, PieceHash> pieces;
  std::vector<Sharing> sharing;
  begin_.reserve(execution.events.size() + 1);
  for (const ExecutionEvent& event : execution.events) {
    begin_.push_back(variables_.size());
    if (event.kind == EventKind::Allocate) generations.allocate(event.object, event.size);
    if (!is_memory(event.kind)) continue;
    const std::uint64_t end = event.object + std::max(event.size, 1u);
    for (std::size_t cut = cut_at.find(event.object)->second; cuts[cut] < end; ++cut) {
      const Piece piece{cuts[cut], generations.at(cuts[cut])};
      const auto [at, fresh] = pieces.emplace(piece, static_cast<std::uint32_t>(sharing.size()));
      if (fresh) sharing.push_back({.first = event.thread});
      Sharing& state = sharing[at->second];
      state.several |= state.first != event.thread;
      state.written |= writes_memory(event.kind);
      variables_.push_back(at->second);
    }
  }
  begin_.push_back(variables_.size());

  std::vector<VariableNumber> number(sharing.size(), kPrivate);
  for (std::size_t i = 0; i < sharing.size(); ++i)
    if (sharing[i].several && sharing[i].written) number[i] = count_++;
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
