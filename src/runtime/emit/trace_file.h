// The trace file, mapped: creation under a fresh name, growth, and appending of chunks.
// Knows the framing of simrt/format/trace.h, not what the records mean.
// Not thread-safe: callers hold the runtime's lock. Uses raw system calls only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "simrt/format/trace.h"
#include "sys/text.h"

namespace simrt::runtime {

class TraceFile {
 public:
  /// Creates `name`, or "<name>.<pid>[.<n>]" when that exists. At most `limit` bytes. False = recording stays
  /// off.
  bool create(const Path& name, uint64_t limit);
  bool is_open() const { return base_ != nullptr; }

  /// In a forked child: gives the parent's file up without touching it. The old addresses stay writable
  /// (private, zeroed memory), for code that still holds a pointer into a map.
  void abandon();

  /// A chunk with room for `payload` bytes behind the record, zeroed, not yet visible to the reader.
  /// At most one chunk is open at a time; publish() makes it visible. Null when the limit (minus `reserve`)
  /// or the disk is reached.
  template <class Record>
  Record* append(size_t payload, uint64_t reserve = 0) {
    return static_cast<Record*>(
        append(format::TraceKindOf<Record>::value, sizeof(Record) + payload, reserve));
  }
  void publish();

  void set_flag(format::TraceFlag flag);
  /// Cuts the unused tail off the file. Appending stays possible.
  void trim();

  format::TraceHeader& header() { return *reinterpret_cast<format::TraceHeader*>(base_); }

 private:
  void* append(format::TraceKind kind, size_t bytes, uint64_t reserve);
  bool grow(uint64_t bytes);
  /// A descriptor for the file, or negative. It is not kept open: programs close descriptors they did not
  /// open.
  long reopen() const;

  Path path_;
  char* base_ = nullptr;
  uint64_t limit_ = 0;
  uint64_t capacity_ = 0;  // bytes of the file
  uint64_t used_ = 0;      // behind the last published chunk
  uint64_t open_ = 0;      // size of the chunk that waits for publish()
  uint64_t device_ = 0, inode_ = 0;
};

/// The runtime's records follow their payload directly.
template <class Record>
char* payload_of(Record* record) {
  return reinterpret_cast<char*>(record + 1);
}

}  // namespace simrt::runtime
