#include "control/strategies/list.h"

namespace simrt::rt::control {

Strategy* find_strategy(format::StrategyKind kind) {
  using format::StrategyKind;
  switch (kind) {
    case StrategyKind::Default:
      return nullptr;
    case StrategyKind::Random:
      return random_walk();
    case StrategyKind::Pct:
      return pct();
    case StrategyKind::Pos:
      return partial_order_sampling();
    case StrategyKind::Surw:
      return selectively_uniform();
    case StrategyKind::Pair:
      return pair_directed();
    case StrategyKind::Sequence:
      return sequence_directed();
    case StrategyKind::RoundRobin:
      return round_robin();
    case StrategyKind::ReadsFrom:
      return reads_from();
    case StrategyKind::Periodical:
      return periodical();
  }
  return nullptr;
}

}  // namespace simrt::rt::control

// Never called: no strategy leaves a function out. Spares the dependency on the C++ library.
extern "C" [[gnu::visibility("hidden")]] void __cxa_pure_virtual() { __builtin_trap(); }
