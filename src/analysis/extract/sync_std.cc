// Locks, guards, condition variables and the ordering classes of the standard library.
#include <llvm/ADT/StringSwitch.h>

#include "analysis/extract/evaluator.h"

namespace simrt::analysis {

using clang::cast;
using clang::dyn_cast;
using clang::isa;

namespace {

std::string method_name(const CallSite& site) {
  return site.callee->getDeclName().isIdentifier() ? site.callee->getNameAsString() : std::string();
}

/// Name of the lock tag's type ("adopt_lock_t", ...), or empty.
std::string lock_tag(const clang::Expr* argument) {
  const clang::CXXRecordDecl* record = argument->getType().getNonReferenceType()->getAsCXXRecordDecl();
  const std::string name = record && record->getIdentifier() ? record->getNameAsString() : std::string();
  return name == "adopt_lock_t" || name == "defer_lock_t" || name == "try_to_lock_t" ? name : std::string();
}

LockMode mode_of(LibraryClass kind) {
  return kind == LibraryClass::SharedGuard ? LockMode::Shared : LockMode::Exclusive;
}

bool is_guard(LibraryClass kind) { return kind == LibraryClass::Guard || kind == LibraryClass::SharedGuard; }

}  // namespace

bool Evaluator::mutex_member(const CallSite& site, const Operand& object, llvm::StringRef method) {
  const auto action =
      llvm::StringSwitch<std::optional<LockAction>>(method)
          .Cases("lock", "lock_shared", LockAction::Acquire)
          .Cases("try_lock", "try_lock_for", "try_lock_until", LockAction::TryAcquire)
          .Cases("try_lock_shared", "try_lock_shared_for", "try_lock_shared_until", LockAction::TryAcquire)
          .Cases("unlock", "unlock_shared", LockAction::Release)
          .Default(std::nullopt);
  if (!action) return method == "native_handle";
  lock_op(*action, {object.place}, site.expression->getExprLoc(),
          method.contains("shared") ? LockMode::Shared : LockMode::Exclusive);
  return true;
}

/// lock_guard, unique_lock, scoped_lock, shared_lock and how they are constructed.
bool Evaluator::guard_construction(const Operand& guard, LibraryClass kind, const CallSite& site) {
  const clang::SourceLocation at = site.expression->getExprLoc();
  if (site.arguments.empty()) return true;
  if (const auto* constructor = dyn_cast<clang::CXXConstructorDecl>(site.callee);
      constructor && constructor->isCopyOrMoveConstructor()) {
    lock_op(LockAction::GuardMove, {}, at, mode_of(kind), guard.place, site.target(0).place);
    return true;
  }
  std::vector<Place> locks;
  bool deferred = false, tries = false, adopts = false;
  for (std::size_t i = 0; i < site.arguments.size(); ++i) {
    const clang::QualType type = site.arguments[i]->getType();
    const std::string tag = lock_tag(site.arguments[i]);
    if (tag == "defer_lock_t")
      deferred = true;
    else if (tag == "try_to_lock_t")
      tries = true;
    else if (tag == "adopt_lock_t")
      adopts = true;
    else if (i > 0 && unit_.library.classify(type) == LibraryClass::Other)
      tries = true;  // a duration or time point
    else if (site.values[i].size() == 1)
      locks.push_back(site.target(i).place);
  }
  const LockAction action = deferred || tries ? LockAction::GuardDefer
                            : adopts          ? LockAction::GuardAdopt
                                              : LockAction::GuardBind;
  lock_op(action, locks, at, mode_of(kind), guard.place);
  if (tries) lock_op(LockAction::TryAcquire, std::move(locks), at, mode_of(kind), guard.place);
  return true;
}

bool Evaluator::guard_member(const CallSite& site, const Operand& object, llvm::StringRef method) {
  const clang::SourceLocation at = site.expression->getExprLoc();
  const LockMode mode = mode_of(unit_.library.classify(site.object_type));
  const Place& guard = object.place;
  if (site.callee->getOverloadedOperator() == clang::OO_Equal)
    lock_op(LockAction::GuardMove, {}, at, mode, guard, site.target(0).place);
  else if (method == "lock")
    lock_op(LockAction::GuardAcquire, {}, at, mode, guard);
  else if (method.starts_with("try_lock"))
    lock_op(LockAction::TryAcquire, {}, at, mode, guard);
  else if (method == "unlock")
    lock_op(LockAction::GuardRelease, {}, at, mode, guard);
  // The mutex stays locked and nobody's guard unlocks it.
  else if (method == "release")
    lock_op(LockAction::GuardMove, {}, at, mode, {}, guard);
  return true;
}

/// wait: the lock is given up and taken again; a predicate runs with the lock held.
bool Evaluator::condition_member(const CallSite& site, const Operand& object, llvm::StringRef method) {
  const clang::SourceLocation at = site.expression->getExprLoc();
  if (method == "notify_one") {
    order_op(OrderKind::NotifyOne, object, at);
  } else if (method == "notify_all") {
    order_op(OrderKind::NotifyAll, object, at);
  } else if (method.starts_with("wait") && !site.values.empty()) {
    const Place lock = site.target(0).place;
    const LibraryClass kind = unit_.library.classify(site.arguments[0]->getType());
    const bool guard = is_guard(kind);
    if (guard)
      lock_op(LockAction::GuardRelease, {}, at, mode_of(kind), lock);
    else
      lock_op(LockAction::Release, {lock}, at);
    order_op(OrderKind::ConditionWait, object, at);
    if (guard)
      lock_op(LockAction::GuardAcquire, {}, at, mode_of(kind), lock);
    else
      lock_op(LockAction::Acquire, {lock}, at);
    call_now(site, site.arguments.size() - 1);
  } else {
    return false;
  }
  return true;
}

bool Evaluator::ordering_member(const CallSite& site, const Operand& object, LibraryClass kind,
                                llvm::StringRef method) {
  const clang::SourceLocation at = site.expression->getExprLoc();
  switch (kind) {
    case LibraryClass::Semaphore:
      if (method.contains("acquire"))
        order_op(OrderKind::SemaphoreAcquire, object, at);
      else if (method == "release")
        order_op(OrderKind::SemaphoreRelease, object, at);
      return true;
    case LibraryClass::Latch:
      if (method == "count_down" || method == "arrive_and_wait") order_op(OrderKind::LatchArrive, object, at);
      if (method != "count_down") order_op(OrderKind::LatchWait, object, at);
      return true;
    case LibraryClass::Barrier:
      order_op(
          method == "arrive" || method == "arrive_and_drop" ? OrderKind::LatchArrive : OrderKind::BarrierWait,
          object, at);
      return true;
    case LibraryClass::Thread:
    case LibraryClass::JoiningThread:
      if (site.callee->getOverloadedOperator() == clang::OO_Equal) {
        if (kind == LibraryClass::JoiningThread) order_op(OrderKind::ThreadJoin, object, at);
        access(object, AccessMode::Write, clang::QualType(), at, MemoryOrder::NotAtomic, kTagWholeObject);
      } else if (method == "join")
        order_op(OrderKind::ThreadJoin, object, at);
      else if (method == "detach")
        order_op(OrderKind::ThreadDetach, object, at);
      else
        access(object,
               cast<clang::CXXMethodDecl>(site.callee)->isConst() ? AccessMode::Read : AccessMode::Write,
               clang::QualType(), at, MemoryOrder::NotAtomic, kTagWholeObject);
      return true;
    case LibraryClass::Future:
      if (method.starts_with("get") || method.starts_with("wait"))
        order_op(OrderKind::FutureGet, object, at);
      else
        return false;
      return true;
    case LibraryClass::Promise:
      if (method.starts_with("set_"))
        order_op(OrderKind::PromiseSet, object, at);
      else if (site.callee->getOverloadedOperator() == clang::OO_Call) {
        Call call;
        call.kind = CallKind::Indirect;
        call.name = "packaged_task";
        call.receiver = object.value();
        emit(at, std::move(call));
        order_op(OrderKind::PromiseSet, object, at);
      } else
        return false;
      return true;
    default:
      return false;
  }
}

bool Evaluator::std_member(const CallSite& site, const Operand& object, Operands& result) {
  LibraryClass kind = unit_.library.classify(site.object_type);
  const auto* method = dyn_cast<clang::CXXMethodDecl>(site.callee);
  if (kind == LibraryClass::None || kind == LibraryClass::Other)
    kind = method ? unit_.library.classify(method->getParent()) : kind;
  const std::string name = method_name(site);
  switch (kind) {
    case LibraryClass::Mutex:
      return mutex_member(site, object, name);
    case LibraryClass::Guard:
    case LibraryClass::SharedGuard:
      if (name == "mutex") return false;
      return guard_member(site, object, name);
    case LibraryClass::ConditionVariable:
      return condition_member(site, object, name);
    case LibraryClass::Atomic:
    case LibraryClass::AtomicRef:
    case LibraryClass::AtomicFlag:
      return atomic_member(site, object, kind, result);
    case LibraryClass::Semaphore:
    case LibraryClass::Latch:
    case LibraryClass::Barrier:
    case LibraryClass::Thread:
    case LibraryClass::JoiningThread:
    case LibraryClass::Promise:
      return ordering_member(site, object, kind, name);
    case LibraryClass::Future:
      if (!ordering_member(site, object, kind, name)) return false;
      result = library_result(site);
      return true;
    case LibraryClass::Container:
      // A vector of threads starts one when it makes an element.
      if (name.starts_with("emplace")) {
        const clang::QualType element = type_argument(site.object_type, 0);
        const LibraryClass made = unit_.library.classify(element);
        if (made == LibraryClass::Thread || made == LibraryClass::JoiningThread) {
          access(object, AccessMode::Write, clang::QualType(), site.expression->getExprLoc(),
                 MemoryOrder::NotAtomic, kTagWholeObject);
          return thread_construction(element_of(object), site, 0);
        }
      }
      return false;
    default:
      return false;
  }
}

bool Evaluator::std_function(const CallSite& site, Operands& result) {
  const clang::SourceLocation at = site.expression->getExprLoc();
  llvm::StringRef name = site.name;
  if (!name.consume_front("std::")) return false;
  if (name == "lock" || name == "try_lock") {
    std::vector<Place> locks;
    for (std::size_t i = 0; i < site.arguments.size(); ++i) {
      const LibraryClass kind = unit_.library.classify(site.arguments[i]->getType());
      if (is_guard(kind))
        lock_op(name == "lock" ? LockAction::GuardAcquire : LockAction::TryAcquire, {}, at, mode_of(kind),
                site.target(i).place);
      else
        locks.push_back(site.target(i).place);
    }
    if (!locks.empty())
      lock_op(name == "lock" ? LockAction::Acquire : LockAction::TryAcquire, std::move(locks), at);
    return true;
  }
  if (name == "call_once") {
    order_op(OrderKind::OnceCall, site.target(0), at);
    call_now(site, 1);
    return true;
  }
  if (name == "async") {
    const bool policy = !site.arguments.empty() && site.arguments[0]->getType()->isEnumeralType();
    spawn(site, policy ? 1 : 0, target_of(site.expression).value_or(Operand{}));
    return true;
  }
  if (name == "notify_all_at_thread_exit" && !site.values.empty()) {
    order_op(OrderKind::NotifyAll, site.target(0), at);
    return true;
  }
  if (name == "make_unique" || name == "make_shared") {
    const clang::TemplateArgumentList* arguments = site.callee->getTemplateSpecializationArgs();
    const bool typed =
        arguments && arguments->size() > 0 && arguments->get(0).getKind() == clang::TemplateArgument::Type;
    const clang::QualType made = typed ? arguments->get(0).getAsType() : clang::QualType();
    const LibraryClass kind = unit_.library.classify(made);
    if (kind == LibraryClass::Thread || kind == LibraryClass::JoiningThread) {
      const auto holder = target_of(site.expression);
      return thread_construction(holder ? pointee(*holder) : Operand{}, site, 0);
    }
    make_object(site, made, 0);
    return true;
  }
  (void)result;
  return false;
}

}  // namespace simrt::analysis
