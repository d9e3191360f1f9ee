// The C++ half of a program built by two compilers.
#include <thread>

extern "C" int work_c_half(int n);
extern "C" __attribute__((noinline)) int work_cxx_half(int n) { return n + 1; }

int main() {
  int result = 0;
  std::thread thread([&result] { result = work_c_half(work_cxx_half(1)); });
  thread.join();
  return result > 0 ? 0 : 1;
}
