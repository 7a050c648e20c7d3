#include "core/base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Json, ConvertsInitializerLists) {
  const Json object = {{"type", "local"}, {"window", 4}, {"on", true}, {"none", nullptr}};
  EXPECT_EQ(object.dump(), R"({"none":null,"on":true,"type":"local","window":4})");
  EXPECT_EQ(Json({1, 2.5, "a", {3, 4}}).dump(), R"([1,2.5,"a",[3,4]])");
  EXPECT_EQ(Json::array({{"a", 1}}).dump(), R"([["a",1]])");
  EXPECT_EQ(Json({{"at", {1u, 2u}}, {"in", {{"b", 1}}}}).dump(), R"({"at":[1,2],"in":{"b":1}})");
  EXPECT_EQ(Json(std::vector<std::vector<int>>{{1}, {}}).dump(), "[[1],[]]");
  EXPECT_EQ(Json(std::map<std::string, int>{{"b", 1}, {"a", 2}}).dump(), R"({"a":2,"b":1})");
  EXPECT_EQ(Json().dump(), "null");
  EXPECT_EQ(Json::object().dump(), "{}");
}

TEST(Json, WritesStandardJson) {
  EXPECT_EQ(Json({{"a", {1, 2}}, {"b", Json::array()}, {"c", Json::object()}}).dump(2),
            "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": [],\n  \"c\": {}\n}");
  EXPECT_EQ(Json({1.0, 0.1, 1e300, 1e-7, -0.0, 0.1F}).dump(),
            "[1.0,0.1,1e+300,1e-07,-0.0,0.10000000149011612]");
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).dump(), "null");
  EXPECT_EQ(Json(std::numeric_limits<std::uint64_t>::max()).dump(), "18446744073709551615");
  EXPECT_EQ(Json(std::numeric_limits<std::int64_t>::min()).dump(), "-9223372036854775808");
  EXPECT_EQ(Json("\"\\\n\t\x01\x7f é").dump(), "\"\\\"\\\\\\n\\t\\u0001\x7f é\"");
  EXPECT_EQ(Json("é🙂").dump_ascii(), R"("\u00e9\ud83d\ude42")");
  EXPECT_THROW(Json("\xff").dump(), JsonError);
  EXPECT_EQ(Json("a\xff").dump(-1, Json::BadUtf8::Replace), "\"a\xEF\xBF\xBD\"");
  EXPECT_EQ(Json("a\xff").dump_ascii(), R"("a\ufffd")");
}

