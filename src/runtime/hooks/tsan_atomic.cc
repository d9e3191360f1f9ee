// The compiler's hooks of -fsanitize=thread for atomics of 1 to 16 bytes: clang's spelling of
// compare-exchange returns the value, g++'s stores it.
#include "control/point.h"
#include "detect/atomic.h"
#include "hooks/abi.h"
#include "hooks/wide.h"

using namespace simrt::rt;
using detect::AtomicKind;
using detect::Order;

namespace {

// The compilers pass __ATOMIC_*; g++ may set hints (lock elision) above them.
Order order_of(int memory_order) {
  switch (memory_order & 0xff) {
    case __ATOMIC_RELAXED:
      return Order::Relaxed;
    case __ATOMIC_CONSUME:
    case __ATOMIC_ACQUIRE:
      return Order::Acquire;
    case __ATOMIC_RELEASE:
      return Order::Release;
    case __ATOMIC_ACQ_REL:
      return Order::AcquireRelease;
    default:
      return Order::SequentiallyConsistent;
  }
}

// The operation itself is never weaker than asked for.
template <class T>
struct Machine {
  static T load(volatile T* p) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }
  static void store(volatile T* p, T value, Order order) {
    if (order == Order::SequentiallyConsistent) {
      __atomic_store_n(p, value, __ATOMIC_SEQ_CST);
    } else {
      __atomic_store_n(p, value, __ATOMIC_RELEASE);
    }
  }
  static bool compare_exchange(volatile T* p, T& expected, T desired) {
    return __atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  }
  static T exchange(volatile T* p, T value) { return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST); }
  static T add(volatile T* p, T value) { return __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST); }
  static T sub(volatile T* p, T value) { return __atomic_fetch_sub(p, value, __ATOMIC_SEQ_CST); }
  static T conjunction(volatile T* p, T value) { return __atomic_fetch_and(p, value, __ATOMIC_SEQ_CST); }
  static T disjunction(volatile T* p, T value) { return __atomic_fetch_or(p, value, __ATOMIC_SEQ_CST); }
  static T exclusive(volatile T* p, T value) { return __atomic_fetch_xor(p, value, __ATOMIC_SEQ_CST); }
  static T nand(volatile T* p, T value) { return __atomic_fetch_nand(p, value, __ATOMIC_SEQ_CST); }
};

template <>
struct Machine<Wide> {
  template <class Next>
  static Wide update(volatile Wide* p, Next next) {
    Wide found = 0;
    while (!compare_exchange_wide(p, found, next(found))) {
    }
    return found;
  }
  static Wide load(volatile Wide* p) {
    return update(p, [](Wide old) { return old; });
  }
  static void store(volatile Wide* p, Wide value, Order) { exchange(p, value); }
  static bool compare_exchange(volatile Wide* p, Wide& expected, Wide desired) {
    return compare_exchange_wide(p, expected, desired);
  }
  static Wide exchange(volatile Wide* p, Wide v) {
    return update(p, [v](Wide) { return v; });
  }
  static Wide add(volatile Wide* p, Wide v) {
    return update(p, [v](Wide old) { return old + v; });
  }
  static Wide sub(volatile Wide* p, Wide v) {
    return update(p, [v](Wide old) { return old - v; });
  }
  static Wide conjunction(volatile Wide* p, Wide v) {
    return update(p, [v](Wide old) { return old & v; });
  }
  static Wide disjunction(volatile Wide* p, Wide v) {
    return update(p, [v](Wide old) { return old | v; });
  }
  static Wide exclusive(volatile Wide* p, Wide v) {
    return update(p, [v](Wide old) { return old ^ v; });
  }
  static Wide nand(volatile Wide* p, Wide v) {
    return update(p, [v](Wide old) { return ~(old & v); });
  }
};

template <class T>
uint64_t folded(T value) {
  if constexpr (sizeof(T) <= sizeof(uint64_t)) {
    return value;
  } else {
    return static_cast<uint64_t>(value) ^ static_cast<uint64_t>(value >> 64) * 31;
  }
}

// States of the program are told apart by what is in its atomics.
template <class T>
void tell(T found, T left) {
  if (controlled()) control::met(folded(found), folded(left));
}

template <class T>
T load(const volatile T* pointer, int memory_order, uintptr_t pc) {
  auto* p = const_cast<volatile T*>(pointer);
  const auto address = reinterpret_cast<uintptr_t>(p);
  const Order order = order_of(memory_order);
  if (controlled())
    control::point(EventKind::AtomicLoad, address, sizeof(T), pc, static_cast<uint8_t>(order));
  detect::AtomicOperation operation(detect::watched, address, order, false);
  const T value = Machine<T>::load(p);
  operation.finish({sizeof(T), AtomicKind::Load, order}, pc);
  tell(value, value);
  return value;
}

