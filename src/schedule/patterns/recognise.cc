#include "schedule/patterns/recognise.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "schedule/patterns/conflict_edges.h"

namespace simrt::schedule {
namespace {

/// All accesses of one thread at one site to one variable in one mode.
struct Accesses {
  ThreadIndex thread;
  std::uint32_t site;
  StepTime first, last;
  /// Bits, by Edge::number_to: edges to this thread, on other variables, that spanned one of them. Those from
  /// 64 on: `far_hits` (number, 0 = none).
  std::uint64_t hits = 0;
  std::uint32_t far_hits = 0;
  bool writes;
};
static_assert(sizeof(Accesses) == 32);  // two a line: an execution walks through all of them

EdgeModes modes_of(bool first_writes, bool second_writes) {
  if (first_writes && second_writes) return EdgeModes::WriteWrite;
  return first_writes ? EdgeModes::WriteRead : EdgeModes::ReadWrite;
}

/// The patterns on two variables by shape and the modes of the edge on x.
PatternNumber pattern_of(std::uint8_t shape, EdgeModes x) {
  const int modes = static_cast<int>(x);
  static constexpr std::array<PatternNumber, 3> behind{9, 12, 14}, crossing{10, 13, 15}, inside{11, 17, 16};
  if (shape == kBehind) return behind[modes];
  return shape == kCrossing ? crossing[modes] : inside[modes];
}

PatternNumber pattern_of(EdgeModes modes) {
  return modes == EdgeModes::ReadWrite ? 1 : modes == EdgeModes::WriteRead ? 2 : 3;
}

/// 0 when the three accesses can be serialised.
PatternNumber pattern_of(bool first_writes, bool second_writes, bool third_writes) {
  static constexpr std::array<PatternNumber, 8> patterns{0, 0, 4, 7, 0, 6, 5, 8};
  return patterns[(first_writes ? 4u : 0u) + (second_writes ? 2u : 0u) + (third_writes ? 1u : 0u)];
}

bool has_bit(const std::vector<std::uint64_t>& bits, std::uint32_t bit) {
  return bit / 64 < bits.size() && (bits[bit / 64] >> (bit % 64) & 1) != 0;
}

bool set_bit(std::vector<std::uint64_t>& bits, std::uint32_t bit) {
  if (bits.size() <= bit / 64) bits.resize(bit / 64 + 1);
  const std::uint64_t mask = 1ULL << (bit % 64);
  const bool fresh = (bits[bit / 64] & mask) == 0;
  bits[bit / 64] |= mask;
  return fresh;
}

}  // namespace

class PatternRecogniser::State {
 public:
  explicit State(RecogniserLimits limits) : limits_(limits) {}

  void step(ThreadIndex thread, SiteId site, bool reads, bool writes,
            std::span<const VariableNumber> variables) {
    if (now_ == kNever - 1) {
      cut = true;
      return;
    }
    ++now_;
    const std::uint32_t number = intern(site);
    edges_now_.clear();
    if (last_steps_.size() <= thread) last_steps_.resize(thread + 1);
    for (const VariableNumber variable : variables) {
      if (variables_.size() <= variable) variables_.resize(variable + 1);
      if (reads) look_back(thread, number, false, variable);
      if (writes) look_back(thread, number, true, variable);
    }
    for (const EndingEdge& ending : edges_now_) remember(ending);
    for (const VariableNumber variable : variables) {
      last_steps_[thread].note(variable, now_);
      if (reads) note_access(thread, number, false, variable);
      if (writes) note_access(thread, number, true, variable);
    }
  }

  /// A step on this variable comes soon: its line in the table; then, a little later, what is known of it.
  void expect(VariableNumber variable) const {
    if (variable < variables_.size()) __builtin_prefetch(&variables_[variable]);
  }
  void expect_now(VariableNumber variable) const {
    constexpr std::size_t kLine = 64, kMostLines = 8;
    if (variable >= variables_.size()) return;
    const std::vector<Accesses>& all = variables_[variable];
    const auto* data = reinterpret_cast<const char*>(all.data());
    const std::size_t lines = std::min(kMostLines, (all.size() * sizeof(Accesses) + kLine - 1) / kLine);
    for (std::size_t i = 0; i < lines; ++i) __builtin_prefetch(data + i * kLine);
  }

  std::unordered_set<PatternInstance> found;
  bool cut = false;

 private:
  /// An edge that ends with the current step. What it tells is remembered only behind all questions of this
  /// step: the accesses of one step are not before one another.
  struct EndingEdge {
    EdgeGroup* group;
    EdgeNumber edge;
    VariableNumber variable;
    StepTime first_start, last_start;
  };

  std::uint32_t intern(SiteId site) {
    const auto [at, fresh] = numbers_.try_emplace(site, static_cast<std::uint32_t>(sites_.size()));
    if (fresh) sites_.push_back(site);
    return at->second;
  }

