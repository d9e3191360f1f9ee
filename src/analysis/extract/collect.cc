#include "analysis/extract/collect.h"

#include <clang/AST/DeclFriend.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/StmtCXX.h>

namespace simrt::analysis {
namespace {

using clang::dyn_cast;
using clang::isa;

std::uint32_t flags_of(const clang::FunctionDecl* function) {
  std::uint32_t flags = kFunctionNone;
  if (isa<clang::CXXConstructorDecl>(function)) flags |= kConstructor;
  if (isa<clang::CXXDestructorDecl>(function)) flags |= kDestructor;
  if (function->isImplicit() || function->isDefaulted()) flags |= kImplicit;
  if (function->isDependentContext()) flags |= kDependent;
  if (function->isInvalidDecl()) flags |= kBroken;
  if (isa<clang::CoroutineBodyStmt>(function->getBody())) flags |= kCoroutine;
  if (function->getTemplateInstantiationPattern()) flags |= kInstantiation;
  return flags;
}

/// Default constructors and destructors that do nothing are left out; copies read and write fields.
bool has_effects(const clang::FunctionDecl* function) {
  if (!function->isImplicit() && !function->isDefaulted()) return true;
  if (const auto* constructor = dyn_cast<clang::CXXConstructorDecl>(function))
    return !constructor->isDefaultConstructor() || !constructor->isTrivial();
  if (isa<clang::CXXDestructorDecl>(function)) return !function->isTrivial();
  return true;
}

void add_parameters(FunctionScope& scope, Unit& unit) {
  for (const clang::ParmVarDecl* parameter : scope.function->parameters()) {
    scope.add_local(parameter, {parameter->getNameAsString(), unit.names.type_hash(parameter->getType()),
                                /*parameter=*/true, /*static_storage=*/false, /*escapes=*/false});
    unit.owner[parameter] = &scope;
  }
}

/// Captured variables stand behind the parameters: the lambda's own names for what the enclosing function
/// has.
void add_captures(FunctionScope& scope, Unit& unit) {
  const bool copies_shared = !clang::cast<clang::CXXMethodDecl>(scope.function)->isConst();
  for (const clang::LambdaCapture& capture : scope.lambda->captures()) {
    if (!capture.capturesVariable()) continue;
    const clang::ValueDecl* variable = capture.getCapturedVar();
    const bool by_reference = capture.getCaptureKind() == clang::LCK_ByRef;
    scope.captures.push_back({variable, by_reference});
    scope.add_local(variable, {variable->getNameAsString(), unit.names.type_hash(variable->getType()), false,
                               false, by_reference || copies_shared});
  }
}

void collect_variable(Unit& unit, const clang::VarDecl* variable) {
  if (!variable->hasInit() || variable != variable->getInitializingDeclaration()) return;
  if (isa<clang::ParmVarDecl>(variable) || !unit.in_repository(variable) || !variable->isFileVarDecl())
    return;
  // `std::mutex m;`: nothing of ours happens, and its type stands with the variable.
  if (const auto* construction = dyn_cast<clang::CXXConstructExpr>(variable->getInit()->IgnoreImplicit());
      construction && construction->getNumArgs() == 0 &&
      !unit.in_repository(construction->getConstructor()->getParent()))
    return;
  auto scope = std::make_unique<FunctionScope>();
  scope->variable = variable;
  scope->body = variable->getInit();
  scope->usr = "init:" + unit.names.usr(variable);
  scope->id = function_id(scope->usr);
  scope->flags =
      kStaticInit | (variable->getType()->isDependentType() || variable->getInit()->isTypeDependent()
                         ? static_cast<std::uint32_t>(kDependent)
                         : 0u);
  FunctionScope& added = *unit.scopes.emplace_back(std::move(scope));
  scan_body(unit, added);
}

/// Lambdas in a default member initialiser: a scope that is no function holds them.
void collect_field(Unit& unit, const clang::FieldDecl* field) {
  const clang::Expr* init = field->hasInClassInitializer() ? field->getInClassInitializer() : nullptr;
  if (!init || !unit.in_repository(field)) return;
  auto scope = std::make_unique<FunctionScope>();
  scope->usr = "init:" + unit.names.usr(field);
  scope->id = function_id(scope->usr);
  scope->body = init;
  FunctionScope& added = *unit.scopes.emplace_back(std::move(scope));
  scan_body(unit, added);
}

void collect_declaration(Unit& unit, const clang::Decl* declaration, FunctionScope* parent);

void collect_function_template(Unit& unit, const clang::FunctionTemplateDecl* pattern,
                               FunctionScope* parent) {
  collect_function(unit, pattern->getTemplatedDecl(), parent);
  if (pattern != pattern->getCanonicalDecl()) return;  // specialisations hang on every redeclaration
  for (const clang::FunctionDecl* instance : pattern->specializations())
    if (instance->getTemplateSpecializationKind() != clang::TSK_ExplicitSpecialization)
      collect_function(unit, instance, parent);
}

void collect_class_template(Unit& unit, const clang::ClassTemplateDecl* pattern, FunctionScope* parent) {
  if (pattern->isThisDeclarationADefinition()) collect_members(unit, pattern->getTemplatedDecl(), parent);
  if (pattern != pattern->getCanonicalDecl()) return;
  for (const clang::ClassTemplateSpecializationDecl* instance : pattern->specializations())
    if (instance->getTemplateSpecializationKind() != clang::TSK_ExplicitSpecialization &&
        instance->hasDefinition() && instance->isThisDeclarationADefinition())
      collect_members(unit, instance, parent);
}

void collect_declaration(Unit& unit, const clang::Decl* declaration, FunctionScope* parent) {
  if (const auto* function = dyn_cast<clang::FunctionDecl>(declaration)) {
    collect_function(unit, function, parent);
  } else if (const auto* function_template = dyn_cast<clang::FunctionTemplateDecl>(declaration)) {
    collect_function_template(unit, function_template, parent);
  } else if (const auto* class_template = dyn_cast<clang::ClassTemplateDecl>(declaration)) {
    collect_class_template(unit, class_template, parent);
  } else if (const auto* record = dyn_cast<clang::CXXRecordDecl>(declaration)) {
    if (record->isThisDeclarationADefinition() && !record->isInjectedClassName() && !record->isLambda())
      collect_members(unit, record, parent);
  } else if (const auto* variable_template = dyn_cast<clang::VarTemplateDecl>(declaration)) {
    collect_variable(unit, variable_template->getTemplatedDecl());
  } else if (const auto* variable = dyn_cast<clang::VarDecl>(declaration)) {
    collect_variable(unit, variable);
  } else if (const auto* field = dyn_cast<clang::FieldDecl>(declaration)) {
    collect_field(unit, field);
  } else if (const auto* relation = dyn_cast<clang::FriendDecl>(declaration)) {
    if (const clang::NamedDecl* friend_declaration = relation->getFriendDecl();
        friend_declaration && !isa<clang::CXXRecordDecl>(friend_declaration) &&
        !isa<clang::ClassTemplateDecl>(friend_declaration))
      collect_declaration(unit, friend_declaration, parent);
  } else if (isa<clang::NamespaceDecl>(declaration) || isa<clang::LinkageSpecDecl>(declaration) ||
             isa<clang::ExportDecl>(declaration)) {
    collect_members(unit, clang::cast<clang::DeclContext>(declaration), parent);
  }
}

}  // namespace

void collect_members(Unit& unit, const clang::DeclContext* context, FunctionScope* parent) {
  for (const clang::Decl* member : context->decls()) collect_declaration(unit, member, parent);
}

void collect_function(Unit& unit, const clang::FunctionDecl* function, FunctionScope* parent) {
  if (function->hasSkippedBody()) {
    if (unit.in_repository(function)) unit.note_skipped(function, function_id(unit.names.usr(function)));
    return;
  }
  if (!function->isThisDeclarationADefinition() || function->isDeleted()) return;
  if (function->isLateTemplateParsed() || !function->doesThisDeclarationHaveABody()) return;
  if (!unit.in_repository(function) || !has_effects(function)) return;
  auto scope = std::make_unique<FunctionScope>();
  scope->function = function;
  scope->body = function->getBody();
  if (!scope->body) return;
  scope->parent = parent;
  scope->usr = unit.names.usr(function);
  scope->id = function_id(scope->usr);
  scope->flags = flags_of(function);
  if (const clang::FunctionDecl* pattern = function->getTemplateInstantiationPattern())
    scope->pattern = function_id(unit.names.usr(pattern));
  FunctionScope& added = *unit.scopes.emplace_back(std::move(scope));
  add_parameters(added, unit);
  scan_body(unit, added);
}

void collect_lambda(Unit& unit, const clang::LambdaExpr* lambda, FunctionScope& parent) {
  const clang::CXXRecordDecl* closure = lambda->getLambdaClass();
  if (!isa<clang::FunctionDecl>(closure->getDeclContext()))
    unit.names.name_closure(closure, parent.usr + "/lambda#" + std::to_string(parent.lambdas++));
  const auto collect_body = [&](const clang::FunctionDecl* function) {
    if (!function || !function->getBody() || !unit.in_repository(function)) return;
    auto scope = std::make_unique<FunctionScope>();
    scope->function = function;
    scope->body = function->getBody();
    scope->lambda = lambda;
    scope->parent = &parent;
    scope->usr = unit.names.usr(function);
    scope->id = function_id(scope->usr);
    scope->flags = flags_of(function) | kLambda;
    if (const clang::FunctionTemplateDecl* generic = closure->getDependentLambdaCallOperator();
        generic && generic->getTemplatedDecl() != function)
      scope->pattern = function_id(unit.names.usr(generic->getTemplatedDecl()));
    else if (parent.flags & kInstantiation)
      scope->flags |= kInstantiation;
    FunctionScope& added = *unit.scopes.emplace_back(std::move(scope));
    unit.lambdas.try_emplace(lambda, &added);
    add_parameters(added, unit);
    add_captures(added, unit);
    scan_body(unit, added);
  };
  collect_body(lambda->getCallOperator());
  if (const clang::FunctionTemplateDecl* generic = closure->getDependentLambdaCallOperator())
    for (const clang::FunctionDecl* instance : generic->specializations())
      if (instance != lambda->getCallOperator()) collect_body(instance);
}

void collect_functions(Unit& unit) {
  // What a precompiled system header holds is never ours; loading it would cost more than the analysis.
  for (const clang::Decl* declaration : unit.context.getTranslationUnitDecl()->noload_decls())
    if (unit.in_repository(declaration)) collect_declaration(unit, declaration, nullptr);
}

}  // namespace simrt::analysis
