#include "detect/lock_order.h"

#include "detect/detector.h"
#include "detect/pool.h"
#include "detect/race.h"
#include "sys/lock.h"

namespace simrt::rt::detect {
namespace {

// "While `thread` held `held` (and all of `gates`) it asked for `wanted`", with when it did so, some times.
struct Moment {
  uint64_t segment;
  uint32_t hard_events;
  Clock hard;
};
constexpr uint32_t kMoments = 4;

struct Edge {
  HeldKey held, wanted;
  LockSet gates;
  uint32_t slot, index;
  uint32_t moment_count;
  Moment moments[kMoments];
  Edge* next;  // of the same held lock
  Edge* next_same;
};

constexpr uint32_t kBuckets = 1u << 14, kMostEdges = 1u << 16, kMostSteps = 20000, kMostCycles = 1u << 12;

runtime::SpinLock lock;
Edge** by_held = nullptr;
Edge** by_content = nullptr;
uint64_t* reported = nullptr;
uint32_t edge_count = 0, cycle_count = 0;
LockCycle scratch;

uint32_t hash(uint64_t a, uint64_t b) {
  return static_cast<uint32_t>((a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu) >> 40) % kBuckets;
}

bool same(const HeldKey& a, const HeldKey& b) {
  return a.lock == b.lock && a.shared == b.shared && a.site == b.site && a.context == b.context;
}

bool before(const Moment& a, uint32_t a_slot, const Moment& b) {
  return a_slot < b.hard.size && b.hard.segments[a_slot] >= a.segment;
}

// Whether the two threads could have been there at once: at some moments that nothing orders.
bool concurrent(const Edge& a, const Edge& b) {
  for (uint32_t i = 0; i < a.moment_count; ++i)
    for (uint32_t j = 0; j < b.moment_count; ++j)
      if (!before(a.moments[i], a.slot, b.moments[j]) && !before(b.moments[j], b.slot, a.moments[i]))
        return true;
  return false;
}

// `next` holds what `edge` asks for, in a mode that makes `edge` wait.
bool waits_for(const Edge& edge, const Edge& next) {
  return edge.wanted.lock == next.held.lock && !(edge.wanted.shared && next.held.shared);
}

// A depth-first search for a way from `path[0]`'s wanted lock back to the lock it holds.
struct Search {
  const Edge* path[kLongestCycle];
  uint32_t length = 0;
  uint32_t steps = 0;

  bool fits(const Edge& edge) const {
    for (uint32_t i = 0; i < length; ++i) {
      if (path[i]->slot == edge.slot || path[i]->held.lock == edge.held.lock ||
          keep_apart(path[i]->gates, edge.gates) || !concurrent(*path[i], edge)) {
        return false;
      }
    }
    return true;
  }

  template <class Found>
  void go_on(Found found) {
    const Edge& last = *path[length - 1];
    if (length > 1 && waits_for(last, *path[0])) {
      found(*this);
      return;
    }
    if (length == kLongestCycle) return;
    for (const Edge* edge = by_held[hash(last.wanted.lock, 0)]; edge != nullptr; edge = edge->next) {
      if (++steps > kMostSteps) return;
      if (!waits_for(last, *edge) || !fits(*edge)) continue;
      path[length++] = edge;
      go_on(found);
      --length;
    }
  }
};

// One report for each set of (held at, wanted at) sites.
bool first_time(const Search& search) {
  uint64_t key = search.length;
  for (uint32_t i = 0; i < search.length; ++i) {
    const Edge& edge = *search.path[i];
    uint64_t part = (uint64_t{edge.held.site} << 32 | edge.wanted.site) * 0x9e3779b97f4a7c15u;
    part ^= part >> 31;
    key += part * part;
  }
  if (key == 0) key = 1;
  for (uint32_t at = hash(key, 1) % kMostCycles, n = 0; n < kMostCycles; ++n, at = (at + 1) % kMostCycles) {
    if (reported[at] == key) return false;
    if (reported[at] != 0) continue;
    reported[at] = key;
    return true;
  }
  return false;
}

void report(const Search& search) {
  if (!first_time(search)) return;
  scratch.id = cycle_count++;
  scratch.count = search.length;
  for (uint32_t i = 0; i < search.length; ++i) {
    scratch.edges[i].thread = search.path[i]->index;
    fill_held(scratch.edges[i].held, search.path[i]->held);
    fill_held(scratch.edges[i].wanted, search.path[i]->wanted);
  }
  options.sink->lock_cycle(scratch);
}

// Remembers when: not twice for moments that every other thread sees alike.
bool add_moment(Edge& edge, const Thread& thread) {
  if (edge.moment_count > 0 && edge.moments[edge.moment_count - 1].hard_events == thread.hard_events)
    return false;
  if (edge.moment_count == kMoments) return false;
  Moment& moment = edge.moments[edge.moment_count++];
  moment.segment = thread.segment;
  moment.hard_events = thread.hard_events;
  moment.hard.join(thread.clock[Hard], slots_used);
  return true;
}

Edge* find_or_add(const Thread& thread, const HeldKey& held, const HeldKey& wanted) {
  const uint32_t content =
      hash(uint64_t{held.lock} << 32 | wanted.lock, uint64_t{thread.lockset} << 32 | wanted.site);
  for (Edge* edge = by_content[content]; edge != nullptr; edge = edge->next_same) {
    if (edge->gates == thread.lockset && edge->index == thread.index && same(edge->held, held) &&
        same(edge->wanted, wanted)) {
      return edge;
    }
  }
  if (edge_count == kMostEdges) return nullptr;
  auto* edge = static_cast<Edge*>(take(sizeof(Edge)));
  if (edge == nullptr) return nullptr;
  ++edge_count;
  edge->held = held;
  edge->wanted = wanted;
  edge->gates = thread.lockset;
  edge->slot = thread.slot;
  edge->index = thread.index;
  edge->next_same = by_content[content];
  by_content[content] = edge;
  Edge*& head = by_held[hash(held.lock, 0)];
  edge->next = head;
  head = edge;
  return edge;
}

}  // namespace

bool make_lock_order() {
  by_held = reserve_array<Edge*>(kBuckets);
  by_content = reserve_array<Edge*>(kBuckets);
  reported = reserve_array<uint64_t>(kMostCycles);
  return by_held != nullptr && by_content != nullptr && reported != nullptr;
}

void note_request(Thread& thread, const HeldKey& wanted) {
  lock.lock();
  for (uint32_t i = 0; i < thread.held_count; ++i) {
    Edge* edge = find_or_add(thread, thread.held[i].key, wanted);
    if (edge == nullptr || !add_moment(*edge, thread)) continue;
    Search search;
    search.path[0] = edge;
    search.length = 1;
    search.go_on([](const Search& found) { report(found); });
  }
  lock.unlock();
}

void lock_order_fork_child() { lock.reset(); }

}  // namespace simrt::rt::detect
