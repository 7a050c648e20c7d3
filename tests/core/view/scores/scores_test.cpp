#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/analysis/pair.h"
#include "core/figure/plain_text.h"
#include "core/view/scores/score_stages.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;
using testing::run_model;

std::vector<ScoreMap> score_maps_of(const Trace& trace, Index head, ViewCache* cache = nullptr) {
  Session session;
  session.view.head = head;
  const ViewInput input{.trace = trace,
                        .session = session,
                        .canvas = {.theme = Theme::light(), .measure = file_text_measure()},
                        .cache = cache};
  return score_maps(input, trace.attention[0], head);
}

const char* const kEncodings[] = {"none",
                                  "rope",
                                  "alibi",
                                  "t5",
                                  "distance_aware",
                                  "untied",
                                  "transformer_xl",
                                  "sinusoidal",
                                  R"({"type": "shaw", "clip": 3})",
                                  R"({"type": "relative_bias", "clip": 3})",
                                  R"({"type": "relative_factor", "clip": 3})",
                                  R"({"type": "deberta", "clip": 3})"};

TEST(Scores, TermsSumToScoreAndSoftmaxOfScoresIsWeight) {
  for (const char* encoding : kEncodings) {
    for (const char* variant : {"full", R"({"type": "local", "window": 3})"}) {
      const Trace trace = run_model({.variant = variant, .encoding = encoding, .kv_heads = 1});
      const AttentionTap& tap = trace.attention[0];
      ViewCache cache;
      for (const Index head : {0, 1, 0}) {
        const std::vector<ScoreMap> maps = score_maps_of(trace, head, &cache);
        ASSERT_GE(maps.size(), 2u) << encoding;
        ASSERT_TRUE(maps.back().is_sum);
        for (Index i = 0; i < 12; ++i) {
          double normaliser = 0;
          for (Index c = 0; c < 12; ++c) {
            const bool is_allowed = tap.result.pattern->allowed(0, i, c);
            EXPECT_EQ(std::isfinite(maps.back().cells(i, c)), is_allowed);
            if (!is_allowed) continue;
            double sum = 0, factor = 1;
            for (const ScoreMap& map : maps) {
              if (map.is_factor) {
                factor = static_cast<double>(map.cells(i, c));
              } else if (!map.is_sum) {
                sum += static_cast<double>(map.cells(i, c));
              }
            }
            const auto score = static_cast<double>(maps.back().cells(i, c));
            const double expected = pair_score(*tap.part(), head, i, c)->score;
            EXPECT_TRUE(std::abs(sum * factor - score) <= 1e-4) << encoding;
            EXPECT_TRUE(std::abs(expected - score) <= 1e-4) << encoding;
            normaliser += std::exp(expected);
          }
          const RowStages row = row_stages(tap, head, i, maps);
          EXPECT_EQ(row.terms.size(), maps.size() - 1);
          for (Index c = 0; c < 12; ++c) {
            const auto key = static_cast<std::size_t>(c);
            if (!tap.result.pattern->allowed(0, i, c)) {
              EXPECT_TRUE(std::isnan(row.weight[key]));
              continue;
            }
            EXPECT_TRUE(std::abs(row.weight[key] - std::exp(row.score[key]) / normaliser) <= 1e-4);
            double square = 0;
            for (Index n = 0; n < 8; ++n) {
              square += std::pow(static_cast<double>(tap.part()->v.value()(0, c, n)), 2);
            }
            EXPECT_TRUE(std::abs(row.contribution[key] - row.weight[key] * std::sqrt(square)) <=
                        1e-5);
          }
        }
      }
    }
  }
}

std::vector<std::string> term_names(const Trace& trace, const AttentionTap& tap) {
  Session session;
  const ViewInput input{.trace = trace,
                        .session = session,
                        .canvas = {.theme = Theme::light(), .measure = file_text_measure()}};
  std::vector<std::string> names;
  for (const ScoreMap& map : score_maps(input, tap, 0)) names.push_back(map.name);
  return names;
}

using Names = std::vector<std::string>;

// Deeper layers also have four terms, because the residual stream adds to the input embeddings.
TEST(Scores, InputEncodingsHaveFourTerms) {
  for (const char* encoding : {"sinusoidal", "learned"}) {
    const Trace trace = run_model({.encoding = encoding});
    for (const AttentionTap& tap : trace.attention) {
      EXPECT_EQ(term_names(trace, tap),
                (Names{"content · content", "content · position", "position · content",
                       "position · position", "score"}))
          << encoding << ", layer " << tap.address.layer;
    }
  }
  const Trace unencoded = run_model({.encoding = "none"});
  EXPECT_EQ(term_names(unencoded, unencoded.attention[1]), (Names{"content · content", "score"}));
}