  void emit(PatternNumber pattern, std::initializer_list<std::uint32_t> numbers) {
    if (found.size() >= limits_.instances) {
      cut = true;
      return;
    }
    PatternInstance instance;
    instance.pattern = pattern;
    std::size_t i = 0;
    for (const std::uint32_t number : numbers) instance.sites[i++] = sites_[number];
    found.insert(instance);
  }

  void look_back(ThreadIndex thread, std::uint32_t site, bool writes, VariableNumber variable) {
    std::vector<Accesses>& all = variables_[variable];
    StepTime previous = 0;
    const StepTime elsewhere = last_steps_[thread].other_than(variable);
    own_.clear();
    for (const Accesses& own : all) {
      if (own.thread != thread) continue;
      own_.push_back(&own);
      if (own.site == site && own.writes == writes) previous = own.last;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      Accesses& before = all[i];
      if (before.thread == thread || !(before.writes || writes)) continue;
      EdgeGroup* back = edges_.find_group(thread, before.thread);
      const bool again = before.last <= previous;
      const bool back_again = back == nullptr || back->last_end <= previous;
      if (again && back_again && elsewhere < previous) continue;  // not even a longer span could matter
      EdgeGroup& group = edges_.group(before.thread, thread);
      const EdgeModes modes = modes_of(before.writes, writes);
      const auto [number, fresh] = edges_.edge(group, before.site, site, modes);
      if (fresh) emit(pattern_of(modes), {before.site, site});
      if (!again) find_triples(before, writes, edges_[number]);
      if (!again || !back_again) compare(number, before, variable, back);
      edges_now_.push_back({&group, number, variable, before.first, before.last});
    }
  }

  void find_triples(const Accesses& middle, bool writes, Edge& edge) {
    for (const Accesses* own : own_) {
      if (own->first >= middle.last) continue;
      const PatternNumber pattern = pattern_of(own->writes, middle.writes, writes);
      if (pattern == 0 || !set_bit(edges_.kind(edge).before, 2 * own->site + (own->writes ? 1 : 0))) continue;
      emit(pattern, {own->site, middle.site, edge.second_site});
    }
  }

  bool worth_comparing(std::uint32_t in_vain) const {
    if (in_vain < limits_.patience) return true;
    return in_vain % (in_vain < 16 * limits_.patience ? 16 : 256) == 0;
  }

  /// The edge from `before` to the current step against all edges back, on other variables.
  void compare(EdgeNumber number, Accesses& before, VariableNumber variable, const EdgeGroup* back) {
    if (back == nullptr) return;
    Edge& edge = edges_[number];
    for (; edge.opposites_seen < back->edges.size(); ++edge.opposites_seen) {
      const EdgeNumber other = back->edges[edge.opposites_seen];
      if (edges_[other].modes != opposite(edge.modes)) continue;
      edge.opposites.push_back(other);
      edge.in_vain = 0;
    }
    if (edge.opposites.empty() || !worth_comparing(edge.in_vain++)) return;
    std::size_t kept = 0;
    for (const EdgeNumber number_back : edge.opposites) {
      const Edge& other = edges_[number_back];
      std::uint8_t& found = edges_.found(edge, other);
      if (found == kAllShapes) continue;
      if (const std::uint8_t fresh = new_shapes(other, number_back, found, before, variable)) {
        emit_two(edge, other, fresh);
        found |= fresh;
        edge.in_vain = 0;
      }
      if (found != kAllShapes) edge.opposites[kept++] = number_back;
    }
    edge.opposites.resize(kept);
  }

  /// The shapes that the edge from `before` to the current step makes with `other`, without those of `found`.
  std::uint8_t new_shapes(const Edge& other, EdgeNumber number, std::uint8_t found, Accesses& before,
                          VariableNumber variable) {
    std::uint8_t shapes = 0;
    if ((found & kBehind) == 0 && other.earliest_end.other_than(variable) < before.last) shapes |= kBehind;
    if ((found & kInside) == 0 && other.latest_start.other_than(variable) > before.first) shapes |= kInside;
    if ((found & kCrossing) == 0 && spanned(before, number, variable)) shapes |= kCrossing;
    return shapes;
  }

  /// Whether an access of `accesses` lay inside a span of the edge on another variable. The last access is
  /// asked about now; the earlier ones were when they were replaced, and later spans that contain an earlier
  /// access contain the last one too.
  bool spanned(Accesses& accesses, EdgeNumber number, VariableNumber variable) {
    const Edge& edge = edges_[number];
    if (has_hit(accesses, edge.number_to)) return true;
    if (!edge.spans.contains(accesses.last, variable)) return false;
    set_hit(accesses, edge.number_to);
    return true;
  }

