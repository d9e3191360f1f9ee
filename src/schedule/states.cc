#include "schedule/states.h"

#include <unordered_map>

#include "schedule/patterns/shared_variables.h"
#include "support/hash.h"

namespace simrt::schedule {
namespace {

/// Others can notice such a step, if it is no access to memory. That threads come and go is left out: it says
/// little, and there would be as many states more.
bool is_synchronisation(EventKind kind) {
  switch (kind) {
    case EventKind::Fence:
    case EventKind::Create:
    case EventKind::Begin:
    case EventKind::End:
    case EventKind::Join:
    case EventKind::Allocate:
    case EventKind::Free:
    case EventKind::Yield:
    case EventKind::External:
      return false;
    default:
      return !is_memory(kind);
  }
}

/// Of the value that an atomic access found or left; 0 = not known.
std::uint32_t found_by(const ExecutionEvent& event) { return event.value & 0xffff; }
std::uint32_t left_by(const ExecutionEvent& event) { return event.value >> 16; }

/// One address. What nobody has changed, or was changed back, is no part of the state.
struct Content {
  std::uint32_t initial = 0;  // hash, where the first access tells
  bool touched = false;
  std::uint64_t part = 0;  // of the state
};

std::uint64_t part_of(const ExecutionEvent& write, std::uint32_t initial) {
  const std::uint32_t left = left_by(write);
  if (left != 0 && left == initial) return 0;
  return hash_combine(write.object, left != 0 ? left : write.site.value);
}

/// A sum, so that a part can be replaced and the order of the threads plays no part.
class Whole {
 public:
  void replace(std::uint64_t& part, std::uint64_t by) {
    sum_ += by - part;
    part = by;
  }
  std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

}  // namespace

std::vector<State> states_of(const Execution& execution) {
  const SharedVariables shared(execution);
  std::unordered_map<std::uint64_t, Content> contents;  // by address
  std::vector<std::uint64_t> positions(execution.threads.size(), 0);
  std::vector<State> states;
  Whole whole;
  std::size_t choices = 0;
  for (std::size_t i = 0; i < execution.events.size(); ++i) {
    const ExecutionEvent& event = execution.events[i];
    while (choices < execution.decisions.size() && execution.decisions[choices].event <= i) ++choices;
    const std::uint64_t before = whole.sum();
    if (is_memory(event.kind) ? !shared.touched_by(i).empty() : is_synchronisation(event.kind)) {
      whole.replace(positions[event.thread],
                    hash_combine(event.site.value, static_cast<std::uint64_t>(event.kind)));
      if (is_memory(event.kind)) {
        Content& content = contents[event.object];
        if (!content.touched) content.initial = found_by(event);
        content.touched = true;
        if (writes_memory(event.kind)) whole.replace(content.part, part_of(event, content.initial));
      }
    }
    if (whole.sum() != before) states.push_back({whole.sum(), choices});
  }
  return states;
}

}  // namespace simrt::schedule
