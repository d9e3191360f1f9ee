// Which accesses of p' are impacted, by which rule, and why. The first rule to mark an access gives the
// reason; rules run in the order of how much their reason tells. Knows nothing of what the rules look for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "impact/call_graph.h"
#include "impact/program_index.h"
#include "model/impact.h"

namespace simrt::impact {

struct Cause {
  ImpactRule rule = ImpactRule::NotImpacted;
  std::string text;
  std::string file;
  SourcePoint at;
};

/// Whether what a call runs includes the threads that it starts.
enum class Threads : std::uint8_t { All, Own };

class Marks {
 public:
  Marks(const ProgramIndex& after, const CallGraph& calls);

  std::uint32_t add(Cause cause);
  const Cause& cause(std::uint32_t id) const { return causes_[id]; }

  /// Marks the event if it is an access not marked yet.
  void event(std::uint32_t event, std::uint32_t cause);
  void element(std::uint32_t element, std::uint32_t cause);
  void function(std::uint32_t function, std::uint32_t cause);
  /// Marks all accesses in the functions and in everything they may call.
  void closure(const std::vector<std::uint32_t>& functions, std::uint32_t cause,
               Threads threads = Threads::All);
  /// The same for the callees of one call event of p'.
  void callees(std::uint32_t call_event, std::uint32_t cause, Threads threads = Threads::All);
  /// Marks the element's accesses and those of the functions it calls, but not what these call.
  void near(std::uint32_t element, std::uint32_t cause, Threads threads = Threads::All);
  /// Marks the element's accesses and the closures of its calls.
  void execution(std::uint32_t element, std::uint32_t cause, Threads threads = Threads::All);

  /// Cause of an access, kNone when it is not impacted.
  std::uint32_t of(std::uint32_t event) const { return of_event_[event]; }
  bool any() const { return any_; }

 private:
  const ProgramIndex& index_;
  const CallGraph& calls_;
  std::vector<Cause> causes_;
  std::vector<std::uint32_t> of_event_;
  std::vector<bool> closed_;      ///< nodes whose whole closure is marked already
  std::vector<bool> own_closed_;  ///< the same for Threads::Own
  bool any_ = false;
};

}  // namespace simrt::impact
