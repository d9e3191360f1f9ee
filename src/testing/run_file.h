// The run file on the host's side: made, mapped, filled with a plan, read back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simrt/format/run.h"
#include "support/result.h"
#include "testing/check_plan.h"
#include "testing/execution.h"

namespace simrt::testing {

/// Removes the run files (and outputs) in `directory` that a host left there when it was killed: named for a
/// process that is gone, and locked by nobody. Returns their number.
std::size_t remove_orphaned_run_files(const std::string& directory);

struct RunPlace {
  std::string directory;
  std::uint64_t bytes = 0;
  bool operator==(const RunPlace&) const = default;
};

/// Where a run file goes, and how large it gets. Its pages come into being when the program writes them: on a
/// file system that is full by then (the 64 MB that containers give /dev/shm) the program dies of SIGBUS. So:
/// the first directory with room for twice the file (others write there, too), else the one with most room,
/// and a quarter of that, but no less than `least`. `rooms`: directories with their free bytes, best first.
RunPlace place_of_run_file(const std::vector<RunPlace>& rooms, std::uint64_t bytes, std::uint64_t least);

/// One file; removed at the end. Not thread-safe; a program is writing to the mapping at the same time.
class RunFile {
 public:
  /// A fresh file in `directory` (a memory file system is best), or in the directory for temporary files when
  /// there is too little room, of `bytes` in all, sparse, with room for plans of `plan_capacity` bytes. Files
  /// that a killed host left there are removed first, once a process.
  /// Errors: ErrorCode::Storage.
  static Result<RunFile> create(const std::string& directory, std::uint64_t bytes,
                                std::uint64_t plan_capacity);
  RunFile(RunFile&& other) noexcept;
  RunFile& operator=(RunFile&& other) noexcept;
  ~RunFile();

  const std::string& path() const { return path_; }
  format::RunHeader& header() { return *reinterpret_cast<format::RunHeader*>(base_); }
  const format::RunHeader& header() const { return *reinterpret_cast<const format::RunHeader*>(base_); }

  /// No page more can come into being: a program that wrote there may have died of it.
  bool is_out_of_room() const;
  /// For a program that is started next: everything is cleared.
  void clear();
  /// For the next execution of a fork server: what belongs to all executions stays.
  void clear_execution();
  /// Errors: ErrorCode::Execution when the plan is larger than its room.
  Status write(const CheckPlan& plan);
  bool has_room_for(const CheckPlan& plan) const;
  std::span<const std::byte> bytes() const { return {base_, static_cast<std::size_t>(bytes_)}; }
  Result<Execution> read() const { return read_execution(bytes()); }

 private:
  RunFile() = default;
  std::string path_;
  std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
  int lock_ = -1;  // descriptor; holding it says that the file is in use
};

}  // namespace simrt::testing
