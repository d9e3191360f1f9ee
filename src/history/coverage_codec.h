// Thread-wise coverage of a run as a blob: roles and CRoaring bitmaps in their portable format. Internal to
// the layer.
#pragma once

#include <string>
#include <string_view>

#include "model/coverage.h"
#include "support/result.h"

namespace simrt::history {

/// Canonical bytes (threads ordered by role, runs optimised): equal bytes mean equal coverage.
std::string encode_coverage(const TestCoverage& coverage);
/// `blob` is the sealed form. Error: History.
Result<TestCoverage> decode_coverage(std::string_view blob);
std::string seal_coverage(std::string_view bytes);

}  // namespace simrt::history
