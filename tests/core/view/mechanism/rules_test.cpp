#include <gtest/gtest.h>

#include <cmath>

#include "core/view/pattern/rule_cells.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace {

using testing::Look;
using testing::look_at;

Look looking_at(Index query, Index key) {
  Look look;
  look.settings.pinned_query = query;
  look.settings.pinned_key = key;
  return look;
}

bool says(const DisplayList& list, const std::string& part) {
  for (const Text& text : testing::texts(list)) {
    if (text.text.find(part) != std::string::npos) return true;
  }
  return false;
}

// The grounds of tokens, in the order in which they are drawn: of a text those with this height.
std::vector<Colour> token_grounds(const DisplayList& list, std::size_t count) {
  std::vector<Colour> colours;
  for (std::size_t n = 0; n + 1 < list.items.size(); ++n) {
    const auto* box = std::get_if<FilledBox>(&list.items[n]);
    if (box == nullptr || std::abs(box->box.height - 1.45 * 13) > 1e-9) continue;
    colours.push_back(box->colour);
  }
  EXPECT_EQ(colours.size(), count);
  return colours;
}

TEST(RulesMechanism, TokensHaveTheColoursOfTheRules) {
  const Index length = 16;
  const Trace trace = testing::synthetic_trace(testing::window_and_global(length, 2, 1));
  const Pattern& pattern = *trace.attention[0].result.pattern;
  for (const auto& [query, key] : {std::pair<Index, Index>{9, 4}, {0, 15}, {15, 0}}) {
    const DisplayList list = look_at(trace, "mechanism", looking_at(query, key)).list;
    const std::vector<Colour> grounds = token_grounds(list, static_cast<std::size_t>(2 * length));
    for (Index n = 0; n < length; ++n) {
      const auto expected = [&](int rule) {
        return rule < 0 ? not_allowed_colour(Theme::light())
                        : rule_colour(static_cast<std::size_t>(rule));
      };
      EXPECT_EQ(grounds[static_cast<std::size_t>(n)], expected(pattern.rule(0, query, n)));
      EXPECT_EQ(grounds[static_cast<std::size_t>(length + n)], expected(pattern.rule(0, n, key)));
    }
  }
}

TEST(RulesMechanism, CountsAndNamesTheRules) {
  // Row 9 has the window 7 to 11 and the global key 0; column 4 the window 2 to 6 and query 0.
  const Trace trace = testing::synthetic_trace(testing::window_and_global(16, 2, 1));
  const DisplayList list = look_at(trace, "mechanism", looking_at(9, 4)).list;
  EXPECT_TRUE(says(list, "6 of 16 keys"));
  EXPECT_TRUE(says(list, "6 of 16 queries"));
  EXPECT_TRUE(says(list, "window (keys 5, queries 5)"));
  EXPECT_TRUE(says(list, "global (keys 1, queries 1)"));
  EXPECT_TRUE(says(list, "not allowed"));
}

TEST(RulesMechanism, SaysWhatTheParametersAre) {
  const Trace trace = testing::run_model({.variant = R"({"type": "local", "window": 3})"});
  EXPECT_TRUE(says(look_at(trace, "mechanism").list, "Window w = 3"));
}

TEST(RulesMechanism, ThePointerChoosesThePair) {
  const Trace trace = testing::synthetic_trace(testing::window_and_global(16, 2, 1));
  Look look = looking_at(9, 4);
  const ViewLayout before = look_at(trace, "mechanism", look);
  bool other_query = false, other_key = false, pair = false;
  for (double y = 30; y < look.height; y += 9) {
    for (double x = 10; x < look.width; x += 30) {
      const std::optional<Hit> hit = before.hit({x, y});
      if (!hit) continue;
      look.pointer = Point{x, y};
      const DisplayList list = look_at(trace, "mechanism", look).list;
      const Pattern& pattern = *trace.attention[0].result.pattern;
      EXPECT_TRUE(says(list, "may look at " + std::to_string(pattern.row_count(0, hit->query))));
      other_query = other_query || (hit->query != 9 && hit->key == 4);
      other_key = other_key || (hit->query == 9 && hit->key != 4);
      pair = pair || (hit->query != 9 && hit->key != 4);
    }
  }
  EXPECT_TRUE(other_query && other_key && pair);
}

TEST(RulesMechanism, NumbersAreThoseOfThePattern) {
  const Trace trace = testing::synthetic_trace(testing::window_and_global(16, 2, 1));
  const Pattern& pattern = *trace.attention[0].result.pattern;
  const testing::InputOf of(trace, looking_at(9, 4).settings);
  const auto matrices = view("mechanism").data(of.input).matrices;
  ASSERT_EQ(matrices.size(), 2u);
  ASSERT_EQ(matrices[0].values.shape(), (Shape{1, 16}));
  ASSERT_EQ(matrices[1].values.shape(), (Shape{1, 16}));
  for (Index n = 0; n < 16; ++n) {
    const auto same = [](float found, int rule) {
      return rule < 0 ? std::isnan(found) : found == static_cast<float>(rule);
    };
    EXPECT_TRUE(same(matrices[0].values(0, n), pattern.rule(0, 9, n))) << n;
    EXPECT_TRUE(same(matrices[1].values(0, n), pattern.rule(0, n, 4))) << n;
  }
}

}  // namespace
}  // namespace attnscope
