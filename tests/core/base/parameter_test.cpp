#include "core/base/parameter.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "core/base/error.h"
#include "core/base/json.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Kind = Parameter::Kind;

const std::vector<Parameter> kParameters = {
    {.key = "window", .required = true, .initial = Index{4}, .slider = {.max = 8}},
    {.key = "block", .initial = Index{2}, .limits = {.min = 1, .max = 9}},
    {.key = "base",
     .kind = Kind::Real,
     .initial = 10.0,
     .limits = {.min = 0, .max = Parameter::kMaxReal, .min_excluded = true}},
    {.key = "mode",
     .kind = Kind::Choice,
     .initial = std::string("first"),
     .choices = {"first", "second"}},
    {.key = "on", .kind = Kind::Flag, .optional = true, .initial = true},
    {.key = "global", .kind = Kind::Integers, .initial = std::vector<Index>{}},
    {.key = "slopes",
     .kind = Kind::Reals,
     .optional = true,
     .initial = std::vector<double>{},
     .limits = {.min = -1e9, .max = 1e9}},
    {.key = "lists",
     .kind = Kind::IntegerLists,
     .optional = true,
     .initial = std::vector<std::vector<Index>>{}}};

Values read_values(const char* text) {
  return values_from_json(kParameters, Json::parse(text), "variant");
}

std::string error_message(const char* text) {
  try {
    read_values(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Parameter, LabelsChoices) {
  Parameter mode{.kind = Kind::Choice, .choices = {"first", "second"}};
  EXPECT_EQ(choice_label(mode, "second"), "second");
  mode.choices = {{"first", "the first"}, {"second", "the second"}};
  EXPECT_EQ(choice_label(mode, "second"), "the second");
  EXPECT_EQ(choice_label(mode, "third"), "third");  // not a choice of this parameter
}

TEST(Parameter, RejectsListsOfAnotherSize) {
  const std::vector<Parameter> pairs{{.key = "pairs",
                                      .kind = Kind::IntegerLists,
                                      .initial = std::vector<std::vector<Index>>{},
                                      .list_size = 2}};
  EXPECT_NO_THROW(values_from_json(pairs, Json::parse(R"({"pairs": [[1, 2], [3, 4]]})"), "view"));
  EXPECT_THROW(values_from_json(pairs, Json::parse(R"({"pairs": [[1, 2, 3]]})"), "view"),
               InputError);
}

TEST(Parameter, ReadsEveryKind) {
  const Values values = read_values(
      R"({"type": "x", "window": 3, "block": 9, "base": 0.5, "mode": "second", "on": false,
          "global": [0, 7], "slopes": [-0.5, 2], "lists": [[1], [], [2, 3]]})");
  EXPECT_EQ(values.integer("window"), 3);
  EXPECT_EQ(values.integer("block"), 9);
  EXPECT_EQ(values.real("base"), 0.5);
  EXPECT_EQ(values.choice("mode"), "second");
  EXPECT_FALSE(values.flag("on"));
  EXPECT_EQ(values.get<std::vector<Index>>("global"), (std::vector<Index>{0, 7}));
  EXPECT_EQ(values.get<std::vector<double>>("slopes"), (std::vector<double>{-0.5, 2}));
  EXPECT_EQ(values.get<std::vector<std::vector<Index>>>("lists"),
            (std::vector<std::vector<Index>>{{1}, {}, {2, 3}}));
  EXPECT_EQ(read_values(to_json(values).dump().c_str()), values);
}

TEST(Parameter, FillsInDefaults) {
  const Values values = read_values(R"({"window": 0})");
  EXPECT_EQ(values.integer("window"), 0);
  EXPECT_EQ(values.integer("block"), 2);
  EXPECT_EQ(values.choice("mode"), "first");
  EXPECT_FALSE(values.has("on"));
  EXPECT_FALSE(values.has("slopes"));
  const Values defaults = default_values(kParameters);
  EXPECT_EQ(defaults.integer("window"), 4);
  EXPECT_FALSE(defaults.has("on"));
}

TEST(Parameter, AcceptsIntegralRealsAsIntegers) {
  EXPECT_EQ(read_values(R"({"window": 3.0})").integer("window"), 3);
  EXPECT_EQ(read_values(R"({"window": 1, "base": 3})").real("base"), 3.0);
  EXPECT_EQ(error_message(R"({"window": 3.5})"),
            "variant.window: expected an integer of at least 0, found 3.5");
}

TEST(Parameter, ReportsErrors) {
  const std::pair<const char*, const char*> cases[] = {
      {"[]", "variant: expected an object, found []"},
      {"{}", "variant.window: expected an integer of at least 0, found nothing"},
      {R"({"window": -1})", "variant.window: expected an integer of at least 0, found -1"},
      {R"({"window": null})", "variant.window: expected an integer of at least 0, found null"},
      {R"({"window": true})", "variant.window: expected an integer of at least 0, found true"},
      {R"({"window": "3"})", "variant.window: expected an integer of at least 0, found \"3\""},
      {R"({"window": 1e30})",
       "variant.window: expected an integer from 0 to 2147483647, found 1e+30"},
      {R"({"window": 18446744073709551615})",
       "variant.window: expected an integer from 0 to 2147483647, found 18446744073709551615"},
      {R"({"window": 1, "block": 0})", "variant.block: expected an integer from 1 to 9, found 0"},
      {R"({"window": 1, "block": 10})", "variant.block: expected an integer from 1 to 9, found 10"},
      {R"({"window": 1, "base": 0})", "variant.base: expected a number greater than 0, found 0"},
      {R"({"window": 1, "base": "a"})",
       "variant.base: expected a number greater than 0, found \"a\""},
      {R"({"window": 1, "mode": "third"})",
       "variant.mode: expected one of first, second, found third"},
      {R"({"window": 1, "mode": 1})", "variant.mode: expected one of first, second, found 1"},
      {R"({"window": 1, "on": 1})", "variant.on: expected true or false, found 1"},
      {R"({"window": 1, "global": [1, -2]})",
       "variant.global: expected a list of integers of at least 0, found [1, -2]"},
      {R"({"window": 1, "global": 1})",
       "variant.global: expected a list of integers of at least 0, found 1"},
      {R"({"window": 1, "slopes": ["a"]})",
       "variant.slopes: expected a list of numbers from -1e+09 to 1e+09, found [\"a\"]"},
      {R"({"window": 1, "lists": [1]})",
       "variant.lists: expected a list of lists of integers of at least 0, found [1]"},
      {R"({"window": 1, "windw": 2})",
       "variant.windw: unknown key, expected one of type, window, block, base, mode, on, global, "
       "slopes, lists; did you mean \"window\"?"},
      {R"({"window": 1, "mode": "secnd"})",
       "variant.mode: expected one of first, second, found secnd; did you mean \"second\"?"}};
  for (const auto& [text, message] : cases) EXPECT_EQ(error_message(text), message) << text;
}

TEST(Parameter, ShortensLongValuesInErrors) {
  const std::string text = R"({"window": ")" + std::string(100000, 'x') + "\"}";
  EXPECT_LT(error_message(text.c_str()).size(), 200u);
  const std::string key = R"({"window": 1, ")" + std::string(100000, 'x') + "\": 1}";
  EXPECT_LT(error_message(key.c_str()).size(), 300u);
}

