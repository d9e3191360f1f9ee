// Ends of lifetimes (implicit destructors, delete) and beginnings of members (constructor initialisers).
#include <clang/AST/DeclTemplate.h>

#include "analysis/extract/evaluator.h"

namespace simrt::analysis {

using clang::dyn_cast;
using clang::isa;

namespace {

constexpr unsigned kMaxNesting = 4;

}  // namespace

/// Calls of destructors for one object; library objects destroy what they hold.
void Evaluator::call_destructor(clang::QualType type, const Operand& object, clang::SourceLocation at,
                                bool is_virtual, unsigned depth) {
  if (silent() || type.isNull() || depth > kMaxNesting) return;
  type = unit_.context.getBaseElementType(type.getNonReferenceType());
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (!record) return;
  const LibraryClass kind = unit_.library.classify(record);
  // A library template whose members nobody in this unit needed has no definition; what it holds is known.
  const clang::CXXRecordDecl* definition = record->getDefinition();
  if (!definition && kind == LibraryClass::None) return destroy_incomplete(record, object, at);
  const clang::CXXDestructorDecl* destructor = definition ? definition->getDestructor() : nullptr;
  if (destructor && kind != LibraryClass::None && has_lock_attributes(destructor)) {
    CallSite site;
    site.callee = destructor;
    return attribute_effects(site, object);
  }
  switch (kind) {
    case LibraryClass::Guard:
    case LibraryClass::SharedGuard:
      return lock_op(LockAction::GuardRelease, {}, at,
                     kind == LibraryClass::SharedGuard ? LockMode::Shared : LockMode::Exclusive,
                     object.place);
    case LibraryClass::JoiningThread:
      return order_op(OrderKind::ThreadJoin, object, at);
    case LibraryClass::None:
      break;
    case LibraryClass::Pointer:
    case LibraryClass::Atomic:
    case LibraryClass::Mutex:
      return;
    default: {
      const auto* special = dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
      if (!special) return;
      for (const clang::TemplateArgument& argument : special->getTemplateArgs().asArray()) {
        llvm::ArrayRef<clang::TemplateArgument> parts = argument;
        if (argument.getKind() == clang::TemplateArgument::Pack) parts = argument.pack_elements();
        for (const clang::TemplateArgument& part : parts) {
          if (part.getKind() != clang::TemplateArgument::Type) continue;
          const bool holder = kind == LibraryClass::SmartPointer || kind == LibraryClass::Container ||
                              kind == LibraryClass::Tuple;
          const auto* element = part.getAsType()->getAsCXXRecordDecl();
          const auto* definition = element ? element->getDefinition() : nullptr;
          const bool polymorphic = kind == LibraryClass::SmartPointer && definition &&
                                   definition->getDestructor() && definition->getDestructor()->isVirtual();
          if (holder) call_destructor(part.getAsType(), element_of(object), at, polymorphic, depth + 1);
        }
      }
      return;
    }
  }
  if (!destructor || destructor->isTrivial()) return;
  Call call;
  call.callee = function_id(unit_.names.usr(destructor));
  call.kind = is_virtual ? CallKind::Virtual : CallKind::Direct;
  call.name = unit_.names.display(destructor);
  if (object.known()) call.receiver = address_of(object).value();
  emit(at, std::move(call));
}

/// A std::shared_ptr destroys an object of a class that this unit only declares. Units that know it see the
/// same call, to the class's own destructor where that is not virtual.
void Evaluator::destroy_incomplete(const clang::CXXRecordDecl* record, const Operand& object,
                                   clang::SourceLocation at) {
  if (!unit_.in_repository(record) || record->isDependentContext()) return;
  Call call;
  call.callee = function_id(unit_.names.destructor_usr(record));
  call.kind = CallKind::Virtual;
  call.name = unit_.names.display(record) + "::~" + record->getNameAsString();
  if (object.known()) call.receiver = address_of(object).value();
  emit(at, std::move(call));
}

namespace {

bool leaves_memory_alone(const clang::Expr* initialiser) {
  if (initialiser == nullptr) return true;
  const auto* construction = dyn_cast<clang::CXXConstructExpr>(initialiser);
  return construction && construction->getConstructor()->isDefaultConstructor() &&
         construction->getConstructor()->isTrivial() && !construction->requiresZeroInitialization();
}

}  // namespace

/// Placement new makes its object where somebody else may look already, so it writes there, before and apart
/// from what the constructor does. Memory that an allocator gives is nobody else's yet.
Operands Evaluator::new_object(const clang::CXXNewExpr* e) {
  Operands where;
  for (unsigned i = 0; i < e->getNumPlacementArgs(); ++i) {
    Operands values = evaluate(e->getPlacementArg(i));
    if (e->getPlacementArg(i) == placement_of(e)) where = std::move(values);
  }
  if (const auto size = e->getArraySize(); size && *size) evaluate(*size);
  const clang::QualType type = e->getAllocatedType();
  const clang::Expr* init = e->getInitializer();
  if (where.empty()) {
    evaluate(init);
    return {};
  }
  Operand memory = pointee(first(where));
  memory.tags &= static_cast<std::uint8_t>(~kTagConstObject);
  if (init) initialise(memory, type, init, init);
  if (!leaves_memory_alone(init)) {
    access(memory, AccessMode::Write, clang::QualType(), e->getBeginLoc());
    access_fields(memory, AccessMode::Write, type, e->getBeginLoc(), kTagNone, 0);
  }
  return where;
}

void Evaluator::delete_object(const clang::CXXDeleteExpr* e) {
  const Operand object = pointee(first(rvalue(e->getArgument())));
  // Memory given back: whoever still uses it races with this.
  access(object, AccessMode::Write, clang::QualType(), e->getExprLoc(), MemoryOrder::NotAtomic,
         kTagWholeObject);
}

void Evaluator::dtor(const clang::CFGElement& source) {
  if (const auto automatic = source.getAs<clang::CFGAutomaticObjDtor>()) {
    const clang::VarDecl* declared = automatic->getVarDecl();
    clang::SourceLocation at =
        automatic->getTriggerStmt() ? automatic->getTriggerStmt()->getEndLoc() : declared->getLocation();
    Operand object = local_operand(declared);
    if (object.local >= 0) use(static_cast<std::uint32_t>(object.local));
    // A reference that keeps a temporary alive.
    if (declared->getType()->isReferenceType()) object = pointee(object);
    call_destructor(declared->getType(), object, at);
  } else if (const auto cleanup = source.getAs<clang::CFGCleanupFunction>()) {
    CallSite site;
    site.callee = cleanup->getFunctionDecl();
    site.values.push_back({address_of(local_operand(cleanup->getVarDecl()))});
    if (unit_.in_repository(site.callee)) emit_call(site.callee, CallKind::Direct, std::nullopt, site);
  } else if (const auto deleted = source.getAs<clang::CFGDeleteDtor>()) {
    const clang::CXXDeleteExpr* e = deleted->getDeleteExpr();
    ++quiet_;
    const Operand object = pointee(first(rvalue(e->getArgument())));
    --quiet_;
    const clang::CXXRecordDecl* record = e->getDestroyedType()->getAsCXXRecordDecl();
    const bool is_virtual = record && record->getDefinition() && record->getDefinition()->getDestructor() &&
                            record->getDefinition()->getDestructor()->isVirtual() &&
                            !record->isEffectivelyFinal();
    call_destructor(e->getDestroyedType(), object, e->getExprLoc(), is_virtual);
  } else if (const auto base = source.getAs<clang::CFGBaseDtor>()) {
    call_destructor(base->getBaseSpecifier()->getType(), pointee(this_pointer()), clang::SourceLocation());
  } else if (const auto member = source.getAs<clang::CFGMemberDtor>()) {
    call_destructor(member->getFieldDecl()->getType(),
                    field_of(member->getFieldDecl(), pointee(this_pointer()), true), clang::SourceLocation());
  } else if (const auto temporary = source.getAs<clang::CFGTemporaryDtor>()) {
    const clang::CXXBindTemporaryExpr* bound = temporary->getBindTemporaryExpr();
    Operand object;
    object.own = true;
    const Ownership nothing;
    if (const auto* construction = dyn_cast<clang::CXXConstructExpr>(strip(bound, nullptr, nothing)))
      object = construction_target(construction, {});
    call_destructor(bound->getType(), object, bound->getEndLoc());
  }
}

void Evaluator::initializer(const clang::CXXCtorInitializer* e) {
  const clang::Expr* init = e->getInit();
  if (!e->isAnyMemberInitializer()) {
    evaluate(init);
    return;
  }
  const clang::FieldDecl* field = e->getAnyMember();
  const Operand target = field_of(field, pointee(this_pointer()), true);
  const clang::SourceLocation at = e->isWritten() ? e->getMemberLocation() : init->getExprLoc();
  const LibraryClass kind = unit_.library.classify(field->getType());
  if (kind == LibraryClass::Guard || kind == LibraryClass::SharedGuard) {
    const Ownership nothing;
    if (isa<clang::CXXConstructExpr>(strip(init, nullptr, nothing))) return;
    for (const Operand& source : evaluate(init))
      if (source.known())
        lock_op(LockAction::GuardMove, {}, at, LockMode::Exclusive, target.place, source.place);
    return;
  }
  if (const auto* default_init = dyn_cast<clang::CXXDefaultInitExpr>(init)) init = default_init->getExpr();
  initialise(target, field->getType(), init, init);
  callback(closure_function(init->getType()), at);  // kept where others can call it
  // Class-type members are written by their constructors.
  const bool constructed =
      field->getType()->isRecordType() && !isa<clang::InitListExpr>(init->IgnoreParens());
  if (!field->getType()->isReferenceType() && !constructed &&
      unit_.library.classify(field->getType()) == LibraryClass::None)
    access(target, AccessMode::Write, field->getType(), at);
}

void Evaluator::run_entry(const clang::FunctionDecl* function, Element& element) {
  element_ = &element;
  for (const clang::Attr* attribute : function->attrs())
    if (const auto* required = dyn_cast<clang::RequiresCapabilityAttr>(attribute))
      lock_op(LockAction::Assume, capabilities({required->args_begin(), required->args_size()}, nullptr, {}),
              function->getLocation(), required->isShared() ? LockMode::Shared : LockMode::Exclusive);
  element_ = nullptr;
}

}  // namespace simrt::analysis
