// Memory of the detector: large tables that the kernel backs page by page, and small blocks that are given
// back. Never malloc (see sys/memory.h). Safe from any thread; a leaf lock.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace simrt::rt::detect {

/// Zeroed address space that costs memory only where it is touched; null when the kernel refuses.
void* reserve(size_t bytes);
/// The same at `where` exactly; null when something lies there.
void* reserve_at(uintptr_t where, size_t bytes);
/// Gives the memory behind whole pages back; reads as zero afterwards.
void forget(void* begin, size_t bytes);
/// Puts memory behind whole pages now. A page that is read before it is written costs two faults, the second
/// of which interrupts all other processors. Without memory nothing happens: the faults come later.
void populate(void* begin, size_t bytes);

/// A zeroed block, 16-byte aligned; null when there is no memory. Blocks of up to 64 KiB are reused.
void* take(size_t bytes);
/// `bytes` as given to take().
void give_back(void* block, size_t bytes);
/// After fork, in the child.
void pool_fork_child();

template <class T>
T* reserve_array(size_t count) {
  return static_cast<T*>(reserve(count * sizeof(T)));
}

}  // namespace simrt::rt::detect