TEST(Scores, LabelsContentThatIncludesPosition) {
  const std::string learned = R"({"type": "learned", "every_layer": true})";
  const Trace trace = run_model({.encoding = learned});
  EXPECT_EQ(term_names(trace, trace.attention[1]), (Names{"content with position", "score"}));
}

TEST(Scores, SeparatesEffectOfRotation) {
  const Trace trace = run_model({});
  const std::vector<ScoreMap> maps = score_maps_of(trace, 1);
  ASSERT_EQ(maps.size(), 3u);
  const AttentionTap& tap = trace.attention[0];
  double product = 0;
  for (Index n = 0; n < 8; ++n) {
    product +=
        static_cast<double>(tap.input().q(1, 7, n)) * static_cast<double>(tap.input().k(1, 2, n));
  }
  EXPECT_TRUE(std::abs(static_cast<double>(maps[0].cells(7, 2)) - product / std::sqrt(8.0)) <=
              1e-5);
  // On the diagonal, query and key are rotated equally.
  EXPECT_TRUE(std::abs(maps[1].cells(5, 5)) <= 1e-5F);
}

TEST(Scores, ExplainMissingTerms) {
  for (const char* variant : {"linear", R"({"type": "full", "score": "additive"})",
                              R"({"type": "lsh", "buckets": 4, "rounds": 1})"}) {
    const Trace trace = run_model({.variant = variant, .encoding = "none"});
    EXPECT_NE(lay_out_view(trace, "scores").refusal.find("no separate score terms"),
              std::string::npos)
        << variant;
  }
  EXPECT_NE(lay_out_view(testing::synthetic_trace(1, 1, 5), "scores").refusal, "");
}

// Heat maps of pairs, without the colour bar.
std::vector<HeatMap> heat_maps(const ViewLayout& layout, Index keys) {
  std::vector<HeatMap> maps;
  for (const Item& item : layout.list.items) {
    const auto* map = std::get_if<HeatMap>(&item);
    if (map && map->values.dim(1) == keys) maps.push_back(*map);
  }
  return maps;
}

TEST(Scores, OmitsRowOnlyIfShrinkingIsNotEnough) {
  const Trace trace = run_model({.length = 19});
  LayoutOptions options;
  options.framed = false;
  options.width = 455;
  options.height = 290;  // as in a window of 1920 x 1080 at scale 2
  const ViewLayout shrunk = lay_out_view(trace, "scores", options);
  EXPECT_EQ(heat_maps(shrunk, 19).size(), 3u);
  EXPECT_NE(testing::all_text(shrunk.list).find("Row of the query"), std::string::npos);
  options.height = 140;
  const ViewLayout without_row = lay_out_view(trace, "scores", options);
  EXPECT_EQ(heat_maps(without_row, 19).size(), 3u);
  EXPECT_NE(testing::all_text(without_row.list).find("Enlarge the window to see the query's row"),
            std::string::npos);
}

// Next to the text of a lesson on a screen of 1920 x 1080, with the font sizes of a presentation,
// the row shows all stages.
TEST(Scores, StageShowsTerms) {
  const Trace trace = run_model({.encoding = "rope", .length = 16});
  LayoutOptions options;
  options.framed = false;
  options.font_size = 12.1;
  for (const double scale : {2.2, 2.4, 2.6}) {  // pixels per unit, as chosen and enlarged twice
    options.width = 1056 / scale;
    options.height = 1080 / scale;
    const std::string text = testing::all_text(lay_out_view(trace, "scores", options).list);
    EXPECT_NE(text.find("\neffect of RoPE\n"), std::string::npos) << scale << text;
    EXPECT_NE(text.find("\nweight·‖v‖\n"), std::string::npos) << scale << text;
    EXPECT_EQ(text.find("no space for"), std::string::npos) << scale;
  }
}

