#include "pipeline/check/diagnose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "pipeline/check/trace_view.h"

namespace simrt::pipeline {
namespace {

// How much is looked at: the end of the failing execution, where its cause is near.
constexpr std::size_t kWindow = 600;  // shared accesses of a thread
constexpr std::size_t kEarlier = 6;   // accesses of other memory before one that may belong to it
constexpr std::size_t kSame = 3;      // the same of its own memory
constexpr std::size_t kBetween = 4;   // other threads' accesses between two
constexpr std::size_t kReads = 60;    // last reads of the failing thread
constexpr std::size_t kPredicates = 2000;
constexpr double kGoodEnough = 0.8, kOneOfMany = 0.1, kGrades = 20;
constexpr std::size_t kNever = SIZE_MAX;
constexpr std::size_t kMostTried = 16;  // occurrences of a place, the latest first

/// An access as predicates speak of it: where (TraceAccess::place or ::site), in which way.
struct Place {
  std::uint64_t where = 0;
  bool writes = false;
  auto operator<=>(const Place&) const = default;
};

/// Steps 0 to count - 1 in this order. Atomicity: `local` steps are one thread's, the others another's;
/// `variable` tells which ones touch the same memory. Order: step 0 and step 1 by two threads.
struct Predicate {
  std::uint32_t pattern = 0;
  std::uint32_t count = 0;
  std::array<Place, 4> places;
  std::array<bool, 4> local{};
  std::array<std::uint8_t, 4> variable{};
  bool missing = false;   // order: step 0 happens although step 1 has not happened before it
  bool sees_own = false;  // then: it sees what its own thread wrote
  auto identity() const { return std::tie(pattern, count, places, local, variable, missing, sees_own); }
};

struct Found {
  Predicate predicate;
  std::array<DiagnosedStep, 4> steps;
  std::size_t distance = 0;  // accesses of the thread between the local ones; one variable: of that variable
};

struct PatternShape {
  std::uint32_t id, count;
  std::array<char, 4> kinds;  // 'R', 'W'
  std::array<bool, 4> local;
  std::array<std::uint8_t, 4> variable;
};

constexpr std::array<PatternShape, 14> kShapes = {{
    {4, 3, {'R', 'W', 'R'}, {true, false, true}, {0, 0, 0}},
    {5, 3, {'W', 'W', 'R'}, {true, false, true}, {0, 0, 0}},
    {6, 3, {'W', 'R', 'W'}, {true, false, true}, {0, 0, 0}},
    {7, 3, {'R', 'W', 'W'}, {true, false, true}, {0, 0, 0}},
    {8, 3, {'W', 'W', 'W'}, {true, false, true}, {0, 0, 0}},
    {9, 4, {'W', 'W', 'W', 'W'}, {true, false, false, true}, {0, 0, 1, 1}},
    {10, 4, {'W', 'W', 'W', 'W'}, {true, false, false, true}, {0, 1, 0, 1}},
    {11, 4, {'W', 'W', 'W', 'W'}, {true, false, true, false}, {0, 1, 1, 0}},
    {12, 4, {'W', 'R', 'R', 'W'}, {true, false, false, true}, {0, 0, 1, 1}},
    {13, 4, {'W', 'R', 'R', 'W'}, {true, false, false, true}, {0, 1, 0, 1}},
    {14, 4, {'R', 'W', 'W', 'R'}, {true, false, false, true}, {0, 0, 1, 1}},
    {15, 4, {'R', 'W', 'W', 'R'}, {true, false, false, true}, {0, 1, 0, 1}},
    {16, 4, {'R', 'W', 'R', 'W'}, {true, false, true, false}, {0, 1, 1, 0}},
    {17, 4, {'W', 'R', 'W', 'R'}, {true, false, true, false}, {0, 1, 1, 0}},
}};

/// A read and write in one counts as the write: it conflicts with whatever the read would.
bool is_kind(const TraceAccess& access, char kind) { return kind == 'W' ? access.writes : !access.writes; }

/// How far apart in the tree of calls two accesses of one thread are: 0 = made by one function.
std::size_t calls_apart(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  std::size_t common = 0;
  while (common < a.size() && common < b.size() && a[a.size() - 1 - common] == b[b.size() - 1 - common])
    ++common;
  return a.size() + b.size() - 2 * common;
}

class Diagnoser {
 public:
  explicit Diagnoser(const std::vector<JudgedExecution>& executions) : executions_(executions) {
    std::unordered_set<std::uint64_t> shared;
    for (const JudgedExecution& judged : executions) add_shared_words(judged.execution, shared);
    for (const JudgedExecution& judged : executions) views_.emplace_back(judged.execution, shared);
  }
  std::optional<Diagnosis> run();

