// Names that collide with doctest's filters. Each case prints the name under which it was registered.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdio>

#define NAMED_CASE(name) \
  TEST_CASE(name) { std::printf("ran <%s>\n", name); }

NAMED_CASE("plain")
NAMED_CASE("Plain")
NAMED_CASE("plain sailing")
NAMED_CASE("with, comma [and] brackets")
NAMED_CASE("back\\slash \"quoted\" <x> & y")
NAMED_CASE("  spaced  ")
NAMED_CASE("ends with backslash\\")
TEST_CASE("fails") { CHECK(1 == 2); }
TEST_CASE("left out" * doctest::skip()) { std::puts("ran <left out>"); }
TEST_SUITE("suite") {
  TEST_CASE("twice") { std::puts("ran <twice>"); }
}
TEST_CASE("twice") { std::puts("ran <twice>"); }
