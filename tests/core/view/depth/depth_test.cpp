#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/figure/plain_text.h"
#include "core/model/exits.h"
#include "core/model/logit_lens.h"
#include "core/text/tokenizer.h"
#include "core/view/view.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::all_text;
using testing::lay_out_view;
using testing::LayoutOptions;
using testing::synthetic_trace;

LayoutOptions look_with_threshold(double threshold) {
  LayoutOptions look;
  Values values = view_values(look.settings, "depth");
  values.set("show", std::string("layers"));
  values.set("threshold", threshold);
  set_view_values(look.settings, "depth", values);
  return look;
}

TEST(Depth, ReportsSavedLayers) {
  const Trace trace = synthetic_trace(4, 2, 10);
  const std::string no_exits = all_text(lay_out_view(trace, "depth", look_with_threshold(1)).list);
  EXPECT_NE(no_exits.find("100% of tokens exit with the last layer's prediction, and 0% of layers"),
            std::string::npos)
      << no_exits;
  const std::string first_layer_exits =
      all_text(lay_out_view(trace, "depth", look_with_threshold(0)).list);
  EXPECT_NE(first_layer_exits.find("75% of layers could be skipped"), std::string::npos)
      << first_layer_exits;
  EXPECT_NE(first_layer_exits.find("0 (10)"),
            std::string::npos);  // all ten tokens exit after the first layer
}

// Layers that the run skipped are not reported as possible savings, at any threshold of the view.
TEST(Depth, ReportsSkippedLayers) {
  Trace trace = synthetic_trace(4, 2, 10);
  EXPECT_TRUE(view_controls(look_with_threshold(0.3).settings, &trace).idle.empty());
  auto config = std::make_shared<ModelConfig>(*trace.config);
  config->exits = Choice{"saturation", default_values(exit_rule("saturation").parameters)};
  trace.config = config;
  IntTensor run_exits = IntTensor::full({10}, 4);
  for (Index i = 0; i < 5; ++i) run_exits[i] = 2;
  trace.counts["exit.layer"] = run_exits;
  for (const double threshold : {0.0, 1.0}) {
    const std::string text =
        all_text(lay_out_view(trace, "depth", look_with_threshold(threshold)).list);
    EXPECT_NE(text.find("25% of layers skipped"), std::string::npos) << text;
    EXPECT_NE(text.find(exit_rule("saturation").label), std::string::npos) << text;
    for (const char* fragment : {"could be skipped", "of tokens exit with", "margin", "agree"}) {
      EXPECT_EQ(text.find(fragment), std::string::npos) << fragment << "\n" << text;
    }
    EXPECT_NE(text.find("1 (5)"), std::string::npos) << text;  // layers count from 0
    EXPECT_NE(text.find("3 (5)"), std::string::npos) << text;
  }
  LayoutOptions look = look_with_threshold(0);
  look.settings.id = "depth";
  EXPECT_TRUE(view_controls(look.settings, &trace).idle.contains("threshold"));
}

TEST(Depth, MaskedModelPredictsTokensInPlace) {
  Trace trace = synthetic_trace(4, 2, 10);
  EXPECT_NE(all_text(lay_out_view(trace, "depth").list).find("after this token"),
            std::string::npos);
  auto config = std::make_shared<ModelConfig>(*trace.config);
  config->architecture.values.set("masked", 0.2);
  trace.config = config;
  const std::string text = all_text(lay_out_view(trace, "depth").list);
  EXPECT_NE(text.find("in place of this token"), std::string::npos) << text;
  EXPECT_NE(text.find("The token at each position"), std::string::npos) << text;
  EXPECT_EQ(text.find("next token"), std::string::npos) << text;
}

TEST(Depth, ColoursTokensByTheirExit) {
  const Trace trace = synthetic_trace(4, 2, 10);
  const auto token_colours = [](const DisplayList& list) {
    std::vector<Colour> colours;
    for (const Item& item : list.items) {
      if (const auto* box = std::get_if<FilledBox>(&item)) colours.push_back(box->colour);
    }
    colours.resize(10);  // boxes of tokens come first
    return colours;
  };
  const std::vector<Index> exits =
      exit_layers(testing::synthetic_lens(trace), Confidence::Margin, 0.3);
  const std::vector<Colour> colours =
      token_colours(lay_out_view(trace, "depth", look_with_threshold(0.3)).list);
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t j = 0; j < 10; ++j) {
      EXPECT_EQ(colours[i] == colours[j], exits[i] == exits[j]) << i << ", " << j;
    }
  }
}

