#include "analysis/extract/names.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Index/USRGeneration.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

#include <set>

#include "support/hash.h"

namespace simrt::analysis {
namespace {

using clang::dyn_cast;
using clang::isa;

bool is_unnamed_tag(const clang::TagDecl* tag) {
  return tag->getDeclName().isEmpty() && !tag->getTypedefNameForAnonDecl();
}

/// Clang's USR of these (and of what they hold) has a file offset in it.
bool is_unstable(const clang::Decl* declaration) {
  if (declaration->getParentFunctionOrMethod()) return true;
  for (const clang::Decl* d = declaration; d && !isa<clang::TranslationUnitDecl>(d);) {
    if (const auto* tag = dyn_cast<clang::TagDecl>(d); tag && is_unnamed_tag(tag)) return true;
    const clang::DeclContext* parent = d->getDeclContext();
    d = parent ? clang::Decl::castFromDeclContext(parent) : nullptr;
  }
  return false;
}

/// Position among the declarations of the same kind and name in the same context, in order of declaration.
unsigned ordinal_among_namesakes(const clang::NamedDecl* declaration) {
  unsigned ordinal = 0;
  const clang::DeclContext* context = declaration->getDeclContext();
  for (const clang::Decl* sibling : context->decls()) {
    if (sibling->getCanonicalDecl() == declaration->getCanonicalDecl()) break;
    const auto* named = dyn_cast<clang::NamedDecl>(sibling);
    if (named && named->getKind() == declaration->getKind() &&
        named->getDeclName() == declaration->getDeclName() &&
        !(isa<clang::CXXRecordDecl>(named) &&
          clang::cast<clang::CXXRecordDecl>(named)->isInjectedClassName()))
      ++ordinal;
  }
  return ordinal;
}

/// The declaration that the template author wrote, for fields and static members of instantiated classes.
const clang::Decl* written(const clang::Decl* declaration) {
  if (const auto* variable = dyn_cast<clang::VarDecl>(declaration)) {
    if (const clang::VarDecl* pattern = variable->getTemplateInstantiationPattern()) return pattern;
    if (const clang::VarDecl* member = variable->getInstantiatedFromStaticDataMember()) return member;
  }
  if (const auto* record = dyn_cast<clang::CXXRecordDecl>(declaration))
    if (const clang::CXXRecordDecl* pattern = record->getTemplateInstantiationPattern()) return pattern;
  return declaration;
}

void closures_in(clang::QualType type, std::vector<const clang::CXXRecordDecl*>& found, unsigned depth = 0) {
  if (type.isNull() || depth > 8) return;
  type = type.getCanonicalType();
  if (const auto* record = type->getAsCXXRecordDecl()) {
    if (record->isLambda()) {
      found.push_back(record);
    } else if (const auto* special = dyn_cast<clang::ClassTemplateSpecializationDecl>(record)) {
      for (const clang::TemplateArgument& argument : special->getTemplateArgs().asArray()) {
        if (argument.getKind() == clang::TemplateArgument::Type)
          closures_in(argument.getAsType(), found, depth + 1);
        if (argument.getKind() == clang::TemplateArgument::Pack)
          for (const clang::TemplateArgument& element : argument.pack_elements())
            if (element.getKind() == clang::TemplateArgument::Type)
              closures_in(element.getAsType(), found, depth + 1);
      }
    }
  } else if (!type->getPointeeType().isNull()) {
    closures_in(type->getPointeeType(), found, depth + 1);
  } else if (const auto* function = type->getAs<clang::FunctionProtoType>()) {
    closures_in(function->getReturnType(), found, depth + 1);
    for (clang::QualType parameter : function->param_types()) closures_in(parameter, found, depth + 1);
  }
}

/// Lambdas of a body in order, those inside them left out.
void lambdas_in(const clang::Stmt* statement, std::vector<const clang::LambdaExpr*>& found) {
  if (!statement) return;
  if (const auto* lambda = dyn_cast<clang::LambdaExpr>(statement)) {
    for (const clang::Expr* init : lambda->capture_inits()) lambdas_in(init, found);
    found.push_back(lambda);
    return;
  }
  for (const clang::Stmt* child : statement->children()) lambdas_in(child, found);
}

/// Name of a function within its class; constructors of unnamed classes would carry a file offset.
std::string member_name(const clang::FunctionDecl* function, const clang::PrintingPolicy& policy) {
  if (isa<clang::CXXConstructorDecl>(function)) return "constructor";
  if (isa<clang::CXXDestructorDecl>(function)) return "destructor";
  if (isa<clang::CXXConversionDecl>(function))
    return "operator " + function->getReturnType().getCanonicalType().getAsString(policy);
  return function->getNameAsString();
}

/// "(anonymous union at /a/b.h:3:4)" without the place.
std::string without_places(std::string name) {
  for (const char* opening : {"(anonymous ", "(unnamed ", "(lambda "})
    for (std::size_t at = name.find(opening); at != std::string::npos; at = name.find(opening, at + 1)) {
      const std::size_t place = name.find(" at ", at), end = name.find(')', at);
      if (place != std::string::npos && end != std::string::npos && place < end)
        name.erase(place, end - place);
    }
  return name;
}

bool is_overloaded(const clang::FunctionDecl* function) {
  const clang::DeclContext* context = function->getDeclContext()->getRedeclContext();
  if (context->isDependentContext() && isa<clang::CXXConversionDecl>(function)) return false;
  std::set<const clang::Decl*> namesakes;
  for (const clang::NamedDecl* other : context->lookup(function->getDeclName())) {
    const clang::NamedDecl* target = other->getUnderlyingDecl();
    if (!target->isImplicit()) namesakes.insert(target->getCanonicalDecl());
  }
  return namesakes.size() > 1;
}

}  // namespace

std::string name_of_local(const clang::ValueDecl* local) {
  std::string name = local->getNameAsString();
  if (local->isImplicit() && name.starts_with("__")) name.resize(name.find_last_not_of("0123456789") + 1);
  return name;
}

std::string without_lambda_ordinals(std::string_view usr) {
  static constexpr std::string_view kLambda = "/lambda#";
  std::string result;
  for (std::size_t from = 0; from < usr.size();) {
    const std::size_t at = usr.find(kLambda, from);
    if (at == std::string_view::npos) {
      result += usr.substr(from);
      break;
    }
    result += usr.substr(from, at - from);
    result += "/lambda";
    from = usr.find_first_not_of("0123456789", at + kLambda.size());
    if (from == std::string_view::npos) break;
  }
  return result;
}

Names::Names(clang::ASTContext& context, Files& files, std::string unit_path)
    : files_(files),
      unit_path_(std::move(unit_path)),
      policy_(context.getPrintingPolicy()),
      mangler_(context) {
  policy_.AnonymousTagLocations = false;
  policy_.PrintCanonicalTypes = true;
  policy_.SuppressTagKeyword = context.getLangOpts().CPlusPlus;
  policy_.Bool = true;
  policy_.TerseOutput = true;
  policy_.SuppressDefaultTemplateArgs = false;
}

const std::string& Names::usr(const clang::Decl* declaration) {
  declaration = written(declaration)->getCanonicalDecl();
  const auto known = usrs_.find(declaration);
  if (known != usrs_.end()) return known->second;
  std::string made = make_usr(declaration);
  return usrs_.try_emplace(declaration, std::move(made)).first->second;
}

std::uint64_t Names::usr_hash(const clang::Decl* declaration) {
  const auto known = usr_hashes_.find(declaration);
  if (known != usr_hashes_.end()) return known->second;
  const std::uint64_t hash = hash_bytes(without_lambda_ordinals(usr(declaration)));
  usr_hashes_.try_emplace(declaration, hash);
  return hash;
}

std::string Names::default_constructor_usr(const clang::CXXRecordDecl* record) {
  for (const clang::CXXConstructorDecl* constructor : record->ctors())
    if (constructor->isDefaultConstructor()) return usr(constructor);
  return undeclared_member_usr(record, "constructor", record->getNameAsString());
}

std::string Names::destructor_usr(const clang::CXXRecordDecl* record) {
  const clang::CXXRecordDecl* definition = record->getDefinition();
  if (const auto* destructor = definition ? definition->getDestructor() : nullptr) return usr(destructor);
  return undeclared_member_usr(record, "destructor", "~" + record->getNameAsString());
}

std::string Names::undeclared_member_usr(const clang::CXXRecordDecl* record, const char* role,
                                         const std::string& name) {
  std::string result = usr(record);
  if (is_unstable(record)) return result + "/F@" + role + "()";  // as nested_usr() names it
  std::string file;                                              // as clang_usr() adds it
  if (!record->isExternallyVisible()) {
    const std::size_t at = result.rfind("@" + files_.path(record->getLocation()));
    if (at != std::string::npos) file = result.substr(at), result.resize(at);
  }
  return result + "@F@" + name + "#" + file;
}

void Names::name_closure(const clang::CXXRecordDecl* closure, std::string usr) {
  closures_.try_emplace(closure->getCanonicalDecl(), std::move(usr));
}

void Names::name_closures_of(const clang::FunctionDecl* function) {
  const clang::FunctionDecl* definition = nullptr;
  if (!function->hasBody(definition)) return;
  std::vector<const clang::LambdaExpr*> found;
  if (const auto* constructor = dyn_cast<clang::CXXConstructorDecl>(definition))
    for (const clang::CXXCtorInitializer* initializer : constructor->inits())
      lambdas_in(initializer->getInit(), found);
  lambdas_in(definition->getBody(), found);
  const std::string prefix = usr(function) + "/lambda#";
  for (std::size_t i = 0; i < found.size(); ++i)
    name_closure(found[i]->getLambdaClass(), prefix + std::to_string(i));
}

std::string Names::make_usr(const clang::Decl* declaration) {
  if (const auto* record = dyn_cast<clang::CXXRecordDecl>(declaration); record && record->isLambda()) {
    if (const auto* outer = dyn_cast<clang::FunctionDecl>(record->getDeclContext())) name_closures_of(outer);
    const auto known = closures_.find(record->getCanonicalDecl());
    if (known != closures_.end()) return known->second;
    // A closure of a library header, or one in an unevaluated operand: never called from the repository's
    // code.
    const auto* context = clang::Decl::castFromDeclContext(record->getDeclContext());
    return (isa<clang::NamedDecl>(context) ? usr(context) : std::string("c:")) + "/lambda";
  }
  if (const auto* function = dyn_cast<clang::FunctionDecl>(declaration)) return function_usr(function);
  const auto* named = dyn_cast<clang::NamedDecl>(declaration);
  if (named && (is_unstable(declaration) || isa<clang::FieldDecl>(declaration))) return nested_usr(named);
  return clang_usr(declaration);
}

std::string Names::function_usr(const clang::FunctionDecl* function) {
  const auto* method = dyn_cast<clang::CXXMethodDecl>(function);
  if (method && method->getParent()->isLambda()) {
    std::string base = usr(method->getParent());
    if (method->getOverloadedOperator() != clang::OO_Call) return base + "@" + member_name(method, policy_);
    if (const clang::TemplateArgumentList* own = method->getTemplateSpecializationArgs())
      base += "<" + argument_text(own->asArray()) + ">";
    return base;
  }
  if (const clang::FunctionDecl* pattern = function->getTemplateInstantiationPattern();
      pattern && pattern->getCanonicalDecl() != function->getCanonicalDecl())
    return usr(pattern) + "<" + arguments(function) + ">";
  if (is_unstable(function)) return nested_usr(function);
  std::string result = clang_usr(function);
  if (function->isMain()) result += "@" + unit_path_;
  return result;
}

std::string Names::clang_usr(const clang::Decl* declaration) {
  llvm::SmallString<128> buffer;
  std::string result;
  if (!clang::index::generateUSRForDecl(declaration, buffer)) {
    result.assign(buffer.begin(), buffer.end());
  } else if (const auto* named = dyn_cast<clang::NamedDecl>(declaration)) {
    result = "q:" + named->getQualifiedNameAsString();
    if (const auto* value = dyn_cast<clang::ValueDecl>(declaration))
      result += "#" + type_name(value->getType());
  }
  // Clang writes the base name of the file only: two directories may have a static function of one name.
  const auto* named = dyn_cast<clang::NamedDecl>(declaration);
  if (named && !named->isExternallyVisible()) {
    const std::string& path = files_.path(declaration->getLocation());
    if (!path.empty()) result += "@" + path;
  }
  return result;
}

/// Name from the context's: for local and anonymous entities, and for fields (so that they share the
/// class's).
std::string Names::nested_usr(const clang::NamedDecl* declaration) {
  const auto* context = clang::Decl::castFromDeclContext(declaration->getDeclContext());
  std::string result = isa<clang::NamedDecl>(context) ? usr(context) : "c:";
  if (const auto* function = dyn_cast<clang::FunctionDecl>(declaration)) {
    result += "/F@" + member_name(function, policy_) + "(";
    for (const clang::ParmVarDecl* parameter : function->parameters())
      result += type_name(parameter->getType()) + ",";
    result += ")";
    if (const auto* method = dyn_cast<clang::CXXMethodDecl>(function))
      result += method->getMethodQualifiers().getAsString() +
                (method->getRefQualifier() == clang::RQ_RValue ? "&&" : "");
    return result;
  }
  const std::string name = declaration->getNameAsString();
  if (const auto* field = dyn_cast<clang::FieldDecl>(declaration))
    return result + "@FI@" + (name.empty() ? "#" + std::to_string(field->getFieldIndex()) : name);
  result += isa<clang::TagDecl>(declaration) ? "/S@" : "/V@";
  result += name;
  const unsigned ordinal = ordinal_among_namesakes(declaration);
  if (ordinal > 0 || name.empty()) result += "#" + std::to_string(ordinal);
  return result;
}

std::string Names::identity_of_type(clang::QualType type) {
  std::string result = type_name(type);
  if (result.find("(lambda") == std::string::npos) return result;
  std::vector<const clang::CXXRecordDecl*> closures;
  closures_in(type, closures);
  for (const clang::CXXRecordDecl* closure : closures) result += "{" + usr(closure) + "}";
  return result;
}

std::string Names::argument_text(llvm::ArrayRef<clang::TemplateArgument> arguments) {
  std::string result;
  for (const clang::TemplateArgument& argument : arguments) {
    if (!result.empty()) result += ", ";
    if (argument.getKind() == clang::TemplateArgument::Type) {
      result += identity_of_type(argument.getAsType());
    } else if (argument.getKind() == clang::TemplateArgument::Pack) {
      result += "[" + argument_text(argument.pack_elements()) + "]";
    } else if (argument.getKind() == clang::TemplateArgument::Declaration) {
      result += usr(argument.getAsDecl());
    } else {
      llvm::raw_string_ostream stream(result);
      argument.print(policy_, stream, /*IncludeType=*/true);
    }
  }
  return result;
}

/// Arguments of the enclosing class specialisations, outermost first, then of the function itself.
std::string Names::arguments(const clang::FunctionDecl* function) {
  std::string result;
  std::vector<const clang::ClassTemplateSpecializationDecl*> classes;
  for (const clang::DeclContext* context = function->getDeclContext(); context;
       context = context->getParent())
    if (const auto* special = dyn_cast<clang::ClassTemplateSpecializationDecl>(context))
      classes.push_back(special);
  for (auto special = classes.rbegin(); special != classes.rend(); ++special)
    result += argument_text((*special)->getTemplateArgs().asArray()) + "|";
  if (const clang::TemplateArgumentList* own = function->getTemplateSpecializationArgs())
    result += argument_text(own->asArray());
  // A member of an instantiated function's local class: the function's own arguments tell instances apart.
  if (const clang::DeclContext* outer = function->getParentFunctionOrMethod())
    if (const auto* parent = dyn_cast<clang::FunctionDecl>(outer)) result += "|" + usr(parent);
  return result;
}

const std::string& Names::display(const clang::NamedDecl* declaration) {
  const auto known = displays_.find(declaration);
  if (known != displays_.end()) return known->second;
  std::string made = make_display(declaration);
  return displays_.try_emplace(declaration, std::move(made)).first->second;
}

std::string Names::make_display(const clang::NamedDecl* declaration) {
  if (const auto* method = dyn_cast<clang::CXXMethodDecl>(declaration);
      method && method->getParent()->isLambda()) {
    const auto* outer = clang::Decl::castFromDeclContext(method->getParent()->getDeclContext());
    const std::string& closure = usr(method->getParent());
    const std::size_t slash = closure.rfind('/');
    return (isa<clang::FunctionDecl>(outer) ? display(clang::cast<clang::NamedDecl>(outer)) : std::string()) +
           "::" + (slash == std::string::npos ? "lambda" : closure.substr(slash + 1));
  }
  std::string result;
  llvm::raw_string_ostream stream(result);
  declaration->getNameForDiagnostic(stream, policy_, /*Qualified=*/true);
  if (const auto* function = dyn_cast<clang::FunctionDecl>(declaration);
      function && is_overloaded(function)) {
    stream << "(";
    for (unsigned i = 0; i < function->getNumParams(); ++i)
      stream << (i ? ", " : "") << function->getParamDecl(i)->getType().getAsString(policy_);
    stream << ")";
  }
  return without_places(std::move(result));
}

std::string Names::type_name(clang::QualType type) const {
  return type.isNull() ? std::string() : type.getCanonicalType().getAsString(policy_);
}

std::uint64_t Names::type_hash(clang::QualType type) {
  if (type.isNull()) return 0;
  const clang::QualType canonical = type.getCanonicalType();
  const auto [entry, fresh] = type_hashes_.try_emplace(canonical.getAsOpaquePtr(), 0);
  if (fresh) entry->second = hash_bytes(canonical.getAsString(policy_));
  return entry->second;
}

std::vector<std::string> Names::linkage_names(const clang::FunctionDecl* function) {
  if (function->isDependentContext() || function->getType()->isDependentType()) return {};
  if (const auto* method = dyn_cast<clang::CXXMethodDecl>(function);
      method && method->getParent()->isDependentContext())
    return {};
  std::vector<std::string> names;
  if (isa<clang::CXXConstructorDecl>(function) || isa<clang::CXXDestructorDecl>(function))
    names = mangler_.getAllManglings(function);
  if (names.empty()) names.push_back(mangler_.getName(function));
  std::erase(names, std::string());
  return names;
}

}  // namespace simrt::analysis
