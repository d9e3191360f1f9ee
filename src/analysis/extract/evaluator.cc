// Expressions and statements.
#include "analysis/extract/evaluator.h"

#include <clang/AST/StmtCXX.h>

namespace simrt::analysis {

using clang::dyn_cast;
using clang::isa;

namespace {

constexpr unsigned kMaxDepth = 300;

const clang::Expr* source_of(const clang::OpaqueValueExpr* value) { return value->getSourceExpr(); }

}  // namespace

Operands Evaluator::evaluate(const clang::Expr* expression) {
  if (!expression) return {};
  if (!expression->isGLValue()) return rvalue(expression);
  Operands result = lvalue(expression);
  for (Operand& operand : result) ++operand.address;
  return result;
}

namespace {

/// Counts up while alive when `active`.
struct Scoped {
  Scoped(unsigned& counter, bool active) : counter_(counter), active_(active) { counter_ += active_; }
  ~Scoped() { counter_ -= active_; }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;
  unsigned& counter_;
  bool active_;
};

}  // namespace

Operands Evaluator::rvalue(const clang::Expr* expression) {
  if (!expression || depth_ >= kMaxDepth) return {};
  if (expression->isGLValue()) return evaluate(expression);
  const auto* e = dyn_cast<clang::Expr>(strip(expression, root_, ownership_));
  if (!e) return {};
  if (e->isGLValue()) return evaluate(e);
  const Scoped depth(depth_, true);
  const Scoped quiet(quiet_, ownership_.is_elsewhere(e, root_));
  return rvalue_core(e);
}

Operands Evaluator::lvalue(const clang::Expr* expression) {
  if (!expression || depth_ >= kMaxDepth) return {};
  const auto* e = dyn_cast<clang::Expr>(strip(expression, root_, ownership_));
  if (!e) return {};
  const Scoped depth(depth_, true);
  const Scoped quiet(quiet_, ownership_.is_elsewhere(e, root_));
  if (e->isGLValue()) return lvalue_core(e);
  // A temporary: memory of its own, or for pointer-like objects a holder of the value.
  Operands values = rvalue_core(e);
  for (Operand& value : values) {
    if (value.address > 0) continue;  // holds the pointer
    value.own = true;
    value.local = -1;
  }
  if (values.empty()) values.push_back(Operand{{}, 0, "temporary", true, -1, kTagNone});
  return values;
}

Operands Evaluator::rvalue_core(const clang::Expr* e) {
  if (const auto* cast = dyn_cast<clang::CastExpr>(e)) return cast_rvalue(cast);
  if (const auto* atomic = dyn_cast<clang::AtomicExpr>(e)) return atomic_builtin(atomic);
  if (const auto* called = dyn_cast<clang::CallExpr>(e)) return call(called);
  if (const auto* construction = dyn_cast<clang::CXXConstructExpr>(e)) return construct(construction);
  if (const auto* operation = dyn_cast<clang::UnaryOperator>(e)) return unary(operation);
  if (const auto* operation = dyn_cast<clang::BinaryOperator>(e)) return binary(operation);
  if (isa<clang::CXXThisExpr>(e)) return {this_pointer()};
  if (const auto* object = dyn_cast<clang::LambdaExpr>(e)) return lambda(object);
  if (const auto* argument = dyn_cast<clang::CXXDefaultArgExpr>(e)) return evaluate(argument->getExpr());
  if (const auto* init = dyn_cast<clang::CXXDefaultInitExpr>(e)) return evaluate(init->getExpr());
  if (const auto* opaque = dyn_cast<clang::OpaqueValueExpr>(e)) {
    const Scoped quiet(quiet_, true);
    return source_of(opaque) ? evaluate(source_of(opaque)) : Operands{};
  }
  if (const auto* conditional = dyn_cast<clang::AbstractConditionalOperator>(e)) {
    evaluate(conditional->getCond());
    Operands result = evaluate(conditional->getTrueExpr());
    for (Operand& other : evaluate(conditional->getFalseExpr())) result.push_back(std::move(other));
    return result;
  }
  if (const auto* creation = dyn_cast<clang::CXXNewExpr>(e)) return new_object(creation);
  if (const auto* removal = dyn_cast<clang::CXXDeleteExpr>(e)) {
    delete_object(removal);
    return {};
  }
  if (const auto* list = dyn_cast<clang::InitListExpr>(e)) {
    if (list->isTransparent() && list->getNumInits() == 1) return evaluate(list->getInit(0));
    initialise_list(Operand{{}, 0, "temporary", true, -1, kTagNone}, list);
    return {};
  }
  if (isa<clang::UnaryExprOrTypeTraitExpr, clang::CXXNoexceptExpr, clang::RequiresExpr, clang::CXXTypeidExpr>(
          e))
    return {};
  if (const auto* body = dyn_cast<clang::StmtExpr>(e)) {
    const auto* last =
        body->getSubStmt()->body_empty() ? nullptr : dyn_cast<clang::Expr>(body->getSubStmt()->body_back());
    const Scoped quiet(quiet_, true);
    return last ? evaluate(last) : Operands{};
  }
  if (const auto* suspend = dyn_cast<clang::CoroutineSuspendExpr>(e)) {
    evaluate(suspend->getCommonExpr());
    for (const clang::Expr* part :
         {suspend->getReadyExpr(), suspend->getSuspendExpr(), suspend->getResumeExpr()})
      evaluate(part);
    return {};
  }
  evaluate_children(e);
  return {};
}

Operands Evaluator::lvalue_core(const clang::Expr* e) {
  if (const auto* named = dyn_cast<clang::DeclRefExpr>(e)) {
    if (const auto* structured = dyn_cast<clang::BindingDecl>(named->getDecl()))
      return binding(structured, named);
    if (const auto* function = dyn_cast<clang::FunctionDecl>(named->getDecl())) {
      callback(function, named->getLocation());
      return {};
    }
    if (isa<clang::VarDecl>(named->getDecl())) return {variable(named->getDecl(), named)};
    return {};
  }
  if (const auto* access = dyn_cast<clang::MemberExpr>(e)) return member(access);
  if (const auto* element = dyn_cast<clang::ArraySubscriptExpr>(e)) return {subscript(element)};
  if (const auto* operation = dyn_cast<clang::UnaryOperator>(e)) {
    if (operation->getOpcode() == clang::UO_Deref) {
      if (const auto element = loop_element(operation->getSubExpr())) return {*element};
      Operands result = rvalue(operation->getSubExpr());
      for (Operand& operand : result) {
        const bool direct = operand.address > 0;
        operand = pointee(operand);
        if (!direct) operand.path = "*" + operand.path;
      }
      return result;
    }
    if (operation->isIncrementDecrementOp()) return increment(operation);
    return lvalue(operation->getSubExpr());  // __real, __imag
  }
  if (const auto* operation = dyn_cast<clang::BinaryOperator>(e)) {
    if (operation->isAssignmentOp()) return assign(operation);
    if (operation->getOpcode() == clang::BO_Comma) {
      evaluate(operation->getLHS());
      return lvalue(operation->getRHS());
    }
    evaluate(operation->getLHS());  // .* and ->*: which member is unknown
    evaluate(operation->getRHS());
    return {};
  }
  if (const auto* conversion = dyn_cast<clang::CastExpr>(e)) {
    if (conversion->getCastKind() == clang::CK_FunctionToPointerDecay) return cast_rvalue(conversion);
    return lvalue(conversion->getSubExpr());
  }
  if (const auto* called = dyn_cast<clang::CallExpr>(e)) {
    Operands result = call(called);
    for (Operand& operand : result) operand = pointee(operand);
    return result;
  }
  if (const auto* conditional = dyn_cast<clang::AbstractConditionalOperator>(e)) {
    evaluate(conditional->getCond());
    Operands result = lvalue(conditional->getTrueExpr());
    for (Operand& other : lvalue(conditional->getFalseExpr())) result.push_back(std::move(other));
    return result;
  }
  if (const auto* opaque = dyn_cast<clang::OpaqueValueExpr>(e)) {
    const Scoped quiet(quiet_, true);
    return source_of(opaque) ? lvalue(source_of(opaque)) : Operands{};
  }
  if (const auto* argument = dyn_cast<clang::CXXDefaultArgExpr>(e)) return lvalue(argument->getExpr());
  if (const auto* init = dyn_cast<clang::CXXDefaultInitExpr>(e)) return lvalue(init->getExpr());
  if (const auto* literal = dyn_cast<clang::CompoundLiteralExpr>(e))
    evaluate(literal->getInitializer());
  else if (const auto* list = dyn_cast<clang::InitListExpr>(e); list && list->getNumInits() == 1)
    return lvalue(list->getInit(0));
  else
    evaluate_children(e);
  return {};
}

void Evaluator::evaluate_children(const clang::Stmt* statement) {
  for (const clang::Stmt* child : statement->children())
    if (const auto* e = llvm::dyn_cast_or_null<clang::Expr>(child)) evaluate(e);
}

Operands Evaluator::cast_rvalue(const clang::CastExpr* e) {
  const clang::Expr* sub = e->getSubExpr();
  switch (e->getCastKind()) {
    case clang::CK_LValueToRValue: {
      Operands memory = lvalue(sub);
      read(memory, sub);
      return memory;
    }
    case clang::CK_ArrayToPointerDecay: {
      Operands memory = lvalue(sub);
      for (Operand& operand : memory) {
        const std::string path = operand.path;
        operand = address_of(element_of(operand));
        operand.path = path;
      }
      return memory;
    }
    case clang::CK_FunctionToPointerDecay:
      if (const auto* named = dyn_cast<clang::DeclRefExpr>(sub->IgnoreParens()))
        if (const auto* function = dyn_cast<clang::FunctionDecl>(named->getDecl())) {
          callback(function, named->getLocation());
          return {};
        }
      return evaluate(sub);
    case clang::CK_NullToPointer:
    case clang::CK_NullToMemberPointer:
    case clang::CK_BuiltinFnToFnPtr:
      return {};
    case clang::CK_ToVoid:
      if (sub->isGLValue())
        lvalue(sub);
      else
        rvalue(sub);
      return {};
    default:
      break;
  }
  Operands result = evaluate(sub);
  // A glvalue under a class cast (slicing and the like) is the object itself.
  return result;
}

Operands Evaluator::unary(const clang::UnaryOperator* e) {
  if (e->isIncrementDecrementOp()) {
    Operands memory = increment(e);
    return memory;
  }
  if (e->getOpcode() == clang::UO_AddrOf) {
    const clang::Expr* sub = e->getSubExpr()->IgnoreParens();
    if (const auto* named = dyn_cast<clang::DeclRefExpr>(sub)) {
      if (const auto* function = dyn_cast<clang::FunctionDecl>(named->getDecl())) {
        callback(function, named->getLocation());
        return {};
      }
      if (isa<clang::FieldDecl, clang::IndirectFieldDecl>(named->getDecl())) return {};  // pointer to member
    }
    Operands memory = lvalue(e->getSubExpr());
    for (Operand& operand : memory) {
      ++operand.address;
      if (operand.local >= 0) use(static_cast<std::uint32_t>(operand.local));
    }
    return memory;
  }
  Operands result = evaluate(e->getSubExpr());
  return e->getOpcode() == clang::UO_Plus ? result : Operands{};
}

Operands Evaluator::increment(const clang::UnaryOperator* e) {
  Operands memory = lvalue(e->getSubExpr());
  read(memory, e->getSubExpr());
  write(memory, e->getSubExpr());
  return memory;
}

Operands Evaluator::binary(const clang::BinaryOperator* e) {
  if (e->isAssignmentOp()) return assign(e);
  // Chains lean left and generated ones are long: a loop, not recursion.
  llvm::SmallVector<const clang::BinaryOperator*, 8> chain{e};
  const clang::Expr* left = e->getLHS();
  for (;;) {
    const auto* inner = dyn_cast<clang::BinaryOperator>(strip(left, root_, ownership_));
    if (!inner || inner->isAssignmentOp() || inner->isPtrMemOp() || ownership_.is_elsewhere(inner, root_))
      break;
    chain.push_back(inner);
    left = inner->getLHS();
  }
  Operands result = evaluate(left);
  for (const clang::BinaryOperator* operation : llvm::reverse(chain)) {
    Operands right = evaluate(operation->getRHS());
    const bool on_pointers = operation->isAdditiveOp() && operation->getType()->isPointerType();
    if (operation->getOpcode() == clang::BO_Comma ||
        (on_pointers && !operation->getLHS()->getType()->isPointerType()))
      result = std::move(right);
    else if (!on_pointers)
      result.clear();
  }
  return result;
}

/// Clang's CFG evaluates the right side first, as C++17 does.
Operands Evaluator::assign(const clang::BinaryOperator* e) {
  Operands values = evaluate(e->getRHS());
  Operands memory = lvalue(e->getLHS());
  if (e->isCompoundAssignmentOp()) read(memory, e->getLHS());
  write(memory, e->getLHS());
  if (!e->isCompoundAssignmentOp())
    for (const Operand& target : memory)
      for (const Operand& value : values) bind(target, value, e->getLHS()->getType(), e->getOperatorLoc());
  return memory;
}

void Evaluator::initialise_list(const Operand& target, const clang::InitListExpr* list) {
  const clang::QualType type = list->getType();
  if (const auto* record = type->getAsRecordDecl()) {
    unsigned index = 0;
    if (const auto* cxx = dyn_cast<clang::CXXRecordDecl>(record))
      for ([[maybe_unused]] const auto& base : cxx->bases())
        if (index < list->getNumInits()) evaluate(list->getInit(index++));
    for (const clang::FieldDecl* field : record->fields()) {
      if (field->isUnnamedBitField()) continue;
      if (record->isUnion() && list->getInitializedFieldInUnion() != field) continue;
      if (index >= list->getNumInits()) break;
      const clang::Expr* init = list->getInit(index++);
      if (isa<clang::ImplicitValueInitExpr>(init)) continue;
      initialise(field_of(field, target, false), field->getType(), init, init);
      callback(closure_function(init->getType()), init->getExprLoc());  // kept where others can call it
    }
    return;
  }
  for (const clang::Expr* init : list->inits()) initialise(element_of(target), init->getType(), init, init);
}

/// `target` starts its life with `init`: value flow, no access yet (nobody else knows the memory, or the
/// caller writes).
void Evaluator::initialise(const Operand& target, clang::QualType type, const clang::Expr* init,
                           const clang::Expr* at) {
  if (!init) return;
  if (const auto* list = dyn_cast<clang::InitListExpr>(init->IgnoreParens());
      list && !list->isTransparent()) {
    initialise_list(target, list);
    return;
  }
  const Operands values = evaluate(init);
  for (const Operand& value : values) {
    if (type->isReferenceType())
      bind_reference(target, value, at->getExprLoc());
    else
      bind(target, value, type, at->getExprLoc());
  }
  // How many pass is a value that the object holds, which no access shows.
  if (unit_.library.counts(type)) computed(target, at->getExprLoc());
  const LibraryClass kind = unit_.library.classify(type);
  if ((kind == LibraryClass::SmartPointer || kind == LibraryClass::Container) &&
      unit_.library.counts(type_argument(type, 0)))
    computed(element_of(target), at->getExprLoc());
}

void Evaluator::return_value(const clang::Expr* value) {
  if (!value || !scope_.function) return;
  const clang::QualType type = scope_.function->getReturnType();
  Operand target;
  target.place.base = unit_.variables.result(scope_.function);
  const Operands values = evaluate(value);
  if (unit_.library.classify(type) == LibraryClass::Guard ||
      unit_.library.classify(type) == LibraryClass::SharedGuard) {
    for (const Operand& source : values)
      if (source.known() && source.place.base != target.place.base)
        lock_op(LockAction::GuardMove, {}, value->getExprLoc(), LockMode::Exclusive, target.place,
                pointee(source).place);
    return;
  }
  if (const clang::FunctionDecl* function = closure_function(type)) callback(function, value->getExprLoc());
  bool bound = false;
  for (const Operand& source : values) bound = flow(target, source, type, value->getExprLoc()) || bound;
  if (!bound) computed(target, value->getExprLoc());
}

void Evaluator::declare(const clang::VarDecl* declared) {
  const auto ordinal = scope_.ordinal_of(declared);
  if (ordinal) define(*ordinal);
  if (declared->isStaticLocal() && declared->hasInit() && !declared->hasConstantInitialization()) {
    Operand object;
    object.place.base = unit_.variables.shared(declared);
    order_op(OrderKind::StaticInit, object, declared->getLocation());
  }
  const clang::Expr* init = declared->getInit();
  if (!init) return;
  Operand target = local_operand(declared);
  const LibraryClass kind = unit_.library.classify(declared->getType());
  if (kind == LibraryClass::Guard || kind == LibraryClass::SharedGuard) {
    const auto* e = strip(init, nullptr, Ownership());
    if (isa<clang::CXXConstructExpr>(e)) return;  // the construction's own element binds it
    for (const Operand& source : evaluate(init))
      if (source.known())
        lock_op(LockAction::GuardMove, {}, declared->getLocation(), LockMode::Exclusive, target.place,
                source.place);
    return;
  }
  initialise(target, declared->getType(), init, init);
  if (!target.own && !declared->getType()->isReferenceType() && !declared->getType()->isRecordType() &&
      declared->hasGlobalStorage() == false)
    access(target, AccessMode::Write, declared->getType(), declared->getLocation(), MemoryOrder::NotAtomic,
           kTagOwnConstructor);
}

void Evaluator::assembly(const clang::GCCAsmStmt* code) {
  for (unsigned i = 0; i < code->getNumInputs(); ++i) evaluate(code->getInputExpr(i));
  for (unsigned i = 0; i < code->getNumOutputs(); ++i) {
    const Operands memory = lvalue(code->getOutputExpr(i));
    if (code->isOutputPlusConstraint(i)) read(memory, code->getOutputExpr(i));
    write(memory, code->getOutputExpr(i));
  }
  for (unsigned i = 0; i < code->getNumClobbers(); ++i)
    if (code->getClobber(i) == "memory")
      order_op(OrderKind::Fence, {}, code->getAsmLoc(), MemoryOrder::SeqCst);
}

void Evaluator::statement(const clang::Stmt* s) {
  if (const auto* e = dyn_cast<clang::Expr>(s)) {
    evaluate(e);
  } else if (const auto* declarations = dyn_cast<clang::DeclStmt>(s)) {
    for (const clang::Decl* declaration : declarations->decls())
      if (const auto* declared = dyn_cast<clang::VarDecl>(declaration)) declare(declared);
  } else if (const auto* result = dyn_cast<clang::ReturnStmt>(s)) {
    return_value(result->getRetValue());
  } else if (const auto* code = dyn_cast<clang::GCCAsmStmt>(s)) {
    assembly(code);
  } else if (const auto* result_of_coroutine = dyn_cast<clang::CoreturnStmt>(s)) {
    if (const clang::Expr* operand = result_of_coroutine->getOperand()) {
      evaluate(operand);
      Operand target;
      target.place.base = unit_.variables.result(scope_.function);
      computed(target, operand->getExprLoc());
    }
    if (result_of_coroutine->getPromiseCall()) evaluate(result_of_coroutine->getPromiseCall());
  }
}

void Evaluator::run(const clang::CFGElement& source, Element& element) {
  element_ = &element;
  if (const auto s = source.getAs<clang::CFGStmt>()) {
    root_ = s->getStmt();
    // The list of a global's initialiser is told as the variable's fields (run_static_init).
    const bool list = scope_.variable && isa<clang::InitListExpr>(root_) &&
                      root_ == scope_.variable->getInit()->IgnoreParens();
    if (!list) statement(root_);
  } else if (const auto init = source.getAs<clang::CFGInitializer>()) {
    root_ = nullptr;
    initializer(init->getInitializer());
  } else {
    root_ = nullptr;
    dtor(source);
  }
  root_ = nullptr;
  element_ = nullptr;
}

void Evaluator::run_static_init(const clang::VarDecl* declared, Element& element) {
  element_ = &element;
  const Operand target = local_operand(declared);
  initialise(target, declared->getType(), declared->getInit(), declared->getInit());
  const clang::QualType type = declared->getType();
  if (!type->isReferenceType())
    access(target, AccessMode::Write, type, declared->getLocation(), MemoryOrder::NotAtomic,
           kTagOwnConstructor);
  element_ = nullptr;
}

}  // namespace simrt::analysis
