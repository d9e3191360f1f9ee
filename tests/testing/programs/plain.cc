// A test program without a framework. Arguments: what it does, and with how many.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

namespace {

/// The classic recipe: double fork, session of its own, no standard streams.
void become_daemon() {
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  for (int descriptor = 0; descriptor < 3; ++descriptor) ::close(descriptor);
  ::sleep(600);
  ::_exit(0);
}

/// What the recording runtime does: one file a process, the first one without a suffix.
void write_traces(int children) {
  const char* trace = std::getenv("SIMRT_TRACE");
  if (trace == nullptr) return;
  std::ofstream(trace) << "main";
  for (int i = 0; i < children; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::ofstream(std::string(trace) + "." + std::to_string(::getpid())) << "child";
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }
}

/// Evidence for the scheduling tests: fails when another process is between the same two points.
int exclusively(const std::string& lock_directory) {
  if (::rmdir(lock_directory.c_str()) != 0) return 1;  // the directory is the free token
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::ofstream done(lock_directory + ".done", std::ios::app);
  done << "x";
  done.close();
  return std::system(("mkdir " + lock_directory).c_str()) == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view action = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? std::atoi(argv[2]) : 0;
  if (action == "exit") return number;
  if (action == "crash") std::abort();
  if (action == "hang") std::this_thread::sleep_for(std::chrono::minutes(10));
  if (action == "sleep-ms") std::this_thread::sleep_for(std::chrono::milliseconds(number));
  if (action == "daemon") become_daemon();
  if (action == "trace") write_traces(number);
  if (action == "exclusive") return exclusively(argv[2]);
  if (action == "print") std::puts(argv[2]);
  if (action == "getenv") std::puts(std::getenv(argv[2]) != nullptr ? std::getenv(argv[2]) : "unset");
  if (action == "child") {
    if (::fork() == 0) ::sleep(600);
  }
  if (action == "threads") {
    for (int i = 0; i < number; ++i)
      std::thread([] { std::this_thread::sleep_for(std::chrono::hours(1)); }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (action == "flood") {
    for (int i = 0; i < number; ++i) std::printf("line %d\n", i);
  }
  return 0;
}
