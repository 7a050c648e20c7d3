#include "app/window/widgets/parameter_edit.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/attention/variant.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

Parameter window_parameter() {
  Parameter p;
  p.key = "window";
  p.kind = Parameter::Kind::Integer;
  p.initial = Index{4};
  p.limits.min = 1;
  p.limits.max = 100;
  p.slider.min = 1;
  p.slider.max = 32;
  return p;
}

Parameter temperature_parameter() {
  Parameter p;
  p.key = "temperature";
  p.kind = Parameter::Kind::Real;
  p.initial = 1.0;
  p.limits.min = 0;
  p.limits.min_excluded = true;
  p.limits.max = 10;
  p.slider.min = 0.1;
  p.slider.max = 4;
  return p;
}

Parameter list_parameter() {
  Parameter p;
  p.key = "global";
  p.label = "Global";
  p.kind = Parameter::Kind::Integers;
  p.initial = std::vector<Index>{};
  p.limits.max = 1000;
  return p;
}

TEST(ParameterEdit, ClampsTypedNumbers) {
  EXPECT_EQ(clamped(window_parameter(), Index{0}), 1);
  EXPECT_EQ(clamped(window_parameter(), Index{64}), 64);  // beyond the slider, within the limits
  EXPECT_EQ(clamped(window_parameter(), Index{1000}), 100);
  EXPECT_GT(clamped(temperature_parameter(), -3.0), 0);
  EXPECT_DOUBLE_EQ(clamped(temperature_parameter(), 99.0), 10);
  EXPECT_DOUBLE_EQ(clamped(temperature_parameter(), std::numeric_limits<double>::quiet_NaN()), 1);
  EXPECT_DOUBLE_EQ(clamped(temperature_parameter(), std::numeric_limits<double>::infinity()), 1);
}

TEST(ParameterEdit, ResetsToInitialValue) {
  const Parameter p = window_parameter();
  Values values;
  values.set("window", Index{9});
  values.set("other", true);
  EXPECT_FALSE(is_initial(p, values));
  const Values after_reset = reset(p, values);
  EXPECT_TRUE(is_initial(p, after_reset));
  EXPECT_TRUE(after_reset.flag("other"));
}

TEST(ParameterEdit, SetsAndResetsOptionalParameters) {
  Parameter p = window_parameter();
  p.optional = true;
  Values values;
  EXPECT_TRUE(is_initial(p, values));
  values = with_initial(p, values);
  EXPECT_TRUE(values.has("window"));
  EXPECT_FALSE(is_initial(p, values));
  EXPECT_FALSE(reset(p, values).has("window"));
}

TEST(ParameterEdit, ReadsTypedLists) {
  std::string problem;
  const auto read = [&](const char* text) {
    return list_from_text(list_parameter(), text, problem);
  };
  EXPECT_EQ(read("0, 4, 7"), Value(std::vector<Index>{0, 4, 7}));
  EXPECT_EQ(read("[0, 4]"), Value(std::vector<Index>{0, 4}));
  EXPECT_EQ(read(" "), Value(std::vector<Index>{}));
  EXPECT_EQ(problem, "");
  EXPECT_EQ(read("0, x"), std::nullopt);
  EXPECT_NE(problem, "");
  EXPECT_EQ(read("1, 2"), Value(std::vector<Index>{1, 2}));
  EXPECT_EQ(problem, "");
}

TEST(ParameterEdit, ReadsListsOfLists) {
  Parameter p = list_parameter();
  p.kind = Parameter::Kind::IntegerLists;
  p.initial = std::vector<std::vector<Index>>{};
  std::string problem;
  const Value expected = std::vector<std::vector<Index>>{{0, 1}, {1, 0}};
  EXPECT_EQ(list_from_text(p, "0, 1; 1, 0", problem), expected) << problem;
  EXPECT_EQ(list_from_text(p, "[[0, 1], [1, 0]]", problem), expected) << problem;
  EXPECT_EQ(list_from_text(p, list_to_text(expected), problem), expected) << problem;
}

TEST(ParameterEdit, RoundTripsLists) {
  std::string problem;
  const Value value = std::vector<Index>{3, 1, 2};
  EXPECT_EQ(list_from_text(list_parameter(), list_to_text(value), problem), value);
}

// Every parameter can be drawn: its slider lies within its limits.
TEST(ParameterEdit, SlidersLieWithinParameterLimits) {
  const auto check = [](const Info& info) {
    for (const Parameter& p : info.parameters) {
      const std::string name = info.id + "." + p.key;
      EXPECT_FALSE(p.label.empty()) << name;
      EXPECT_FALSE(p.help.empty()) << name;
      const bool is_number = p.kind == Parameter::Kind::Integer || p.kind == Parameter::Kind::Real;
      if (!is_number) continue;
      EXPECT_LT(p.slider.min, p.slider.max) << name;
      EXPECT_GE(p.slider.min, p.limits.min) << name;
      EXPECT_LE(p.slider.max, p.limits.max) << name;
      Values values;
      EXPECT_TRUE(with_initial(p, values).has(p.key)) << name;
    }
  };
  for (const Variant& v : variants()) check(v);
  for (const Encoding& e : encodings()) check(e);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