TEST(Parameter, ReadsCommandLineText) {
  EXPECT_EQ(value_from_text(kParameters[0], "7", "variant"), Value(Index{7}));
  EXPECT_EQ(value_from_text(kParameters[3], "second", "variant"), Value(std::string("second")));
  EXPECT_EQ(value_from_text(kParameters[5], "[0, 4]", "variant"), Value(std::vector<Index>{0, 4}));
  EXPECT_THROW(value_from_text(kParameters[0], "x", "variant"), InputError);
  EXPECT_THROW(value_from_text(kParameters[0], "-1", "variant"), InputError);
  EXPECT_THROW(value_from_text(kParameters[3], "third", "variant"), InputError);
}

TEST(Parameter, WritesText) {
  EXPECT_EQ(to_text(Value(Index{3})), "3");
  EXPECT_EQ(to_text(Value(0.5)), "0.5");
  EXPECT_EQ(to_text(Value(std::string("merged"))), "merged");
  EXPECT_EQ(to_text(Value(std::vector<Index>{0, 4})), "[0, 4]");
  EXPECT_EQ(to_text(Value(true)), "true");
}

TEST(Values, RejectMissingKeysAndWrongKinds) {
  Values values;
  values.set("a", Index{1});
  EXPECT_THROW(values.integer("b"), InputError);
  EXPECT_THROW(values.real("a"), std::bad_variant_access);
  values.erase("a");
  EXPECT_FALSE(values.has("a"));
}

// Getters of a temporary Values return copies, which outlive it.
TEST(Values, ReturnCopiesFromTemporaries) {
  const auto make = [] {
    Values values;
    values.set("show", std::string("too long for the small-string optimisation"));
    return values;
  };
  static_assert(!std::is_reference_v<decltype(make().choice("show"))>);
  static_assert(!std::is_reference_v<decltype(make().get<std::string>("show"))>);
  const std::string& text = make().choice("show");
  EXPECT_EQ(text, make().get<std::string>("show"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
