// Why a schedule fails: what the failing executions of a test have in common that the passing ones lack.
//
// Statistical, after Jin, Thakur, Liblit and Lu, "Instrumentation and Sampling Strategies for Cooperative
// Concurrency Bug Isolation" (OOPSLA 2010): predicates over orders of accesses are taken from one failing
// execution, and each is judged by the executions in which it holds. Predicates: unserialisable accesses
// (patterns 4 to 17 of MAP coverage), and single orders of a read and another thread's write. Reads events
// only; runs nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "testing/execution.h"

namespace simrt::pipeline {

/// An execution recorded with events, and with a detector on, so that the events know their callers.
struct JudgedExecution {
  testing::Execution execution;
  bool failed = false;
};

/// One access that takes part.
struct DiagnosedStep {
  std::size_t execution = 0;  ///< index into the executions given
  std::size_t event = 0;      ///< index into its events
};

struct Diagnosis {
  std::uint32_t pattern = 0;         ///< 4 to 17: unserialisable; 0: an order
  std::vector<DiagnosedStep> steps;  ///< in the order in which they make the test fail
  std::size_t failing_with = 0, failing = 0, passing_with = 0, passing = 0;
};

/// `executions[0]` is the failing one to explain. Nothing when no predicate tells failing executions from
/// passing ones: it must hold in at least 80 % of those, and in few of these. Deterministic.
std::optional<Diagnosis> diagnose(const std::vector<JudgedExecution>& executions);

}  // namespace simrt::pipeline
