// Rows that runs refer to, shared by recording and merging. Internal to the layer; inside a transaction only.
#pragma once

#include <cstdint>

#include "history/connection.h"
#include "model/test.h"

namespace simrt::history {

/// The test's row and its definition; returns the definition's row.
std::int64_t store_test_case(Connection& connection, const TestCase& test);
/// Deletes what announce_tests() noted of tests that have a real run at the same revision.
void drop_answered_announcements(Connection& connection);
/// Returns the row of equal coverage, stored now or before.
std::int64_t store_coverage(Connection& connection, const TestCoverage& coverage);

}  // namespace simrt::history
