// A concurrency bug, or what may be one, as the host sees it: named, placed in the sources, comparable
// between runs. Knows no addresses, no formats of the runtime and no detector.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace simrt {

enum class FindingKind : std::uint8_t {
  Race,       ///< two conflicting accesses that nothing orders
  Deadlock,   ///< threads that wait for each other in a circle
  Atomicity,  ///< accesses of another thread between two that belong together
  Crash,      ///< a schedule makes the test crash or fail; another one does not
  Hang,       ///< a schedule makes the test wait for what never comes; no circle
  Order       ///< two steps of two threads whose order nothing enforces; in one of them the test fails
};

enum class FindingStatus : std::uint8_t {
  Potential,  ///< predicted; no execution has shown it
  Confirmed   ///< witnessed in a real execution
};

/// Of a confirmed race or atomicity violation: do its orders end differently?
enum class Harm : std::uint8_t { Unknown, Shown, NoDifferenceSeen };

/// Compared with what the history knows.
enum class Standing : std::uint8_t { New, Known, Suppressed, Fixed };

enum class StepKind : std::uint8_t {
  Read,
  Write,
  AtomicRead,
  AtomicWrite,
  Free,
  Lock,
  LockShared,
  Unlock,
  Wait,
  Notify,
  Create,
  Join,
  Other
};

/// One level of a call stack.
struct CodeFrame {
  std::string function;  ///< display name without parameters; empty = unknown
  std::string linkage;   ///< mangled name (C: plain); empty = unknown
  std::string file;      ///< repository-relative for the project's own code, else as recorded
  std::uint32_t line = 0, column = 0;
  std::string statement;  ///< the source line without white space; own code only
  /// Code of the repository (not of a library or the system).
  bool own() const { return !file.empty() && file.front() != '/'; }
  bool operator==(const CodeFrame&) const = default;
};

struct HeldLock {
  std::string name;
  bool shared = false;
  std::vector<CodeFrame> acquired;  ///< innermost first
};

struct ThreadRole {
  std::uint32_t index = 0;  ///< in the execution: 0 = main, then in order of creation
  std::string name;         ///< path of creation sites from main: "main/run@pool.cc:12#0"
  std::vector<CodeFrame> created;
};

/// One access, acquisition or wait that takes part.
struct FindingSide {
  StepKind kind = StepKind::Other;
  std::vector<CodeFrame> stack;  ///< innermost first
  std::string object;            ///< lock or variable, where it differs from Finding::variable
  std::vector<HeldLock> locks;
  bool locks_known = true;
  ThreadRole thread;
};

/// One event of the witness' interleaving.
struct InterleavingStep {
  std::uint32_t thread = 0;
  StepKind kind = StepKind::Other;
  std::string object;
  CodeFrame at;
  std::string text;         ///< the source line, trimmed
  bool key = false;         ///< one of the finding's sides
  std::size_t skipped = 0;  ///< steps left out before this one, in the middle of the interleaving
};

/// Why the finding belongs to the diff: the impacted access and the hunk behind it.
struct FindingCause {
  std::string rule, text;  ///< "sync-changed", "lock mu_ no longer held"
  std::string file;
  std::uint32_t line = 0;
  std::string first, second;  ///< the impacted pair, "read HM::modCount at hm.cc:6:5"
};

struct Finding {
  FindingKind kind = FindingKind::Race;
  FindingStatus status = FindingStatus::Potential;
  Harm harm = Harm::Unknown;
  Standing standing = Standing::New;
  std::string variable;       ///< "HM::modCount"; locks of a cycle; what a crash says
  std::string memory;         ///< the block or global behind it; may be empty
  std::uint32_t pattern = 0;  ///< atomicity: number of the access pattern, 4 to 17
  std::vector<FindingSide> sides;
  std::vector<std::string> test_names;  ///< that showed it, in order
  std::string evidence;                 ///< one line: how it was proven, or why it was not
  std::string difference;               ///< Harm::Shown: how the orders end
  std::optional<FindingCause> cause;
  std::string witness;  ///< id for `simrt replay`; empty when there is none
  std::vector<InterleavingStep> interleaving;
  std::string suppression;  ///< Standing::Suppressed: the reason
};

/// Innermost frame of the repository's own code, else the innermost one; null for an empty stack.
const CodeFrame* own_frame(const std::vector<CodeFrame>& stack);

/// Identity that survives other runs, other machines and unrelated edits: kind, variable, and for each side
/// kind, function (linkage name) and statement; no line numbers, no paths above the function, no order of the
/// sides, no offset into the variable.
std::uint64_t fingerprint(const Finding& finding);

/// 16 hex digits.
std::string fingerprint_text(std::uint64_t fingerprint);

// Words of reports and of the history's views.
const char* to_string(FindingKind kind);
const char* to_string(FindingStatus status);
const char* to_string(Harm harm);
const char* to_string(Standing standing);
const char* to_string(StepKind kind);

/// "race on HM::modCount", "deadlock of a, b".
std::string title(const Finding& finding);

}  // namespace simrt
