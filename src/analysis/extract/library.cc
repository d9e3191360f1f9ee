#include "analysis/extract/library.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Support/raw_ostream.h>

namespace simrt::analysis {
namespace {

using clang::dyn_cast;

LibraryClass by_name(llvm::StringRef name) {
  if (!name.consume_front("std::")) return LibraryClass::Other;
  return llvm::StringSwitch<LibraryClass>(name)
      .Cases("mutex", "recursive_mutex", "timed_mutex", "recursive_timed_mutex", LibraryClass::Mutex)
      .Cases("shared_mutex", "shared_timed_mutex", "__mutex_base", "__recursive_mutex_base",
             LibraryClass::Mutex)
      .Cases("lock_guard", "unique_lock", "scoped_lock", LibraryClass::Guard)
      .Case("shared_lock", LibraryClass::SharedGuard)
      .Cases("condition_variable", "condition_variable_any", LibraryClass::ConditionVariable)
      .Cases("counting_semaphore", "binary_semaphore", LibraryClass::Semaphore)
      .Case("latch", LibraryClass::Latch)
      .Case("barrier", LibraryClass::Barrier)
      .Case("once_flag", LibraryClass::OnceFlag)
      .Cases("atomic", "__atomic_base", "__atomic_float", LibraryClass::Atomic)
      .Cases("atomic_ref", "__atomic_ref", LibraryClass::AtomicRef)
      .Cases("atomic_flag", "__atomic_flag_base", LibraryClass::AtomicFlag)
      .Case("thread", LibraryClass::Thread)
      .Case("jthread", LibraryClass::JoiningThread)
      .Cases("future", "shared_future", "__basic_future", LibraryClass::Future)
      .Cases("promise", "packaged_task", LibraryClass::Promise)
      .Cases("unique_ptr", "shared_ptr", "weak_ptr", "__shared_ptr", "__weak_ptr", "__shared_ptr_access",
             "auto_ptr", LibraryClass::SmartPointer)
      .Cases("basic_string_view", "span", "reference_wrapper", "initializer_list", LibraryClass::Pointer)
      .Cases("function", "move_only_function", "copyable_function", "function_ref", LibraryClass::Function)
      .Cases("vector", "deque", "list", "forward_list", "array", "bitset", LibraryClass::Container)
      .Cases("map", "multimap", "set", "multiset", "basic_string", LibraryClass::Container)
      .Cases("unordered_map", "unordered_multimap", "unordered_set", "unordered_multiset",
             LibraryClass::Container)
      .Cases("queue", "stack", "priority_queue", "valarray", LibraryClass::Container)
      .Cases("optional", "variant", "any", "expected", LibraryClass::Container)
      .Cases("pair", "tuple", LibraryClass::Tuple)
      .Cases("basic_ostream", "basic_istream", "basic_iostream", "basic_ios", "ios_base",
             LibraryClass::Stream)
      .Default(LibraryClass::Other);
}

bool is_iterator_name(llvm::StringRef name) {
  return name.ends_with("iterator") || name.ends_with("_iter") || name == "_Bit_iterator" ||
         name == "_Node_iterator_base" || name == "_Rb_tree_iterator";
}

}  // namespace

std::string library_name(const clang::NamedDecl* declaration) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  std::vector<std::string> parts{declaration->getNameAsString()};
  for (const clang::DeclContext* context = declaration->getDeclContext(); context;
       context = context->getParent()) {
    if (const auto* scope = dyn_cast<clang::NamespaceDecl>(context)) {
      if (!scope->isInline() && !scope->isAnonymousNamespace()) parts.push_back(scope->getNameAsString());
    } else if (const auto* record = dyn_cast<clang::RecordDecl>(context)) {
      parts.push_back(record->getNameAsString());
    }
  }
  if (parts.back() == "boost") parts.back() = "std";
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    stream << (part == parts.rbegin() ? "" : "::") << *part;
  return name;
}

