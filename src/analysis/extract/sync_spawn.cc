// Threads started and functions run on behalf of a library call: which function, on which object, with what.
#include "analysis/extract/evaluator.h"

namespace simrt::analysis {

using clang::cast;
using clang::dyn_cast;

const clang::Expr* written_argument(const clang::Expr* e) {
  static const Ownership kNothingOwned;
  for (;;) {
    const auto* bare = dyn_cast<clang::Expr>(strip(e, nullptr, kNothingOwned));
    if (!bare) return e;
    e = bare;
    if (const auto* conversion = dyn_cast<clang::CastExpr>(e))
      e = conversion->getSubExpr();
    else if (const auto* construction = dyn_cast<clang::CXXConstructExpr>(e);
             construction && construction->getNumArgs() >= 1 &&
             construction->getConstructor()->isCopyOrMoveConstructor())
      e = construction->getArg(0);
    else
      return e;
  }
}

const clang::FunctionDecl* named_function(const clang::Expr* argument) {
  const clang::Expr* e = written_argument(argument);
  if (const auto* unary = dyn_cast<clang::UnaryOperator>(e); unary && unary->getOpcode() == clang::UO_AddrOf)
    e = written_argument(unary->getSubExpr());
  const auto* named = dyn_cast<clang::DeclRefExpr>(e);
  return named ? dyn_cast<clang::FunctionDecl>(named->getDecl()) : nullptr;
}

namespace {

bool is_std_call(const clang::Expr* e, std::initializer_list<llvm::StringRef> names) {
  const auto* call = dyn_cast<clang::CallExpr>(e);
  const clang::FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  return callee && callee->getIdentifier() && callee->isInStdNamespace() &&
         llvm::is_contained(names, callee->getName());
}

const clang::FunctionDecl* call_operator(clang::QualType type) {
  const clang::CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition()) return nullptr;
  if (record->isLambda()) return record->getLambdaCallOperator();
  for (const clang::CXXMethodDecl* method : record->methods())
    if (method->getOverloadedOperator() == clang::OO_Call) return method;
  return nullptr;
}

}  // namespace

/// What argument `index` of a spawning or calling library function runs.
Entry Evaluator::resolve_entry(const CallSite& site, std::size_t index) {
  Entry entry;
  if (index >= site.arguments.size()) return entry;
  const auto take_arguments = [&](std::size_t first) {
    for (std::size_t i = first; i < site.arguments.size(); ++i) {
      entry.arguments.push_back(site.arguments[i]);
      entry.values.push_back(site.values[i]);
    }
  };
  const clang::Expr* callable = written_argument(site.arguments[index]);
  while (is_std_call(callable, {"move", "forward", "ref", "cref"}))
    callable = written_argument(cast<clang::CallExpr>(callable)->getArg(0));
  if (is_std_call(callable, {"bind", "bind_front"})) {
    // std::bind(f, args...): the entry is f; its bound arguments stand in the inner call.
    const auto* bound = cast<clang::CallExpr>(callable);
    CallSite inner;
    inner.expression = bound;
    inner.callee = bound->getDirectCallee();
    ++quiet_;
    for (const clang::Expr* argument : bound->arguments()) {
      inner.arguments.push_back(argument);
      inner.values.push_back(evaluate(argument));
    }
    --quiet_;
    return resolve_entry(inner, 0);
  }
  if (const clang::FunctionDecl* function = named_function(callable)) {
    entry.function = function;
    const auto* method = dyn_cast<clang::CXXMethodDecl>(function);
    if (method && method->isInstance()) {
      if (index + 1 < site.arguments.size()) {
        Operand object = site.argument(index + 1);
        const clang::QualType type = site.arguments[index + 1]->getType();
        // A pointer or smart pointer by value; or the object itself (std::ref).
        const LibraryClass kind = unit_.library.classify(type);
        const bool pointer_like =
            type->isPointerType() || kind == LibraryClass::SmartPointer || kind == LibraryClass::Pointer;
        if (pointer_like && site.arguments[index + 1]->isGLValue()) object = pointee(object);
        entry.object = object;
      }
      take_arguments(index + 2);
    } else {
      take_arguments(index + 1);
    }
    return entry;
  }
  take_arguments(index + 1);
  if (const clang::FunctionDecl* function = call_operator(callable->getType());
      function && unit_.in_repository(function)) {
    entry.function = function;
    if (!cast<clang::CXXMethodDecl>(function)->getParent()->isLambda()) {
      ++quiet_;
      entry.object = first(evaluate(callable));
      --quiet_;
    }
    return entry;
  }
  ++quiet_;
  entry.holder = first(evaluate(callable));
  --quiet_;
  if (entry.holder.address > 0) entry.holder = pointee(entry.holder);
  return entry;
}