TEST(Depth, ExplainsExitMarksAtEverySize) {
  const Trace trace = synthetic_trace(4, 2, 19);
  LayoutOptions look;
  look = look_with_threshold(0.3);
  look.framed = false;
  const ViewLayout large = lay_out_view(trace, "depth", look);
  EXPECT_NE(all_text(large.list).find("bold: the last layer's prediction"), std::string::npos);
  EXPECT_NE(all_text(large.list).find("outlined: exits here"), std::string::npos);
  EXPECT_EQ(testing::count_highlighted_boxes(large.list), 19);
  look.width = 455;
  look.height = 290;          // the view in a window of 1920 x 1080 at scale 2
  look.settings.height = 19;  // all tokens
  look.settings.width = 4;
  const ViewLayout small = lay_out_view(trace, "depth", look);
  EXPECT_NE(all_text(small.list).find("line: exits here"), std::string::npos);
  EXPECT_NE(all_text(small.list).find("zoom in for the predictions"), std::string::npos);
  EXPECT_EQ(testing::count_highlighted_boxes(small.list), 0);  // outlines would fill the cells
  EXPECT_NE(all_text(small.list).find("margin ≥ 0.3"), std::string::npos);
}

// At 1280 x 800, all predictions of a short text and the last predictions of a long text are
// legible.
TEST(Depth, PredictionsAreLegible) {
  const auto guesses = [](const Trace& trace, const LayoutOptions& look) {
    const ViewLayout layout = lay_out_view(trace, "depth", look);
    EXPECT_EQ(testing::layout_error(layout.list), "");
    Index count = 0;
    for (const Text& text : testing::texts(layout.list)) {
      if (text.align == Align::Middle && layout.plot.contains(text.at)) ++count;
    }
    EXPECT_EQ(static_cast<double>(count), 4 * layout.height);
    EXPECT_EQ(layout.row + layout.height, static_cast<double>(trace.tokens.size()));
    EXPECT_EQ(layout.rows, static_cast<Index>(trace.tokens.size()));
    const std::string note = "the last " + std::to_string(count / 4) + " of ";
    EXPECT_EQ(layout.row > 0, all_text(layout.list).find(note) != std::string::npos);
    return count / 4;
  };
  LayoutOptions look;
  look.framed = false;
  look.font_size = 14;
  look.width = 660;
  look.height = 490;
  EXPECT_EQ(guesses(synthetic_trace(4, 2, 20), look), 20);
  look.width = 455;
  look.height = 290;
  EXPECT_GE(guesses(synthetic_trace(4, 2, 23), look), 6);
  look.width = 1000;
  look.height = 830;
  EXPECT_GE(guesses(synthetic_trace(4, 2, 214), look), 30);
  look.framed = look.tight = true;
  EXPECT_GE(guesses(synthetic_trace(4, 2, 214), look), 25);
}

// Tokenizer whose tokens are a word and punctuation in turn.
class WordsAndCommas : public Tokenizer {
 public:
  std::string kind() const override { return "words and commas"; }
  std::int32_t vocabulary_size() const override { return 13; }
  std::vector<Token> encode(std::string_view) const override { return {}; }
  std::string bytes(std::int32_t id) const override { return id % 2 == 0 ? "word" : " ,"; }
  bool is_special(std::int32_t) const override { return false; }
  void save(const std::filesystem::path&) const override {}
};

// A comma in the size of words is hardly legible.
TEST(Depth, PunctuationIsLargerThanWords) {
  Trace trace = synthetic_trace(4, 2, 12);
  trace.tokenizer = std::make_shared<const WordsAndCommas>();
  LayoutOptions look;
  look.framed = false;
  const ViewLayout layout = lay_out_view(trace, "depth", look);
  EXPECT_EQ(testing::layout_error(layout.list), "");
  const auto size_of = [&](const std::string& label) {
    std::set<double> sizes;
    for (const Text& text : testing::texts(layout.list)) {
      if (text.text == label && layout.plot.contains(text.at)) sizes.insert(text.size);
    }
    return sizes.size() == 1 ? *sizes.begin() : 0;
  };
  EXPECT_GT(size_of("word"), 0);
  EXPECT_GE(size_of(","), 1.4 * size_of("word"));
}

TEST(Depth, HitsAreLayersAndPositions) {
  const Trace trace = synthetic_trace(4, 2, 10);
  const ViewLayout layout = lay_out_view(trace, "depth");
  EXPECT_EQ(layout.rows, 10);
  EXPECT_EQ(layout.columns, 4);
  const Box plot = layout.plot;
  const auto hit = layout.hit({plot.x + 2.5 * plot.width / 4, plot.y + 7.5 * plot.height / 10});
  ASSERT_TRUE(hit.has_value());
  EXPECT_EQ(hit->layer, 2);
  EXPECT_EQ(hit->query, 7);
  EXPECT_EQ(hit->key, -1);
}

// The automatic threshold is the lowest one from which on at least 90% of tokens exit with the last
// layer's prediction.
TEST(Depth, AutomaticThresholdStartsAtHighAgreement) {
  const Trace trace = synthetic_trace(6, 2, 40);
  const LogitLens lens = testing::synthetic_lens(trace);
  for (const Confidence measure :
       {Confidence::Margin, Confidence::Probability, Confidence::Saturation}) {
    const double threshold = agreeing_threshold(lens, measure, 0.9);
    for (double t = threshold; t <= 1; t += 0.01) {
      EXPECT_GE(exit_summary(lens, exit_layers(lens, measure, t)).agreement, 0.9) << t;
    }
    if (threshold == 0) continue;
    const auto lower = exit_layers(lens, measure, threshold - 0.001);
    EXPECT_LT(exit_summary(lens, lower).agreement, 0.9) << threshold;
  }
  const double margin = agreeing_threshold(lens, Confidence::Margin, 0.9);
  const ExitSummary summary = exit_summary(lens, exit_layers(lens, Confidence::Margin, margin));
  LayoutOptions wide;
  wide.width = 1000;
  const std::string text = all_text(lay_out_view(trace, "depth", wide).list);
  EXPECT_NE(text.find("margin ≥ " + brief(margin, 3) + ": " + percent(summary.agreement) +
                      " of tokens exit with the last layer's prediction, and " +
                      percent(summary.saved) + " of layers could be skipped"),
            std::string::npos)
      << text;
}

