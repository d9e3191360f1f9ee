// Reasons in words: shared by select() and by the two explaining functions.
#pragma once

#include "select/matcher.h"
#include "select/select.h"

namespace simrt::select {

/// The one-line reason of every test that is skipped.
Reason skip_reason(const SelectInput& input);

/// Why `pair` speaks for a test with this coverage, which covers it.
Reason pair_reason(const SelectInput& input, const Targets& targets, const TestCoverage& coverage,
                   std::uint32_t pair);

}  // namespace simrt::select
