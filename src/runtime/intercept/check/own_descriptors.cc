#include "intercept/check/own_descriptors.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "intercept/check/proc_name.h"
#include "sys/arch.h"
#include "sys/text.h"

namespace simrt::rt {

using runtime::raw_syscall;

constinit OwnDescriptors own_descriptors = {};

namespace {

bool status_of(int fd, struct stat& status) {
  return raw_syscall(SYS_fstat, fd, reinterpret_cast<long>(&status)) == 0;
}

const char* link_of(OwnKind kind) {
  switch (kind) {
    case OwnKind::Counter:
      return "anon_inode:[eventfd]";
    case OwnKind::Timer:
      return "anon_inode:[timerfd]";
    case OwnKind::Epoll:
      return "anon_inode:[eventpoll]";
    default:
      return "";
  }
}

template <class Function>
bool each_descriptor(const struct msghdr& message, Function function) {
  bool any = false;
  auto* header = const_cast<struct msghdr*>(&message);
  for (struct cmsghdr* part = CMSG_FIRSTHDR(header); part != nullptr; part = CMSG_NXTHDR(header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      __builtin_memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      function(fd);
      any = true;
    }
  }
  return any;
}

}  // namespace

void OwnDescriptors::enter(int fd, OwnKind kind, uint32_t file) {
  Entry* entry = entry_of(fd);
  struct stat status;
  if (entry == nullptr || !status_of(fd, status)) return;
  *entry = {kind, file, status.st_ino};
  if (static_cast<uint32_t>(fd) >= end_) end_ = static_cast<uint32_t>(fd) + 1;
}

void OwnDescriptors::made(int fd, OwnKind kind) { enter(fd, kind, ++files_); }

void OwnDescriptors::pair_made(const int fds[2], OwnKind kind) {
  ++files_;
  enter(fds[0], kind, files_);
  enter(fds[1], kind, files_);
}

void OwnDescriptors::copied(int from, int to) {
  if (from == to) return;
  closed(to);
  const Entry* entry = entry_of(from);
  if (entry != nullptr && entry->kind != OwnKind::None) enter(to, entry->kind, entry->file);
}

void OwnDescriptors::closed(int fd) {
  if (Entry* entry = entry_of(fd); entry != nullptr) entry->kind = OwnKind::None;
}

void OwnDescriptors::closed(unsigned first, unsigned last) {
  for (unsigned fd = first; fd <= last && fd < end_; ++fd) entries_[fd].kind = OwnKind::None;
}

void OwnDescriptors::forget_file(uint32_t file) {
  for (uint32_t fd = 0; fd < end_; ++fd) {
    Entry& entry = entries_[fd];
    if (entry.kind == OwnKind::None || entry.file != file) continue;
    sockets_shared_ |= entry.kind == OwnKind::Socket;
    entry.kind = OwnKind::None;
  }
}

bool OwnDescriptors::sent(const struct msghdr& message) {
  return each_descriptor(message, [this](int fd) {
    const Entry* entry = entry_of(fd);
    if (entry != nullptr && entry->kind != OwnKind::None) forget_file(entry->file);
  });
}

bool OwnDescriptors::received(const struct msghdr& message) {
  return each_descriptor(message, [this](int fd) { closed(fd); });
}

void OwnDescriptors::forked() {
  other_processes_ = true;
  for (uint32_t fd = 0; fd < end_; ++fd) {
    sockets_shared_ |= entries_[fd].kind == OwnKind::Socket;
    entries_[fd].kind = OwnKind::None;
  }
}

void OwnDescriptors::spawned() {
  other_processes_ = true;
  for (uint32_t fd = 0; fd < end_; ++fd) {
    if (entries_[fd].kind == OwnKind::None) continue;
    const long flags = raw_syscall(SYS_fcntl, static_cast<long>(fd), F_GETFD);
    if (flags < 0 || (flags & FD_CLOEXEC) == 0) forget_file(entries_[fd].file);
  }
}

bool OwnDescriptors::is(int fd, uint64_t inode) const {
  return fd >= 0 && static_cast<uint32_t>(fd) < end_ && entries_[fd].inode == inode;
}

OwnKind OwnDescriptors::look(int fd) const {
  if (fd < 0 || static_cast<uint32_t>(fd) >= end_) return OwnKind::None;
  const Entry& entry = entries_[fd];
  if (entry.kind == OwnKind::None) return OwnKind::None;
  struct stat status;
  if (!status_of(fd, status) || status.st_ino != entry.inode) return OwnKind::None;
  switch (entry.kind) {
    case OwnKind::Pipe:
      return S_ISFIFO(status.st_mode) ? entry.kind : OwnKind::None;
    case OwnKind::Socket:
      return S_ISSOCK(status.st_mode) ? entry.kind : OwnKind::None;
    default:
      break;
  }
  // Most of what has no name has one inode.
  const ProcName name("/proc/self/fd/", fd);
  char target[32];
  const long length = raw_syscall(SYS_readlinkat, AT_FDCWD, reinterpret_cast<long>(name.text),
                                  reinterpret_cast<long>(target), sizeof target - 1);
  if (length <= 0) return OwnKind::None;
  target[length] = '\0';
  const char* wanted = link_of(entry.kind);
  return static_cast<size_t>(length) == runtime::length(wanted) &&
                 runtime::equal(target, wanted, static_cast<size_t>(length))
             ? entry.kind
             : OwnKind::None;
}

}  // namespace simrt::rt
