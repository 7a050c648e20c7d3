#include "core/part/info.h"

#include <gtest/gtest.h>

#include <set>

#include "core/attention/variant.h"
#include "core/base/error.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::string error_message(const Info& info, const Dimensions& dimensions, const NamedVars& weights,
                          bool requires_state = false) {
  try {
    check_weights(info, default_values(info.parameters), dimensions, weights, requires_state);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

Info two_weights() {
  Info info;
  info.weights = {{.name = "a",
                   .shape = [](const Dimensions& n, const Values&) -> Shape {
                     return {n.heads, n.inner};
                   }},
                  {.name = "b",
                   .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.inner}; }}};
  return info;
}

TEST(CheckWeights, BindsFreeSizes) {
  const Info info = two_weights();
  const Dimensions free_sizes = free_dimensions(2, 2, 4, 3);
  EXPECT_EQ(error_message(info, free_sizes, {{"a", Tensor({2, 5})}, {"b", Tensor({5})}}),
            "accepted");
  EXPECT_EQ(error_message(info, free_sizes, {{"a", Tensor({2, 5})}, {"b", Tensor({4})}}),
            "b: expected shape [5], found [4]");
  EXPECT_EQ(error_message(info, free_sizes, {{"a", Tensor({3, 5})}, {"b", Tensor({5})}}),
            "a: expected shape [2, at least 1], found [3, 5]");
  EXPECT_EQ(error_message(info, free_sizes, {{"a", Tensor({2, 0})}, {"b", Tensor({0})}}),
            "a: expected shape [2, at least 1], found [2, 0]");
  EXPECT_EQ(error_message(info, free_sizes, {{"a", Tensor({10})}, {"b", Tensor({5})}}),
            "a: expected shape [2, at least 1], found [10]");
  EXPECT_EQ(error_message(info, free_sizes, {{"a", Tensor({2, 5})}}),
            "b: missing, expected shape [5]");
}

TEST(CheckWeights, RequiresStatesAndAcceptsMissingOptionalWeights) {
  Info info = two_weights();
  info.weights.pop_back();
  info.weights[0].file.optional = true;
  EXPECT_EQ(error_message(info, free_dimensions(2, 2, 4, 3), {}), "accepted");
  info.weights[0].file.state = true;
  EXPECT_EQ(error_message(info, free_dimensions(2, 2, 4, 3), {}), "accepted");
  EXPECT_NE(error_message(info, free_dimensions(2, 2, 4, 3), {}, true), "accepted");
  info.weights[0].used = [](const Values&) { return false; };
  EXPECT_EQ(error_message(info, free_dimensions(2, 2, 4, 3), {}, true), "accepted");
}

TEST(CheckWeights, AcceptsEmptyMemories) {
  const Info& info = variant("segment_memory");
  const Dimensions free_sizes = free_dimensions(2, 2, 4, 3);
  EXPECT_EQ(error_message(info, free_sizes,
                          {{"mem.k", Tensor({2, 0, 4})}, {"mem.v", Tensor({2, 0, 3})}}, true),
            "accepted");
  EXPECT_EQ(error_message(info, free_sizes,
                          {{"mem.k", Tensor({2, 3, 4})}, {"mem.v", Tensor({2, 0, 3})}}, true),
            "mem.v: expected shape [2, 3, 3], found [2, 0, 3]");
}

TEST(CheckWeights, AcceptsMasksPerHead) {
  const Info& info = variant("custom");
  Dimensions exact_sizes = free_dimensions(2, 2, 4, 3);
  exact_sizes.queries = 3;
  exact_sizes.keys = 5;
  EXPECT_EQ(error_message(info, exact_sizes, {{"pattern.mask", Tensor({3, 5})}}), "accepted");
  EXPECT_EQ(error_message(info, exact_sizes, {{"pattern.mask", Tensor({2, 3, 5})}}), "accepted");
  EXPECT_EQ(error_message(info, exact_sizes, {{"pattern.mask", Tensor({3, 4})}}),
            "pattern.mask: expected shape [3, 5] or [2, 3, 5], found [3, 4]");
}

