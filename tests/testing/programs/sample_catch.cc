// Names that collide with Catch2's test specifications. Each case prints the name under which it was
// registered.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <cstdio>

#define NAMED_CASE(name) \
  TEST_CASE(name) { std::printf("ran <%s>\n", name); }

NAMED_CASE("plain")
NAMED_CASE("plain sailing")
NAMED_CASE("with, comma [and] brackets")
NAMED_CASE("back\\slash \"quoted\"")
NAMED_CASE("#hash")
NAMED_CASE("~tilde")
NAMED_CASE("-dash")
NAMED_CASE("exclude: me")
NAMED_CASE("a*b")
TEST_CASE("fails") { CHECK(1 == 2); }
TEST_CASE("hidden", "[.]") { std::puts("ran <hidden>"); }
TEMPLATE_TEST_CASE("template", "", int, (std::pair<int, int>)) { std::puts("ran <template>"); }
