#include "analysis/extract/local_types.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <llvm/ADT/SmallPtrSet.h>

namespace simrt::analysis {
namespace {

// Walks canonical types: what a typedef or a substituted parameter stands for is what matters.
class LocalTypes : public clang::RecursiveASTVisitor<LocalTypes> {
 public:
  explicit LocalTypes(const std::function<bool(const clang::Decl&)>& counts) : counts_(counts) {}

  /// Arguments of all that `declaration` stands in, and its own.
  bool in_arguments_of(const clang::DeclContext* declaration) {
    for (; declaration && !found_; declaration = declaration->getParent()) {
      if (const auto* instance = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(declaration))
        look_at(instance->getTemplateArgs());
      if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration))
        if (const auto* arguments = function->getTemplateSpecializationArgs()) look_at(*arguments);
    }
    return found_;
  }

  bool VisitTagType(clang::TagType* type) {  // NOLINT(readability-identifier-naming): Clang's hook
    const clang::TagDecl& tag = *type->getDecl();
    if (!seen_.insert(&tag).second) return true;
    const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(&tag);
    const bool local = tag.getParentFunctionOrMethod() || (record && record->isLambda());
    found_ |= (local && counts_(tag)) || in_arguments_of(&tag);
    return !found_;
  }

 private:
  void look_at(const clang::TemplateArgumentList& arguments) {
    for (const clang::TemplateArgument& argument : arguments.asArray()) look_at(argument);
  }

  void look_at(const clang::TemplateArgument& argument) {
    switch (argument.getKind()) {
      case clang::TemplateArgument::Type:
        TraverseType(argument.getAsType().getCanonicalType());
        break;
      case clang::TemplateArgument::Declaration:
        found_ |= argument.getAsDecl()->getParentFunctionOrMethod() && counts_(*argument.getAsDecl());
        break;
      case clang::TemplateArgument::Pack:
        for (const clang::TemplateArgument& part : argument.pack_elements()) look_at(part);
        break;
      default:
        break;
    }
  }

  const std::function<bool(const clang::Decl&)>& counts_;
  bool found_ = false;
  llvm::SmallPtrSet<const clang::TagDecl*, 8> seen_;
};

}  // namespace

bool is_for_local_type(const clang::FunctionDecl& function,
                       const std::function<bool(const clang::Decl&)>& counts) {
  return LocalTypes(counts).in_arguments_of(&function);
}

}  // namespace simrt::analysis
