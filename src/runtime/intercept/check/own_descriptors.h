// Descriptors that this process has made and nobody else has. What is not known to be such counts as
// somebody else's: inherited ones, those that came through a socket, those that a call made which nobody saw.
// A table by number, kept by the calls that make, copy and close descriptors (descriptor_calls.cc), under
// control only; what closes unseen (inside libc) is noticed when the kernel is asked what the number stands
// for. Called by the thread with the token; closed() by any thread.
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct msghdr;

namespace simrt::rt {

enum class OwnKind : uint8_t { None, Counter, Timer, Epoll, Pipe, Socket };

class OwnDescriptors {
 public:
  static constexpr uint32_t kMost = 65536;  // higher numbers are not known

  void made(int fd, OwnKind kind);
  void pair_made(const int fds[2], OwnKind kind);
  void copied(int from, int to);
  void closed(int fd);
  void closed(unsigned first, unsigned last);

  /// A message leaves: whoever gets the descriptors in it has them, too. False: there are none.
  bool sent(const struct msghdr& message);
  /// One came: the descriptors in it may be anybody's.
  bool received(const struct msghdr& message);

  /// A child process was forked, which has all of them.
  void forked();
  /// A program was started, which has those without close-on-exec.
  void spawned();
  /// Whether one of the two ever happened.
  bool other_processes() const { return other_processes_; }
  /// The kernel is given work that it does by itself, and may tell event counters of its end.
  void kernel_counts() { kernel_counts_ = true; }
  bool does_kernel_count() const { return kernel_counts_; }

  /// What the number stands for if it is one of ours, after a look at the kernel's answer.
  OwnKind look(int fd) const;
  /// The same for an inode that the kernel named beside the number.
  bool is(int fd, uint64_t inode) const;
  /// Without asking the kernel.
  bool is_socket(int fd) const {
    return fd >= 0 && static_cast<uint32_t>(fd) < end_ && entries_[fd].kind == OwnKind::Socket;
  }
  /// Whether an end of a connection could be in other hands although this process made it.
  bool sockets_are_shared() const { return sockets_shared_; }

  template <class Function>
  void each_socket(Function function) const {
    for (uint32_t fd = 0; fd < end_; ++fd)
      if (entries_[fd].kind == OwnKind::Socket) function(static_cast<int>(fd));
  }

 private:
  struct Entry {
    OwnKind kind;
    uint32_t file;   // number of what was made: copies, and the two ends of a pipe, have one
    uint64_t inode;  // pipes and sockets
  };
  void enter(int fd, OwnKind kind, uint32_t file);
  void forget_file(uint32_t file);
  Entry* entry_of(int fd) { return fd >= 0 && static_cast<uint32_t>(fd) < kMost ? &entries_[fd] : nullptr; }

  Entry entries_[kMost] = {};
  uint32_t end_ = 0;  // all known numbers are below
  uint32_t files_ = 0;
  bool sockets_shared_ = false, other_processes_ = false, kernel_counts_ = false;
};

extern OwnDescriptors own_descriptors;

/// Tells them and the engine, under control, that another process comes which has all of them, or those
/// without close-on-exec.
enum class Heir : uint8_t { Fork, Program };
void descriptors_inherited_by(Heir heir);

}  // namespace simrt::rt
