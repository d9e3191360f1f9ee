// The help of acutest, which forks for each of its cases.
#include <cstdio>

int main() {
  return std::puts("      --exec[=WHEN]     If supported, execute unit tests as child processes") < 0;
}
