// The plan of one execution of a check build, as values; and its bytes (simrt/format/plan.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simrt/format/plan.h"
#include "support/result.h"

namespace simrt::testing {

/// A module that sites speak of: by build id (hex) where both sides have one, else by absolute path; neither:
/// the main program.
struct CheckModule {
  std::string path;
  std::string build_id;
  bool operator==(const CheckModule&) const = default;
};

/// A return address of a hook or an interposed call, as ELF virtual address (look up offset - 1).
struct CheckSite {
  std::uint32_t module = 0;  ///< index into CheckPlan::modules
  std::uint64_t offset = 0;
  auto operator<=>(const CheckSite&) const = default;
};

struct CheckPair {
  CheckSite first, second;
  bool first_then_second =
      true;  ///< the order in which the two accesses are made once both threads stand there
  std::uint64_t first_calls = 0, second_calls = 0;  ///< ReadsFrom: format::RunEvent::calls; 0 = any
};

struct CheckStep {
  CheckSite site;
  format::EventKind kind = format::EventKind::Read;
  std::uint32_t role = 0;      ///< same role: same thread
  std::uint32_t variable = 0;  ///< same number: same address
  std::uint32_t thread = format::kPlanNone;
  std::uint64_t address = 0;  ///< 0: any
  std::uint64_t calls = 0;    ///< format::RunEvent::calls of an execution of the same program; 0 = any
};

struct CheckPlan {
  format::RunMode mode = format::RunMode::Control;
  format::StrategyKind strategy = format::StrategyKind::Default;
  format::StrategyKind walk = format::StrategyKind::Random;  ///< Pair: among the threads that are not held
  std::uint32_t flags = 0;      ///< format::PlanFlag; ForkServer and CaptureOutput are CheckProgram's to set
  std::uint32_t detectors = 0;  ///< format::Detector
  std::uint64_t seed = 1;
  std::uint32_t depth = 0, bound = 0;
  std::uint64_t length = 0, hold = 0;
  std::uint64_t max_points = 0, max_milliseconds = 0;
  std::uint64_t epoch_ns =
      1'700'000'000'000'000'000;  ///< virtual time of day at the start, the same in each run
  std::uint64_t short_sleep_ns = 0;
  std::uint32_t processor = 0, findings_limit = 0;
  std::vector<CheckModule> modules;
  std::vector<CheckSite> watched;
  std::vector<CheckPair> pairs;
  std::vector<CheckStep> steps;
  std::vector<format::ScheduleItem> schedule;  ///< module: index into `modules`, or format::kPlanNone
  std::vector<std::uint64_t> weights;
  std::vector<format::PlanCut> cuts;
};

/// Bytes of the plan area that the plan takes.
std::vector<std::byte> plan_bytes(const CheckPlan& plan);

}  // namespace simrt::testing