void expect_complete_parameter(const Parameter& p) {
  SCOPED_TRACE(p.key);
  EXPECT_FALSE(p.key.empty());
  EXPECT_FALSE(p.label.empty());
  EXPECT_TRUE(p.help.ends_with('.'));
  EXPECT_FALSE(p.required && p.optional);
  EXPECT_NO_THROW(check_value(p, p.initial, "x"));
  const bool is_number = p.kind == Parameter::Kind::Integer || p.kind == Parameter::Kind::Real;
  if (is_number) {
    EXPECT_LT(p.slider.min, p.slider.max);
    EXPECT_GE(p.slider.min, p.limits.min);
    EXPECT_LE(p.slider.max, p.limits.max);
    EXPECT_TRUE(!p.slider.logarithmic || p.slider.min > 0);
  }
  EXPECT_EQ(p.kind == Parameter::Kind::Choice, !p.choices.empty());
  EXPECT_TRUE(p.choices.empty() || p.initial == Value(p.choices.front().id));
}

void expect_complete(const Info& info) {
  SCOPED_TRACE(info.id);
  for (const std::string* text : {&info.id, &info.label, &info.group, &info.equation, &info.summary,
                                  &info.source, &info.complexity}) {
    EXPECT_FALSE(text->empty());
  }
  EXPECT_TRUE(info.summary.ends_with('.'));
  EXPECT_GT(info.summary.size(), 100u);
  EXPECT_NE(info.source.find("arXiv:"), std::string::npos);
  std::set<std::string> names;
  for (const Parameter& p : info.parameters) {
    EXPECT_TRUE(names.insert(p.key).second) << p.key;
    expect_complete_parameter(p);
  }
  Dimensions sizes{.model = 6, .heads = 2, .kv_heads = 2, .key = 4, .value = 3, .context = 16};
  const Values values = default_values(info.parameters);
  for (const WeightInfo& w : info.weights) {
    SCOPED_TRACE(w.name);
    EXPECT_TRUE(names.insert(w.name).second);
    EXPECT_TRUE(w.help.ends_with('.'));
    ASSERT_TRUE(w.shape != nullptr);
    EXPECT_TRUE(w.file.optional || w.initial) << "required weight without initial values";
    if (!w.initial || !info.uses(w, values)) continue;
    const Shape shape = w.shape(sizes, values);
    const Tensor first = w.initial(shape, sizes, values, 7),
                 repeated = w.initial(shape, sizes, values, 7);
    EXPECT_EQ(first.shape(), shape);
    EXPECT_TRUE(std::equal(first.begin(), first.end(), repeated.begin()));
  }
}

TEST(Registries, AreComplete) {
  std::set<std::string> ids;
  for (const Variant& v : variants()) {
    expect_complete(v);
    EXPECT_TRUE(ids.insert(v.id).second) << v.id;
    EXPECT_TRUE(v.pattern || v.evaluate) << v.id;
  }
  EXPECT_EQ(variants().front().id, "full");
  ids.clear();
  for (const Encoding& e : encodings()) {
    expect_complete(e);
    EXPECT_TRUE(ids.insert(e.id).second) << e.id;
    EXPECT_FALSE(e.embed && e.apply) << e.id;
  }
  EXPECT_EQ(encodings().front().id, "none");
}

TEST(Registries, KeepGroupsTogether) {
  const auto expect_together = [](const auto& list) {
    std::set<std::string> finished_groups;
    std::string current;
    for (const Info& info : list) {
      if (info.group == current) continue;
      EXPECT_TRUE(finished_groups.insert(info.group).second) << info.group;
      current = info.group;
    }
  };
  expect_together(variants());
  expect_together(encodings());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
