// Objects of library classes as memory: a container is one piece plus its elements, a smart pointer is a
// pointer. Library functions that nobody modelled read what they take by const and write the rest.
#include <llvm/ADT/StringSwitch.h>

#include "analysis/extract/evaluator.h"

namespace simrt::analysis {

using clang::cast;
using clang::dyn_cast;
using clang::isa;

namespace {

constexpr unsigned kMaxBases = 16;  ///< levels of a hierarchy

std::string method_name(const CallSite& site) {
  return site.callee->getDeclName().isIdentifier() ? site.callee->getNameAsString() : std::string();
}

/// Non-const members that only look something up.
bool is_accessor(const CallSite& site, llvm::StringRef method, clang::QualType object) {
  switch (site.callee->getOverloadedOperator()) {
    case clang::OO_Star:
    case clang::OO_Arrow:
      return true;
    case clang::OO_Subscript: {
      const auto* record = object->getAsCXXRecordDecl();
      return !record || !record->getName().contains("map");  // a map's makes the element
    }
    default:
      break;
  }
  return llvm::StringSwitch<bool>(method)
      .Cases("at", "front", "back", "top", "data", "get", "value", "find", true)
      .Cases("begin", "end", "rbegin", "rend", "lower_bound", "upper_bound", "equal_range", true)
      .Cases("rdbuf", "c_str", "str", "lock", true)
      .Default(false);
}

/// std functions that only read through non-const iterators.
bool only_reads(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases("find", "find_if", "find_if_not", "count", "count_if", "accumulate", "reduce", "equal", true)
      .Cases("lower_bound", "upper_bound", "binary_search", "equal_range", "all_of", "any_of", "none_of",
             true)
      .Cases("max_element", "min_element", "minmax_element", "search", "mismatch", "is_sorted", "includes",
             true)
      .Cases("for_each", "for_each_n", "adjacent_find", "lexicographical_compare", "inner_product", true)
      .Default(false);
}

/// std functions that only name, move or compare: no access of their own.
bool only_names(llvm::StringRef name) {
  if (name.starts_with("__builtin_coro")) return true;
  return llvm::StringSwitch<bool>(name)
      .Cases("move", "forward", "as_const", "addressof", "ref", "cref", "launder", "move_if_noexcept", true)
      .Cases("tie", "forward_as_tuple", "make_move_iterator", "back_inserter", "inserter", "front_inserter",
             true)
      .Cases("begin", "end", "cbegin", "cend", "rbegin", "rend", "data", "get", "bind", "bind_front", true)
      .Cases("next", "prev", "distance", "advance", "static_pointer_cast", "dynamic_pointer_cast", "get_if",
             true)
      .Cases("pthread_self", "assume_aligned", "__builtin_expect", "__builtin_assume_aligned", "addressof",
             true)
      .Default(false);
}

bool returns_memory(clang::QualType type) { return type->isReferenceType() || type->isPointerType(); }

}  // namespace

/// Value of a call into the library, from the object and the arguments.
Operands Evaluator::library_result(const CallSite& site) {
  const clang::QualType type = site.callee->getReturnType();
  const LibraryClass result_kind = unit_.library.classify(type.getNonReferenceType());
  if (site.object) {
    const LibraryClass kind = unit_.library.classify(site.object_type);
    const std::string name = method_name(site);
    Operand object = *site.object;
    const bool pointer_like = kind == LibraryClass::SmartPointer || kind == LibraryClass::Pointer;
    const auto op = site.callee->getOverloadedOperator();
    if (op == clang::OO_Equal || op == clang::OO_PlusPlus || op == clang::OO_MinusMinus ||
        op == clang::OO_PlusEqual || op == clang::OO_MinusEqual || op == clang::OO_LessLess ||
        op == clang::OO_GreaterGreater)
      return {type->isReferenceType() ? address_of(object) : object};
    if (kind == LibraryClass::Future) return {element_of(object)};
    if (pointer_like) {
      if (type->isReferenceType()) return {address_of(pointee(object))};
      if (type->isPointerType() || result_kind == kind || result_kind == LibraryClass::Pointer ||
          result_kind == LibraryClass::SmartPointer) {
        Operand value = object;
        if (kind == LibraryClass::Pointer && op == clang::OO_Arrow && !value.known()) return {};
        return {value};  // the pointer itself: get(), operator->, it + 1, lock()
      }
      return {};
    }
    if (returns_memory(type) || result_kind == LibraryClass::Pointer) {
      // `v.emplace_back()`, `s.append()`: reference to the element or to the object itself.
      const bool itself = type->isReferenceType() && type.getNonReferenceType()->getAsCXXRecordDecl() &&
                          type.getNonReferenceType()->getAsCXXRecordDecl()->getCanonicalDecl() ==
                              (site.object_type->getAsCXXRecordDecl()
                                   ? site.object_type->getAsCXXRecordDecl()->getCanonicalDecl()
                                   : nullptr);
      return {address_of(itself ? object : element_of(object))};
    }
    if (result_kind == LibraryClass::Container && unit_.library.carries_pointers(type))
      return {element_of(object)};
    return {};
  }
  // Free functions: what comes out is what went in, where the types say so.
  Operands result;
  const clang::QualType wanted = type.getNonReferenceType();
  for (std::size_t i = 0; i < site.arguments.size(); ++i) {
    const clang::QualType given = site.arguments[i]->getType();
    const bool same = unit_.context.hasSameUnqualifiedType(given, wanted) ||
                      (type->isPointerType() && given->isPointerType() &&
                       unit_.context.hasSameUnqualifiedType(given->getPointeeType(), type->getPointeeType()));
    for (const Operand& value : site.values[i]) {
      if (type->isReferenceType() && same && value.address)
        result.push_back(value);
      else if (!type->isReferenceType() && same && returns_memory(type))
        result.push_back(value);
      else if (result_kind == LibraryClass::Pointer && value.address)
        result.push_back(same && site.arguments[i]->isGLValue() ? pointee(value) : value);
    }
  }
  llvm::StringRef name = site.name;
  if (result.empty() && name.consume_front("std::") && !site.values.empty()) {
    const Operand source = site.target(0);
    if (name == "get" && unit_.library.classify(site.arguments[0]->getType()) == LibraryClass::Tuple)
      return {address_of(source)};
    if (name == "get" || name == "get_if" || name == "begin" || name == "end" || name == "data" ||
        name == "cbegin" || name == "cend")
      return {address_of(element_of(source))};
    if (name == "addressof" || name == "ref" || name == "cref") return {site.argument(0)};
    if (name.ends_with("_pointer_cast")) return {source};
  }
  return result;
}

bool Evaluator::smart_pointer_member(const CallSite& site, const Operand& object, Operands& result) {
  const std::string name = method_name(site);
  const clang::SourceLocation at = site.expression->getExprLoc();
  const Operand& pointer = object;
  const clang::QualType type = site.object_type;
  const auto op = site.callee->getOverloadedOperator();
  const auto* method = cast<clang::CXXMethodDecl>(site.callee);
  if (op == clang::OO_Equal || name == "reset" || name == "swap") {
    const bool from_pointer = op == clang::OO_Equal && unit_.library.classify(site.arguments[0]->getType()) ==
                                                           LibraryClass::SmartPointer;
    if (from_pointer)
      access(site.target(0),
             cast<clang::CXXMethodDecl>(site.callee)->getParamDecl(0)->getType()->isRValueReferenceType()
                 ? AccessMode::Write
                 : AccessMode::Read,
             clang::QualType(), at);
    access(pointer, AccessMode::Write, clang::QualType(), at);
    if (!site.values.empty() && unit_.library.classify(type) == LibraryClass::SmartPointer) {
      for (const Operand& value : site.values[0])
        bind(pointer, from_pointer || name == "swap" ? pointee(value) : value, type, at);
      if (name != "swap") {
        const clang::QualType target = type_argument(type, 0);
        const auto* record = target.isNull() ? nullptr : target->getAsCXXRecordDecl();
        const bool is_virtual = record && record->getDefinition() &&
                                record->getDefinition()->getDestructor() &&
                                record->getDefinition()->getDestructor()->isVirtual();
        call_destructor(target, pointee(pointer), at, is_virtual);
      }
    } else if (!site.values.empty()) {
      for (const Operand& value : site.values[0])
        bind(pointer, site.arguments[0]->isGLValue() ? pointee(value) : value, type, at);
    }
  } else {
    const bool reads = method->isConst() || is_accessor(site, name, type);
    if (op == clang::OO_PlusPlus || op == clang::OO_MinusMinus)
      access(pointer, AccessMode::Read, clang::QualType(), at);
    access(pointer, reads ? AccessMode::Read : AccessMode::Write, clang::QualType(), at);
  }
  if (op == clang::OO_Star && site.object_expression)
    if (const auto element = loop_element(site.object_expression)) {
      result.push_back(address_of(*element));
      return true;
    }
  result = library_result(site);
  return true;
}

/// Member call on an object of a library class.
bool Evaluator::library_member(const CallSite& site, const Operand& object, Operands& result) {
  const LibraryClass kind = unit_.library.classify(site.object_type);
  const auto* method = dyn_cast<clang::CXXMethodDecl>(site.callee);
  if (!method || kind == LibraryClass::None) return false;
  const clang::SourceLocation at = site.expression->getExprLoc();
  hand_over(site);
  if (has_lock_attributes(site.callee)) {
    attribute_effects(site, object);
    result = library_result(site);
    return true;
  }
  if (kind == LibraryClass::Function && site.callee->getOverloadedOperator() == clang::OO_Call) {
    access(object, AccessMode::Read, clang::QualType(), at);
    if (silent()) return true;
    Call call;
    call.kind = CallKind::Indirect;
    call.name = object.path.empty() ? "std::function" : object.path;
    if (object.known()) call.receiver = object.value();
    for (std::size_t i = 0; i < site.values.size(); ++i) call.arguments.push_back(site.argument(i).value());
    emit(at, std::move(call));
    return true;
  }
  if (kind == LibraryClass::SmartPointer || kind == LibraryClass::Pointer)
    return smart_pointer_member(site, object, result);
  if (kind == LibraryClass::Stream) {
    touch_arguments(site, false);
    result = library_result(site);
    return true;
  }
  const std::string name = method_name(site);
  const bool reads = method->isConst() || is_accessor(site, name, site.object_type);
  touch_arguments(site, false);
  access(object, reads ? AccessMode::Read : AccessMode::Write, clang::QualType(), at, MemoryOrder::NotAtomic,
         kTagWholeObject);
  if (!reads) {
    // What is put in can be reached through the elements.
    const Operand element = kind == LibraryClass::Tuple ? object : element_of(object);
    const bool whole = site.callee->getOverloadedOperator() == clang::OO_Equal || name == "swap";
    for (std::size_t i = 0; i < site.values.size(); ++i)
      for (const Operand& value : site.values[i]) {
        const Operand stored = site.arguments[i]->isGLValue() ? pointee(value) : value;
        const clang::QualType type = site.arguments[i]->getType();
        bind(whole && unit_.library.classify(type) == kind ? object : element, stored, type, at);
      }
    if (name.starts_with("emplace") || name == "try_emplace") {
      const clang::QualType made = type_argument(
          site.object_type, site.object_type->getAsCXXRecordDecl()->getName().contains("map") ? 1 : 0);
      make_object(site, made, name == "try_emplace" ? 1 : 0);
    }
  }
  result = library_result(site);
  return true;
}

/// A library function constructs a repository class in place: its constructor runs.
void Evaluator::make_object(const CallSite& site, clang::QualType type, std::size_t first_argument) {
  const auto* record = type.isNull() ? nullptr : type->getAsCXXRecordDecl();
  if (silent() || !record || !record->hasDefinition() || !unit_.in_repository(record)) return;
  const std::size_t given =
      site.arguments.size() >= first_argument ? site.arguments.size() - first_argument : 0;
  bool written = false;
  for (const clang::CXXConstructorDecl* constructor : record->ctors()) {
    if (constructor->isDeleted() || constructor->isCopyOrMoveConstructor() || !constructor->isUserProvided())
      continue;
    if (given < constructor->getMinRequiredArguments() || given > constructor->getNumParams()) continue;
    CallSite made;
    made.expression = site.expression;
    made.callee = constructor;
    for (std::size_t i = first_argument; i < site.values.size(); ++i) {
      made.arguments.push_back(site.arguments[i]);
      Operands values = site.values[i];
      const clang::QualType parameter =
          constructor->getParamDecl(static_cast<unsigned>(i - first_argument))->getType();
      if (site.arguments[i]->isGLValue() && !parameter->isReferenceType())
        for (Operand& value : values) value = pointee(value);
      made.values.push_back(std::move(values));
    }
    emit_call(constructor, CallKind::Direct, std::nullopt, made);
    written = true;
  }
  if (!written) make_unwritten(record, site.expression->getExprLoc(), 0);
}

/// The constructor of a class that has none of its own; which classes are made decides what virtual calls
/// mean.
void Evaluator::make_unwritten(const clang::CXXRecordDecl* record, clang::SourceLocation at, unsigned depth) {
  if (!record || !record->hasDefinition() || !unit_.in_repository(record) || record->isDependentContext() ||
      depth > kMaxBases)
    return;
  record = record->getDefinition();
  if (!record->isPolymorphic() && record->hasTrivialDefaultConstructor()) return;
  Call call;
  call.callee = function_id(unit_.names.default_constructor_usr(record));
  call.kind = CallKind::Direct;
  call.name = unit_.names.display(record) + "::" + record->getNameAsString();
  emit(at, std::move(call));
  for (const clang::CXXBaseSpecifier& base : record->bases())
    make_unwritten(base.getType()->getAsCXXRecordDecl(), at, depth + 1);
}

namespace {

/// The class that a function like make_unique makes an object of; null for all others.
clang::QualType made_by(const CallSite& site, Library& library) {
  const clang::TemplateArgumentList* arguments = site.callee->getTemplateSpecializationArgs();
  const clang::QualType result = site.callee->getReturnType();
  const clang::IdentifierInfo* name = site.callee->getIdentifier();
  if (!name || !arguments || arguments->size() == 0 ||
      arguments->get(0).getKind() != clang::TemplateArgument::Type ||
      library.classify(result) != LibraryClass::SmartPointer)
    return {};
  if (!name->getName().starts_with_insensitive("make") && !name->getName().starts_with("allocate_"))
    return {};
  const clang::QualType made = arguments->get(0).getAsType();
  return made.getCanonicalType() == type_argument(result, 0).getCanonicalType() ? made : clang::QualType();
}

}  // namespace

/// Reads or writes behind the pointer and reference arguments.
void Evaluator::touch_arguments(const CallSite& site, bool read_only) {
  for (std::size_t i = 0; i < site.arguments.size(); ++i) {
    const clang::Expr* argument = site.arguments[i];
    const clang::QualType given = argument->getType();
    const clang::QualType type =
        i < site.callee->getNumParams() ? site.callee->getParamDecl(i)->getType() : given;
    const LibraryClass kind = unit_.library.classify(given);
    if (kind == LibraryClass::Stream || kind == LibraryClass::Mutex || unit_.library.is_atomic(given))
      continue;
    if (given->isFunctionType() || given->isFunctionPointerType() || closure_function(given)) continue;
    const clang::SourceLocation at = argument->getExprLoc();
    for (const Operand& value : site.values[i]) {
      if (type->isReferenceType() && value.address) {
        const bool writes = !read_only && type->isLValueReferenceType() &&
                            !type->getPointeeType().isConstQualified() && !given.isConstQualified() &&
                            !site.callee->isTemplateInstantiation();
        const std::uint8_t whole =
            kind == LibraryClass::Container || kind == LibraryClass::Tuple || kind == LibraryClass::Other
                ? kTagWholeObject
                : kTagNone;
        access(pointee(value), writes ? AccessMode::Write : AccessMode::Read, given, at,
               MemoryOrder::NotAtomic, whole);
      } else if (type->isPointerType() && !type->isFunctionPointerType()) {
        const clang::QualType target = type->getPointeeType();
        const bool stream = target->isRecordType() && target->getAsRecordDecl()->getName() == "_IO_FILE";
        if (stream) continue;
        const bool writes = !read_only && !target.isConstQualified();
        // Through void* the whole object is meant: its fields, where they are ours.
        const clang::QualType object = argument->IgnoreParenImpCasts()->getType()->getPointeeType();
        access(pointee(value), writes ? AccessMode::Write : AccessMode::Read, object, at);
      } else if (kind == LibraryClass::Pointer &&
                 unit_.library.classify(type.getNonReferenceType()) == LibraryClass::Pointer) {
        const bool iterator =
            given->getAsCXXRecordDecl() && given->getAsCXXRecordDecl()->getName().ends_with("iterator");
        access(pointee(argument->isGLValue() ? pointee(value) : value),
               read_only || !iterator ? AccessMode::Read : AccessMode::Write, clang::QualType(), at);
      }
    }
  }
}

/// A free function outside the repository without a model of its own.
void Evaluator::library_function(const CallSite& site, Operands& result) {
  const auto* named = site.callee->getIdentifier() ? site.callee->getIdentifier() : nullptr;
  const llvm::StringRef name = named ? named->getName() : llvm::StringRef();
  const bool in_std = site.callee->isInStdNamespace();
  if (const clang::QualType made = made_by(site, unit_.library); !made.isNull())
    make_object(site, made, name.starts_with("allocate_") ? 1 : 0);
  if (!only_names(name)) {
    touch_arguments(site, in_std && only_reads(name));
    if ((name == "swap" || name == "exchange" || name == "getline") && in_std)
      for (std::size_t i = 0; i < std::min<std::size_t>(site.values.size(), name == "swap"      ? 2
                                                                            : name == "getline" ? 2
                                                                                                : 1);
           ++i) {
        if (name == "getline" && i == 0) continue;
        if (name == "swap")
          access(site.target(i), AccessMode::Read, site.arguments[i]->getType(),
                 site.arguments[i]->getExprLoc());
        access(site.target(i), AccessMode::Write, site.arguments[i]->getType(),
               site.arguments[i]->getExprLoc());
      }
    if (name == "swap" && in_std && site.values.size() >= 2)
      bind(site.target(0), site.target(1), site.arguments[0]->getType(), site.expression->getExprLoc());
    if (name == "exchange" && in_std && site.values.size() >= 2)
      bind(site.target(0), site.arguments[1]->isGLValue() ? site.target(1) : site.argument(1),
           site.arguments[0]->getType(), site.expression->getExprLoc());
  }
  for (std::size_t i = 0; i < site.arguments.size(); ++i) {
    const clang::Expr* argument = site.arguments[i];
    const bool functional = closure_function(argument->getType()) ||
                            argument->getType()->isFunctionPointerType() ||
                            argument->IgnoreImplicit()->getType()->isFunctionType();
    if (!functional) continue;
    const Entry entry = resolve_entry(site, i);
    if (!entry.function) continue;
    // Algorithms call what they are given before they return; anybody else may keep it.
    const bool now = in_std && !only_names(name) && name != "make_pair" && name != "make_tuple" &&
                     name != "signal" && name != "atexit" && name != "at_quick_exit";
    callback(entry.function, argument->getExprLoc(), now ? CallKind::Direct : CallKind::Callback);
  }
  if (name == "exchange" && in_std && !site.values.empty()) {
    result.push_back(site.target(0));
    return;
  }
  result = library_result(site);
}

/// Construction of a library object.
bool Evaluator::library_construction(const clang::CXXConstructExpr* e, const Operand& target,
                                     const CallSite& site, Operands& result) {
  const LibraryClass kind = unit_.library.classify(e->getType());
  if (kind == LibraryClass::None) return false;
  const clang::SourceLocation at = e->getExprLoc();
  if (kind == LibraryClass::Guard || kind == LibraryClass::SharedGuard)
    return guard_construction(target, kind, site);
  if (kind == LibraryClass::Thread || kind == LibraryClass::JoiningThread) {
    thread_construction(target, site, 0);
    if (target.known()) result.push_back(target);
    return true;
  }
  const clang::CXXConstructorDecl* constructor = e->getConstructor();
  if (has_lock_attributes(constructor)) {
    attribute_effects(site, target);
    return true;
  }
  if (site.arguments.empty()) return true;
  for (std::size_t i = 0; i < site.arguments.size(); ++i) {
    const clang::Expr* argument = site.arguments[i];
    const Entry entry = kind == LibraryClass::Function || kind == LibraryClass::Promise ||
                                closure_function(argument->getType())
                            ? resolve_entry(site, i)
                            : Entry{};
    if (entry.function) callback(entry.function, argument->getExprLoc());
  }
  const Operand source = site.argument(0);
  const clang::QualType from = site.arguments[0]->getType();
  const LibraryClass from_kind = unit_.library.classify(from);
  const bool copies = constructor->isCopyOrMoveConstructor() || from_kind == kind;
  if (copies && site.arguments[0]->isGLValue()) {
    // A move writes its source too, unless that is a temporary or a local about to die (no event then
    // anyway).
    const bool moves = constructor->getParamDecl(0)->getType()->isRValueReferenceType();
    const std::uint8_t whole =
        kind == LibraryClass::SmartPointer || kind == LibraryClass::Pointer ? kTagNone : kTagWholeObject;
    access(pointee(source), AccessMode::Read, clang::QualType(), at, MemoryOrder::NotAtomic, whole);
    if (moves)
      access(pointee(source), AccessMode::Write, clang::QualType(), at, MemoryOrder::NotAtomic, whole);
    if (unit_.library.carries_pointers(e->getType()))
      for (const Operand& value : site.values[0]) result.push_back(pointee(value));
    return true;
  }
  if (kind == LibraryClass::SmartPointer || kind == LibraryClass::Pointer ||
      kind == LibraryClass::AtomicRef) {
    for (const Operand& value : site.values[0]) {
      if (!site.arguments[0]->isGLValue())
        result.push_back(value);
      else if (from_kind == LibraryClass::SmartPointer || from_kind == LibraryClass::Pointer ||
               from->isPointerType())
        result.push_back(pointee(value));
      else if (from_kind == LibraryClass::Container)
        result.push_back(address_of(element_of(pointee(value))));
      else
        result.push_back(value);  // reference_wrapper, atomic_ref: address of the object
    }
    return true;
  }
  touch_arguments(site, false);
  if (kind == LibraryClass::Atomic) {
    for (const Operand& value : site.values[0])
      result.push_back(site.arguments[0]->isGLValue() ? pointee(value) : value);
    return true;
  }
  if (target.known())
    for (std::size_t i = 0; i < site.values.size(); ++i)
      for (const Operand& value : site.values[i])
        bind(kind == LibraryClass::Tuple ? target : element_of(target),
             site.arguments[i]->isGLValue() ? pointee(value) : value, site.arguments[i]->getType(), at);
  return true;
}

}  // namespace simrt::analysis
