// The run file (simrt/format/run.h), mapped: the plan to read, and chunks to append.
// Knows the framing, not what the records mean. Thread-safe where nothing else is said: one lock, held only
// while a chunk is filled. Uses raw system calls only.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "simrt/format/run.h"
#include "sys/lock.h"

namespace simrt::rt {

class RunFile {
 public:
  /// Maps the file; false (and closed) when it is missing, of another version, or not legal.
  bool open(const char* path);
  bool is_open() const { return base_ != nullptr; }

  format::RunHeader& header() { return *reinterpret_cast<format::RunHeader*>(base_); }
  /// Legal as far as `bytes`, mode and strategy go; the chunks are checked by their reader.
  const format::PlanHeader& plan() const {
    return *reinterpret_cast<const format::PlanHeader*>(base_ + plan_offset_);
  }
  bool plan_is_legal() const;

  /// Appends one chunk: `fill(record)` gets a zeroed record with zeroed payload behind it and sets its
  /// fields; then the reader can see it. The record stays where it is. Null (and flag Overflow) when the file
  /// is full. `fill` must not append.
  template <class Record, class Fill>
  Record* append(size_t payload_bytes, Fill fill) {
    const runtime::Guard guard(lock_);
    auto* record = static_cast<Record*>(
        begin_chunk(static_cast<uint32_t>(format::RunKindOf<Record>::value), sizeof(Record) + payload_bytes));
    if (record == nullptr) return nullptr;
    fill(*record);
    publish();
    return record;
  }

  /// 0, 1, 2, ... in one execution, for RunStack::id, RunRace::id and so on: one count a kind of record.
  uint32_t next_id(format::RunKind kind) {
    return __atomic_fetch_add(&ids_[static_cast<uint32_t>(kind) % kKinds], 1, __ATOMIC_RELAXED);
  }

  /// Chunks written so far belong to all executions (fork server, before it forks).
  void make_permanent();
  /// In the server's child: starts behind the permanent chunks.
  void begin_execution();
  void set_flag(uint32_t run_flag);
  void set_uncontrolled(uint32_t bit);

  /// In a forked child of the program: the parent's file is given up without touching it. Records already
  /// handed out stay writable (private memory).
  void abandon();

 private:
  static constexpr uint32_t kKinds = 32;

  void* begin_chunk(uint32_t kind, size_t bytes);
  void publish();

  runtime::SpinLock lock_;
  char* base_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t plan_offset_ = 0, plan_capacity_ = 0;
  uint64_t used_ = 0;
  uint64_t open_ = 0;
  uint32_t ids_[kKinds] = {};
};

extern RunFile run_file;

/// The runtime's records follow their payload directly.
template <class Item, class Record>
Item* items_of(Record* record) {
  return reinterpret_cast<Item*>(record + 1);
}

}  // namespace simrt::rt