/// A new thread runs argument `entry_argument`; the following arguments become its parameters.
void Evaluator::spawn(const CallSite& site, std::size_t entry_argument, const Operand& thread) {
  if (silent()) return;
  const clang::SourceLocation at = site.expression->getExprLoc();
  const Entry entry = resolve_entry(site, entry_argument);
  Call call;
  call.kind = CallKind::Spawn;
  if (entry.object)
    call.receiver = entry.object->value();
  else if (entry.holder.known())
    call.receiver = entry.holder.value();
  for (const Operands& values : entry.values) {
    const Operand value = first(values);
    call.arguments.push_back((value.address > 1 ? pointee(value) : value).value());
  }
  if (!entry.function) {
    call.name = "(thread entry)";
  } else {
    call.callee = function_id(unit_.names.usr(entry.function));
    call.name = unit_.names.display(entry.function);
    const auto* method = dyn_cast<clang::CXXMethodDecl>(entry.function);
    if (entry.object && method && entry.object->known())
      emit(at, Binding{{unit_.variables.receiver(method), 0, {}}, entry.object->value()});
    unsigned parameter = 0;
    if (entry.function->getNumParams() > 0 && entry.values.size() + 1 == entry.function->getNumParams())
      ++parameter;  // stop_token
    for (std::size_t i = 0; i < entry.values.size(); ++i, ++parameter) {
      if (parameter >= entry.function->getNumParams()) break;
      const clang::QualType type = entry.function->getParamDecl(parameter)->getType();
      Operand target;
      target.place.base = unit_.variables.parameter(entry.function, parameter);
      for (Operand value : entry.values[i]) {
        // The thread holds a copy of the argument; a reference parameter refers to the copy, or through
        // std::ref to the original (whose address is then the value).
        const bool wrapped = unit_.library.classify(entry.arguments[i]->getType()) == LibraryClass::Pointer;
        if ((wrapped || !type->isReferenceType()) && entry.arguments[i]->isGLValue()) value = pointee(value);
        if (type->isReferenceType())
          bind_reference(target, value, at);
        else
          bind(target, value, type, at);
      }
    }
  }
  emit(at, std::move(call));
  order_op(OrderKind::ThreadSpawn, thread, at);
}

bool Evaluator::thread_construction(const Operand& thread, const CallSite& site, std::size_t first_argument) {
  if (site.arguments.size() <= first_argument) return true;
  const LibraryClass moved = unit_.library.classify(site.arguments[first_argument]->getType());
  if (moved == LibraryClass::Thread || moved == LibraryClass::JoiningThread)
    return true;  // moved, not started
  spawn(site, first_argument, thread);
  return true;
}

/// The library calls argument `index` before it returns: call_once, wait's predicate, algorithms.
void Evaluator::call_now(const CallSite& site, std::size_t index) {
  if (index >= site.arguments.size() || silent()) return;
  const Entry entry = resolve_entry(site, index);
  if (!entry.function || !unit_.in_repository(entry.function)) return;
  Call call;
  call.kind = CallKind::Direct;
  call.callee = function_id(unit_.names.usr(entry.function));
  call.name = unit_.names.display(entry.function);
  if (entry.object) call.receiver = entry.object->value();
  if (site.name == "std::call_once" || site.name == "std::invoke")
    for (const Operands& values : entry.values) call.arguments.push_back(first(values).value());
  emit(site.expression->getExprLoc(), std::move(call));
}

}  // namespace simrt::analysis
