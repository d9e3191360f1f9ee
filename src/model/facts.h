// What the static analysis knows of a program: facts per function, extracted from one parse and
// sufficient for everything that follows (CFG walk, locksets, aliases, impact). No Clang type and no
// AST survives past this file; facts of the recorded revision are read back from the history.
//
// Facts are local: they describe a function's own body in evaluation order and never depend on the
// bodies of others. Whole-program results (locksets, alias classes, call closure) are recomputed from facts.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/ids.h"

namespace simrt {

/// 1-based line and column, of the expansion location; line 0 = unknown. The file is FunctionFacts::file.
struct SourcePoint {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  auto operator<=>(const SourcePoint&) const = default;
};

/// A memory location: the variable itself (derefs 0) or what is reached from its value by `derefs` loads.
/// Fields are field-based: `p->q.f` is {Class::f, 0} whatever p is; `a[i]` and `*a` are {a, 1}.
/// `instance` names the access path up to the variable as written ("this", "p0->next", "l3"; locals as
/// l<ordinal>, parameters as p<index>, empty for globals), so that locks of two objects of one class stay
/// apart.
struct Place {
  VariableId base;
  std::uint8_t derefs = 0;
  std::string instance;
  bool operator==(const Place&) const = default;
};

/// An rvalue: the value stored at `place`, or (address_of) a pointer or reference to `place`.
struct Value {
  Place place;
  bool address_of = false;
  bool operator==(const Value&) const = default;
};

enum class AccessMode : std::uint8_t { Read, Write };

/// NotAtomic = plain access. Consume is treated as Acquire.
enum class MemoryOrder : std::uint8_t { NotAtomic, Relaxed, Acquire, Release, AcqRel, SeqCst };

/// Why an access may be harmless; a tag ranks, it never removes the access.
enum AccessTag : std::uint8_t {
  kTagNone = 0,
  kTagOwnConstructor = 1,  ///< own field, inside the constructor or destructor of the object
  kTagConstObject = 2,     ///< object declared const (no mutable)
  kTagThreadLocal = 4,     ///< thread_local storage: never shared by name
  kTagVolatile = 8,
  kTagWholeObject =
      16,  ///< a library container or object used through a member function (const = read, else write)
};

struct Access {
  Place place;
  AccessMode mode = AccessMode::Read;
  MemoryOrder order = MemoryOrder::NotAtomic;
  std::uint8_t tags = kTagNone;
  bool operator==(const Access&) const = default;
};

enum class CallKind : std::uint8_t {
  Direct,    ///< callee known
  Virtual,   ///< callee is the statically named method; overriders are possible too
  Indirect,  ///< through a pointer, std::function or unresolved dependent name; callee is 0
  Callback,  ///< not called here: its address is handed on, so somebody may call it, on any thread
  Spawn,     ///< the entry function of a thread started here (std::thread, pthread_create, std::async,
             ///< thrd_create)
  Pointer    ///< through a plain pointer to a function with a prototype: the callee takes exactly these
             ///< arguments (anything else is undefined); callee is 0
};

struct Call {
  FunctionId callee;
  CallKind kind = CallKind::Direct;
  std::string name;  ///< qualified display name as written, for reasons
  std::optional<Value> receiver;
  std::vector<Value> arguments;  ///< by position; a Value with base 0 is "no memory"
  std::uint64_t prototype = 0;   ///< Pointer: FunctionFacts::prototype of what can be called; 0 = not known
  bool operator==(const Call&) const = default;
};

enum class LockAction : std::uint8_t {
  Acquire,       ///< lock becomes held
  TryAcquire,    ///< held only on the success path; must-analysis may ignore it
  Release,       ///< lock is no longer held
  GuardBind,     ///< `guard` now manages `locks` and holds them (lock_guard, unique_lock, scoped_lock)
  GuardDefer,    ///< `guard` manages `locks` without holding them (defer_lock, try_to_lock)
  GuardAcquire,  ///< guard.lock(): all managed locks become held
  GuardRelease,  ///< guard.unlock() or its destructor
  GuardMove,     ///< what `source` manages moves to `guard`
  Assume,  ///< attribute says so (requires_capability): held at this point; only used where there is no body
  GuardAdopt,  ///< `guard` now manages `locks`, which somebody else is to have acquired before (adopt_lock)
};

enum class LockMode : std::uint8_t { Exclusive, Shared };

struct LockOp {
  LockAction action = LockAction::Acquire;
  LockMode mode = LockMode::Exclusive;
  std::vector<Place> locks;
  Place guard;   ///< Guard*: the guard variable
  Place source;  ///< GuardMove only
  bool operator==(const LockOp&) const = default;
};

/// Ordering that is not a mutex. `object` is the flag, condition variable, semaphore, thread, ...
enum class OrderKind : std::uint8_t {
  Fence,
  ConditionWait,
  NotifyOne,
  NotifyAll,
  SemaphoreAcquire,
  SemaphoreRelease,
  LatchArrive,
  LatchWait,
  BarrierWait,
  OnceCall,
  ThreadSpawn,
  ThreadJoin,
  ThreadDetach,
  FutureGet,
  PromiseSet,
  AtomicWait,
  AtomicNotify,
  StaticInit
};

struct OrderOp {
  OrderKind kind = OrderKind::Fence;
  MemoryOrder order = MemoryOrder::NotAtomic;
  Place object;
  bool operator==(const OrderOp&) const = default;
};

/// Value flow `target := value` between places (assignment, initialisation, return, reference binding).
struct Binding {
  Place target;
  Value value;
  bool operator==(const Binding&) const = default;
};

struct Event {
  SourcePoint at;
  std::variant<Access, Call, LockOp, OrderOp, Binding> what;
  bool operator==(const Event&) const = default;
};

/// A top-level statement of a block (or its terminator condition, or an implicit destructor / initialiser).
struct Element {
  std::uint64_t hash = 0;              ///< canonical, location-free, with locals replaced by a placeholder
  std::vector<std::uint32_t> locals;   ///< the locals behind those placeholders, in order of appearance
  std::vector<std::uint32_t> defines;  ///< locals this element writes (data dependence)
  std::vector<std::uint32_t> uses;     ///< locals this element reads
  SourcePoint at;
  std::vector<Event> events;  ///< in evaluation order
  bool operator==(const Element&) const = default;
};

enum class EdgeKind : std::uint8_t { FallThrough, True, False, Case, Default, Exception, Unreachable };

struct Edge {
  EdgeKind kind = EdgeKind::FallThrough;
  std::uint64_t label = 0;  ///< Case: hash of the value(s); Exception: hash of the caught type; else 0
  std::uint32_t target = 0;
  bool operator==(const Edge&) const = default;
};

struct Block {
  std::uint32_t ordinal = 0;
  std::uint64_t terminator = 0;  ///< hash of the terminator's kind (if, while, switch, goto, ...)
  std::vector<Element> elements;
  std::vector<Edge> successors;  ///< in Clang's order
  bool operator==(const Block&) const = default;
};

struct Local {
  std::string name;
  std::uint64_t type = 0;  ///< hash of the canonical type
  bool parameter = false;
  bool static_storage = false;  ///< function-local static
  bool escapes = false;         ///< address taken or captured by reference: other threads may reach it
  bool operator==(const Local&) const = default;
};

enum FunctionFlag : std::uint32_t {
  kFunctionNone = 0,
  kConstructor = 1u << 0,
  kDestructor = 1u << 1,
  kLambda = 1u << 2,
  kCoroutine = 1u << 3,
  kStaticInit = 1u << 4,     ///< pseudo-function: initialiser of a global or static member
  kInstantiation = 1u << 5,  ///< one instantiation of a template
  kDependent = 1u << 6,      ///< uninstantiated template pattern: calls in it may be unresolved
  kNoCfg = 1u << 7,          ///< Clang could not build a CFG; one block stands for the body
  kImplicit = 1u << 8,       ///< compiler-generated member
  kBroken = 1u << 9,         ///< parsed with errors: treat as changed and unknown
};

struct FunctionFacts {
  FunctionId id;
  std::string usr;
  std::string name;  ///< qualified display name, with parameter types when overloaded
  std::string file;  ///< repository-relative
  std::uint32_t begin_line = 0, end_line = 0;
  std::uint32_t flags = kFunctionNone;
  FunctionId pattern;           ///< template pattern; 0 for ordinary functions
  FunctionId parent;            ///< enclosing function of a lambda or local class method; else 0
  std::uint64_t signature = 0;  ///< type, qualifiers, linkage
  /// Shapes of result and parameters (pointer, number, class ...): equal for a function and whatever may call
  /// it through a pointer. Coarser than the type, so that casts between pointer types do not separate them; 0
  /// in C, where casts go further.
  std::uint64_t prototype = 0;
  std::uint64_t body = 0;  ///< rename- and location-insensitive hash of the whole CFG: equal = unchanged
  std::vector<std::string> linkage_names;  ///< mangled names code can have (C1/C2, D0/D1/D2)
  std::vector<FunctionId> overrides;
  std::vector<Local> locals;  ///< parameters first
  std::vector<Block> blocks;  ///< ascending ordinal
  std::uint32_t entry = 0, exit = 0;
  bool has(FunctionFlag flag) const { return (flags & flag) != 0; }
  bool operator==(const FunctionFacts&) const = default;
};

enum class VariableKind : std::uint8_t {
  Global,
  Field,
  StaticMember,
  Local,
  Parameter,
  Return,
  Receiver,
  TypeBucket
};

enum VariableTrait : std::uint16_t {
  kTraitNone = 0,
  kAtomic = 1,
  kConst = 2,
  kVolatile = 4,
  kThreadLocal = 8,
  kMutex = 16,
  kReference = 32,
  kPointer = 64,
  kMutable = 128,
  kBitField = 256,
};

struct VariableFacts {
  VariableId id;
  std::string name;  ///< "Class::field", "ns::global", "function()::local"
  std::string type;  ///< canonical spelling
  std::string file;
  SourcePoint at;
  VariableKind kind = VariableKind::Global;
  std::uint16_t traits = kTraitNone;
  /// Fields with the same number (not 0) share memory: members of a union, whatever depth of unnamed structs
  /// they stand in, and bit-fields that nothing separates (C++20 [intro.memory] 3).
  std::uint64_t shares = 0;
  bool operator==(const VariableFacts&) const = default;
};

/// One repository file in a translation unit's include closure.
struct FileFacts {
  std::string path;           ///< repository-relative
  std::uint64_t content = 0;  ///< hash of the bytes
  std::uint64_t declarations =
      0;  ///< hash of the tokens outside ordinary function bodies: equal = only bodies changed
  bool operator==(const FileFacts&) const = default;
};

/// Where a block's code stands: every (line, column) of its sub-expressions; used to map coverage, never to
/// diff.
struct BlockPoints {
  std::uint32_t ordinal = 0;
  std::vector<SourcePoint> points;  ///< sorted, unique
  /// The same for code of gcc, which gives some branches other positions; empty: as `points`.
  std::vector<SourcePoint> gcc_points = {};
  bool operator==(const BlockPoints&) const = default;
};

struct FunctionPoints {
  FunctionId function;
  std::vector<BlockPoints> blocks;
  bool operator==(const FunctionPoints&) const = default;
};

/// Everything one parse of a translation unit yields.
struct UnitFacts {
  std::string path;              ///< main source, repository-relative
  std::uint64_t command = 0;     ///< hash of the effective compile command
  std::vector<FileFacts> files;  ///< repository files in the include closure, main source first, then by path
  std::vector<FunctionFacts> functions;
  std::vector<FunctionPoints> points;  ///< parallel to functions, or none where nobody asked for them
  std::vector<VariableFacts> variables;
  /// Functions of the recorded unit that still hold: they stand in files that are as they were recorded, and
  /// were not looked at again. Ids as the recorded program has them.
  std::vector<FunctionId> kept;
  std::uint32_t errors = 0;           ///< Clang errors; > 0 = unknown, treated as changed
  std::vector<std::string> messages;  ///< the first few diagnostics, for the user
  bool operator==(const UnitFacts&) const = default;
};

}  // namespace simrt
