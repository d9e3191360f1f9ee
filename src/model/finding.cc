#include "model/finding.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/hash.h"

namespace simrt {
namespace {

std::uint64_t side_identity(const FindingSide& side) {
  std::string text = to_string(side.kind);
  if (const CodeFrame* frame = own_frame(side.stack)) {
    text += '\n' + (frame->linkage.empty() ? frame->function : frame->linkage) + '\n';
    text += frame->own() ? frame->statement : std::string();
  }
  return hash_bytes(text);
}

/// Without the offsets behind names ("shares+8"): which element of an array was met is an accident.
std::string without_offsets(const std::string& variable) {
  std::string result;
  for (std::size_t at = 0; at < variable.size();) {
    std::size_t end = at + 1;
    if (variable[at] == '+')
      while (end < variable.size() && variable[end] >= '0' && variable[end] <= '9') ++end;
    const bool offset = end > at + 1 && at > 0 && (end == variable.size() || variable[end] == ',');
    if (!offset) result.append(variable, at, end - at);
    at = end;
  }
  return result;
}

}  // namespace

const CodeFrame* own_frame(const std::vector<CodeFrame>& stack) {
  for (const CodeFrame& frame : stack)
    if (frame.own()) return &frame;
  return stack.empty() ? nullptr : &stack.front();
}

std::uint64_t fingerprint(const Finding& finding) {
  std::vector<std::uint64_t> sides;
  for (const FindingSide& side : finding.sides) sides.push_back(side_identity(side));
  if (finding.kind != FindingKind::Atomicity) std::sort(sides.begin(), sides.end());
  std::uint64_t result = hash_combine(hash_bytes(to_string(finding.kind)),
                                      hash_bytes(without_offsets(finding.variable)) + finding.pattern);
  for (std::uint64_t side : sides) result = hash_combine(result, side);
  return result;
}

std::string fingerprint_text(std::uint64_t fingerprint) { return fmt::format("{:016x}", fingerprint); }

const char* to_string(FindingKind kind) {
  switch (kind) {
    case FindingKind::Race:
      return "race";
    case FindingKind::Deadlock:
      return "deadlock";
    case FindingKind::Atomicity:
      return "atomicity";
    case FindingKind::Crash:
      return "failure";
    case FindingKind::Hang:
      return "hang";
    case FindingKind::Order:
      return "order";
  }
  return "?";
}

const char* to_string(FindingStatus status) {
  return status == FindingStatus::Confirmed ? "confirmed" : "potential";
}

const char* to_string(Harm harm) {
  switch (harm) {
    case Harm::Shown:
      return "harmful-shown";
    case Harm::NoDifferenceSeen:
      return "no-difference-seen";
    case Harm::Unknown:
      break;
  }
  return "unknown";
}

const char* to_string(Standing standing) {
  switch (standing) {
    case Standing::New:
      return "new";
    case Standing::Known:
      return "known";
    case Standing::Suppressed:
      return "suppressed";
    case Standing::Fixed:
      return "fixed";
  }
  return "?";
}

const char* to_string(StepKind kind) {
  switch (kind) {
    case StepKind::Read:
      return "read";
    case StepKind::Write:
      return "write";
    case StepKind::AtomicRead:
      return "atomic read";
    case StepKind::AtomicWrite:
      return "atomic write";
    case StepKind::Free:
      return "free";
    case StepKind::Lock:
      return "lock";
    case StepKind::LockShared:
      return "shared lock";
    case StepKind::Unlock:
      return "unlock";
    case StepKind::Wait:
      return "wait";
    case StepKind::Notify:
      return "notify";
    case StepKind::Create:
      return "create thread";
    case StepKind::Join:
      return "join";
    case StepKind::Other:
      break;
  }
  return "step";
}

std::string title(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::Race:
      return "race on " + finding.variable;
    case FindingKind::Deadlock:
      return "deadlock of " + finding.variable;
    case FindingKind::Atomicity:
      return fmt::format("atomicity violation on {} (pattern {})", finding.variable, finding.pattern);
    case FindingKind::Crash:
      return "failure under a schedule: " + finding.variable;
    case FindingKind::Hang:
      return "hang: " + finding.variable;
    case FindingKind::Order:
      return "order violation on " + finding.variable;
  }
  return finding.variable;
}

}  // namespace simrt
