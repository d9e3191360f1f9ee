#include "emit/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "sys/arch.h"

namespace simrt::runtime {
namespace {

constexpr uint64_t kFirstStep = 128 * 1024;
constexpr uint64_t kLargestStep = 16 * 1024 * 1024;
constexpr uint64_t kPage = 4096;

constexpr uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

bool failed(long result) { return result < 0 && result > -4096; }

long open_new(const Path& path) {
  return raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path.text),
                     O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
}

long identify(long fd, uint64_t& device, uint64_t& inode) {
  struct stat status;
  const long result = raw_syscall(SYS_newfstatat, fd, reinterpret_cast<long>(""),
                                  reinterpret_cast<long>(&status), AT_EMPTY_PATH);
  device = status.st_dev;
  inode = status.st_ino;
  return result;
}

// A file-size limit of the program would kill it with SIGXFSZ when the trace passes it.
uint64_t within_file_size_limit(uint64_t limit) {
  struct rlimit rlimit;
  if (!failed(raw_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, reinterpret_cast<long>(&rlimit))) &&
      rlimit.rlim_cur < limit) {
    return rlimit.rlim_cur;
  }
  return limit;
}

uint64_t now_ns() {
  struct timespec now = {};
  raw_syscall(SYS_clock_gettime, CLOCK_REALTIME, reinterpret_cast<long>(&now));
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

// Real blocks, not a sparse file: a full disk must show here and not as SIGBUS in the program.
bool reserve_blocks(long fd, uint64_t from, uint64_t to) {
  const long result =
      raw_syscall(SYS_fallocate, fd, 0, static_cast<long>(from), static_cast<long>(to - from));
  if (result == -EOPNOTSUPP || result == -ENOSYS)
    return !failed(raw_syscall(SYS_ftruncate, fd, static_cast<long>(to)));
  return !failed(result);
}

}  // namespace

bool TraceFile::create(const Path& name, uint64_t limit) {
  path_ = name;
  long fd = open_new(path_);
  const auto pid = static_cast<uint64_t>(raw_syscall(SYS_getpid));
  for (uint64_t attempt = 0; fd == -EEXIST && attempt < 10000; ++attempt) {
    path_ = name;
    path_.append(".");
    path_.append(pid);
    if (attempt > 0) {
      path_.append(".");
      path_.append(attempt);
    }
    if (!path_.ok) return false;
    fd = open_new(path_);
  }
  if (fd < 0) return false;

  limit_ = within_file_size_limit(limit) / kPage * kPage;
  bool good = limit_ >= kPage && !failed(identify(fd, device_, inode_));
  long address = -1;
  // The whole limit is mapped at once, so that maps never move; pages beyond the end of the file cost
  // nothing.
  for (; good && limit_ >= kPage; limit_ = limit_ / 2 / kPage * kPage) {
    address = raw_syscall(SYS_mmap, 0, static_cast<long>(limit_), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!failed(address)) break;
  }
  const uint64_t first = limit_ < kFirstStep ? limit_ : kFirstStep;
  good = good && limit_ >= kPage && !failed(address) && reserve_blocks(fd, 0, first);
  raw_syscall(SYS_close, fd);
  if (!good) {
    raw_syscall(SYS_unlinkat, AT_FDCWD, reinterpret_cast<long>(path_.text), 0);
    return false;
  }

  base_ = reinterpret_cast<char*>(address);
  capacity_ = first;
  used_ = sizeof(format::TraceHeader);
  open_ = 0;
  auto& head = header();
  head.version = format::kTraceVersion;
  head.header_bytes = sizeof head;
  head.pid = static_cast<uint32_t>(pid);
  head.parent_pid = static_cast<uint32_t>(raw_syscall(SYS_getppid));
  head.parent_thread = format::kTraceNone;
  head.started_ns = now_ns();
  __atomic_store_n(&head.used, used_, __ATOMIC_RELEASE);
  for (size_t i = 0; i < sizeof head.magic; ++i) head.magic[i] = format::kTraceMagic[i];
  return true;
}

void TraceFile::abandon() {
  if (base_ == nullptr) return;
  raw_syscall(SYS_mmap, reinterpret_cast<long>(base_), static_cast<long>(limit_), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  base_ = nullptr;
}

long TraceFile::reopen() const {
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path_.text), O_RDWR | O_CLOEXEC);
  if (fd < 0) return fd;
  uint64_t device = 0, inode = 0;
  if (!failed(identify(fd, device, inode)) && device == device_ && inode == inode_) return fd;
  raw_syscall(SYS_close, fd);  // replaced or deleted behind our back
  return -ENOENT;
}

bool TraceFile::grow(uint64_t bytes) {
  const uint64_t limit =
      within_file_size_limit(limit_) / kPage * kPage;  // the program may have lowered it since
  if (bytes > limit) return false;
  uint64_t step = capacity_;
  if (step < kFirstStep) step = kFirstStep;
  if (step > kLargestStep) step = kLargestStep;
  uint64_t wanted = round_up(bytes, kPage) > capacity_ + step ? round_up(bytes, kPage) : capacity_ + step;
  if (wanted > limit) wanted = limit;
  const long fd = reopen();
  if (fd < 0) return false;
  const bool good = reserve_blocks(fd, capacity_, wanted);
  raw_syscall(SYS_close, fd);
  if (good) capacity_ = wanted;
  return good;
}

void* TraceFile::append(format::TraceKind kind, size_t bytes, uint64_t reserve) {
  if (base_ == nullptr) return nullptr;
  const uint64_t total = round_up(sizeof(format::ChunkHeader) + bytes, format::kTraceAlign);
  if (used_ + total + reserve > limit_) return nullptr;
  if (used_ + total > capacity_ && !grow(used_ + total)) return nullptr;
  auto* chunk = reinterpret_cast<format::ChunkHeader*>(base_ + used_);
  chunk->kind = static_cast<uint32_t>(kind);
  chunk->bytes = total;
  open_ = total;
  return chunk + 1;
}

void TraceFile::publish() {
  used_ += open_;
  open_ = 0;
  __atomic_store_n(&header().used, used_, __ATOMIC_RELEASE);
}

void TraceFile::set_flag(format::TraceFlag flag) {
  if (base_ != nullptr) __atomic_fetch_or(&header().flags, static_cast<uint32_t>(flag), __ATOMIC_RELAXED);
}

void TraceFile::trim() {
  if (base_ == nullptr) return;
  const uint64_t wanted = round_up(used_, kPage);
  const long fd = reopen();
  if (fd < 0) return;
  if (wanted < capacity_ && !failed(raw_syscall(SYS_ftruncate, fd, static_cast<long>(wanted))))
    capacity_ = wanted;
  raw_syscall(SYS_close, fd);
}

}  // namespace simrt::runtime
