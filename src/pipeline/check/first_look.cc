#include "pipeline/check/first_look.h"

#include <algorithm>

#include "pipeline/check/describe.h"

namespace simrt::pipeline {
namespace {

bool is_impacted_pair(const std::optional<FindingCause>& cause) { return cause && !cause->first.empty(); }

Promise promise_of(const testing::Execution& execution, const TestCheckOptions& options) {
  Promise best = std::max<std::size_t>(execution.thread_count, execution.threads.size()) > 1
                     ? Promise::Threads
                     : Promise::Alone;
  for (const Candidate& candidate : candidates_of(execution, *options.symbols)) {
    if (candidate.weak || options.settled(candidate.fingerprint) || !options.scope->covers(candidate.finding))
      continue;
    const bool at_risk =
        candidate.finding.kind == FindingKind::Race &&
        (!options.scope->restricted() || is_impacted_pair(options.scope->cause(candidate.finding)));
    best = std::min(best, !at_risk ? Promise::Hint : candidate.witnessed ? Promise::Race : Promise::Pair);
  }
  return best;
}

}  // namespace

Result<FirstLook> first_look(const TestCase& test, const TestCheckOptions& options, double seconds) {
  auto program = TestProgram::create(test, {seconds, false});
  if (!program) return fail(program.error());
  auto seen =
      options.detector->watch({&test, &*program, watching_plan(test, options), seconds, options.interrupt});
  if (!seen) return fail(seen.error());
  FirstLook look;
  if (!seen->took_part) return look;
  look.promise = promise_of(seen->execution, options);
  if (seen->cut)
    look.promise = std::min(look.promise, Promise::Unknown);
  else if (seen->ending != "passed")
    look.promise = std::min(look.promise, Promise::Failure);
  look.run = std::move(*seen);
  return look;
}

}  // namespace simrt::pipeline
