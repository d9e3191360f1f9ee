// A program of cases: CASE(name) { ... return status; }. Run with a name it does that one; without, it lists
// them.
#pragma once

#include <cstdio>
#include <map>
#include <string>

std::map<std::string, int (*)()> cases;
struct Reg {
  Reg(const char* n, int (*f)()) { cases[n] = f; }
};
#define CASE(n)       \
  int n();            \
  Reg reg_##n(#n, n); \
  int n()

int main(int c, char** v) {
  if (c < 2) {
    for (auto& [n, f] : cases) printf("%s\n", n.c_str());
    return 0;
  }
  return cases.at(v[1])();
}