  bool has_hit(const Accesses& accesses, std::uint32_t bit) const {
    if (bit < 64) return (accesses.hits >> bit & 1) != 0;
    return accesses.far_hits != 0 && has_bit(far_hits_[accesses.far_hits - 1], bit - 64);
  }
  /// True when it was not set.
  bool set_hit(Accesses& accesses, std::uint32_t bit) {
    if (bit < 64) {
      const bool fresh = (accesses.hits >> bit & 1) == 0;
      accesses.hits |= 1ULL << bit;
      return fresh;
    }
    if (accesses.far_hits == 0) {
      far_hits_.emplace_back();
      accesses.far_hits = static_cast<std::uint32_t>(far_hits_.size());
    }
    return set_bit(far_hits_[accesses.far_hits - 1], bit - 64);
  }

  /// The same of all edges of a group. True when some edge was new.
  bool note_spans(Accesses& accesses, const EdgeGroup& group, VariableNumber variable) {
    bool fresh = false;
    for (std::size_t i = 0; i < group.edges.size(); ++i) {
      if (group.ends[i] <= accesses.last || has_hit(accesses, group.numbers_to[i])) continue;
      if (!edges_[group.edges[i]].spans.contains(accesses.last, variable)) continue;
      fresh |= set_hit(accesses, group.numbers_to[i]);
    }
    return fresh;
  }

  void emit_two(const Edge& ending, const Edge& other, std::uint8_t shapes) {
    if (shapes & kBehind)
      emit(pattern_of(kBehind, other.modes),
           {other.first_site, other.second_site, ending.first_site, ending.second_site});
    if (shapes & kCrossing)
      emit(pattern_of(kCrossing, other.modes),
           {other.first_site, ending.first_site, other.second_site, ending.second_site});
    if (shapes & kInside)
      emit(pattern_of(kInside, ending.modes),
           {ending.first_site, other.first_site, other.second_site, ending.second_site});
  }

  void remember(const EndingEdge& ending) {
    Edge& edge = edges_[ending.edge];
    edge.earliest_end.note(ending.variable, now_);
    edge.latest_start.note(ending.variable, ending.last_start);
    edge.spans.note(ending.variable, ending.first_start, now_);
    ending.group->ends[edge.number_in_group] = now_;
    ending.group->last_end = now_;
  }

  void note_access(ThreadIndex thread, std::uint32_t site, bool writes, VariableNumber variable) {
    for (Accesses& own : variables_[variable]) {
      if (own.thread != thread || own.site != site || own.writes != writes) continue;
      for (const ThreadIndex source : edges_.sources_of(thread)) {
        EdgeGroup& group = *edges_.find_group(source, thread);
        if (group.last_end <= own.last || !worth_comparing(group.in_vain++)) continue;
        if (note_spans(own, group, variable)) group.in_vain = 0;
      }
      own.last = now_;
      return;
    }
    variables_[variable].push_back(
        {.thread = thread, .site = site, .first = now_, .last = now_, .writes = writes});
  }

  RecogniserLimits limits_;
  StepTime now_ = 0;
  std::unordered_map<SiteId, std::uint32_t> numbers_;
  std::vector<SiteId> sites_;
  std::vector<std::vector<Accesses>> variables_;
  std::vector<const Accesses*> own_;  ///< of the current step's thread and variable
  std::vector<std::vector<std::uint64_t>> far_hits_;
  EdgeTable edges_;
  std::vector<LatestStart> last_steps_;  ///< of each thread, on any variable but one
  std::vector<EndingEdge> edges_now_;
};

PatternRecogniser::PatternRecogniser(RecogniserLimits limits) : state_(std::make_unique<State>(limits)) {}
PatternRecogniser::~PatternRecogniser() = default;

void PatternRecogniser::step(ThreadIndex thread, SiteId site, bool reads, bool writes,
                             std::span<const VariableNumber> variables) {
  state_->step(thread, site, reads, writes, variables);
}
void PatternRecogniser::expect(VariableNumber variable) const { state_->expect(variable); }
void PatternRecogniser::expect_now(VariableNumber variable) const { state_->expect_now(variable); }
const std::unordered_set<PatternInstance>& PatternRecogniser::found() const { return state_->found; }
bool PatternRecogniser::cut() const { return state_->cut; }

Recognised recognise(const Execution& execution, RecogniserLimits limits) {
  const SharedVariables shared(execution);
  PatternRecogniser recogniser(limits);
  // What is known of 100,000 variables fits into no cache: it is asked for ahead of its use.
  constexpr std::size_t kSoon = 16, kNow = 8;
  const std::size_t count = execution.events.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kSoon < count)
      for (const VariableNumber variable : shared.touched_by(i + kSoon)) recogniser.expect(variable);
    if (i + kNow < count)
      for (const VariableNumber variable : shared.touched_by(i + kNow)) recogniser.expect_now(variable);
    const ExecutionEvent& event = execution.events[i];
    const auto variables = shared.touched_by(i);
    if (variables.empty()) continue;
    recogniser.step(event.thread, event.site, reads_memory(event.kind), writes_memory(event.kind), variables);
  }
  return {recogniser.found(), recogniser.cut()};
}

}  // namespace simrt::schedule
