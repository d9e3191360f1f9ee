#include "pipeline/explore/nondeterminism.h"

#include <fmt/format.h>

#include "pipeline/execution/inputs.h"
#include "pipeline/steer/recorded.h"

namespace simrt::pipeline {
namespace {

/// "f at file.cc:3"; empty where the event has no place in the project.
std::string place_of(const testing::Execution& one, const testing::Execution& other, std::size_t event,
                     Symbols& symbols) {
  const testing::Execution& from = event < one.events.size() ? one : other;
  if (event >= from.events.size()) return {};
  const auto stack = symbols.stack(from, {from.events[event].pc});
  const CodeFrame* frame = own_frame(stack);
  return frame != nullptr && !frame->file.empty()
             ? fmt::format("{} at {}:{}", frame->function, frame->file, frame->line)
             : std::string();
}

}  // namespace

std::optional<report::Nondeterminism> difference(const Observed& one, const Observed& again,
                                                 Symbols& symbols) {
  const testing::Execution &before = one.result.execution, &now = again.result.execution;
  report::Nondeterminism found;
  std::size_t event = first_difference(before, now, false);
  if (event != SIZE_MAX) {
    found.differs = "events";
  } else if (event = first_difference(before, now, true); event != SIZE_MAX) {
    found.differs = "addresses";
  } else if (one.output != again.output) {
    found.differs = "output";
  } else {
    return std::nullopt;
  }
  if (event != SIZE_MAX) {
    found.event = event + 1;
    found.place = place_of(before, now, event, symbols);
  }
  found.inputs = inputs_of({&before, &now}, {event, true}, &symbols);
  return found;
}

std::string to_string(const report::Nondeterminism& found) {
  const std::string place = found.place.empty() ? fmt::format("event {}", found.event)
                                                : fmt::format("event {} ({})", found.event, found.place);
  const std::string read =
      found.inputs.empty()
          ? "it is not known what decides there: uninitialised memory, maybe, or an address"
          : fmt::format("what the program read and is not controlled: {}", to_string(found.inputs));
  if (found.differs == "events")
    return fmt::format("not deterministic: under the same schedule two executions differ from {} on; {}",
                       place, read);
  if (found.differs == "output")
    return fmt::format("not deterministic: under the same schedule two executions print different output; {}",
                       read);
  return fmt::format(
      "addresses differ between executions under the same schedule, first at {}: what depends on them (hash "
      "tables of pointers) may, too; {}",
      place, read);
}

}  // namespace simrt::pipeline
