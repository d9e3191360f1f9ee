// Evaluates one CFG element symbolically, in evaluation order, and writes down its events: accesses, calls,
// lock and ordering operations, value flow. Looks only at the element itself; values that other elements
// computed are recomputed silently.
#pragma once

#include <clang/AST/ExprCXX.h>
#include <clang/Analysis/CFG.h>
#include <llvm/ADT/DenseMap.h>

#include <optional>
#include <string>
#include <vector>

#include "analysis/extract/operand.h"
#include "analysis/extract/ownership.h"
#include "analysis/extract/unit.h"

namespace simrt::analysis {

/// A call as the library models see it: callee with evaluated object and arguments.
struct CallSite {
  const clang::Expr* expression = nullptr;
  const clang::FunctionDecl* callee = nullptr;
  std::optional<Operand> object;  ///< as memory; member calls and member operators only
  clang::QualType object_type;
  const clang::Expr* object_expression = nullptr;
  std::vector<const clang::Expr*> arguments;  ///< without the object
  std::vector<Operands> values;               ///< parallel to arguments; references as addresses
  std::string name;                           ///< library_name(callee), "" for unnamed callees

  Operand argument(std::size_t index) const {
    return index < values.size() && !values[index].empty() ? values[index].front() : Operand{};
  }
  /// Memory behind a reference or pointer argument.
  Operand target(std::size_t index) const { return pointee(argument(index)); }
};

/// The thread function of a spawn: what runs, on which object, with what.
struct Entry {
  const clang::FunctionDecl* function = nullptr;  ///< null: unknown (a variable holds it)
  std::optional<Operand> object;                  ///< receiver as pointer value
  Operand holder;                                 ///< unknown entries: the variable that holds it
  std::vector<const clang::Expr*> arguments;      ///< what it is called with, as written
  std::vector<Operands> values;                   ///< parallel to arguments
};

/// The argument below conversions, temporaries and copies.
const clang::Expr* written_argument(const clang::Expr* argument);
/// The function that `f` or `&C::f` names as an argument; null for anything else.
const clang::FunctionDecl* named_function(const clang::Expr* argument);

/// Where the object is made, when the program says so: `new (where) T`; else null.
const clang::Expr* placement_of(const clang::CXXNewExpr* creation);

/// A lock function by its thread-safety attributes.
bool has_lock_attributes(const clang::FunctionDecl* function);

class Evaluator {
 public:
  Evaluator(Unit& unit, FunctionScope& scope, const Ownership& ownership,
            llvm::DenseMap<const clang::Stmt*, std::uint32_t>& temporaries)
      : unit_(unit), scope_(scope), ownership_(ownership), temporaries_(temporaries) {}

  /// Where constructor calls of this function construct: variables, members, results.
  void find_construction_targets(const clang::CFG& graph);
  /// Fills events, defines, uses of `element`; `element.at` is set.
  void run(const clang::CFGElement& source, Element& element);
  /// The write of a global's initial value (static-initialiser pseudo-functions).
  void run_static_init(const clang::VarDecl* variable, Element& element);
  /// Locks that attributes say are held on entry.
  void run_entry(const clang::FunctionDecl* function, Element& element);

 private:
  // --- evaluator.cc: expressions ---
  Operands evaluate(const clang::Expr* expression);  ///< a glvalue yields its address
  Operands rvalue(const clang::Expr* expression);
  Operands lvalue(const clang::Expr* expression);
  Operand first(Operands operands) { return operands.empty() ? Operand{} : operands.front(); }
  Operands rvalue_core(const clang::Expr* expression);
  Operands lvalue_core(const clang::Expr* expression);
  Operands cast_rvalue(const clang::CastExpr* cast);
  Operands unary(const clang::UnaryOperator* expression);
  Operands binary(const clang::BinaryOperator* expression);
  Operands increment(const clang::UnaryOperator* expression);
  Operands assign(const clang::BinaryOperator* expression);
  void evaluate_children(const clang::Stmt* statement);
  void statement(const clang::Stmt* statement);
  void assembly(const clang::GCCAsmStmt* assembly);
  void return_value(const clang::Expr* value);
  void initialise(const Operand& target, clang::QualType type, const clang::Expr* init,
                  const clang::Expr* at);
  void initialise_list(const Operand& target, const clang::InitListExpr* list);
  void declare(const clang::VarDecl* variable);