 private:
  /// An access of the failing execution, or one that its thread would have made next: then of another one.
  struct Local {
    const TraceAccess* access;
    DiagnosedStep step;
    std::size_t position;  // in the failing execution; its end for what would have come
  };
  std::vector<Local> locals_of(std::uint32_t thread) const;
  void add_continuation(std::uint32_t thread, std::vector<Local>& locals) const;
  static bool is_first_half(const std::vector<Local>& locals, std::size_t at);
  void find_unserialisable(std::uint32_t thread);
  void match(const PatternShape& shape, const Local& first, const Local& second, std::size_t distance);
  void find_orders();
  void find_order(const TraceAccess& read, const TraceView& passing, std::size_t number);
  void add(const Predicate& predicate, const std::array<DiagnosedStep, 4>& steps, std::size_t distance);
  bool holds(const Predicate& predicate, const TraceView& view, bool failed) const;
  bool order_holds(const Predicate& predicate, const TraceView& view) const;
  bool triple_holds(const Predicate& predicate, const TraceView& view, bool failed) const;
  bool cycle_holds(const Predicate& predicate, const TraceView& view, bool failed) const;
  std::size_t cost_of(const Found& found) const;
  std::vector<std::uint64_t> callers_of(const DiagnosedStep& step) const;

  const std::vector<JudgedExecution>& executions_;
  std::vector<TraceView> views_;
  std::map<std::uint32_t, std::vector<Local>> locals_;  // by thread
  std::vector<Found> found_;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::array<Place, 4>, std::array<bool, 4>,
                      std::array<std::uint8_t, 4>, bool, bool>>
      known_;
};

void Diagnoser::add(const Predicate& predicate, const std::array<DiagnosedStep, 4>& steps,
                    std::size_t distance) {
  if (found_.size() < kPredicates && known_.insert(predicate.identity()).second)
    found_.push_back({predicate, steps, distance});
}

/// What the thread would have done next had the execution not ended: as in a passing one in which it came
/// the same way.
void Diagnoser::add_continuation(std::uint32_t thread, std::vector<Local>& locals) const {
  if (thread == views_[0].last_thread()) return;  // what comes behind the failure has not caused it
  const auto& mine = views_[0].of_thread(thread);
  for (std::size_t e = 1; e < views_.size(); ++e) {
    if (executions_[e].failed) continue;
    const auto& other = views_[e].of_thread(thread);
    if (other.size() <= mine.size()) continue;
    const bool same_way =
        std::equal(mine.begin(), mine.end(), other.begin(),
                   [](const auto* a, const auto* b) { return a->site == b->site && a->writes == b->writes; });
    if (!same_way) continue;
    const std::size_t end = std::min(other.size(), mine.size() + kWindow);
    for (std::size_t i = mine.size(); i < end; ++i)
      locals.push_back({other[i], {e, other[i]->event}, views_[0].end()});
    return;
  }
}

std::vector<Diagnoser::Local> Diagnoser::locals_of(std::uint32_t thread) const {
  std::vector<Local> locals;
  const auto& accesses = views_[0].of_thread(thread);
  const std::size_t begin = accesses.size() > kWindow ? accesses.size() - kWindow : 0;
  for (std::size_t i = begin; i < accesses.size(); ++i)
    locals.push_back({accesses[i], {0, accesses[i]->event}, accesses[i]->event});
  add_continuation(thread, locals);
  return locals;
}

/// A read that the same thread's write to the same memory follows at once.
bool Diagnoser::is_first_half(const std::vector<Local>& locals, std::size_t at) {
  if (at + 1 >= locals.size() || locals[at].access->writes) return false;
  const TraceAccess& next = *locals[at + 1].access;
  return next.writes && next.address == locals[at].access->address &&
         next.event <= locals[at].access->event + 1;
}

void Diagnoser::find_unserialisable(std::uint32_t thread) {
  const auto& locals = locals_.at(thread);
  for (std::size_t z = 0; z < locals.size(); ++z) {
    if (is_first_half(locals, z)) continue;  // the read of a read and write is no access of its own
    std::size_t same = 0, others = 0;
    for (std::size_t x = z; x-- > 0 && (same < kSame || others < kEarlier);) {
      if (locals[x].position >= views_[0].end()) continue;  // both would have come later
      if (x + 1 == z && is_first_half(locals, x)) continue;
      const bool one_variable = overlap(*locals[x].access, *locals[z].access);
      std::size_t& seen = one_variable ? same : others;
      if (seen++ >= (one_variable ? kSame : kEarlier)) continue;
      for (const PatternShape& shape : kShapes)
        if ((shape.count == 3) == one_variable)
          match(shape, locals[x], locals[z], one_variable ? same - 1 : z - x);
    }
  }
}

/// The other thread's accesses of the pattern, between the two local ones or (last step of 11, 16, 17)
/// behind.
void Diagnoser::match(const PatternShape& shape, const Local& first, const Local& second,
                      std::size_t distance) {
  const std::uint32_t last_local = shape.local[3] || shape.count == 3 ? shape.count - 1 : 2;
  if (!is_kind(*first.access, shape.kinds[0]) || !is_kind(*second.access, shape.kinds[last_local])) return;
  const TraceView& view = views_[0];
  const auto between = view.others_between(first.access->thread, first.position, second.position);
  const TraceAccess* variable[2] = {first.access, second.access};
  if (shape.count == 3) variable[1] = nullptr;
  std::size_t taken = 0;
  const auto make = [&](std::array<const TraceAccess*, 4> made, std::array<DiagnosedStep, 4> steps) {
    Predicate predicate;
    predicate.pattern = shape.id;
    predicate.count = shape.count;
    predicate.local = shape.local;
    predicate.variable = shape.variable;
    // At any call of these functions, and at these calls only: what tells more is taken.
    for (std::uint32_t i = 0; i < shape.count; ++i)
      predicate.places[i] = {made[i]->place, shape.kinds[i] == 'W'};
    add(predicate, steps, distance);
    for (std::uint32_t i = 0; i < shape.count; ++i) predicate.places[i].where = made[i]->site;
    add(predicate, steps, distance);
    ++taken;
  };
  const auto fits = [&](const TraceAccess& access, std::uint32_t step) {
    return is_kind(access, shape.kinds[step]) && overlap(access, *variable[shape.variable[step]]);
  };
  for (auto one = between.rbegin(); one != between.rend() && taken < kBetween; ++one) {
    const TraceAccess& other = **one;
    if (!fits(other, 1) || view.must_precede(*first.access, first.position, other)) continue;
    const DiagnosedStep step{0, other.event};
    if (shape.count == 3) {
      make({first.access, &other, second.access}, {first.step, step, second.step});
      continue;
    }
    // The same thread's other access: before the second local one, or behind it.
    const bool behind = last_local == 2;
    for (const Local& next : locals_.at(other.thread)) {
      if (next.position <= other.event || !fits(*next.access, behind ? 3 : 2)) continue;
      if (behind ? next.position < second.position : next.position >= second.position) continue;
      if (behind) {
        make({first.access, &other, second.access, next.access}, {first.step, step, second.step, next.step});
      } else {
        make({first.access, &other, next.access, second.access}, {first.step, step, next.step, second.step});
      }
      break;
    }
  }
}

/// Reads of the failing thread that saw another write than in a passing execution: which write came too
/// early, or not yet.
void Diagnoser::find_orders() {
  const auto& accesses = views_[0].of_thread(views_[0].last_thread());
  std::size_t reads = 0;
  for (auto at = accesses.rbegin(); at != accesses.rend() && reads < kReads; ++at) {
    if (!(*at)->reads) continue;
    ++reads;
    for (std::size_t e = 1; e < views_.size(); ++e)
      if (!executions_[e].failed) find_order(**at, views_[e], e);
  }
}

void Diagnoser::find_order(const TraceAccess& read, const TraceView& passing, std::size_t number) {
  const TraceAccess* there = passing.counterpart(read);
  if (there == nullptr) return;
  const TraceAccess* saw = views_[0].writer_of(read);
  const TraceAccess* sees = passing.writer_of(*there);
  if (saw != nullptr && sees != nullptr && saw->site == sees->site && saw->thread == sees->thread) return;
  Predicate predicate;
  predicate.count = 2;
  const DiagnosedStep mine{0, read.event};
  if (saw != nullptr && saw->thread != read.thread) {
    predicate.places = {Place{saw->place, true}, Place{read.place, false}};
    add(predicate, {DiagnosedStep{0, saw->event}, mine}, 1);
  }
  if (sees != nullptr && sees->thread != read.thread) {
    predicate.places = {Place{read.place, false}, Place{sees->place, true}};
    predicate.missing = true;
    predicate.sees_own = saw != nullptr && saw->thread == read.thread;
    add(predicate, {mine, DiagnosedStep{number, sees->event}}, 1);
  }
}

bool Diagnoser::order_holds(const Predicate& predicate, const TraceView& view) const {
  const Place& read = predicate.places[predicate.missing ? 0 : 1];
  const Place& write = predicate.places[predicate.missing ? 1 : 0];
  std::size_t tried = 0;
  const auto& list = view.at(read.where);
  for (auto at = list.rbegin(); at != list.rend() && tried < kMostTried; ++at, ++tried) {
    const TraceAccess& access = **at;
    if (!access.reads) continue;
    if (predicate.missing) {  // who reads what it wrote itself is in need of no other's write, and so round
      const TraceAccess* saw = view.writer_of(access);
      if ((saw != nullptr && saw->thread == access.thread) != predicate.sees_own) continue;
    }
    bool came = false;
    for (const TraceAccess* other : view.at(write.where)) {
      if (came || other->event > access.event) break;
      came = other->thread != access.thread && other->writes && overlap(*other, access);
    }
    if (came != predicate.missing) return true;
  }
  return false;
}

/// When the thread comes to the place next; kNever. Where the execution failed first in another thread it
/// would have come: also kNever, and `cut` says so.
std::size_t next_time(const TraceView& view, const Place& place, std::uint32_t thread, std::size_t after,
                      const TraceAccess& variable, bool failed, bool& cut) {
  const auto& list = view.at(place.where);
  auto at =
      std::upper_bound(list.begin(), list.end(), after,
                       [](std::size_t event, const TraceAccess* access) { return event < access->event; });
  for (; at != list.end(); ++at)
    if ((*at)->thread == thread && (*at)->writes == place.writes && overlap(**at, variable))
      return (*at)->event;
  cut = failed && thread != view.last_thread();
  return kNever;
}

/// When the thread comes to one of the two places anew, whatever it does to the memory there; kNever.
std::size_t comes_anew(const TraceView& view, const Predicate& predicate, const TraceAccess& x) {
  std::size_t first = kNever;
  for (const std::size_t step : {std::size_t{0}, std::size_t{2}}) {
    const auto& list = view.at(predicate.places[step].where);
    auto at =
        std::upper_bound(list.begin(), list.end(), x.event,
                         [](std::size_t event, const TraceAccess* access) { return event < access->event; });
    while (at != list.end() && ((*at)->thread != x.thread || !overlap(**at, x))) ++at;
    if (at != list.end()) first = std::min(first, (*at)->event);
  }
  return first;
}

/// An access of another thread between two neighbouring ones of one variable.
bool Diagnoser::triple_holds(const Predicate& predicate, const TraceView& view, bool failed) const {
  const Place &first = predicate.places[0], &other = predicate.places[1], &second = predicate.places[2];
  std::size_t tried = 0;
  const auto& list = view.at(first.where);
  for (auto at = list.rbegin(); at != list.rend() && tried < kMostTried; ++at, ++tried) {
    const TraceAccess& x = **at;
    if (x.writes != first.writes) continue;
    bool cut = false;
    const std::size_t z = next_time(view, second, x.thread, x.event, x, failed, cut);
    if (z == kNever && !cut) continue;
    const std::size_t again = comes_anew(view, predicate, x);
    for (const TraceAccess* b : view.at(other.where))
      if (b->thread != x.thread && b->event > x.event && b->event < z && b->event < again &&
          b->writes == other.writes && overlap(*b, x))
        return true;
  }
  return false;
}

/// Patterns 9 to 17 are circles of two conflicts: x by the one thread before x by the other one, and y the
/// other way round. Whatever else their order is makes no difference.
bool Diagnoser::cycle_holds(const Predicate& predicate, const TraceView& view, bool failed) const {
  // Positions of the four accesses: x and y, of the local thread and of the other one.
  std::uint32_t at[2][2] = {};
  for (std::uint32_t i = 0; i < 4; ++i) at[predicate.local[i] ? 0 : 1][predicate.variable[i]] = i;
  const auto place = [&](int whose, int variable) { return predicate.places[at[whose][variable]]; };
  const bool other_x_first = at[1][0] < at[1][1];
  std::size_t tried = 0;
  const auto& list = view.at(place(0, 0).where);
  for (auto one = list.rbegin(); one != list.rend() && tried < kMostTried; ++one, ++tried) {
    const TraceAccess& x = **one;
    if (x.writes != place(0, 0).writes) continue;
    std::size_t others_tried = 0;
    const auto& others = view.at(place(1, other_x_first ? 0 : 1).where);
    for (auto two = others.rbegin(); two != others.rend() && others_tried < kMostTried;
         ++two, ++others_tried) {
      const TraceAccess& begin = **two;  // the other thread's first one
      if (begin.thread == x.thread || begin.writes != place(1, other_x_first ? 0 : 1).writes) continue;
      for (const TraceAccess* end : view.candidates(place(1, other_x_first ? 1 : 0).where, begin)) {
        const TraceAccess& other_x = other_x_first ? begin : *end;
        const TraceAccess& other_y = other_x_first ? *end : begin;
        if (!overlap(other_x, x) || other_x.event < x.event) continue;
        bool cut = false;
        const std::size_t y = next_time(view, place(0, 1), x.thread, x.event, other_y, failed, cut);
        if ((y != kNever || cut) && other_y.event < y) return true;
        break;
      }
      // The other one's second access is still to come: only as the later half of a conflict.
      if (other_x_first || !failed || begin.thread == view.last_thread()) continue;
      bool cut = false, y_cut = false;
      next_time(view, place(1, 0), begin.thread, begin.event, x, failed, cut);
      const std::size_t y = next_time(view, place(0, 1), x.thread, x.event, begin, failed, y_cut);
      if (cut && y != kNever && begin.event < y) return true;
    }
  }
  return false;
}

bool Diagnoser::holds(const Predicate& predicate, const TraceView& view, bool failed) const {
  if (predicate.pattern == 0) return order_holds(predicate, view);
  return predicate.count == 3 ? triple_holds(predicate, view, failed) : cycle_holds(predicate, view, failed);
}

std::vector<std::uint64_t> Diagnoser::callers_of(const DiagnosedStep& step) const {
  const auto& execution = executions_[step.execution].execution;
  const std::uint32_t id = execution.events[step.event].callers;
  return id < execution.stacks.size() ? execution.stacks[id] : std::vector<std::uint64_t>();
}

/// Of equally telling predicates: two accesses of one variable in one function or in one that it calls, then
/// an order, then two variables; last what looks like the turns of a loop.
std::size_t Diagnoser::cost_of(const Found& found) const {
  constexpr std::size_t kNear = 2, kOrder = 3, kTwoVariables = 4, kFar = 6;
  const Predicate& predicate = found.predicate;
  if (predicate.pattern == 0) return kOrder;
  std::size_t second = predicate.count - 1;
  while (!predicate.local[second]) --second;
  const std::size_t apart = calls_apart(callers_of(found.steps[0]), callers_of(found.steps[second]));
  if (predicate.count == 4) return kTwoVariables + apart;
  if (predicate.places[0].where == predicate.places[2].where) return kFar + apart;
  return (apart <= kNear ? apart : kFar + apart) + found.distance;
}

std::optional<Diagnosis> Diagnoser::run() {
  if (executions_.empty() || views_[0].end() == 0) return std::nullopt;
  for (std::uint32_t thread : views_[0].threads()) locals_[thread] = locals_of(thread);
  for (std::uint32_t thread : views_[0].threads()) find_unserialisable(thread);
  find_orders();
  std::optional<Diagnosis> best;
  std::tuple<double, std::size_t, std::size_t, std::size_t> best_key;
  for (const Found& found : found_) {
    Diagnosis diagnosis;
    diagnosis.pattern = found.predicate.pattern;
    for (std::size_t e = 0; e < views_.size(); ++e) {
      const bool failed = executions_[e].failed;
      const bool with = holds(found.predicate, views_[e], failed);
      ++(failed ? diagnosis.failing : diagnosis.passing);
      if (with) ++(failed ? diagnosis.failing_with : diagnosis.passing_with);
    }
    if (diagnosis.failing_with == 0) continue;
    const auto share = [](std::size_t part, std::size_t all) {
      return all == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(all);
    };
    const double recall = share(diagnosis.failing_with, diagnosis.failing);
    // As if as many executions passed as failed: how many of each there are is an accident of the sampling.
    const double elsewhere = diagnosis.passing == 0 ? 0 : share(diagnosis.passing_with, diagnosis.passing);
    const double precision = recall / (recall + elsewhere);
    // Failures that look alike may have two causes: one that no passing execution has needs no more than
    // half.
    const bool telling = diagnosis.passing_with == 0 && diagnosis.passing > 0 && recall >= kOneOfMany;
    if (!telling && (recall < kGoodEnough || precision < kGoodEnough)) continue;
    diagnosis.steps.assign(found.steps.begin(), found.steps.begin() + found.predicate.count);
    const double score = 2 * recall * precision / (recall + precision);
    std::size_t last = 0;  // nearest to the failure
    for (const DiagnosedStep& step : diagnosis.steps)
      if (step.execution == 0) last = std::max(last, step.event);
    // Small differences are noise.
    const double grade = telling ? kGrades + recall : std::round(kGrades * score);
    const std::tuple key(-grade, cost_of(found), views_[0].end() - last, found.distance);
    if (best && !(key < best_key)) continue;
    best = std::move(diagnosis);
    best_key = key;
  }
  return best;
}

}  // namespace

std::optional<Diagnosis> diagnose(const std::vector<JudgedExecution>& executions) {
  return Diagnoser(executions).run();
}

}  // namespace simrt::pipeline
