#include "impact/site_flow.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace simrt::impact {
namespace {

constexpr std::size_t kBits = 64;

}  // namespace

SiteFlow::SiteFlow(const CallGraph& calls, std::vector<BlockId> sites,
                   std::function<bool(std::uint32_t)> pass)
    : calls_(calls), sites_(std::move(sites)), pass_(std::move(pass)) {
  std::sort(sites_.begin(), sites_.end());
  sites_.erase(std::unique(sites_.begin(), sites_.end()), sites_.end());
  words_ = (sites_.size() + kBits - 1) / kBits;
  row_of_.assign(std::size_t{calls.node_count()} * 2, kNone);
}

std::uint32_t SiteFlow::row(State state) {
  if (row_of_[state] == kNone) {
    row_of_[state] = static_cast<std::uint32_t>(words_ == 0 ? 0 : bits_.size() / words_);
    bits_.resize(bits_.size() + words_);
  }
  return row_of_[state];
}

std::vector<SiteFlow::Word> SiteFlow::bits_of(std::span<const BlockId> sites) const {
  std::vector<Word> bits(words_, 0);
  for (const BlockId& site : sites) {
    const auto bit =
        static_cast<std::size_t>(std::lower_bound(sites_.begin(), sites_.end(), site) - sites_.begin());
    bits[bit / kBits] |= Word{1} << (bit % kBits);
  }
  return bits;
}

void SiteFlow::set(const std::vector<Word>& bits, State state) {
  if (row_of_[state] == kNone) starts_.push_back(state);
  const std::size_t first = row(state) * words_;
  for (std::size_t i = 0; i < words_; ++i) bits_[first + i] |= bits[i];
}

void SiteFlow::start(std::span<const CallEdge> edges, const Places& from) {
  std::vector<BlockId> here = from.here;
  if (from.unknown) here.emplace_back();
  const std::vector<Word> here_bits = bits_of(here), started_bits = bits_of(from.started);
  for (const CallEdge& edge : edges) {
    const State started = edge.callee * 2 + 1;
    if (!here.empty()) set(here_bits, calls_.starts_thread(edge) ? started : edge.callee * 2);
    if (!from.started.empty()) set(started_bits, started);
  }
}

template <class Visit>
void SiteFlow::for_each_next(State state, Visit visit) const {
  const std::uint32_t node = state / 2;
  if (!pass_(node)) return;
  for (const CallEdge& edge : calls_.out(node))
    visit(edge.callee * 2 + (state % 2 != 0 || calls_.starts_thread(edge) ? 1 : 0));
}

/// All states that are reached; each gets its row.
std::vector<SiteFlow::State> SiteFlow::reverse_postorder() {
  std::vector<State> order;
  std::vector<std::uint8_t> seen(row_of_.size(), 0);
  std::vector<std::pair<State, bool>> work;  // a state, and whether its successors are done
  for (State start : starts_) {
    work.emplace_back(start, false);
    while (!work.empty()) {
      const auto [state, done] = work.back();
      work.pop_back();
      if (done) {
        order.push_back(state);
        continue;
      }
      if (seen[state] != 0) continue;
      seen[state] = 1;
      row(state);
      work.emplace_back(state, true);
      for_each_next(state, [&](State next) {
        if (seen[next] == 0) work.emplace_back(next, false);
      });
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

bool SiteFlow::merge(State from, State into) {
  const Word* const source = bits_.data() + row_of_[from] * words_;
  Word* const target = bits_.data() + row_of_[into] * words_;
  Word added = 0;
  for (std::size_t i = 0; i < words_; ++i) {
    added |= source[i] & ~target[i];
    target[i] |= source[i];
  }
  return added != 0;
}

/// In this order one sweep is enough but for cycles of calls.
void SiteFlow::run() {
  const std::vector<State> order = reverse_postorder();
  bool again = true;
  while (again) {
    again = false;
    for (State state : order) for_each_next(state, [&](State next) { again = merge(state, next) || again; });
  }
}

void SiteFlow::collect(State state, std::vector<BlockId>& blocks, bool& unknown) const {
  if (row_of_[state] == kNone) return;
  const Word* const bits = bits_.data() + row_of_[state] * words_;
  for (std::size_t word = 0; word < words_; ++word) {
    for (Word left = bits[word]; left != 0; left &= left - 1) {
      const BlockId& site = sites_[word * kBits + static_cast<std::size_t>(std::countr_zero(left))];
      if (site == BlockId{})
        unknown = true;
      else
        blocks.push_back(site);
    }
  }
}

Places SiteFlow::places(std::uint32_t node) const {
  Places result;
  collect(node * 2, result.here, result.unknown);
  collect(node * 2 + 1, result.started, result.unknown);
  return result;
}

}  // namespace simrt::impact
