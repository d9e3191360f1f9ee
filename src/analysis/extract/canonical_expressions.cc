// The leaves of the canonical form: literals, references to declarations, allocation, compile-time queries,
// and the nodes of uninstantiated templates.
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/ExprConcepts.h>
#include <clang/Lex/Lexer.h>

#include "analysis/extract/canonical.h"
#include "support/hash.h"

namespace simrt::analysis {
namespace {

using clang::cast;
using clang::dyn_cast;
using clang::isa;

enum Token : std::uint64_t {
  kLocal = 1u << 21,
  kOuterLocal,
  kBinding,
  kEnumerator,
  kFunction,
  kField,
  kVariable,
  kTemplateParameter,
  kOther,
  kScratch,
  kOperator,
  kValue
};

/// Text of the token whose expansion produced a literal that the preprocessor made up ("__LINE__", "#", a
/// macro).
std::string origin_of_made_up(clang::SourceLocation location, clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  // Step by step towards where the token was written: through macro arguments ("EXPECT_EQ" hands __LINE__ on
  // several times) to the expansion whose text is the preprocessor's own.
  while (location.isMacroID()) {
    const clang::SourceLocation spelling = sources.getImmediateSpellingLoc(location);
    if (!spelling.isMacroID()) {
      if (!sources.isWrittenInScratchSpace(spelling)) return {};
      const clang::SourceLocation origin =
          sources.getSpellingLoc(sources.getImmediateExpansionRange(location).getBegin());
      llvm::SmallString<32> buffer;
      return clang::Lexer::getSpelling(origin, buffer, sources, context.getLangOpts()).str();
    }
    location = spelling;
  }
  return {};
}

bool is_made_up(clang::SourceLocation location, const clang::SourceManager& sources) {
  return location.isMacroID() && sources.isWrittenInScratchSpace(sources.getSpellingLoc(location));
}

}  // namespace

void Canonical::local(std::uint32_t ordinal) {
  put(kLocal);
  result_.locals.push_back(ordinal);
}

void Canonical::declaration(const clang::ValueDecl* target) {
  if (const auto ordinal = scope_.ordinal_of(target)) return local(*ordinal);
  if (const auto* binding = dyn_cast<clang::BindingDecl>(target)) {
    put(kBinding);
    const auto* whole = cast<clang::DecompositionDecl>(binding->getDecomposedDecl());
    for (std::size_t i = 0; i < whole->bindings().size(); ++i)
      if (whole->bindings()[i] == binding) put(i);
    return declaration(whole);
  }
  if (const auto* enumerator = dyn_cast<clang::EnumConstantDecl>(target)) {
    put(kEnumerator);
    put(enumerator->getType());
    return put(llvm::toString(enumerator->getInitVal(), 10));
  }
  if (const auto* callee = dyn_cast<clang::FunctionDecl>(target)) return function(callee);
  if (const auto* field = dyn_cast<clang::FieldDecl>(target)) {
    put(kField);
    put(unit_.names.usr_hash(field));
    put(field->getType());
    put(field->isMutable());
    if (field->isBitField() && !field->getBitWidth()->isValueDependent())
      put(field->getBitWidthValue(unit_.context));
    return;
  }
  if (const auto* named = dyn_cast<clang::VarDecl>(target)) return variable(named);
  if (const auto* parameter = dyn_cast<clang::NonTypeTemplateParmDecl>(target)) {
    put(kTemplateParameter);
    put(parameter->getDepth());
    return put(parameter->getIndex());
  }
  put(kOther);
  put(target->getNameAsString());
}

void Canonical::variable(const clang::VarDecl* target) {
  const auto owner = unit_.owner.find(target);
  if (owner != unit_.owner.end() && !target->hasGlobalStorage()) {
    // A constant of an enclosing function that a lambda uses without capturing it.
    put(kOuterLocal);
    put(target->getType());
  } else {
    put(kVariable);
    put(unit_.names.usr_hash(target));
    put(target->getType());
    put(static_cast<std::uint64_t>(target->getTLSKind()));
  }
  const clang::VarDecl* definition = nullptr;
  const clang::Expr* init = target->getAnyInitializer(definition);
  if (!init || init->isValueDependent() || init->isTypeDependent()) return;
  if (!definition->isUsableInConstantExpressions(unit_.context)) return;
  if (const clang::APValue* value = definition->evaluateValue()) {
    put(kValue);
    put(value->getAsString(unit_.context, definition->getType()));
  }
}

void Canonical::function(const clang::FunctionDecl* target) {
  put(kFunction);
  put(unit_.names.usr_hash(target));
  put(target->getType());
  const auto* method = dyn_cast<clang::CXXMethodDecl>(target);
  put(method && method->isVirtual());
  // Where no body tells what it locks, the attributes are all there is.
  if (!unit_.in_repository(target)) put(thread_safety_hash(unit_, scope_, target));
}

bool Canonical::literal(const clang::Expr* e) {
  if (const auto* integer = dyn_cast<clang::IntegerLiteral>(e)) {
    if (is_made_up(integer->getLocation(), unit_.context.getSourceManager())) {
      const std::string origin = origin_of_made_up(integer->getLocation(), unit_.context);
      if (origin == "__LINE__" || origin == "__COUNTER__") return put(origin), true;
    }
    put(llvm::toString(integer->getValue(), 10, false));
  } else if (const auto* floating = dyn_cast<clang::FloatingLiteral>(e)) {
    put(llvm::toString(floating->getValue().bitcastToAPInt(), 16, false));
  } else if (const auto* character = dyn_cast<clang::CharacterLiteral>(e)) {
    put(character->getValue());
  } else if (const auto* boolean = dyn_cast<clang::CXXBoolLiteralExpr>(e)) {
    put(boolean->getValue());
  } else if (const auto* text = dyn_cast<clang::StringLiteral>(e)) {
    string(text);
  } else if (const auto* predefined = dyn_cast<clang::PredefinedExpr>(e)) {
    put(static_cast<std::uint64_t>(predefined->getIdentKind()));  // the function's name is no behaviour
  } else if (const auto* location = dyn_cast<clang::SourceLocExpr>(e)) {
    put(static_cast<std::uint64_t>(location->getIdentKind()));
  } else if (const auto* fixed = dyn_cast<clang::FixedPointLiteral>(e)) {
    put(llvm::toString(fixed->getValue(), 10, false));
  } else {
    return false;
  }
  return true;
}

/// Pieces that the preprocessor made up (__FILE__, #x) change with names and lines, so they count as "some
/// text".
void Canonical::string(const clang::StringLiteral* text) {
  const clang::SourceManager& sources = unit_.context.getSourceManager();
  bool made_up = false;
  for (unsigned i = 0; i < text->getNumConcatenated(); ++i)
    made_up = made_up || is_made_up(text->getStrTokenLoc(i), sources);
  if (!made_up) {
    put(static_cast<std::uint64_t>(text->getKind()));
    put(text->getBytes());
    return;
  }
  for (unsigned i = 0; i < text->getNumConcatenated(); ++i) {
    const clang::SourceLocation token = text->getStrTokenLoc(i);
    if (is_made_up(token, sources)) {
      put(kScratch);
      continue;
    }
    llvm::SmallString<64> buffer;
    put(clang::Lexer::getSpelling(sources.getSpellingLoc(token), buffer, sources,
                                  unit_.context.getLangOpts()));
  }
}

bool Canonical::reference(const clang::Expr* e) {
  if (const auto* named = dyn_cast<clang::DeclRefExpr>(e)) {
    declaration(named->getDecl());
    return true;
  }
  if (const auto* member = dyn_cast<clang::MemberExpr>(e)) {
    put(member->isArrow());
    put(member->hasQualifier() && isa<clang::CXXMethodDecl>(member->getMemberDecl()));  // no virtual dispatch
    declaration(member->getMemberDecl());
    visit(member->getBase());
    return true;
  }
  return false;
}

bool Canonical::allocation(const clang::Expr* e) {
  if (const auto* construction = dyn_cast<clang::CXXConstructExpr>(e)) {
    function(construction->getConstructor());
    put(construction->isListInitialization());
    put(construction->requiresZeroInitialization());
    children(e);
  } else if (const auto* inherited = dyn_cast<clang::CXXInheritedCtorInitExpr>(e)) {
    function(inherited->getConstructor());
  } else if (const auto* creation = dyn_cast<clang::CXXNewExpr>(e)) {
    put(creation->getAllocatedType());
    put(creation->isArray());
    put(creation->isGlobalNew());
    if (creation->getOperatorNew()) function(creation->getOperatorNew());
    children(e);
  } else if (const auto* removal = dyn_cast<clang::CXXDeleteExpr>(e)) {
    put(removal->isArrayForm());
    put(removal->isGlobalDelete());
    children(e);
  } else {
    return false;
  }
  return true;
}

bool Canonical::query(const clang::Expr* e) {
  if (const auto* size = dyn_cast<clang::UnaryExprOrTypeTraitExpr>(e)) {
    put(size->getKind());
    put(size->getTypeOfArgument());
    clang::Expr::EvalResult value;
    if (!e->isValueDependent() && e->EvaluateAsInt(value, unit_.context))
      put(llvm::toString(value.Val.getInt(), 10));
  } else if (isa<clang::TypeTraitExpr, clang::ConceptSpecializationExpr, clang::RequiresExpr,
                 clang::CXXNoexceptExpr, clang::ArrayTypeTraitExpr, clang::ExpressionTraitExpr>(e)) {
    if (!e->isValueDependent() && !e->isTypeDependent())
      constant(e);
    else if (const auto* trait = dyn_cast<clang::TypeTraitExpr>(e))
      for (const clang::TypeSourceInfo* argument : trait->getArgs()) put(argument->getType());
  } else if (const auto* offset = dyn_cast<clang::OffsetOfExpr>(e)) {
    put(offset->getTypeSourceInfo()->getType());
    for (unsigned i = 0; i < offset->getNumComponents(); ++i) {
      const clang::OffsetOfNode& node = offset->getComponent(i);
      if (node.getKind() == clang::OffsetOfNode::Field) declaration(node.getField());
    }
    children(e);
  } else if (const auto* identity = dyn_cast<clang::CXXTypeidExpr>(e)) {
    if (identity->isTypeOperand())
      put(identity->getTypeOperandSourceInfo()->getType());
    else
      children(e);
  } else if (const auto* pack = dyn_cast<clang::SizeOfPackExpr>(e)) {
    if (!pack->isValueDependent()) put(pack->getPackLength());
  } else if (isa<clang::OpaqueValueExpr>(e)) {
    // stands for a sub-expression that is visited where it is written
  } else {
    return false;
  }
  return true;
}

/// Nodes of template patterns. An operator is one node kind or another depending on what was declared before
/// the template, so both get one form; candidates of unresolved names do not count.
bool Canonical::dependent(const clang::Expr* e) {
  if (const auto* call = dyn_cast<clang::CXXOperatorCallExpr>(e); call && call->isTypeDependent()) {
    put(kOperator);
    put(static_cast<std::uint64_t>(call->getOperator()));
    for (const clang::Expr* argument : call->arguments()) visit(argument);
    return true;
  }
  if (const auto* binary = dyn_cast<clang::BinaryOperator>(e); binary && binary->isTypeDependent()) {
    put(kOperator);
    put(static_cast<std::uint64_t>(clang::BinaryOperator::getOverloadedOperator(binary->getOpcode())));
    visit(binary->getLHS());
    visit(binary->getRHS());
    return true;
  }
  if (const auto* unary = dyn_cast<clang::UnaryOperator>(e); unary && unary->isTypeDependent()) {
    put(kOperator);
    put(static_cast<std::uint64_t>(clang::UnaryOperator::getOverloadedOperator(unary->getOpcode())));
    visit(unary->getSubExpr());
    return true;
  }
  if (const auto* overloads = dyn_cast<clang::OverloadExpr>(e)) {
    put(kOther);
    put(overloads->getName().getAsString());
    if (overloads->hasExplicitTemplateArgs())
      for (const clang::TemplateArgumentLoc& argument : overloads->template_arguments())
        if (argument.getArgument().getKind() == clang::TemplateArgument::Type)
          put(argument.getArgument().getAsType());
    if (const auto* member = dyn_cast<clang::UnresolvedMemberExpr>(e); member && !member->isImplicitAccess())
      visit(member->getBase());
    return true;
  }
  if (const auto* member = dyn_cast<clang::CXXDependentScopeMemberExpr>(e)) {
    put(kOther);
    put(member->getMember().getAsString());
    put(member->isArrow());
    if (!member->isImplicitAccess()) visit(member->getBase());
    return true;
  }
  if (const auto* named = dyn_cast<clang::DependentScopeDeclRefExpr>(e)) {
    put(kOther);
    put(named->getDeclName().getAsString());
    if (const clang::NestedNameSpecifier* qualifier = named->getQualifier();
        qualifier && qualifier->getAsType())
      put(clang::QualType(qualifier->getAsType(), 0));
    return true;
  }
  return false;
}

std::uint64_t thread_safety_hash(Unit& unit, const FunctionScope& scope,
                                 const clang::FunctionDecl* function) {
  if (!function->hasAttrs()) return 0;
  static const Ownership kNothingOwned;
  std::uint64_t hash = 0;
  const auto add = [&](const clang::Attr* attribute, llvm::ArrayRef<clang::Expr*> arguments) {
    hash = hash_combine(hash, attribute->getKind());
    hash = hash_combine(hash, hash_bytes(attribute->getSpelling()));
    for (const clang::Expr* argument : arguments) {
      Canonical canonical(unit, scope, kNothingOwned);
      hash = hash_combine(hash, canonical.statement(argument).hash);
    }
  };
  for (const clang::Attr* attribute : function->getAttrs()) {
    if (const auto* a = dyn_cast<clang::AcquireCapabilityAttr>(attribute))
      add(a, {a->args_begin(), a->args_size()});
    if (const auto* a = dyn_cast<clang::ReleaseCapabilityAttr>(attribute))
      add(a, {a->args_begin(), a->args_size()});
    if (const auto* a = dyn_cast<clang::TryAcquireCapabilityAttr>(attribute))
      add(a, {a->args_begin(), a->args_size()});
    if (const auto* a = dyn_cast<clang::RequiresCapabilityAttr>(attribute))
      add(a, {a->args_begin(), a->args_size()});
  }
  return hash;
}

}  // namespace simrt::analysis