clang::QualType type_argument(clang::QualType type, unsigned index) {
  if (type.isNull()) return {};
  const auto* special = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(
      type.getNonReferenceType()->getAsCXXRecordDecl());
  if (!special || special->getTemplateArgs().size() <= index) return {};
  const clang::TemplateArgument& argument = special->getTemplateArgs()[index];
  return argument.getKind() == clang::TemplateArgument::Type ? argument.getAsType() : clang::QualType();
}

LibraryClass Library::classify(clang::QualType type) {
  if (type.isNull()) return LibraryClass::None;
  if (const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl()) return classify(record);
  // A field of a template pattern, say std::atomic<T>: no class yet, but its template is known.
  if (const auto* dependent = type->getAs<clang::TemplateSpecializationType>())
    if (const clang::TemplateDecl* declaration = dependent->getTemplateName().getAsTemplateDecl())
      if (const auto* record = llvm::dyn_cast_or_null<clang::CXXRecordDecl>(declaration->getTemplatedDecl()))
        return classify(record);
  return LibraryClass::None;
}

LibraryClass Library::classify(const clang::CXXRecordDecl* record) {
  if (!record) return LibraryClass::None;
  record = record->getCanonicalDecl();
  const auto [entry, fresh] = classes_.try_emplace(record, LibraryClass::None);
  if (!fresh) return entry->second;
  LibraryClass result = LibraryClass::None;
  if (!record->isLambda() && !files_.in_repository(record->getLocation())) {
    result = by_name(library_name(record));
    if (result == LibraryClass::Other && record->getIdentifier() && is_iterator_name(record->getName()))
      result = LibraryClass::Pointer;
  }
  classes_[record] = result;
  return result;
}

bool Library::carries_pointers(clang::QualType type, unsigned depth) {
  if (type.isNull() || depth > 6) return false;
  type = type.getCanonicalType();
  if (const auto* atomic = type->getAs<clang::AtomicType>())
    return carries_pointers(atomic->getValueType(), depth + 1);
  if (type->isPointerType() || type->isReferenceType()) return true;
  if (const auto* array = type->getAsArrayTypeUnsafe())
    return carries_pointers(array->getElementType(), depth + 1);
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  switch (classify(record)) {
    case LibraryClass::None:
      return record && record->isLambda();
    case LibraryClass::SmartPointer:
    case LibraryClass::Pointer:
    case LibraryClass::AtomicRef:
    case LibraryClass::Function:
      return true;
    case LibraryClass::Guard:
    case LibraryClass::SharedGuard:
    case LibraryClass::Mutex:
      return false;
    default:
      break;
  }
  const auto* special = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  if (!special) return false;
  const auto carries = [&](const clang::TemplateArgument& argument) {
    return argument.getKind() == clang::TemplateArgument::Type &&
           carries_pointers(argument.getAsType(), depth + 1);
  };
  for (const clang::TemplateArgument& argument : special->getTemplateArgs().asArray()) {
    if (carries(argument)) return true;
    if (argument.getKind() == clang::TemplateArgument::Pack)
      for (const clang::TemplateArgument& element : argument.pack_elements())
        if (carries(element)) return true;
  }
  return false;
}

bool Library::is_mutex(clang::QualType type) {
  if (classify(type) == LibraryClass::Mutex) return true;
  if (const auto* record = type->getAsCXXRecordDecl(); record && record->hasAttr<clang::CapabilityAttr>())
    return true;
  for (clang::QualType level = type; const auto* alias = level->getAs<clang::TypedefType>();
       level = alias->desugar()) {
    const llvm::StringRef name = alias->getDecl()->getName();
    if (name == "pthread_mutex_t" || name == "pthread_rwlock_t" || name == "pthread_spinlock_t" ||
        name == "mtx_t")
      return true;
  }
  return false;
}

bool Library::counts(clang::QualType type) {
  const LibraryClass known = classify(type);
  return known == LibraryClass::Semaphore || known == LibraryClass::Latch || known == LibraryClass::Barrier;
}

bool Library::is_atomic(clang::QualType type) {
  if (type->isAtomicType()) return true;
  const LibraryClass known = classify(type);
  return known == LibraryClass::Atomic || known == LibraryClass::AtomicFlag ||
         known == LibraryClass::AtomicRef;
}

}  // namespace simrt::analysis
