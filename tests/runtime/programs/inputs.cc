// Programs that read what the engine does not control, one kind a case; argv[1] selects. Exit status 0: it
// worked.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

#include "cases.h"

namespace {

bool read_some(int fd) {
  char byte;
  return fd >= 0 && read(fd, &byte, 1) == 1;
}
int pipe_written_by_child() {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
  waitpid(child, nullptr, 0);
  return ends[0];
}
std::string name_of_this_run() { return "/simrt-inputs-" + std::to_string(getpid()); }
std::string beside_program(const char* suffix) { return std::string(program_invocation_name) + suffix; }

[[gnu::constructor]] void before_main(int count, char** words) {
  const bool reads = count > 1 && (strcmp(words[1], "beforemain") == 0 || strcmp(words[1], "inturns") == 0);
  if (reads && getpid() == 0) _exit(1);
}

}  // namespace

#if defined(__x86_64__)
[[gnu::used, gnu::noinline]] bool draw() {
  unsigned value = 0;
  asm volatile("rdrand %0" : "=r"(value));
  return value != 0;
}
#endif

CASE(getrandom) {
  int value;
  return ::getrandom(&value, sizeof value, 0) == sizeof value ? 0 : 1;
}
CASE(getentropy) {
  int value;
  return ::getentropy(&value, sizeof value) == 0 ? 0 : 1;
}
CASE(syscallrandom) {
  int value;
  return syscall(SYS_getrandom, &value, sizeof value, 0) == sizeof value ? 0 : 1;
}
CASE(randomdevice) {
  std::random_device device;
  return device() == device() && device() == device() ? 1 : 0;
}
CASE(urandom) { return read_some(open("/dev/urandom", O_RDONLY)) ? 0 : 1; }
CASE(urandomstream) {
  std::ifstream in("/dev/urandom");
  return in.get() >= 0 ? 0 : 1;
}
CASE(auxiliary) { return getauxval(AT_RANDOM) != 0 ? 0 : 1; }
CASE(pid) { return getpid() > 0 ? 0 : 1; }
CASE(syscalltid) { return syscall(SYS_gettid) > 0 ? 0 : 1; }
CASE(tidofthread) {
  pid_t tid = 0;
  std::thread([&] { tid = gettid(); }).join();
  return tid > 0 ? 0 : 1;
}
CASE(beforemain) { return 0; }
// Every other execution reads another number of a process.
CASE(inturns) {
  const std::string mark = beside_program(".turn");
  if (rmdir(mark.c_str()) == 0) return 0;
  return mkdir(mark.c_str(), 0700) == 0 && getppid() >= 0 ? 0 : 1;
}
CASE(threadclock) {
  clockid_t clock;
  timespec time;
  return pthread_getcpuclockid(pthread_self(), &clock) == 0 && clock_gettime(clock, &time) == 0 ? 0 : 1;
}
CASE(usage) {
  rusage usage;
  return getrusage(RUSAGE_SELF, &usage);
}
CASE(filetime) {
  struct stat status;
  return stat("/", &status);
}
CASE(directory) {
  DIR* root = opendir("/");
  return root != nullptr && readdir(root) != nullptr ? 0 : 1;
}
CASE(memorymap) { return read_some(open("/proc/self/maps", O_RDONLY)) ? 0 : 1; }
CASE(childspipe) { return read_some(pipe_written_by_child()) ? 0 : 1; }
CASE(commandsoutput) {
  FILE* stream = popen("echo x", "r");
  return stream != nullptr && fgetc(stream) == 'x' && pclose(stream) == 0 ? 0 : 1;
}
CASE(keptfile) {
  const std::string path = beside_program(".kept");
  int count = 0;
  std::ifstream(path) >> count;
  std::ofstream(path) << count + 1;
  return 0;
}
CASE(sharedmemory) {
  const std::string name = name_of_this_run();
  return shm_open(name.c_str(), O_CREAT | O_RDWR, 0600) >= 0 && shm_unlink(name.c_str()) == 0 ? 0 : 1;
}
CASE(namedsemaphore) {
  const std::string name = name_of_this_run();
  sem_t* one = sem_open(name.c_str(), O_CREAT, 0600, 1);
  return one != SEM_FAILED && sem_trywait(one) == 0 && sem_trywait(one) != 0 &&
                 sem_open(name.c_str(), 0) == one && sem_unlink(name.c_str()) == 0
             ? 0
             : 1;
}
CASE(namedqueue) {
  const std::string name = name_of_this_run();
  mq_attr small = {};
  small.mq_maxmsg = 1;
  small.mq_msgsize = 8;
  const mqd_t queue = mq_open(name.c_str(), O_CREAT | O_RDWR, 0600, &small);
  mq_attr seen = {};
  return queue >= 0 && mq_getattr(queue, &seen) == 0 && seen.mq_maxmsg == 1 && mq_close(queue) == 0 &&
                 mq_unlink(name.c_str()) == 0
             ? 0
             : 1;
}
CASE(keyedmemory) {
  const int memory = shmget(static_cast<key_t>(getppid()), 8, IPC_CREAT | 0600);
  return memory >= 0 && shmctl(memory, IPC_RMID, nullptr) == 0 ? 0 : 1;
}
CASE(keyedsemaphore) {
  const int semaphore = semget(static_cast<key_t>(getppid()), 1, IPC_CREAT | 0600);
  return semaphore >= 0 && semctl(semaphore, 0, IPC_RMID) == 0 ? 0 : 1;
}
CASE(keyedqueue) {
  const int queue = msgget(static_cast<key_t>(getppid()), IPC_CREAT | 0600);
  return queue >= 0 && msgctl(queue, IPC_RMID, nullptr) == 0 ? 0 : 1;
}
CASE(temporaryname) {
  std::string name = std::string(getenv("TMPDIR")) + "/XXXXXX";
  return mkstemp(name.data()) >= 0 ? 0 : 1;
}
CASE(temporarydirectory) { return getenv("TMPDIR") != nullptr ? 0 : 1; }
// All of it is controlled, or the same in every execution.
CASE(nothing) {
  int ends[2];
  if (pipe(ends) != 0 || write(ends[1], "x", 1) != 1 || !read_some(ends[0])) return 1;
  std::mutex lock;
  std::thread([&] { std::lock_guard guard(lock); }).join();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  if (std::chrono::steady_clock::now().time_since_epoch().count() == 0 || time(nullptr) == 0) return 1;
  if (getenv("HOME") == nullptr && getenv("PATH") == nullptr) return 1;
  std::ifstream(beside_program("")).get();
  const int own = shmget(IPC_PRIVATE, 8, 0600);
  if (own < 0 || shmctl(own, IPC_RMID, nullptr) != 0) return 1;
  const char* nowhere = reinterpret_cast<const char*>(8);
  if (open(nowhere, O_RDONLY) >= 0 || errno != EFAULT || fopen(nowhere, "r") != nullptr) return 1;
  const int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDONLY);
  std::ofstream("/dev/null") << rand();
  return null >= 0 && read_some(zero) ? 0 : 1;
}
