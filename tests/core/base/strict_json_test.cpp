#include "core/base/strict_json.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "core/base/error.h"
#include "core/base/json.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::string error_message(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(StrictJson, ReadsMembers) {
  const auto json = parse_json(R"({"n": 3, "x": 0.5, "on": true, "name": "a", "kind": "b"})", "f");
  JsonObject object(json, "f");
  EXPECT_EQ(object.integer("n", 1, 10), 3);
  EXPECT_EQ(object.number("x", 0, 1), 0.5);
  EXPECT_TRUE(object.flag("on"));
  EXPECT_EQ(object.text("name"), "a");
  EXPECT_EQ(object.choice("kind", {"a", "b"}), 1u);
  EXPECT_EQ(object.integer_or("absent", 7, 0, 10), 7);
  object.finish();
}

TEST(StrictJson, ReportsErrors) {
  const auto json = parse_json(R"({"n": "x", "x": 3, "big": 18446744073709551615})", "f.json");
  JsonObject object(json, "f.json");
  EXPECT_EQ(error_message([&] { object.integer("n", 1, 10); }),
            "f.json: n: expected an integer from 1 to 10, found \"x\"");
  EXPECT_EQ(error_message([&] { object.number("x", 0, 1); }),
            "f.json: x: expected a number from 0 to 1, found 3");
  EXPECT_EQ(error_message([&] { object.integer("big", 0, 5); }),
            "f.json: big: expected an integer from 0 to 5, found 18446744073709551615");
  EXPECT_EQ(error_message([&] { object.flag("no"); }),
            "f.json: no: expected true or false, found nothing");
  EXPECT_EQ(error_message([&] {
              object.choice("x", {"a", "b"});
            }),
            "f.json: x: expected one of \"a\", \"b\", found 3");
}

TEST(StrictJson, RejectsUnknownKeys) {
  const auto json = parse_json(R"({"n": 1, "m": 2})", "f");
  JsonObject object(json, "f");
  object.integer("n", 0, 5);
  EXPECT_EQ(error_message([&] { object.finish(); }), "f: \"m\": unknown key; expected one of n");
}

// A parser with quadratic time would need twenty seconds for these 300 kB.
TEST(StrictJson, ReadsManySmallObjectsQuickly) {
  std::string text = "[{}";
  for (int n = 1; n < 100000; ++n) text += ",{}";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(parse_json(text + "]", "f").size(), 100000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

TEST(StrictJson, RejectsMalformedText) {
  EXPECT_EQ(error_message([] { parse_json(R"({"a": 1, "b": {"a": 2}, "a": 3})", "f"); }),
            "f: key \"a\" occurs twice in one object");
  EXPECT_EQ(error_message([] { parse_json("{\"a\": 1", "f"); }), "f: invalid JSON at byte 8");
  EXPECT_EQ(error_message([] { parse_json(std::string_view("{}\0", 3), "f"); }),
            "f: invalid JSON at byte 3");
  EXPECT_EQ(error_message([] { parse_json("", "f"); }), "f: invalid JSON at byte 1");
  EXPECT_NE(error_message([] { parse_json("\"\xff\"", "f"); }), "no error");
  EXPECT_EQ(error_message([] { parse_json("[1e999]", "f"); }),
            "f: invalid JSON: number out of range");
  const std::string nested(100000, '[');
  EXPECT_EQ(error_message([&] { parse_json(nested + std::string(100000, ']'), "f"); }),
            "f: JSON nested deeper than 100");
  const Json list = parse_json("[1]", "f");
  EXPECT_EQ(error_message([&] { JsonObject(list, "f"); }), "f: expected an object, found [1]");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
