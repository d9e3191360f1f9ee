#include "wrappers/run.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace simrt::wrappers {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& command) {
  std::vector<char*> result;
  for (const std::string& word : command) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> block;
  for (;;) {
    const ssize_t n = read(fd, block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(block.data(), static_cast<std::size_t>(n));
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

RunResult run(const std::vector<std::string>& command, Output output) {
  RunResult result;
  int ends[2] = {-1, -1};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output == Output::Discard) {
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  } else if (output == Output::Collect && pipe2(ends, O_CLOEXEC) == 0) {
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  }
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, command[0].c_str(), &actions, nullptr, pointers(command).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (ends[1] >= 0) close(ends[1]);
  if (error == 0) {
    if (ends[0] >= 0) result.errors = read_all(ends[0]);
    result.status = wait_for(child);
  }
  if (ends[0] >= 0) close(ends[0]);
  return result;
}

void replace_process(const std::vector<std::string>& command) {
  execvp(command[0].c_str(), pointers(command).data());
}

}  // namespace simrt::wrappers