TEST(Json, RoundTrips) {
  const std::string text =
      R"({"a":[1,-2,3.5,true,false,null,"x",[],{}],"b":{"c":{"d":"\u00e9"}},"e":18446744073709551615})";
  const Json value = Json::parse(text);
  EXPECT_EQ(Json::parse(value.dump()), value);
  EXPECT_EQ(value["a"].size(), 9u);
  EXPECT_TRUE(value["a"][0].is_number_unsigned());
  EXPECT_TRUE(value["a"][1].is_number_integer() && !value["a"][1].is_number_unsigned());
  EXPECT_TRUE(value["a"][2].is_number_float());
  EXPECT_TRUE(value["a"][7].is_array() && value["a"][8].is_object());
  EXPECT_EQ(value["b"]["c"]["d"], "é");
  EXPECT_EQ(value["e"], std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(Json::parse("3"), 3);

  std::string repeated;
  EXPECT_EQ(Json::parse(R"({"a": 1, "b": {"a": 2, "c": 3, "c": 4}, "b": 5})", &repeated)["b"], 5);
  EXPECT_EQ(repeated, "c");
  EXPECT_EQ(Json::parse(std::string(100, '[') + std::string(100, ']')).size(), 1u);
  EXPECT_THROW(Json::parse(std::string(101, '[') + std::string(101, ']')), JsonError);
  EXPECT_THROW(Json::parse("[1,]"), JsonError);
  EXPECT_THROW(Json::parse("[1] 2"), JsonError);
  EXPECT_TRUE(Json::parse_or_null("[1,]").is_null());
}

TEST(Json, ReturnsItsValueAndRejectsOtherTypes) {
  const Json value = {{"n", 3}, {"x", 0.5}, {"on", true}, {"name", "a"}, {"list", {1, 2}}};
  EXPECT_EQ(value["n"].get<int>(), 3);
  EXPECT_EQ(value["x"].get<double>(), 0.5);
  EXPECT_TRUE(value["on"].get<bool>());
  EXPECT_EQ(value["name"].get<std::string>(), "a");
  EXPECT_EQ(value["list"].get<std::vector<int>>(), (std::vector<int>{1, 2}));
  EXPECT_THROW(value["name"].get<int>(), JsonError);
  EXPECT_THROW(value["n"].get<bool>(), JsonError);
  EXPECT_THROW(value["n"].text(), JsonError);
  EXPECT_THROW(value["none"], JsonError);
  EXPECT_THROW(value["list"][2], JsonError);
  EXPECT_THROW(value["n"][0], JsonError);
  EXPECT_THROW(value.begin(), JsonError);
  EXPECT_THROW(value["list"].items(), JsonError);
  EXPECT_EQ(value.find("none"), nullptr);
  EXPECT_FALSE(value["list"].contains("n"));
  try {
    value["list"].text();
    FAIL();
  } catch (const JsonError& e) {
    EXPECT_STREQ(e.what(), "JSON: expected a string, found [1,2]");
  }
}

TEST(Json, ModifiesMembers) {
  Json value;
  value["list"].push_back(1);
  value["list"].push_back({{"a", 2}});
  value["list"][0] = "first";
  value["gone"] = 1;
  value.erase("gone");
  value.erase("never");
  EXPECT_EQ(value.dump(), R"({"list":["first",{"a":2}]})");
  value["list"] = Json(value["list"][1]);
  value = value["list"];  // assigns a member of `value` to `value`
  EXPECT_EQ(value.dump(), R"({"a":2})");
  EXPECT_THROW(value.push_back(1), JsonError);
  Json copy = value;
  copy["a"] = 3;
  EXPECT_EQ(value["a"], 2);
  const Json moved = std::move(copy);
  EXPECT_EQ(moved["a"], 3);
}

TEST(Json, ComparesNumbersAcrossTypes) {
  EXPECT_EQ(Json(3), Json(3u));
  EXPECT_EQ(Json(3), Json(3.0));
  EXPECT_NE(Json(-1), Json(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_NE(Json("1"), Json(1));
  EXPECT_NE(Json({1, 2}), Json({1, 3}));
  EXPECT_NE(Json({{"a", 1}}), Json({{"b", 1}}));
  EXPECT_FALSE(Json(std::nan("")) == Json(std::nan("")));
  EXPECT_LT(Json(-1), Json(1u));
  EXPECT_GT(Json(std::numeric_limits<std::uint64_t>::max()), Json(-5));
  EXPECT_LT(Json(2), Json(2.5));
  EXPECT_FALSE(Json("a") < Json("b"));
}

TEST(Json, SupportsPointersAndPatches) {
  const Json value = {{"a/b", {{"~", 1}}}, {"c", {5, {{"d", nullptr}}}}, {"e", Json::array()}};
  EXPECT_EQ(Json(value.flatten()).dump(), R"({"/a~1b/~0":1,"/c/0":5,"/c/1/d":null,"/e":null})");
  Json copy = value;
  for (const auto& [pointer, leaf] : value.flatten()) {
    copy.at_pointer(pointer) = "changed";
    EXPECT_EQ(copy.flatten().at(pointer), "changed") << pointer;
  }
  Json created;
  created.at_pointer("/model/layers") = 2;
  EXPECT_EQ(created.dump(), R"({"model":{"layers":2}})");
  EXPECT_THROW(copy.at_pointer("/c/x"), JsonError);
  EXPECT_THROW(copy.at_pointer("/c/9"), JsonError);

  Json patched = Json::parse(R"({"a": "b", "c": {"d": "e", "f": "g"}, "h": 1})");
  patched.merge_patch(Json::parse(R"({"a": "z", "c": {"f": null}, "h": {"i": 2}})"));
  EXPECT_EQ(patched.dump(), R"({"a":"z","c":{"d":"e"},"h":{"i":2}})");
}

TEST(Json, ShortensValuesForMessages) {
  EXPECT_EQ(shortened(Json({1, 2})), "[1,2]");
  EXPECT_EQ(shortened(std::string(100, 'a')), "\"" + std::string(56, 'a') + "...");
  std::ostringstream printed;
  printed << Json({{"a", "\xff"}});
  EXPECT_EQ(printed.str(), "{\"a\":\"\xEF\xBF\xBD\"}");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
