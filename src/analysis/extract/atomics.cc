// Atomic accesses: std::atomic and relatives, C11 _Atomic, compiler builtins; fences.
#include "analysis/extract/evaluator.h"

namespace simrt::analysis {

using clang::dyn_cast;
using clang::isa;

namespace {

MemoryOrder from_number(std::uint64_t number) {
  switch (number) {
    case 0:
      return MemoryOrder::Relaxed;
    case 1:
    case 2:
      return MemoryOrder::Acquire;
    case 3:
      return MemoryOrder::Release;
    case 4:
      return MemoryOrder::AcqRel;
    default:
      return MemoryOrder::SeqCst;
  }
}

struct Effect {
  bool reads = false;
  bool writes = false;
};

/// By the name of a member, C11 function or builtin, without prefix.
std::optional<Effect> effect_of(llvm::StringRef name) {
  if (name.starts_with("load") || name.starts_with("test") != name.starts_with("test_and_set"))
    return Effect{true, false};
  if (name.starts_with("store") || name.starts_with("clear")) return Effect{false, true};
  if (name.starts_with("init")) return Effect{false, true};
  if (name.contains("exchange") || name.contains("fetch") || name.contains("test_and_set") ||
      name.contains("compare_and_swap"))
    return Effect{true, true};
  if (name.starts_with("lock_release")) return Effect{false, true};
  return std::nullopt;
}

bool is_memory_order(const clang::Expr* argument) {
  const auto* type = argument->getType()->getAs<clang::EnumType>();
  return type && type->getDecl()->getName() == "memory_order";
}

}  // namespace

MemoryOrder Evaluator::order_of(const clang::Expr* expression, MemoryOrder otherwise) {
  if (!expression || expression->isValueDependent() || expression->isTypeDependent()) return otherwise;
  if (const auto* argument = dyn_cast<clang::CXXDefaultArgExpr>(expression)) expression = argument->getExpr();
  clang::Expr::EvalResult value;
  // An order that only the run knows vouches for nothing.
  if (!expression->EvaluateAsInt(value, unit_.context)) return MemoryOrder::Relaxed;
  return from_number(value.Val.getInt().getZExtValue());
}

void Evaluator::atomic_access(const Operand& object, bool reads, bool writes, MemoryOrder order,
                              clang::SourceLocation at) {
  if (reads) access(object, AccessMode::Read, clang::QualType(), at, order);
  if (writes) access(object, AccessMode::Write, clang::QualType(), at, order);
}

bool Evaluator::atomic_member(const CallSite& site, const Operand& receiver, LibraryClass kind,
                              Operands& result) {
  const clang::SourceLocation at = site.expression->getExprLoc();
  // An atomic_ref is a pointer to what it makes atomic.
  const Operand object = kind == LibraryClass::AtomicRef ? pointee(receiver) : receiver;
  const clang::QualType type = type_argument(site.object_type, 0);
  MemoryOrder order = MemoryOrder::SeqCst;
  for (const clang::Expr* argument : site.arguments)
    if (is_memory_order(argument)) {
      order = order_of(argument, MemoryOrder::SeqCst);
      break;
    }
  const Operand& loaded = object;
  switch (site.callee->getOverloadedOperator()) {
    case clang::OO_None:
      break;
    case clang::OO_Equal:
      atomic_access(object, false, true, MemoryOrder::SeqCst, at);
      bind(object, site.argument(0), type, at);
      return true;
    default:  // ++, --, +=, ...
      atomic_access(object, true, true, MemoryOrder::SeqCst, at);
      result.push_back(loaded);
      return true;
  }
  if (isa<clang::CXXConversionDecl>(site.callee)) {
    atomic_access(object, true, false, MemoryOrder::SeqCst, at);
    result.push_back(loaded);
    return true;
  }
  const std::string name =
      site.callee->getDeclName().isIdentifier() ? site.callee->getNameAsString() : std::string();
  if (name == "wait") {
    atomic_access(object, true, false, order, at);
    order_op(OrderKind::AtomicWait, object, at, order);
  } else if (name.starts_with("notify_")) {
    order_op(OrderKind::AtomicNotify, object, at);
  } else if (const auto effect = effect_of(name)) {
    atomic_access(object, effect->reads, effect->writes, order, at);
    const bool compares = name.starts_with("compare_exchange");
    if (compares) access(site.target(0), AccessMode::Write, clang::QualType(), at);  // `expected` on failure
    if (effect->writes) bind(object, site.argument(compares ? 1 : 0), type, at);
    if (compares)
      bind(site.target(0), object, type, at);
    else if (effect->reads)
      result.push_back(loaded);
  }
  return true;
}

/// __atomic_*, __c11_atomic_* and the stdatomic.h macros, which all become this node.
Operands Evaluator::atomic_builtin(const clang::AtomicExpr* e) {
  const clang::SourceLocation at = e->getBuiltinLoc();
  const Operand object = pointee(first(evaluate(e->getPtr())));
  const clang::QualType type = e->getValueType();
  Operands operand;
  std::string name = e->getOpAsString().str();
  for (const char* prefix :
       {"__c11_atomic_", "__atomic_", "__scoped_atomic_", "__opencl_atomic_", "__hip_atomic_"})
    if (llvm::StringRef(name).starts_with(prefix)) {
      name.erase(0, llvm::StringRef(prefix).size());
      break;
    }
  const unsigned subexpressions = e->getNumSubExprs();
  const MemoryOrder order = e->getOp() == clang::AtomicExpr::AO__c11_atomic_init
                                ? MemoryOrder::NotAtomic
                                : order_of(e->getOrder(), MemoryOrder::SeqCst);
  if (subexpressions > 2 || e->getOp() == clang::AtomicExpr::AO__c11_atomic_init)
    operand = evaluate(e->getVal1());
  Operands second;
  if (e->isCmpXChg()) second = evaluate(e->getVal2());
  const Effect effect = effect_of(name).value_or(Effect{true, true});
  atomic_access(object, effect.reads, effect.writes, order, at);
  Operands result{object};
  const bool generic = name == "load" || name == "store" || name == "exchange";
  if (e->isCmpXChg()) {
    access(pointee(first(operand)), AccessMode::Write, clang::QualType(), at);
    for (const Operand& value : second) bind(object, value, type, at);
    result.clear();
  } else if (effect.writes) {
    for (const Operand& value : operand)
      bind(object, generic && e->getOp() < clang::AtomicExpr::AO__c11_atomic_init ? pointee(value) : value,
           type, at);
  }
  return result;
}

/// std::atomic_*, the fences, and __sync_*.
bool Evaluator::atomic_function(const CallSite& site, Operands& result) {
  if (!site.callee->getIdentifier()) return false;
  llvm::StringRef name = site.callee->getName();
  const clang::SourceLocation at = site.expression->getExprLoc();
  if (name == "atomic_thread_fence" || name == "__atomic_thread_fence" ||
      name == "__c11_atomic_thread_fence") {
    order_op(OrderKind::Fence, {}, at,
             order_of(site.arguments.empty() ? nullptr : site.arguments[0], MemoryOrder::SeqCst));
    return true;
  }
  if (name == "atomic_signal_fence" || name == "__atomic_signal_fence" || name == "__c11_atomic_signal_fence")
    return true;
  if (name == "__sync_synchronize") {
    order_op(OrderKind::Fence, {}, at, MemoryOrder::SeqCst);
    return true;
  }
  const bool legacy = name.consume_front("__sync_");
  if (!legacy && !name.consume_front("__atomic_") &&
      !(name.consume_front("atomic_flag_") || name.consume_front("atomic_")))
    return false;
  if (site.arguments.empty() || !site.arguments[0]->getType()->isPointerType()) return false;
  const auto effect = effect_of(name);
  const Operand object = site.target(0);
  MemoryOrder order = MemoryOrder::SeqCst;
  if (legacy && name.starts_with("lock_test_and_set")) order = MemoryOrder::Acquire;
  if (legacy && name.starts_with("lock_release")) order = MemoryOrder::Release;
  for (const clang::Expr* argument : site.arguments)
    if (is_memory_order(argument)) {
      order = order_of(argument, MemoryOrder::SeqCst);
      break;
    }
  if (name.starts_with("wait")) {
    atomic_access(object, true, false, order, at);
    order_op(OrderKind::AtomicWait, object, at, order);
    return true;
  }
  if (name.starts_with("notify_")) {
    order_op(OrderKind::AtomicNotify, object, at);
    return true;
  }
  if (!effect && !legacy) return false;
  const Effect done = effect.value_or(Effect{true, true});
  atomic_access(object, done.reads, done.writes, order, at);
  if (done.writes && site.arguments.size() > 1) {
    const std::size_t stored = name.contains("compare") ? 2 : 1;
    if (stored < site.arguments.size())
      bind(object, site.argument(stored), site.arguments[stored]->getType(), at);
  }
  result.push_back(object);
  return true;
}

}  // namespace simrt::analysis