  // --- memory.cc: variables, members, accesses, bindings ---
  Operand variable(const clang::ValueDecl* declaration, const clang::Expr* at);
  Operand local_operand(const clang::ValueDecl* declaration);
  Operands binding(const clang::BindingDecl* declaration, const clang::Expr* at);
  Operands member(const clang::MemberExpr* expression);
  Operand field_of(const clang::FieldDecl* field, const Operand& base, bool arrow);
  Operand subscript(const clang::ArraySubscriptExpr* expression);
  Operand this_pointer();
  std::optional<Operand> loop_element(const clang::Expr* iterator);
  void access(const Operand& memory, AccessMode mode, clang::QualType type, clang::SourceLocation at,
              MemoryOrder order = MemoryOrder::NotAtomic, std::uint8_t extra_tags = kTagNone);
  void read(const Operands& memory, const clang::Expr* at);
  void write(const Operands& memory, const clang::Expr* at);
  bool access_fields(const Operand& memory, AccessMode mode, clang::QualType type, clang::SourceLocation at,
                     std::uint8_t extra_tags, unsigned depth);
  /// These three tell whether they emitted anything.
  bool bind(const Operand& target, const Operand& value, clang::QualType type, clang::SourceLocation at);
  bool bind_reference(const Operand& reference, const Operand& address, clang::SourceLocation at);
  bool flow(const Operand& target, const Operand& value, clang::QualType type, clang::SourceLocation at);
  /// `target` gets a value that is no pointer to, nor taken from, a place that aliases could matter for.
  void computed(const Operand& target, clang::SourceLocation at);

  // --- calls.cc: calls, constructions, callbacks ---
  Operands call(const clang::CallExpr* expression);
  Operands dispatch(CallSite& site);
  Operands result_of(const CallSite& site);
  void indirect_call(const clang::CallExpr* expression);
  Operands construct(const clang::CXXConstructExpr* expression);
  Operands constructed(const clang::CXXConstructExpr* expression, const Operand& target,
                       const CallSite& site);
  void find_moved_targets(const clang::CallExpr* call);
  std::optional<Operand> target_of(const clang::Expr* maker);
  Operand construction_target(const clang::CXXConstructExpr* expression, clang::SourceLocation at);
  Value argument_value(const Operand& argument, const clang::Expr* expression, clang::SourceLocation at);
  std::uint32_t temporary(const clang::Expr* expression);
  void emit_call(const clang::FunctionDecl* callee, CallKind kind, std::optional<Value> receiver,
                 const CallSite& site);
  void call_destructor(clang::QualType type, const Operand& object, clang::SourceLocation at,
                       bool is_virtual = false, unsigned depth = 0);
  void destroy_incomplete(const clang::CXXRecordDecl* record, const Operand& object,
                          clang::SourceLocation at);
  void callback(const clang::FunctionDecl* function, clang::SourceLocation at,
                CallKind kind = CallKind::Callback);
  void hand_over(const CallSite& site);
  const clang::FunctionDecl* closure_function(clang::QualType type);
  Operands lambda(const clang::LambdaExpr* expression);
  Operands new_object(const clang::CXXNewExpr* expression);
  void delete_object(const clang::CXXDeleteExpr* expression);
  void dtor(const clang::CFGElement& source);
  void initializer(const clang::CXXCtorInitializer* initializer);

