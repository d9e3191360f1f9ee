// Private memory of the runtime. Never malloc: the program may replace it, and hooks run inside it.
// allocate() is thread-safe; an Array belongs to its owner.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace simrt::runtime {

/// Zeroed, 16-byte aligned, never given back; null when the kernel has no memory.
void* allocate(size_t bytes);
/// In a forked child: whoever was allocating does not exist there.
void reset_allocator_in_child();

/// Grows by doubling; elements are plain data. The old block is abandoned (the sum is bounded by twice the
/// size).
template <class T>
class Array {
 public:
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }

  /// False when there is no memory.
  bool push(const T& value) {
    if (size_ == capacity_ && !grow(capacity_ == 0 ? 8 : 2 * capacity_)) return false;
    data_[size_++] = value;
    return true;
  }
  /// Makes indexes below `size` valid; new elements are zero.
  bool extend(size_t size) {
    while (size_ < size) {
      if (!push(T{})) return false;
    }
    return true;
  }
  T pop() { return data_[--size_]; }
  void clear() { size_ = 0; }

 private:
  bool grow(size_t capacity) {
    auto* data = static_cast<T*>(allocate(capacity * sizeof(T)));
    if (data == nullptr) return false;
    for (size_t i = 0; i < size_; ++i) data[i] = data_[i];
    data_ = data;
    capacity_ = capacity;
    return true;
  }

  T* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace simrt::runtime
