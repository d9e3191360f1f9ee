#include "testing/run_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <utility>

namespace simrt::testing {
namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

Error storage_error(const std::string& path) {
  return {ErrorCode::Storage, fmt::format("{}: {}", path, std::strerror(errno)), ""};
}

constexpr std::uint64_t kLeastRecords = std::uint64_t{4} << 20;  // bytes for what an execution leaves
constexpr std::string_view kPrefix = "simrt-run-";

/// The process that a run file or its output is named for; 0: not one of ours.
pid_t owner_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return 0;
  name.remove_prefix(kPrefix.size());
  pid_t owner = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), owner);
  return error == std::errc() && end != name.data() + name.size() && *end == '-' && owner > 0 ? owner : 0;
}

/// Free bytes of the directory's file system for this user; 0 where there is none.
std::uint64_t room_in(const std::string& directory) {
  std::error_code error;
  const auto space = std::filesystem::space(directory, error);
  return error ? 0 : space.available;
}

bool in_use(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return errno != ENOENT;
  const bool locked = flock(fd, LOCK_EX | LOCK_NB) != 0;
  close(fd);
  return locked;
}

}  // namespace

std::size_t remove_orphaned_run_files(const std::string& directory) {
  std::size_t removed = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string path = entry.path().string(), name = entry.path().filename().string();
    const pid_t owner = owner_of(name);
    if (owner == 0 || kill(owner, 0) == 0 || errno != ESRCH) continue;
    const bool output = name.ends_with(".out");
    if (in_use(output ? path.substr(0, path.size() - 4) : path)) continue;
    removed += unlink(path.c_str()) == 0;
  }
  return removed;
}

RunPlace place_of_run_file(const std::vector<RunPlace>& rooms, std::uint64_t bytes, std::uint64_t least) {
  RunPlace roomiest;
  for (const RunPlace& room : rooms) {
    if (room.bytes / 2 >= bytes) return {room.directory, bytes};
    if (roomiest.directory.empty() || room.bytes > roomiest.bytes) roomiest = room;
  }
  return {roomiest.directory, std::clamp(roomiest.bytes / 4, std::min(least, bytes), bytes)};
}

Result<RunFile> RunFile::create(const std::string& directory, std::uint64_t bytes,
                                std::uint64_t plan_capacity) {
  std::error_code unknown;
  std::vector<RunPlace> rooms = {{directory, room_in(directory)}};
  if (const auto temporary = std::filesystem::temp_directory_path(unknown);
      !unknown && temporary != directory)
    rooms.push_back({temporary.string(), room_in(temporary.string())});
  const RunPlace place = place_of_run_file(rooms, bytes, plan_capacity + kLeastRecords);
  static std::once_flag cleaned;
  std::call_once(cleaned, [&] {
    for (const RunPlace& room : rooms) remove_orphaned_run_files(room.directory);
  });
  std::string path = fmt::format("{}/{}{}-XXXXXX", place.directory, kPrefix, getpid());
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) return fail(storage_error(place.directory));
  RunFile file;
  file.path_ = path;
  file.lock_ = fd;
  flock(fd, LOCK_EX | LOCK_NB);
  file.bytes_ = round_up(place.bytes, 4096);
  void* address = MAP_FAILED;
  if (ftruncate(fd, static_cast<off_t>(file.bytes_)) == 0)
    address = mmap(nullptr, file.bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) return fail(storage_error(path));
  file.base_ = static_cast<std::byte*>(address);
  auto& header = file.header();
  std::memcpy(header.magic, format::kRunMagic, sizeof header.magic);
  header.version = format::kRunVersion;
  header.header_bytes = sizeof header;
  header.file_bytes = file.bytes_;
  header.plan_offset = sizeof header;
  header.plan_capacity = round_up(plan_capacity, format::kRunAlign);
  header.output_offset = header.plan_offset + header.plan_capacity;
  file.clear();
  return file;
}

RunFile::RunFile(RunFile&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      base_(std::exchange(other.base_, nullptr)),
      bytes_(other.bytes_),
      lock_(std::exchange(other.lock_, -1)) {}

RunFile& RunFile::operator=(RunFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  std::swap(lock_, other.lock_);
  return *this;
}

RunFile::~RunFile() {
  if (base_ != nullptr) munmap(base_, bytes_);
  if (lock_ >= 0) close(lock_);
  if (path_.empty()) return;
  unlink(path_.c_str());
  unlink((path_ + ".out").c_str());
}

bool RunFile::is_out_of_room() const {
  return room_in(std::filesystem::path(path_).parent_path().string()) < 4096;
}

void RunFile::clear() {
  auto& header = this->header();
  std::memset(reinterpret_cast<std::byte*>(&header) + offsetof(format::RunHeader, used), 0,
              sizeof header - offsetof(format::RunHeader, used));
  header.used = header.output_offset;
  header.permanent = header.output_offset;
}

void RunFile::clear_execution() {
  auto& header = this->header();
  header.used = header.permanent;
  std::memset(reinterpret_cast<std::byte*>(&header) + offsetof(format::RunHeader, pid), 0,
              sizeof header - offsetof(format::RunHeader, pid));
}

bool RunFile::has_room_for(const CheckPlan& plan) const {
  constexpr std::uint64_t kMostForOne = 256, kMostForModule = 8192;  // more than any takes, names included
  const std::uint64_t capacity = header().plan_capacity;
  const std::uint64_t items = plan.pairs.size() + plan.steps.size() + plan.weights.size() + plan.cuts.size() +
                              plan.watched.size() + plan.schedule.size();
  const std::uint64_t most = items * kMostForOne + (plan.modules.size() + 1) * kMostForModule;
  return most <= capacity || plan_bytes(plan).size() <= capacity;
}

Status RunFile::write(const CheckPlan& plan) {
  const auto bytes = plan_bytes(plan);
  if (bytes.size() > header().plan_capacity)
    return fail(ErrorCode::Execution,
                fmt::format("a plan of {} bytes does not fit into the run file", bytes.size()));
  std::memcpy(base_ + header().plan_offset, bytes.data(), bytes.size());
  return {};
}

}  // namespace simrt::testing
