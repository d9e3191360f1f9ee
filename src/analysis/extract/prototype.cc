#include "analysis/extract/prototype.h"

#include "support/hash.h"

namespace simrt::analysis {
namespace {

const clang::FunctionProtoType* prototype_of(clang::QualType type) {
  if (type.isNull() || type->isDependentType()) return nullptr;
  type = type.getNonReferenceType();
  if (const auto* pointer = type->getAs<clang::PointerType>()) type = pointer->getPointeeType();
  const auto* prototype = type->getAs<clang::FunctionProtoType>();
  return prototype && !prototype->isVariadic() ? prototype : nullptr;
}

std::uint64_t shape(clang::QualType type) {
  if (type->isVoidType()) return 1;
  if (type->isAnyPointerType() || type->isReferenceType() || type->isNullPtrType()) return 2;
  if (type->isRealFloatingType()) return 3;
  if (type->isIntegralOrEnumerationType()) return 4;
  return 5;  // by value: classes, vectors, complex numbers
}

}  // namespace

std::uint64_t prototype_shape(clang::QualType type) {
  const clang::FunctionProtoType* prototype = prototype_of(type);
  if (!prototype) return 0;
  std::uint64_t hash = shape(prototype->getReturnType());
  for (const clang::QualType parameter : prototype->param_types())
    hash = hash_combine(hash, shape(parameter));
  return hash;
}

bool has_exact_prototype(clang::QualType type) { return prototype_of(type) != nullptr; }

}  // namespace simrt::analysis