// The first query has its only bar on the left, the last one its bars on the right.
TEST(Scores, NamesInLowChartsAvoidBars) {
  const Trace trace = run_model({.variant = R"({"type": "local", "window": 1})", .length = 19});
  LayoutOptions options;
  options.settings = testing::settings_with("scores", R"({"show": "row"})");
  for (const auto& [query, is_left] : {std::pair<Index, bool>{0, false}, {18, true}}) {
    options.settings.pinned_query = query;
    int names = 0;
    for (options.height = 220; options.height < 500; options.height += 20) {
      for (const Text& text : testing::texts(lay_out_view(trace, "scores", options).list)) {
        if (text.text != "weight·‖v‖" || text.angle != 0) continue;
        ++names;
        EXPECT_EQ(text.at.x < options.width / 2, is_left) << query << ", " << options.height;
      }
    }
    EXPECT_GT(names, 0) << query;
  }
}

TEST(Scores, PointerReportsKey) {
  const Trace trace = run_model({});
  LayoutOptions options;
  options.framed = false;
  options.settings = testing::settings_with("scores", R"({"show": "row"})");
  options.settings.pinned_query = 9;
  const std::vector<double> score =
      row_stages(trace.attention[0], 0, 9, score_maps_of(trace, 0)).score;
  std::set<Index> hit_keys;
  for (double x = 5; x < options.width; x += 10) {
    options.pointer = Point{x, 300};
    const ViewLayout layout = lay_out_view(trace, "scores", options);
    const std::optional<Hit> hit = layout.hit(*options.pointer);
    if (!hit) continue;
    EXPECT_EQ(hit->query, 9);
    hit_keys.insert(hit->key);
    const double number = score[static_cast<std::size_t>(hit->key)];
    const std::string expected = std::isfinite(number) ? brief(number) : "not allowed";
    EXPECT_NE(testing::all_text(layout.list).find("\n" + expected + "\n"), std::string::npos)
        << hit->key;
  }
  EXPECT_EQ(hit_keys.size(), 12u);
}

TEST(Scores, PointerReportsCell) {
  const Trace trace = run_model({});
  const std::vector<ScoreMap> maps = score_maps_of(trace, 0);
  const ViewLayout layout = lay_out_view(trace, "scores");
  const std::vector<HeatMap> cells = heat_maps(layout, 12);
  ASSERT_EQ(cells.size(), maps.size());
  for (std::size_t n = 0; n < maps.size(); ++n) {
    const Box box = cells[n].box;
    const auto hit = layout.hit({box.x + 3.5 * box.width / 12, box.y + 8.5 * box.height / 12});
    ASSERT_TRUE(hit.has_value());
    EXPECT_EQ(hit->shown, brief(static_cast<double>(maps[n].cells(8, 3))));
  }
}

TEST(Scores, StagesAndOmissionsAreNamed) {
  const Trace trace = run_model({.encoding = "t5"});
  LayoutOptions options;
  options.framed = false;
  options.font_size = 14;
  options.width = 530;
  options.height = 350;  // as in a window of 1280 x 800 at scale 1.5
  std::set<std::string> drawn_texts;
  for (const Text& text : testing::texts(lay_out_view(trace, "scores", options).list)) {
    drawn_texts.insert(text.text);
  }
  for (const char* name : {"score", "weight"}) EXPECT_TRUE(drawn_texts.count(name)) << name;
  for (const char* name : {"s", "a"}) EXPECT_FALSE(drawn_texts.count(name)) << name;
  const bool has_note =
      std::any_of(drawn_texts.begin(), drawn_texts.end(),
                  [](const std::string& text) { return text.starts_with("no space for terms"); });
  EXPECT_NE(has_note, drawn_texts.count("terms") > 0);
}

TEST(Scores, ColourBarOfPooledMapsStatesPooling) {
  const auto states_pooling = [](const Trace& trace) {
    for (const Text& text : testing::texts(lay_out_view(trace, "scores").list)) {
      if (text.text.ends_with("max-pooled")) return true;
      if (text.text.ends_with("pooled")) return true;  // shorter wording
    }
    return false;
  };
  EXPECT_TRUE(states_pooling(run_model({.encoding = "t5", .length = 290})));
  EXPECT_FALSE(states_pooling(run_model({.encoding = "t5"})));
}

TEST(Scores, ExplainTensorsWithoutQueries) {
  Trace trace = testing::synthetic_trace(1, 1, 5);
  trace.is_imported = true;
  for (const char* view : {"scores", "vectors", "span", "position"}) {
    const std::string refusal = lay_out_view(trace, view).refusal;
    EXPECT_NE(refusal.find("attention alone"), std::string::npos) << view;
    EXPECT_EQ(refusal.find("Choose full attention"), std::string::npos) << view;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