template <class T>
void store(volatile T* p, T value, int memory_order, uintptr_t pc) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  const Order order = order_of(memory_order);
  if (controlled())
    control::point(EventKind::AtomicStore, address, sizeof(T), pc, static_cast<uint8_t>(order));
  detect::AtomicOperation operation(detect::watched, address, order, true);
  const T found = controlled() ? Machine<T>::load(p) : T();
  Machine<T>::store(p, value, order);
  operation.finish({sizeof(T), AtomicKind::Store, order}, pc);
  tell(found, value);
}

template <class T, class Machinery>
T update(volatile T* p, int memory_order, uintptr_t pc, Machinery machinery) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  const Order order = order_of(memory_order);
  if (controlled())
    control::point(EventKind::AtomicUpdate, address, sizeof(T), pc, static_cast<uint8_t>(order));
  detect::AtomicOperation operation(detect::watched, address, order, true);
  const T old = machinery();
  operation.finish({sizeof(T), AtomicKind::Update, order}, pc);
  if (controlled()) tell(old, Machine<T>::load(p));
  return old;
}

template <class T>
T exchange(volatile T* p, T value, int memory_order, uintptr_t pc) {
  const T old = update(p, memory_order, pc, [&] { return Machine<T>::exchange(p, value); });
  if (controlled() && old == value) control::unchanged(false);
  return old;
}

template <class T>
bool compare_exchange(volatile T* p, T& expected, T desired, int success, int failure, uintptr_t pc) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  const Order order = order_of(success);
  if (controlled())
    control::point(EventKind::AtomicUpdate, address, sizeof(T), pc, static_cast<uint8_t>(order));
  detect::AtomicOperation operation(detect::watched, address, order, true);
  const bool done = Machine<T>::compare_exchange(p, expected, desired);
  operation.finish(
      {sizeof(T), done ? AtomicKind::Update : AtomicKind::Failed, done ? order : order_of(failure)}, pc);
  tell(expected, done ? desired : expected);
  if (controlled() && (!done || expected == desired)) control::unchanged(!done);
  return done;
}

}  // namespace

#define SIMRT_UPDATE(bits, name, T, machine)                                                         \
  SIMRT_HOOK T __tsan_atomic##bits##_##name(volatile T* p, T value, int order) {                     \
    return update<T>(p, order, SIMRT_RETURN_ADDRESS, [&] { return Machine<T>::machine(p, value); }); \
  }
#define SIMRT_COMPARE_EXCHANGE(bits, name, T)                                                      \
  SIMRT_HOOK bool __tsan_atomic##bits##_##name(volatile T* p, T* expected, T desired, int success, \
                                               int failure) {                                      \
    return compare_exchange<T>(p, *expected, desired, success, failure, SIMRT_RETURN_ADDRESS);     \
  }
#define SIMRT_ATOMIC(bits, T)                                                                                \
  SIMRT_HOOK T __tsan_atomic##bits##_load(const volatile T* p, int order) {                                  \
    return load<T>(p, order, SIMRT_RETURN_ADDRESS);                                                          \
  }                                                                                                          \
  SIMRT_HOOK void __tsan_atomic##bits##_store(volatile T* p, T value, int order) {                           \
    store<T>(p, value, order, SIMRT_RETURN_ADDRESS);                                                         \
  }                                                                                                          \
  SIMRT_HOOK T __tsan_atomic##bits##_exchange(volatile T* p, T value, int order) {                           \
    return exchange<T>(p, value, order, SIMRT_RETURN_ADDRESS);                                               \
  }                                                                                                          \
  SIMRT_UPDATE(bits, fetch_add, T, add)                                                                      \
  SIMRT_UPDATE(bits, fetch_sub, T, sub)                                                                      \
  SIMRT_UPDATE(bits, fetch_and, T, conjunction)                                                              \
  SIMRT_UPDATE(bits, fetch_or, T, disjunction)                                                               \
  SIMRT_UPDATE(bits, fetch_xor, T, exclusive)                                                                \
  SIMRT_UPDATE(bits, fetch_nand, T, nand)                                                                    \
  SIMRT_COMPARE_EXCHANGE(bits, compare_exchange_strong, T)                                                   \
  SIMRT_COMPARE_EXCHANGE(bits, compare_exchange_weak, T)                                                     \
  SIMRT_HOOK T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T desired, int success, \
                                                          int failure) {                                     \
    compare_exchange<T>(p, expected, desired, success, failure, SIMRT_RETURN_ADDRESS);                       \
    return expected;                                                                                         \
  }

extern "C" {

SIMRT_ATOMIC(8, uint8_t)
SIMRT_ATOMIC(16, uint16_t)
SIMRT_ATOMIC(32, uint32_t)
SIMRT_ATOMIC(64, uint64_t)
SIMRT_ATOMIC(128, Wide)

SIMRT_HOOK void __tsan_atomic_thread_fence(int memory_order) {
  const Order order = order_of(memory_order);
  if (controlled()) control::point(EventKind::Fence, 0, 0, SIMRT_RETURN_ADDRESS, static_cast<uint8_t>(order));
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  detect::fence(order);
}
SIMRT_HOOK void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
}
