// A GoogleTest program that cannot be listed: MISBEHAVIOUR in the environment says in which way.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

TEST(Misbehaving, Case) {}

int main(int argc, char** argv) {
  const char* value = std::getenv("MISBEHAVIOUR");
  const std::string misbehaviour = value != nullptr ? value : "";
  if (misbehaviour == "crash") std::abort();
  if (misbehaviour == "hang") ::sleep(600);
  if (misbehaviour == "ignore flags") return 0;
  if (misbehaviour == "status") return 9;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
