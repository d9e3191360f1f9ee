// ThreadSanitizer's reports as an Execution.
#pragma once

#include <string>
#include <string_view>

#include "testing/execution.h"

namespace simrt::testing {

/// Options (TSAN_OPTIONS) under which ThreadSanitizer writes what parse_tsan_report() reads, to `log`.PID:
/// program counters instead of names, the test's own exit status and signals.
std::string tsan_options(const std::string& log);

/// Reads a log of clang's or gcc's runtime. Foreign input: what is damaged or not understood is left out,
/// with a note. Data races become races (Witnessed), lock-order inversions lock cycles; other reports
/// (unlocking what is not locked,
/// ...) notes. Execution::state is Finished when ThreadSanitizer ran at all. Pure.
Execution parse_tsan_report(std::string_view log);

/// Stacks begin in the runtime where it intercepted a call: takes those frames away, and makes a release of
/// memory of an access that the runtime's free() made. Reads the modules' files; adds extents and build ids
/// (complete_modules).
void settle_tsan_report(Execution& execution);

}  // namespace simrt::testing
