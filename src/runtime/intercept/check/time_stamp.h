// The processor's time stamp counter on virtual time, one tick a nanosecond: where loaded code reads it
// (rdtsc, rdtscp), the kernel makes that a fault, and the handler answers it. Programs without such code are
// left as they are: with it, every switch to another process costs.
#pragma once

namespace simrt::rt {

/// Looks through the modules that are new. Before the threads are many, and behind dlopen.
void look_for_time_stamps();
/// Under control: makes them virtual if somebody reads them, if the plan wants virtual time and if the kernel
/// can. On the thread with the token; the others follow when their turn comes.
void start_time_stamps();
/// The calling thread has come from outside.
void forbid_time_stamps_here();
/// In a forked child, which runs on its own.
void give_time_stamps_back();

/// While it lives, what this thread starts (a program, a thread of libc's own) has the real counter.
class RealTimeStamps {
 public:
  RealTimeStamps();
  ~RealTimeStamps();
  RealTimeStamps(const RealTimeStamps&) = delete;
  RealTimeStamps& operator=(const RealTimeStamps&) = delete;

 private:
  bool were_virtual_;
};

}  // namespace simrt::rt
