#include "emit/run_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "sys/arch.h"
#include "sys/text.h"

namespace simrt::rt {

using format::RunHeader;
using runtime::raw_syscall;

constinit RunFile run_file;

namespace {

constexpr uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

bool failed(long result) { return result < 0 && result > -4096; }

bool legal(const RunHeader& header, uint64_t file_bytes) {
  return runtime::equal(header.magic, format::kRunMagic, sizeof header.magic) &&
         header.version == format::kRunVersion && header.header_bytes == sizeof header &&
         header.file_bytes == file_bytes && header.plan_offset >= sizeof header &&
         header.plan_offset % format::kPlanAlign == 0 && header.plan_offset <= file_bytes &&
         header.plan_capacity >= sizeof(format::PlanHeader) &&
         header.plan_capacity <= file_bytes - header.plan_offset &&
         header.output_offset >= header.plan_offset + header.plan_capacity &&
         header.output_offset % format::kRunAlign == 0 && header.output_offset <= file_bytes;
}

}  // namespace

bool RunFile::open(const char* path) {
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat status = {};
  long address = -1;
  if (!failed(raw_syscall(SYS_newfstatat, fd, reinterpret_cast<long>(""), reinterpret_cast<long>(&status),
                          AT_EMPTY_PATH)) &&
      status.st_size >= static_cast<long>(sizeof(RunHeader))) {
    address = raw_syscall(SYS_mmap, 0, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  raw_syscall(SYS_close, fd);
  if (failed(address)) return false;
  base_ = reinterpret_cast<char*>(address);
  bytes_ = static_cast<uint64_t>(status.st_size);
  if (!legal(header(), bytes_)) {
    raw_syscall(SYS_munmap, address, status.st_size);
    base_ = nullptr;
    return false;
  }
  plan_offset_ = header().plan_offset;
  plan_capacity_ = header().plan_capacity;
  used_ = header().output_offset;
  __atomic_store_n(&header().used, used_, __ATOMIC_RELEASE);
  return true;
}

bool RunFile::plan_is_legal() const {
  const format::PlanHeader& p = plan();
  return p.bytes >= sizeof p && p.bytes <= plan_capacity_ &&
         static_cast<uint32_t>(p.mode) <= static_cast<uint32_t>(format::RunMode::Control);
}

void* RunFile::begin_chunk(uint32_t kind, size_t bytes) {
  if (base_ == nullptr) return nullptr;
  const uint64_t total = round_up(sizeof(format::ChunkHeader) + bytes, format::kRunAlign);
  if (total > bytes_ - used_) {
    set_flag(format::kRunOverflow);
    return nullptr;
  }
  auto* words = reinterpret_cast<uint64_t*>(base_ + used_);  // an earlier execution may have written here
  for (uint64_t i = 0; i < total / sizeof *words; ++i) words[i] = 0;
  auto* chunk = reinterpret_cast<format::ChunkHeader*>(base_ + used_);
  chunk->kind = kind;
  chunk->bytes = total;
  open_ = total;
  return chunk + 1;
}

void RunFile::publish() {
  used_ += open_;
  open_ = 0;
  __atomic_store_n(&header().used, used_, __ATOMIC_RELEASE);
}

void RunFile::make_permanent() {
  if (base_ != nullptr) __atomic_store_n(&header().permanent, used_, __ATOMIC_RELEASE);
}

void RunFile::begin_execution() {
  if (base_ == nullptr) return;
  used_ = header().permanent;
  __atomic_store_n(&header().used, used_, __ATOMIC_RELEASE);
}

void RunFile::set_flag(uint32_t run_flag) {
  if (base_ != nullptr) __atomic_fetch_or(&header().flags, run_flag, __ATOMIC_RELAXED);
}

void RunFile::set_uncontrolled(uint32_t bit) {
  if (base_ != nullptr) __atomic_fetch_or(&header().uncontrolled, bit, __ATOMIC_RELAXED);
}

void RunFile::abandon() {
  lock_.reset();
  if (base_ == nullptr) return;
  raw_syscall(SYS_mmap, reinterpret_cast<long>(base_), static_cast<long>(bytes_), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  base_ = nullptr;
}

}  // namespace simrt::rt
