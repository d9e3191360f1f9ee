// Clang's thread-safety attributes, for lock functions whose bodies are not in the repository (absl::Mutex
// and the like). Where there is a body, the body tells.
#include <clang/AST/Attr.h>

#include "analysis/extract/evaluator.h"

namespace simrt::analysis {

using clang::dyn_cast;
using clang::isa;

namespace {

/// `mu` or `*mu`, where mu is a pointer or reference parameter.
std::optional<unsigned> named_parameter(const clang::Expr* argument) {
  argument = argument->IgnoreParenImpCasts();
  if (const auto* unary = dyn_cast<clang::UnaryOperator>(argument);
      unary && unary->getOpcode() == clang::UO_Deref)
    argument = unary->getSubExpr()->IgnoreParenImpCasts();
  const auto* named = dyn_cast<clang::DeclRefExpr>(argument);
  const auto* parameter = named ? dyn_cast<clang::ParmVarDecl>(named->getDecl()) : nullptr;
  return parameter ? std::optional(parameter->getFunctionScopeIndex()) : std::nullopt;
}

}  // namespace

bool has_lock_attributes(const clang::FunctionDecl* function) {
  return function->hasAttr<clang::AcquireCapabilityAttr>() ||
         function->hasAttr<clang::ReleaseCapabilityAttr>() ||
         function->hasAttr<clang::TryAcquireCapabilityAttr>() ||
         function->hasAttr<clang::AssertCapabilityAttr>() ||
         function->hasAttr<clang::ExclusiveTrylockFunctionAttr>() ||
         function->hasAttr<clang::SharedTrylockFunctionAttr>() ||
         function->hasAttr<clang::AssertExclusiveLockAttr>() ||
         function->hasAttr<clang::AssertSharedLockAttr>();
}

/// The locks an attribute names; without arguments the object itself.
std::vector<Place> Evaluator::capabilities(llvm::ArrayRef<clang::Expr*> arguments, const CallSite* site,
                                           const Operand& object) {
  std::vector<Place> locks;
  if (arguments.empty()) {
    if (object.known()) locks.push_back(object.place);
    return locks;
  }
  ++quiet_;
  const CallSite* outer_site = std::exchange(attribute_site_, site);
  const Operand* outer_object = std::exchange(attribute_object_, site && object.known() ? &object : nullptr);
  for (const clang::Expr* argument : arguments) {
    // `!mu` (negative capability) says what is not held.
    if (const auto* unary = dyn_cast<clang::UnaryOperator>(argument->IgnoreParenImpCasts());
        unary && unary->getOpcode() == clang::UO_LNot)
      continue;
    if (site)
      if (const auto parameter = named_parameter(argument)) {
        const Operand value = site->argument(*parameter);
        if (value.known()) locks.push_back(pointee(value).place);
        continue;
      }
    for (const Operand& lock : evaluate(argument))
      if (lock.known()) {
        const clang::Expr* written = argument->IgnoreParenImpCasts();
        const bool through_variable = written->isGLValue() && written->getType()->isPointerType();
        locks.push_back(through_variable ? pointee(pointee(lock)).place : pointee(lock).place);
      }
  }
  attribute_site_ = outer_site;
  attribute_object_ = outer_object;
  --quiet_;
  return locks;
}

/// Lock effects of calling `site.callee` on `object`.
void Evaluator::attribute_effects(const CallSite& site, const Operand& object) {
  if (silent()) return;
  const clang::SourceLocation at = site.expression ? site.expression->getExprLoc() : clang::SourceLocation();
  const auto* method = dyn_cast<clang::CXXMethodDecl>(site.callee);
  const bool guard = method && method->getParent()->hasAttr<clang::ScopedLockableAttr>();
  const auto mode = [](bool shared) { return shared ? LockMode::Shared : LockMode::Exclusive; };
  for (const clang::Attr* attribute : site.callee->attrs()) {
    if (const auto* acquire = dyn_cast<clang::AcquireCapabilityAttr>(attribute)) {
      std::vector<Place> locks = capabilities({acquire->args_begin(), acquire->args_size()}, &site,
                                              guard && acquire->args_size() == 0 ? Operand{} : object);
      if (!guard)
        lock_op(LockAction::Acquire, std::move(locks), at, mode(acquire->isShared()));
      else if (isa<clang::CXXConstructorDecl>(method))
        lock_op(LockAction::GuardBind, std::move(locks), at, mode(acquire->isShared()), object.place);
      else
        lock_op(LockAction::GuardAcquire, {}, at, mode(acquire->isShared()), object.place);
    } else if (const auto* release = dyn_cast<clang::ReleaseCapabilityAttr>(attribute)) {
      if (guard)
        lock_op(LockAction::GuardRelease, {}, at, mode(release->isShared()), object.place);
      else
        lock_op(LockAction::Release,
                capabilities({release->args_begin(), release->args_size()}, &site, object), at,
                mode(release->isShared()));
    } else if (const auto* attempt = dyn_cast<clang::TryAcquireCapabilityAttr>(attribute)) {
      lock_op(LockAction::TryAcquire,
              capabilities({attempt->args_begin(), attempt->args_size()}, &site, object), at,
              mode(attempt->isShared()));
    } else if (const auto* exclusive = dyn_cast<clang::ExclusiveTrylockFunctionAttr>(attribute)) {
      lock_op(LockAction::TryAcquire,
              capabilities({exclusive->args_begin(), exclusive->args_size()}, &site, object), at);
    } else if (const auto* shared = dyn_cast<clang::SharedTrylockFunctionAttr>(attribute)) {
      lock_op(LockAction::TryAcquire,
              capabilities({shared->args_begin(), shared->args_size()}, &site, object), at, LockMode::Shared);
    } else if (const auto* held = dyn_cast<clang::AssertExclusiveLockAttr>(attribute)) {
      lock_op(LockAction::Assume, capabilities({held->args_begin(), held->args_size()}, &site, object), at);
    } else if (const auto* held_shared = dyn_cast<clang::AssertSharedLockAttr>(attribute)) {
      lock_op(LockAction::Assume,
              capabilities({held_shared->args_begin(), held_shared->args_size()}, &site, object), at,
              LockMode::Shared);
    } else if (const auto* asserted = dyn_cast<clang::AssertCapabilityAttr>(attribute)) {
      lock_op(LockAction::Assume,
              capabilities({asserted->args_begin(), asserted->args_size()}, &site, object), at,
              mode(asserted->isShared()));
    }
  }
}

}  // namespace simrt::analysis