TEST(Depth, ShowsAgreementOfEachLayer) {
  const Trace trace = synthetic_trace(4, 2, 10);
  const std::vector<double> shares = layer_agreement(testing::synthetic_lens(trace));
  EXPECT_EQ(shares, (std::vector<double>{0, 0, 1, 1}));
  const std::string text = all_text(lay_out_view(trace, "depth").list);
  EXPECT_NE(text.find("agree"), std::string::npos) << text;
}

// Some of 30 layers are omitted to make predictions legible, but never the selected layer.
TEST(Depth, DeepModelShowsEveryNthLayer) {
  const Trace trace = synthetic_trace(30, 2, 12);
  LayoutOptions look = look_with_threshold(0.3);
  look.framed = false;
  look.width = 860;
  look.settings.layer = 16;
  const ViewLayout layout = lay_out_view(trace, "depth", look);
  EXPECT_EQ(testing::layout_error(layout.list), "");
  EXPECT_LT(layout.columns, 20);
  EXPECT_GT(layout.columns, 6);
  std::set<Index> layers;
  for (Index c = 0; c < layout.columns; ++c) {
    const double x = layout.plot.x + (static_cast<double>(c) + 0.5) * layout.plot.width /
                                         static_cast<double>(layout.columns);
    layers.insert(layout.hit({x, layout.plot.y + 5}).value().layer);
  }
  EXPECT_EQ(static_cast<Index>(layers.size()), layout.columns);
  for (const Index layer : {0, 16, 29}) EXPECT_TRUE(layers.contains(layer)) << layer;
  Index words = 0;
  for (const Text& text : testing::texts(layout.list)) {
    words += text.align == Align::Middle && layout.plot.contains(text.at) ? 1 : 0;
  }
  EXPECT_EQ(words, 12 * layout.columns);
  const std::string text = all_text(layout.list);
  EXPECT_NE(text.find(std::to_string(layout.columns) + " of 30 layers"), std::string::npos) << text;
  EXPECT_NE(text.find("line: exits at a layer that is not shown"), std::string::npos) << text;
  set_view_value(look.settings, "depth", "every", Index{1});
  EXPECT_EQ(lay_out_view(trace, "depth", look).columns, 30);
}

TEST(Depth, ShowsAllLayersOnlyIfMostPredictionsFit) {
  const Trace trace = synthetic_trace(24, 2, 24);
  LayoutOptions look = look_with_threshold(0.3);
  look.height = 900;
  Index former_columns = 0;
  for (const double width : {400.0, 700.0, 1000.0, 1300.0, 1600.0}) {
    look.width = width;
    const ViewLayout layout = lay_out_view(trace, "depth", look);
    Index words = 0, cut = 0;
    for (const Text& text : testing::texts(layout.list)) {
      if (text.align != Align::Middle || !layout.plot.contains(text.at)) continue;
      ++words;
      cut += text.text.ends_with("…") ? 1 : 0;
    }
    EXPECT_EQ(words, 24 * layout.columns) << width;
    EXPECT_LE(5 * cut, words) << width << ", " << layout.columns << " layers";
    EXPECT_GE(layout.columns, former_columns) << width;
    former_columns = layout.columns;
  }
  EXPECT_EQ(former_columns, 24);
}

// The legend's counts sum to the number of tokens, even if some layers have no space.
TEST(Depth, LegendContainsAllExits) {
  const Trace trace = synthetic_trace(30, 2, 60);
  for (const double width : {400.0, 700.0, 1500.0}) {
    LayoutOptions look = look_with_threshold(0.45);
    look.width = width;
    look.framed = false;
    Index tokens = 0;
    for (const Text& text : testing::texts(lay_out_view(trace, "depth", look).list)) {
      const std::size_t open = text.text.find(" (");
      const bool is_count =
          open != std::string::npos && text.text.ends_with(")") &&
          std::isdigit(static_cast<unsigned char>(text.text[0])) != 0 &&
          text.text.find_first_not_of("0123456789", open + 2) == text.text.size() - 1;
      if (is_count) tokens += std::stoi(text.text.substr(open + 2));
    }
    EXPECT_EQ(tokens, 60) << width;
  }
}

TEST(Depth, ReportsPendingLayers) {
  const Trace trace = synthetic_trace(2, 2, 5);
  LayoutOptions look;
  look.knows_lens = false;
  EXPECT_NE(lay_out_view(trace, "depth", look).refusal.find("Computing"), std::string::npos);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
