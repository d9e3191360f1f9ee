// Variables, fields and elements as places; accesses to them; value flow between them.
#include <clang/AST/StmtCXX.h>

#include "analysis/extract/evaluator.h"

namespace simrt::analysis {

using clang::dyn_cast;

namespace {

constexpr unsigned kMaxFieldDepth = 3;
constexpr unsigned kMaxFields = 64;

bool is_hidden(const clang::ValueDecl* declaration, llvm::StringRef prefix) {
  return declaration->isImplicit() && declaration->getIdentifier() &&
         declaration->getName().starts_with(prefix);
}

/// The hidden range variable that a range-for's begin iterator starts from.
const clang::VarDecl* range_of(const clang::Stmt* begin) {
  if (!begin) return nullptr;
  if (const auto* named = dyn_cast<clang::DeclRefExpr>(begin))
    if (const auto* variable = dyn_cast<clang::VarDecl>(named->getDecl());
        variable && is_hidden(variable, "__range"))
      return variable;
  for (const clang::Stmt* child : begin->children())
    if (const clang::VarDecl* found = range_of(child)) return found;
  return nullptr;
}

}  // namespace

SourcePoint Evaluator::point(clang::SourceLocation location) {
  const clang::SourceLocation home = scope_.function   ? scope_.function->getLocation()
                                     : scope_.variable ? scope_.variable->getLocation()
                                                       : clang::SourceLocation();
  // Default arguments and initialisers may stand in another file than the function.
  if (location.isInvalid() || unit_.files.path(location) != unit_.files.path(home)) return element_->at;
  return unit_.files.point(location);
}

void Evaluator::emit(clang::SourceLocation at, decltype(Event::what) what) {
  if (silent() || !element_) return;
  element_->events.push_back({point(at), std::move(what)});
}

void Evaluator::lock_op(LockAction action, std::vector<Place> locks, clang::SourceLocation at, LockMode mode,
                        Place guard, Place source) {
  emit(at, LockOp{action, mode, std::move(locks), std::move(guard), std::move(source)});
}

void Evaluator::order_op(OrderKind kind, const Operand& object, clang::SourceLocation at, MemoryOrder order) {
  emit(at, OrderOp{kind, order, object.place});
}

void Evaluator::use(std::uint32_t local) {
  if (!silent() && element_) element_->uses.push_back(local);
}

void Evaluator::define(std::uint32_t local) {
  if (!silent() && element_) element_->defines.push_back(local);
}

/// Storage of a local or of what a lambda captured; follows by-reference captures to the function that owns
/// it.
Operand Evaluator::local_operand(const clang::ValueDecl* declaration) {
  Operand result;
  const auto* variable = dyn_cast<clang::VarDecl>(declaration);
  if (variable && variable->hasGlobalStorage()) {
    result.place.base = unit_.variables.shared(variable);
    result.path = variable->getQualifiedNameAsString();
    // std::cout, std::nullopt, ...: the library answers for its own globals.
    result.own = !variable->isStaticLocal() && !unit_.in_repository(variable);
    if (variable->getTLSKind() != clang::VarDecl::TLS_None) result.tags |= kTagThreadLocal;
    if (const auto ordinal = scope_.ordinal_of(variable)) result.local = static_cast<std::int32_t>(*ordinal);
  } else {
    if (const auto ordinal = scope_.ordinal_of(declaration)) {
      result.local = static_cast<std::int32_t>(*ordinal);
      const bool parameter = scope_.locals[*ordinal].parameter;
      result.path = (parameter ? "p" : "l") + std::to_string(*ordinal);
    }
    const FunctionScope* scope = &scope_;
    while (scope) {
      const auto capture = scope->capture_of(declaration);
      const auto ordinal = scope->ordinal_of(declaration);
      const bool by_reference =
          capture && scope->captures[*capture].by_reference && !(variable && variable->isInitCapture());
      if (ordinal && !by_reference) {
        result.place.base = unit_.variables.local(*scope, *ordinal);
        result.own = !scope->locals[*ordinal].escapes;
        if (result.path.empty()) result.path = declaration->getNameAsString();
        break;
      }
      scope = scope->parent;
    }
  }
  const clang::QualType type = declaration->getType();
  if (!type->isReferenceType() && type.isConstQualified()) result.tags |= kTagConstObject;
  return result;
}

Operand Evaluator::variable(const clang::ValueDecl* declaration, const clang::Expr*) {
  const auto* parameter = dyn_cast<clang::ParmVarDecl>(declaration);
  if (parameter && attribute_site_ && !scope_.ordinal_of(parameter)) {
    // An attribute names a parameter of the function that is called here.
    const Operand value = attribute_site_->argument(parameter->getFunctionScopeIndex());
    return parameter->getType()->isReferenceType() ? pointee(value) : value;
  }
  const auto* named = dyn_cast<clang::VarDecl>(declaration);
  if (named && is_hidden(named, "__range") && named->getInit()) {
    ++quiet_;
    const Operand range = first(lvalue(named->getInit()));
    --quiet_;
    if (range.known() || range.own) return range;
  }
  Operand memory = local_operand(declaration);
  if (declaration->getType()->isReferenceType()) {
    // A reference to what only this function knows is one more name for it.
    const bool here = named && named->isLocalVarDecl() && !named->hasGlobalStorage() &&
                      scope_.ordinal_of(named) && !scope_.capture_of(named);
    if (here && named->getInit()) {
      ++quiet_;
      const Operands target = lvalue(named->getInit());
      --quiet_;
      if (target.size() == 1 && target.front().own && target.front().known() && target.front().local >= 0) {
        use(static_cast<std::uint32_t>(memory.local));
        return target.front();
      }
    }
    if (memory.local >= 0) use(static_cast<std::uint32_t>(memory.local));
    memory = pointee(memory);
    memory.own = false;
  }
  return memory;
}

Operands Evaluator::binding(const clang::BindingDecl* declaration, const clang::Expr* at) {
  if (const clang::VarDecl* holder = declaration->getHoldingVar()) return {variable(holder, at)};
  if (declaration->getBinding()) return lvalue(declaration->getBinding());
  return {};
}

Operand Evaluator::this_pointer() {
  if (attribute_object_) return address_of(*attribute_object_);
  const FunctionScope* scope = &scope_;
  while (scope->lambda && scope->parent) scope = scope->parent;
  Operand result;
  result.place.base = unit_.variables.receiver(*scope);
  result.path = "this";
  return result;
}

Operand Evaluator::field_of(const clang::FieldDecl* field, const Operand& base, bool arrow) {
  Operand result = base;
  const std::string name = field->getIdentifier() ? field->getNameAsString() : std::string();
  std::string path = base.path;
  if (!arrow && path.starts_with("*")) path.erase(0, 1), arrow = true;
  result.path = name.empty() ? path : path + (arrow || path == "this" ? "->" : ".") + name;
  if (!unit_.in_repository(field)) return result;  // library structs are one piece of memory
  const bool under_construction = scope_.flags & (kConstructor | kDestructor) && base.place.derefs == 1 &&
                                  base.place.base == receiver_of(scope_.id);
  if (under_construction) result.tags |= kTagOwnConstructor;
  if (field->isMutable())
    result.tags &= static_cast<std::uint8_t>(~kTagConstObject);
  else if (field->getType().isConstQualified())
    result.tags |= kTagConstObject;
  result.place = {unit_.variables.shared(field), 0, name.empty() ? base.place.instance : path};
  if (field->getType()->isReferenceType()) {
    result = pointee(result);
    result.own = false;
  }
  return result;
}

Operands Evaluator::member(const clang::MemberExpr* e) {
  if (const auto* variable_member = dyn_cast<clang::VarDecl>(e->getMemberDecl())) {
    if (!e->isImplicitAccess()) evaluate(e->getBase());
    return {variable(variable_member, e)};
  }
  Operands bases = e->isArrow() ? rvalue(e->getBase()) : lvalue(e->getBase());
  if (bases.empty()) bases.push_back({});
  const auto* field = dyn_cast<clang::FieldDecl>(e->getMemberDecl());
  Operands result;
  for (const Operand& base : bases) {
    const Operand object = e->isArrow() ? pointee(base) : base;
    result.push_back(field ? field_of(field, object, e->isArrow() && base.address == 0) : object);
  }
  return result;
}

Operand Evaluator::subscript(const clang::ArraySubscriptExpr* e) {
  Operand pointer = first(rvalue(e->getBase()));
  evaluate(e->getIdx());
  const bool array = pointer.address > 0;
  Operand element = pointee(pointer);
  element.path = pointer.path + "[]";
  if (!array) element.own = false;
  return element;
}

/// `*__begin` of a range-for: an element of the range.
std::optional<Operand> Evaluator::loop_element(const clang::Expr* iterator) {
  const auto* named = dyn_cast<clang::DeclRefExpr>(iterator->IgnoreParenImpCasts());
  const auto* begin = named ? dyn_cast<clang::VarDecl>(named->getDecl()) : nullptr;
  if (!begin || !is_hidden(begin, "__begin")) return std::nullopt;
  const clang::VarDecl* range = range_of(begin->getInit());
  if (!range) return std::nullopt;
  if (const auto ordinal = scope_.ordinal_of(begin)) use(*ordinal);
  ++quiet_;
  const Operand object = variable(range, named);
  --quiet_;
  const clang::QualType type = range->getType().getNonReferenceType();
  if (type->isArrayType()) return element_of(object);
  switch (unit_.library.classify(type)) {
    case LibraryClass::None:
      return std::nullopt;  // an iterator of the repository: its operator* tells
    case LibraryClass::Pointer:
      return pointee(object);
    default:
      return element_of(object);
  }
}

bool Evaluator::access_fields(const Operand& memory, AccessMode mode, clang::QualType type,
                              clang::SourceLocation at, std::uint8_t extra_tags, unsigned depth) {
  const clang::RecordDecl* record = type->getAsRecordDecl();
  if (!record || !record->getDefinition() || !unit_.in_repository(record) || depth >= kMaxFieldDepth)
    return false;
  unsigned count = 0;
  for (const clang::FieldDecl* field : record->getDefinition()->fields()) {
    if (++count > kMaxFields) break;
    if (field->getType()->isReferenceType()) continue;
    const Operand part = field_of(field, memory, false);
    if (!access_fields(part, mode, field->getType(), at, extra_tags, depth + 1))
      access(part, mode, field->getType(), at, MemoryOrder::NotAtomic, extra_tags);
  }
  return true;
}

void Evaluator::access(const Operand& memory, AccessMode mode, clang::QualType type, clang::SourceLocation at,
                       MemoryOrder order, std::uint8_t extra_tags) {
  if (memory.local >= 0) {
    if (mode == AccessMode::Read)
      use(static_cast<std::uint32_t>(memory.local));
    else
      define(static_cast<std::uint32_t>(memory.local));
  }
  if (memory.own || memory.address > 0 || !memory.known() || silent()) return;
  if (!type.isNull() && type->isArrayType()) {
    // An array is copied or filled by its elements.
    const clang::QualType element = unit_.context.getBaseElementType(type);
    return access(element_of(memory), mode, element, at, order, extra_tags);
  }
  if (!type.isNull() && type->isRecordType() && access_fields(memory, mode, type, at, extra_tags, 0)) return;
  Access result{memory.place, mode, order, static_cast<std::uint8_t>(memory.tags | extra_tags)};
  if (!type.isNull()) {
    if (type->isAtomicType() && order == MemoryOrder::NotAtomic) result.order = MemoryOrder::SeqCst;
    if (type.isVolatileQualified()) result.tags |= kTagVolatile;
  }
  emit(at, result);
}

void Evaluator::read(const Operands& memory, const clang::Expr* at) {
  // A constant's value is known at compile time: nothing is loaded.
  if (const auto* named = dyn_cast<clang::DeclRefExpr>(at->IgnoreParens()))
    if (const auto* constant = dyn_cast<clang::VarDecl>(named->getDecl());
        constant && constant->hasGlobalStorage() && !constant->getType()->isDependentType() &&
        constant->isUsableInConstantExpressions(unit_.context))
      return;
  for (const Operand& operand : memory) access(operand, AccessMode::Read, at->getType(), at->getExprLoc());
}

void Evaluator::write(const Operands& memory, const clang::Expr* at) {
  for (const Operand& operand : memory) access(operand, AccessMode::Write, at->getType(), at->getExprLoc());
}

bool Evaluator::bind(const Operand& target, const Operand& value, clang::QualType type,
                     clang::SourceLocation at) {
  if (silent() || !target.known() || target.address > 0 || !value.known() || value.address > 1) return false;
  if (!unit_.library.carries_pointers(type) || (value.address == 0 && target.place == value.place))
    return false;
  emit(at, Binding{target.place, value.value()});
  return true;
}

bool Evaluator::bind_reference(const Operand& reference, const Operand& address, clang::SourceLocation at) {
  if (silent() || !reference.known() || reference.address > 0 || !address.known()) return false;
  Operand target = reference;
  if (target.place.derefs > 0) --target.place.derefs;  // fields of reference type come as what they refer to
  // A reference to a temporary pointer refers to what the pointer holds one step further; that step is
  // dropped.
  emit(at, Binding{target.place, {address.place, address.address > 0}});
  return true;
}

bool Evaluator::flow(const Operand& target, const Operand& value, clang::QualType type,
                     clang::SourceLocation at) {
  return type->isReferenceType() ? bind_reference(target, value, at) : bind(target, value, type, at);
}

/// The slice follows numbers, too: into callers and into closures.
void Evaluator::computed(const Operand& target, clang::SourceLocation at) {
  if (target.known()) emit(at, Binding{target.place, {}});
}

}  // namespace simrt::analysis
