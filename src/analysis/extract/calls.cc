// Calls, constructions, destructions, and functions handed over to others.
#include <clang/AST/StmtCXX.h>

#include "analysis/extract/evaluator.h"
#include "analysis/extract/prototype.h"

namespace simrt::analysis {

using clang::cast;
using clang::dyn_cast;
using clang::isa;

namespace {

bool is_guard(LibraryClass kind) { return kind == LibraryClass::Guard || kind == LibraryClass::SharedGuard; }

/// The construction that makes the object that `init` initialises; null when something else does (a call).
const clang::CXXConstructExpr* construction_in(const clang::Expr* init) {
  static const Ownership kNothingOwned;
  for (;;) {
    if (!init) return nullptr;
    const auto* e = dyn_cast<clang::Expr>(strip(init, nullptr, kNothingOwned));
    if (!e) return nullptr;
    if (const auto* conversion = dyn_cast<clang::CastExpr>(e);
        conversion && (conversion->getCastKind() == clang::CK_ConstructorConversion ||
                       conversion->getCastKind() == clang::CK_NoOp)) {
      init = conversion->getSubExpr();
    } else if (const auto* default_init = dyn_cast<clang::CXXDefaultInitExpr>(e)) {
      init = default_init->getExpr();
    } else if (const auto* list = dyn_cast<clang::InitListExpr>(e);
               list && list->isTransparent() && list->getNumInits() == 1) {
      init = list->getInit(0);
    } else if (const auto* construction = dyn_cast<clang::CXXConstructExpr>(e)) {
      if (construction->isElidable() && construction->getNumArgs() == 1)
        if (const auto* inner = construction_in(construction->getArg(0))) return inner;
      return construction;
    } else {
      return nullptr;
    }
  }
}

/// The construction or call whose result a variable is.
const clang::Expr* maker_of(const clang::Expr* init) {
  static const Ownership kNothingOwned;
  if (const clang::CXXConstructExpr* construction = construction_in(init)) return construction;
  return init ? dyn_cast<clang::CallExpr>(strip(init, nullptr, kNothingOwned)) : nullptr;
}

std::string written_name(const clang::Expr* callee) {
  const clang::Expr* e = callee->IgnoreParenImpCasts();
  if (const auto* member = dyn_cast<clang::MemberExpr>(e)) return member->getMemberDecl()->getNameAsString();
  if (const auto* named = dyn_cast<clang::DeclRefExpr>(e)) return named->getDecl()->getNameAsString();
  if (const auto* overloads = dyn_cast<clang::OverloadExpr>(e)) return overloads->getName().getAsString();
  if (const auto* dependent = dyn_cast<clang::CXXDependentScopeMemberExpr>(e))
    return dependent->getMember().getAsString();
  if (const auto* dependent = dyn_cast<clang::DependentScopeDeclRefExpr>(e))
    return dependent->getDeclName().getAsString();
  return "(indirect call)";
}

bool calls_virtually(const clang::CallExpr* call, const clang::CXXMethodDecl* method) {
  if (!method->isVirtual() || method->hasAttr<clang::FinalAttr>() ||
      method->getParent()->isEffectivelyFinal())
    return false;
  const auto* member = dyn_cast<clang::MemberExpr>(call->getCallee()->IgnoreParens());
  return !member || !member->hasQualifier();
}

}  // namespace

const clang::Expr* placement_of(const clang::CXXNewExpr* creation) {
  const bool told =
      creation->getNumPlacementArgs() > 0 && creation->getPlacementArg(0)->getType()->isPointerType();
  return told ? creation->getPlacementArg(0) : nullptr;
}

void Evaluator::find_construction_targets(const clang::CFG& graph) {
  for (const clang::CFGBlock* block : graph)
    for (const clang::CFGElement& element : *block) {
      if (const auto s = element.getAs<clang::CFGStmt>()) {
        if (const auto* declarations = dyn_cast<clang::DeclStmt>(s->getStmt())) {
          for (const clang::Decl* declaration : declarations->decls())
            if (const auto* declared = dyn_cast<clang::VarDecl>(declaration))
              if (const clang::Expr* maker = maker_of(declared->getInit()))
                variable_targets_[maker] = declared;
        } else if (const auto* call = dyn_cast<clang::CallExpr>(s->getStmt())) {
          find_moved_targets(call);
        } else if (const auto* creation = dyn_cast<clang::CXXNewExpr>(s->getStmt())) {
          const clang::Expr* where = placement_of(creation);
          if (const auto* construction = construction_in(creation->getInitializer()); where && construction)
            moved_targets_[construction] = {where, false};
        } else if (const auto* result = dyn_cast<clang::ReturnStmt>(s->getStmt())) {
          if (const auto* construction = construction_in(result->getRetValue()))
            result_targets_.insert(construction);
        }
      } else if (const auto init = element.getAs<clang::CFGInitializer>()) {
        const clang::CXXCtorInitializer* initializer = init->getInitializer();
        if (const auto* construction = construction_in(initializer->getInit()))
          member_targets_[construction] = initializer;
      }
    }
  if (scope_.variable)
    if (const auto* construction = construction_in(scope_.variable->getInit()))
      variable_targets_[construction] = scope_.variable;
}

/// `t = std::thread(f)`, `pool.push_back(std::thread(f))`: a join names the object, so the start must too.
void Evaluator::find_moved_targets(const clang::CallExpr* call) {
  const auto* operation = dyn_cast<clang::CXXOperatorCallExpr>(call);
  const auto* member = dyn_cast<clang::CXXMemberCallExpr>(call);
  const clang::CXXMethodDecl* method = member ? member->getMethodDecl() : nullptr;
  const bool assigns =
      operation && operation->getOperator() == clang::OO_Equal && operation->getNumArgs() == 2;
  const bool inserts =
      method && method->getIdentifier() && member->getNumArgs() == 1 &&
      (method->getName() == "push_back" || method->getName() == "push" || method->getName() == "push_front");
  if (!assigns && !inserts) return;
  const clang::Expr* moved = assigns ? operation->getArg(1) : member->getArg(0);
  switch (unit_.library.classify(moved->getType())) {
    case LibraryClass::Thread:
    case LibraryClass::JoiningThread:
    case LibraryClass::Future:
      break;
    default:
      return;
  }
  if (const clang::Expr* maker = maker_of(moved))
    moved_targets_[maker] = {assigns ? operation->getArg(0) : member->getImplicitObjectArgument(), inserts};
}

/// The variable or object that keeps what `maker` makes.
std::optional<Operand> Evaluator::target_of(const clang::Expr* maker) {
  if (const auto found = variable_targets_.find(maker); found != variable_targets_.end())
    return local_operand(found->second);
  const auto found = moved_targets_.find(maker);
  if (found == moved_targets_.end()) return std::nullopt;
  ++quiet_;
  const clang::Expr* object = found->second.object;
  const Operand memory =
      object->getType()->isPointerType() ? pointee(first(rvalue(object))) : first(lvalue(object));
  --quiet_;
  return found->second.element ? element_of(memory) : memory;
}

/// The memory that a constructor call constructs.
Operand Evaluator::construction_target(const clang::CXXConstructExpr* e, clang::SourceLocation) {
  Operand result;
  if (const auto known = target_of(e)) return *known;
  if (const auto found = member_targets_.find(e); found != member_targets_.end()) {
    Operand object = pointee(this_pointer());
    if (found->second->isAnyMemberInitializer()) return field_of(found->second->getAnyMember(), object, true);
    return object;
  }
  if (result_targets_.contains(e) && scope_.function) {
    result.place.base = unit_.variables.result(scope_.function);
    return result;
  }
  result.own = true;
  result.path = "temporary";
  const LibraryClass kind = unit_.library.classify(e->getType());
  if (is_guard(kind)) {
    // A guard without a name lives till the end of its full expression; its destructor must find it again.
    result.place.base = unit_.variables.temporary(scope_, temporary(e));
  }
  return result;
}

/// The value as an argument; a reference to a temporary that holds a pointer gets a variable for the
/// temporary.
Value Evaluator::argument_value(const Operand& argument, const clang::Expr* expression,
                                clang::SourceLocation at) {
  if (argument.address < 2 || !argument.known() || !expression) return argument.value();
  Operand holder;
  holder.place.base = unit_.variables.temporary(scope_, temporary(expression));
  emit(at, Binding{holder.place, {argument.place, true}});
  return {holder.place, true};
}

std::uint32_t Evaluator::temporary(const clang::Expr* e) {
  const auto [entry, fresh] = temporaries_.try_emplace(e, 0);
  if (fresh) {
    entry->second = static_cast<std::uint32_t>(scope_.locals.size());
    scope_.locals.push_back({"", unit_.names.type_hash(e->getType()), false, false, false});
  }
  return entry->second;
}

void Evaluator::emit_call(const clang::FunctionDecl* callee, CallKind kind, std::optional<Value> receiver,
                          const CallSite& site) {
  if (silent()) return;
  Call call;
  call.callee = function_id(unit_.names.usr(callee));
  call.kind = kind;
  call.name = unit_.names.display(callee);
  call.receiver = std::move(receiver);
  const clang::SourceLocation at = site.expression ? site.expression->getExprLoc() : clang::SourceLocation();
  for (std::size_t i = 0; i < site.values.size(); ++i) {
    call.arguments.push_back(
        argument_value(site.argument(i), i < site.arguments.size() ? site.arguments[i] : nullptr, at));
    // One value stands in the call; the others flow into the parameter by themselves.
    for (std::size_t other = 1; other < site.values[i].size(); ++other)
      if (i < callee->getNumParams() && site.values[i][other].known())
        emit(at, Binding{{unit_.variables.parameter(callee, static_cast<unsigned>(i)), 0, {}},
                         site.values[i][other].value()});
  }
  emit(at, std::move(call));
}

const clang::FunctionDecl* Evaluator::closure_function(clang::QualType type) {
  const clang::CXXRecordDecl* record =
      type.isNull() ? nullptr : type.getNonReferenceType()->getAsCXXRecordDecl();
  if (!record || !record->isLambda()) return nullptr;
  const clang::CXXMethodDecl* function = record->getLambdaCallOperator();
  return function && unit_.in_repository(function) ? function : nullptr;
}

void Evaluator::callback(const clang::FunctionDecl* function, clang::SourceLocation at, CallKind kind) {
  if (silent() || !function || !unit_.in_repository(function)) return;
  Call call;
  call.callee = function_id(unit_.names.usr(function));
  call.kind = kind;
  call.name = unit_.names.display(function);
  emit(at, std::move(call));
}

/// Closures among the arguments: somebody may call them, now or later.
void Evaluator::hand_over(const CallSite& site) {
  for (const clang::Expr* argument : site.arguments)
    if (const clang::FunctionDecl* function = closure_function(argument->getType()))
      callback(function, argument->getExprLoc());
}

void Evaluator::indirect_call(const clang::CallExpr* e) {
  CallSite site;
  site.expression = e;
  const clang::Expr* callee = e->getCallee();
  const Operand target = callee->isGLValue() ? first(lvalue(callee)) : first(rvalue(callee));
  for (const clang::Expr* argument : e->arguments()) {
    site.arguments.push_back(argument);
    site.values.push_back(evaluate(argument));
  }
  hand_over(site);
  if (silent()) return;
  Call call;
  if (has_exact_prototype(callee->getType())) {
    call.kind = CallKind::Pointer;
    if (unit_.context.getLangOpts().CPlusPlus) call.prototype = prototype_shape(callee->getType());
  } else {
    call.kind = CallKind::Indirect;
  }
  call.name = written_name(callee);
  if (target.known()) call.receiver = target.value();
  for (std::size_t i = 0; i < site.values.size(); ++i) call.arguments.push_back(site.argument(i).value());
  emit(e->getExprLoc(), std::move(call));
}

Operands Evaluator::call(const clang::CallExpr* e) {
  if (isa<clang::CXXPseudoDestructorExpr>(e->getCallee()->IgnoreParens())) return {};
  const clang::FunctionDecl* callee = e->getDirectCallee();
  if (!callee) {
    indirect_call(e);
    return {};
  }
  CallSite site;
  site.expression = e;
  site.callee = callee;
  const auto* method = dyn_cast<clang::CXXMethodDecl>(callee);
  unsigned first_argument = 0;
  if (const auto* member = dyn_cast<clang::MemberExpr>(e->getCallee()->IgnoreParens())) {
    const clang::Expr* object = member->getBase();
    site.object_expression = object;
    site.object_type = object->IgnoreImpCasts()->getType();
    if (member->isArrow()) site.object_type = site.object_type->getPointeeType();
    if (site.object_type.isNull()) site.object_type = object->getType();
    const Operand base = first(member->isArrow() ? rvalue(object) : lvalue(object));
    if (!method || method->isInstance()) site.object = member->isArrow() ? pointee(base) : base;
  } else if (isa<clang::CXXOperatorCallExpr>(e) && method && method->isInstance() && e->getNumArgs() > 0) {
    site.object_expression = e->getArg(0);
    site.object_type = e->getArg(0)->IgnoreImpCasts()->getType();
    site.object = first(lvalue(e->getArg(0)));
    first_argument = 1;
  }
  // What this element's own arguments do was told elsewhere when the call is only looked at for its value,
  // but the value may depend on them (std::move, library accessors).
  for (unsigned i = first_argument; i < e->getNumArgs(); ++i) {
    const clang::Expr* argument = e->getArg(i);
    site.arguments.push_back(argument);
    // Functions among a library call's arguments are told by its model (thread entries, once-functions).
    const bool modelled = named_function(argument) && !unit_.in_repository(callee);
    quiet_ += modelled;
    site.values.push_back(evaluate(argument));
    quiet_ -= modelled;
  }
  return dispatch(site);
}

Operands Evaluator::result_of(const CallSite& site) {
  if (site.callee->getReturnType()->isVoidType()) return {};
  Operand result;
  result.place.base = unit_.variables.result(site.callee);
  result.path = (site.object && !site.object->path.empty() ? site.object->path + "." : std::string()) +
                site.callee->getNameAsString() + "()";
  if (site.callee->getReturnType()->isReferenceType()) {
    ++result.place.derefs;
    result.address = 1;
  }
  return {result};
}

Operands Evaluator::dispatch(CallSite& site) {
  const auto* method = dyn_cast<clang::CXXMethodDecl>(site.callee);
  if (!unit_.in_repository(site.callee)) {
    if (site.callee->getDeclName().isIdentifier()) site.name = library_name(site.callee);
    Operands result;
    if (site.object ? std_member(site, *site.object, result) || library_member(site, *site.object, result)
                    : std_function(site, result) || c_function(site, result) || atomic_function(site, result))
      return result;
    const clang::SourceManager& sources = unit_.context.getSourceManager();
    if (has_lock_attributes(site.callee)) attribute_effects(site, site.object.value_or(Operand{}));
    if (!sources.isInSystemHeader(sources.getExpansionLoc(site.callee->getLocation())) &&
        site.callee->getBuiltinID() == 0)
      emit_call(site.callee, CallKind::Direct,
                site.object ? std::optional(address_of(*site.object).value()) : std::nullopt, site);
    library_function(site, result);
    return result;
  }
  if (method && isa<clang::CXXConversionDecl>(method) && method->getParent()->isLambda()) {
    callback(closure_function(site.object_type), site.expression->getExprLoc());
    return {};
  }
  const auto* e = dyn_cast<clang::CallExpr>(site.expression);
  const CallKind kind = method && e && calls_virtually(e, method) ? CallKind::Virtual : CallKind::Direct;
  hand_over(site);
  std::optional<Value> receiver;
  if (site.object) {
    receiver = address_of(*site.object).value();
    if (site.object->local >= 0) {
      use(static_cast<std::uint32_t>(site.object->local));
      if (method && !method->isConst()) define(static_cast<std::uint32_t>(site.object->local));
    }
  }
  for (std::size_t i = 0; i < site.values.size(); ++i)
    for (const Operand& value : site.values[i])
      if (value.address && value.local >= 0) {
        use(static_cast<std::uint32_t>(value.local));
        const clang::QualType type = i < site.callee->getNumParams() ? site.callee->getParamDecl(i)->getType()
                                                                     : site.arguments[i]->getType();
        if (!type->getPointeeType().isNull() && !type->getPointeeType().isConstQualified())
          define(static_cast<std::uint32_t>(value.local));
      }
  emit_call(site.callee, kind, std::move(receiver), site);
  return result_of(site);
}

Operands Evaluator::construct(const clang::CXXConstructExpr* e) {
  CallSite site;
  site.expression = e;
  site.callee = e->getConstructor();
  site.object_type = e->getType();
  const bool library = !unit_.in_repository(e->getConstructor()->getParent());
  for (const clang::Expr* argument : e->arguments()) {
    site.arguments.push_back(argument);
    const bool modelled = library && named_function(argument);
    quiet_ += modelled;
    site.values.push_back(evaluate(argument));
    quiet_ -= modelled;
  }
  const Operand target = construction_target(e, e->getExprLoc());
  if (target.local >= 0) define(static_cast<std::uint32_t>(target.local));
  return constructed(e, target, site);
}

Operands Evaluator::constructed(const clang::CXXConstructExpr* e, const Operand& target,
                                const CallSite& site) {
  const clang::CXXConstructorDecl* constructor = e->getConstructor();
  Operands result;
  if (library_construction(e, target, site, result)) return result;
  if (constructor->getParent()->isLambda()) {  // a closure copied
    const Operands source = site.values.empty() ? Operands{} : site.values.front();
    for (const Operand& value : source) result.push_back(pointee(value));
    return result;
  }
  hand_over(site);
  for (const Operands& values : site.values)
    for (const Operand& value : values)
      if (value.address && value.local >= 0) use(static_cast<std::uint32_t>(value.local));
  if (constructor->getParent()->isUnion() && constructor->isTrivial() &&
      constructor->isCopyOrMoveConstructor()) {
    // No constructor copies a union member by member; its bytes are.
    access_fields(site.target(0), AccessMode::Read, e->getType(), e->getExprLoc(), kTagNone, 0);
    access_fields(target, AccessMode::Write, e->getType(), e->getExprLoc(), kTagNone, 0);
  } else if (!constructor->isDefaultConstructor() || !constructor->isTrivial())
    emit_call(constructor, CallKind::Direct,
              target.known() ? std::optional(address_of(target).value()) : std::nullopt, site);
  if (target.known()) result.push_back(target);
  return result;
}

/// Creating a closure: what it copies flows into its own variables.
Operands Evaluator::lambda(const clang::LambdaExpr* e) {
  const FunctionScope* body = unit_.lambdas.lookup(e);
  auto init = e->capture_init_begin();
  std::size_t captured = 0;
  for (const clang::LambdaCapture& capture : e->captures()) {
    const clang::Expr* source = *init++;
    if (!capture.capturesVariable()) continue;
    const std::uint32_t ordinal =
        body ? static_cast<std::uint32_t>(body->function->getNumParams() + captured) : 0;
    ++captured;
    const auto* variable = clang::cast<clang::ValueDecl>(capture.getCapturedVar());
    if (variable->isInitCapture())
      source = clang::cast<clang::VarDecl>(variable)->getInit();
    else if (capture.getCaptureKind() == clang::LCK_ByRef) {
      if (const auto local = scope_.ordinal_of(variable)) use(*local);
      continue;
    }
    const Operands values = evaluate(source);
    if (!body) continue;
    Operand target;
    target.place.base = unit_.variables.local(*body, ordinal);
    bool bound = false;
    for (const Operand& value : values)
      bound = flow(target, value, variable->getType(), capture.getLocation()) || bound;
    if (!bound) computed(target, capture.getLocation());
  }
  return {};
}

}  // namespace simrt::analysis
