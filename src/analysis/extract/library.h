// What the extraction knows of types outside the repository: which standard (or boost) classes are locks,
// guards, atomics, pointers, containers. Names only; meaning is given where events are made.
#pragma once

#include <clang/AST/DeclCXX.h>
#include <clang/AST/Type.h>
#include <llvm/ADT/DenseMap.h>

#include <string>

#include "analysis/extract/files.h"

namespace simrt::analysis {

enum class LibraryClass {
  None,         ///< in the repository, or not a class
  Other,        ///< outside the repository, nothing known: its object is one piece of memory
  Mutex,        ///< std::mutex and family
  Guard,        ///< lock_guard, unique_lock, scoped_lock
  SharedGuard,  ///< shared_lock
  ConditionVariable,
  Semaphore,
  Latch,
  Barrier,
  OnceFlag,
  Atomic,
  AtomicRef,
  AtomicFlag,
  Thread,
  JoiningThread,  ///< jthread
  Future,
  Promise,       ///< promise, packaged_task
  SmartPointer,  ///< unique_ptr, shared_ptr, weak_ptr
  Pointer,       ///< iterators, string_view, span, reference_wrapper
  Function,      ///< std::function and family
  Container,     ///< containers, strings, optional, variant, any: the object, and its elements behind it
  Tuple,         ///< pair, tuple: one piece of memory, members and all
  Stream,        ///< iostreams: the standard makes concurrent use of the global ones race-free
};

/// Remembers the answers per class. One a translation unit.
class Library {
 public:
  explicit Library(Files& files) : files_(files) {}
  /// Class of the type with references and pointers not looked through.
  LibraryClass classify(clang::QualType type);
  LibraryClass classify(const clang::CXXRecordDecl* record);
  /// Copying a value of this type copies a pointer that can reach other memory.
  bool carries_pointers(clang::QualType type, unsigned depth = 0);
  /// A lock of C or POSIX (pthread_mutex_t, mtx_t, ...) or a standard mutex.
  bool is_mutex(clang::QualType type);
  bool is_atomic(clang::QualType type);
  /// A semaphore, latch or barrier: what it is constructed with says how many threads pass.
  bool counts(clang::QualType type);

 private:
  Files& files_;
  llvm::DenseMap<const clang::CXXRecordDecl*, LibraryClass> classes_;
};

/// Qualified name without inline namespaces; "boost::" read as "std::".
std::string library_name(const clang::NamedDecl* declaration);
/// Type argument `index` of a class template specialisation, or a null type.
clang::QualType type_argument(clang::QualType type, unsigned index);

}  // namespace simrt::analysis
