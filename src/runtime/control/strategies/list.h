// Every strategy. Each is one object without a constructor: nothing is allocated.
#pragma once

#include "control/strategy.h"

namespace simrt::rt::control {

Strategy* random_walk();
Strategy* pct();
Strategy* partial_order_sampling();
Strategy* selectively_uniform();
Strategy* pair_directed();
Strategy* sequence_directed();
Strategy* round_robin();
Strategy* reads_from();
Strategy* periodical();

}  // namespace simrt::rt::control