  // --- library_calls.cc: objects of library classes, unknown library functions ---
  bool library_construction(const clang::CXXConstructExpr* expression, const Operand& target,
                            const CallSite& site, Operands& result);
  bool library_member(const CallSite& site, const Operand& object, Operands& result);
  bool smart_pointer_member(const CallSite& site, const Operand& object, Operands& result);
  void library_function(const CallSite& site, Operands& result);
  void touch_arguments(const CallSite& site, bool read_only);
  void make_object(const CallSite& site, clang::QualType type, std::size_t first_argument);
  void make_unwritten(const clang::CXXRecordDecl* record, clang::SourceLocation at, unsigned depth);
  Operands library_result(const CallSite& site);

  // --- sync_std.cc: std locks, guards, threads, futures, ... ---
  bool std_member(const CallSite& site, const Operand& object, Operands& result);
  bool std_function(const CallSite& site, Operands& result);
  bool guard_member(const CallSite& site, const Operand& object, llvm::StringRef method);
  bool guard_construction(const Operand& guard, LibraryClass kind, const CallSite& site);
  bool thread_construction(const Operand& thread, const CallSite& site, std::size_t first_argument);
  bool mutex_member(const CallSite& site, const Operand& object, llvm::StringRef method);
  bool condition_member(const CallSite& site, const Operand& object, llvm::StringRef method);
  bool ordering_member(const CallSite& site, const Operand& object, LibraryClass kind,
                       llvm::StringRef method);
  void spawn(const CallSite& site, std::size_t entry_argument, const Operand& thread);
  Entry resolve_entry(const CallSite& site, std::size_t argument);
  void call_now(const CallSite& site, std::size_t argument);

  // --- sync_c.cc: pthread, C11 threads, semaphores ---
  bool c_function(const CallSite& site, Operands& result);

  // --- sync_attributes.cc: thread-safety attributes of functions without body ---
  void attribute_effects(const CallSite& site, const Operand& object);
  std::vector<Place> capabilities(llvm::ArrayRef<clang::Expr*> arguments, const CallSite* site,
                                  const Operand& object);

  // --- atomics.cc ---
  bool atomic_member(const CallSite& site, const Operand& receiver, LibraryClass kind, Operands& result);
  Operands atomic_builtin(const clang::AtomicExpr* expression);
  bool atomic_function(const CallSite& site, Operands& result);
  MemoryOrder order_of(const clang::Expr* expression, MemoryOrder otherwise);
  void atomic_access(const Operand& object, bool reads, bool writes, MemoryOrder order,
                     clang::SourceLocation at);

  // --- emitting ---
  SourcePoint point(clang::SourceLocation location);
  void emit(clang::SourceLocation at, decltype(Event::what) what);
  void lock_op(LockAction action, std::vector<Place> locks, clang::SourceLocation at,
               LockMode mode = LockMode::Exclusive, Place guard = {}, Place source = {});
  void order_op(OrderKind kind, const Operand& object, clang::SourceLocation at,
                MemoryOrder order = MemoryOrder::NotAtomic);
  void use(std::uint32_t local);
  void define(std::uint32_t local);
  bool silent() const { return quiet_ > 0; }

  Unit& unit_;
  FunctionScope& scope_;
  const Ownership& ownership_;
  llvm::DenseMap<const clang::Stmt*, std::uint32_t>& temporaries_;
  llvm::DenseMap<const clang::Expr*, const clang::VarDecl*> variable_targets_;
  llvm::DenseMap<const clang::Expr*, const clang::CXXCtorInitializer*> member_targets_;
  llvm::DenseSet<const clang::Expr*> result_targets_;
  /// Threads and futures made in place of an assignment's or insertion's right side, and what placement new
  /// makes: the object that gets them.
  struct Receiver {
    const clang::Expr* object = nullptr;
    bool element = false;  ///< an element of the object
  };
  llvm::DenseMap<const clang::Expr*, Receiver> moved_targets_;
  const clang::Stmt* root_ = nullptr;
  Element* element_ = nullptr;
  unsigned quiet_ = 0;
  unsigned depth_ = 0;
  const CallSite* attribute_site_ = nullptr;  ///< while an attribute's arguments are evaluated at a call
  const Operand* attribute_object_ = nullptr;
};

}  // namespace simrt::analysis
