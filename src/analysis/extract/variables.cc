#include "analysis/extract/variables.h"

#include <clang/AST/DeclCXX.h>

#include "analysis/extract/scope.h"

namespace simrt::analysis {
namespace {

using clang::dyn_cast;
using clang::isa;

std::string scope_name(Names& names, const FunctionScope& scope) {
  if (scope.function) return names.display(scope.function);
  return scope.variable ? "initialiser of " + names.display(scope.variable) : std::string("initialiser");
}

/// The field as the template's author wrote it: all instantiations share one id, so they must share its
/// facts.
const clang::ValueDecl* written_field(const clang::ValueDecl* declaration) {
  const auto* field = dyn_cast<clang::FieldDecl>(declaration);
  const auto* record = field ? dyn_cast<clang::CXXRecordDecl>(field->getParent()) : nullptr;
  const clang::CXXRecordDecl* pattern = record ? record->getTemplateInstantiationPattern() : nullptr;
  if (!pattern || pattern == record) return declaration;
  for (const clang::FieldDecl* candidate : pattern->fields())
    if (candidate->getFieldIndex() == field->getFieldIndex()) return candidate;
  return declaration;
}

/// Outermost union that the field stands in; null when there is none.
const clang::RecordDecl* union_around(const clang::FieldDecl* field) {
  const clang::RecordDecl* found = nullptr;
  for (const clang::DeclContext* context = field->getDeclContext(); context; context = context->getParent())
    if (const auto* record = dyn_cast<clang::RecordDecl>(context); record && record->isUnion())
      found = record;
  return found;
}

/// The bit-field that begins the run of bit-fields; `: 0` and ordinary members end one.
const clang::FieldDecl* first_of_run(const clang::FieldDecl* field) {
  const clang::FieldDecl* first = nullptr;
  for (const clang::FieldDecl* member : field->getParent()->fields()) {
    const bool separates = !member->isBitField() || (member->isUnnamedBitField() &&
                                                     member->isZeroLengthBitField(member->getASTContext()));
    if (separates)
      first = nullptr;
    else if (!first)
      first = member;
    if (member == field) break;
  }
  return first;
}

}  // namespace

std::uint64_t Variables::shares(const clang::FieldDecl* field) {
  if (const clang::RecordDecl* record = union_around(field)) return names_.usr_hash(record);
  if (!field->isBitField()) return 0;
  const clang::FieldDecl* first = first_of_run(field);
  return first ? shared(first).value : 0;
}

VariableId Variables::remember(VariableId id, Origin origin) {
  origins_.try_emplace(id, origin);
  return id;
}

VariableId Variables::shared(const clang::ValueDecl* declaration) {
  const auto known = ids_.find(declaration);
  if (known != ids_.end()) return known->second;
  Origin origin{VariableKind::Global, written_field(declaration), nullptr, nullptr};
  if (isa<clang::FieldDecl>(declaration)) origin.kind = VariableKind::Field;
  if (const auto* variable = dyn_cast<clang::VarDecl>(declaration);
      variable && variable->isStaticDataMember())
    origin.kind = VariableKind::StaticMember;
  const VariableId id = variable_id(names_.usr(declaration));
  ids_.try_emplace(declaration, id);
  return remember(id, origin);
}

VariableId Variables::local(const FunctionScope& scope, std::uint32_t ordinal) {
  const clang::ValueDecl* declaration = ordinal < scope.variables.size() ? scope.variables[ordinal] : nullptr;
  const bool parameter = ordinal < scope.locals.size() && scope.locals[ordinal].parameter;
  return remember(
      parameter ? parameter_of(scope.id, ordinal) : local_of(scope.id, ordinal),
      {parameter ? VariableKind::Parameter : VariableKind::Local, declaration, scope.function, &scope});
}

VariableId Variables::temporary(const FunctionScope& scope, std::uint32_t ordinal) {
  return remember(local_of(scope.id, ordinal), {VariableKind::Local, nullptr, scope.function, &scope});
}

VariableId Variables::receiver(const FunctionScope& scope) {
  return remember(receiver_of(scope.id), {VariableKind::Receiver, nullptr, scope.function, &scope});
}

VariableId Variables::receiver(const clang::CXXMethodDecl* method) {
  return remember(receiver_of(function_id(names_.usr(method))),
                  {VariableKind::Receiver, nullptr, method, nullptr});
}

VariableId Variables::result(const clang::FunctionDecl* function) {
  return remember(return_of(function_id(names_.usr(function))),
                  {VariableKind::Return, nullptr, function, nullptr});
}

VariableId Variables::parameter(const clang::FunctionDecl* function, unsigned index) {
  const clang::ValueDecl* declaration =
      index < function->getNumParams() ? function->getParamDecl(index) : nullptr;
  return remember(parameter_of(function_id(names_.usr(function)), index),
                  {VariableKind::Parameter, declaration, function, nullptr});
}

std::string Variables::name_of(const Origin& origin) {
  switch (origin.kind) {
    case VariableKind::Receiver:
      return (origin.function ? names_.display(origin.function) : "") + "::this";
    case VariableKind::Return:
      return (origin.function ? names_.display(origin.function) : "") + "::return";
    case VariableKind::Local:
    case VariableKind::Parameter: {
      const std::string function = origin.scope      ? scope_name(names_, *origin.scope)
                                   : origin.function ? names_.display(origin.function)
                                                     : std::string();
      std::string own = origin.declaration ? name_of_local(origin.declaration) : std::string("temporary");
      if (own.empty())
        own = isa<clang::DecompositionDecl>(origin.declaration) ? "(structured binding)" : "(unnamed)";
      return function + (function.ends_with(")") ? "::" : "()::") + own;
    }
    default: {
      const clang::DeclContext* outer = origin.declaration->getParentFunctionOrMethod();
      const auto* function = outer ? dyn_cast<clang::FunctionDecl>(outer) : nullptr;
      if (function && isa<clang::VarDecl>(origin.declaration)) {
        const std::string name = names_.display(function);
        return name + (name.ends_with(")") ? "::" : "()::") + name_of_local(origin.declaration);
      }
      return names_.display(origin.declaration);
    }
  }
}

std::uint16_t Variables::traits_of(const clang::ValueDecl* declaration, clang::QualType type) {
  std::uint16_t traits = kTraitNone;
  if (library_.is_atomic(type)) traits |= kAtomic;
  if (library_.is_mutex(type)) traits |= kMutex;
  if (type->isReferenceType()) traits |= kReference;
  if (type->isPointerType() || library_.classify(type) == LibraryClass::SmartPointer) traits |= kPointer;
  if (type.getNonReferenceType().isConstQualified()) traits |= kConst;
  if (type.getNonReferenceType().isVolatileQualified()) traits |= kVolatile;
  if (const auto* variable = dyn_cast<clang::VarDecl>(declaration);
      variable && variable->getTLSKind() != clang::VarDecl::TLS_None)
    traits |= kThreadLocal;
  if (const auto* field = dyn_cast<clang::FieldDecl>(declaration)) {
    if (field->isMutable()) traits |= kMutable;
    if (field->isBitField()) traits |= kBitField;
  }
  return traits;
}

std::vector<VariableFacts> Variables::facts(const std::vector<VariableId>& mentioned) {
  std::vector<VariableFacts> result;
  for (const VariableId id : mentioned) {
    const auto found = origins_.find(id);
    if (found == origins_.end()) continue;
    const Origin& origin = found->second;
    VariableFacts facts;
    facts.id = id;
    facts.kind = origin.kind;
    facts.name = name_of(origin);
    clang::QualType type;
    if (origin.declaration) {
      // Of the template pattern: every instantiation shares the id, and which comes first must not matter.
      type = origin.declaration->getType();
      facts.file = files_.path(origin.declaration->getLocation());
      if (!facts.file.empty()) facts.at = files_.point(origin.declaration->getLocation());
    } else if (origin.kind == VariableKind::Return && origin.function) {
      type = origin.function->getReturnType();
    } else if (const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(origin.function);
               method && origin.kind == VariableKind::Receiver && method->isInstance()) {
      type = method->getThisType();
    }
    facts.type = names_.type_name(type);
    if (origin.declaration) {
      facts.traits = traits_of(origin.declaration, type);
      if (const auto* field = dyn_cast<clang::FieldDecl>(origin.declaration)) facts.shares = shares(field);
    } else if (!type.isNull()) {
      facts.traits = type->isReferenceType() ? kReference : type->isPointerType() ? kPointer : kTraitNone;
    }
    result.push_back(std::move(facts));
  }
  return result;
}

}  // namespace simrt::analysis
