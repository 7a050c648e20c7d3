// Views with word merging: content, hits, pins, zoom, exported numbers.
#include "core/view/parts/word_merging.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/experiment/head_table.h"
#include "core/view/export/view_data.h"
#include "tests/support/compare.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::lay_out_view;
using testing::LayoutOptions;

Trace word_piece_trace() {
  const std::vector<std::string> tokens = {"The", " sa", "il", "or", " sings", ".", " La", "nd"};
  Trace trace = testing::synthetic_trace(2, 3, 8);
  trace.tokenizer = byte_tokenizer();
  for (std::size_t n = 0; n < tokens.size(); ++n) {
    trace.tokens[n].bytes = tokens[n];
    trace.tokens[n].label = visible(tokens[n]);
    trace.tokens[n].id = static_cast<std::int32_t>(n);
  }
  return trace;
}

LayoutOptions word_look(const std::string& view = "map") {
  LayoutOptions look;
  look.settings.id = view;
  look.settings.words = true;
  look.settings.layer = 1;
  look.settings.head = 2;
  return look;
}

bool has_text(const DisplayList& list, const std::string& fragment) {
  const std::vector<Text> all = testing::texts(list);
  return std::ranges::any_of(
      all, [&](const Text& text) { return text.text.find(fragment) != std::string::npos; });
}

Point cell_centre(const ViewLayout& layout, double row, double column) {
  return {layout.plot.x + (column + 0.5 - layout.column) * layout.plot.width / layout.width,
          layout.plot.y + (row + 0.5 - layout.row) * layout.plot.height / layout.height};
}

Tensor word_weights(const Trace& trace, const std::string& source = "head") {
  Session session;
  session.view = word_look().settings;
  set_view_value(session.view, "map", "source", source);
  return view_data(trace, session).matrices.at(0).values;
}

TEST(WordMerging, CaptionAndAxesNameWords) {
  const Trace trace = word_piece_trace();
  for (const char* view : {"map", "lines", "grid"}) {
    const ViewLayout layout = lay_out_view(trace, view, word_look(view));
    EXPECT_TRUE(has_text(layout.list, "5 words of 8 tokens")) << view;
    EXPECT_TRUE(has_text(layout.list, "mean over its")) << view;
    EXPECT_EQ(testing::layout_error(layout.list), "") << view;
  }
  const ViewLayout map = lay_out_view(trace, "map", word_look());
  EXPECT_TRUE(has_text(map.list, "sailor"));
  EXPECT_TRUE(has_text(map.list, "key word"));
  EXPECT_FALSE(has_text(lay_out_view(trace, "pattern", word_look("pattern")).list, "sailor"));
}

TEST(WordMerging, NothingToMergeShowsTokens) {
  Trace trace = word_piece_trace();
  for (TraceToken& token : trace.tokens) token.bytes.clear();  // tokens of images have no bytes
  const ViewLayout layout = lay_out_view(trace, "map", word_look());
  EXPECT_FALSE(has_text(layout.list, "merged"));
  EXPECT_EQ(layout.words, nullptr);
  const ViewControls controls = view_controls(word_look().settings, &trace);
  EXPECT_TRUE(controls.words);
  EXPECT_NE(controls.word_merging_refusal, "");
  const Trace words = word_piece_trace();
  EXPECT_EQ(view_controls(word_look().settings, &words).word_merging_refusal, "");
  EXPECT_FALSE(view_controls(word_look("pattern").settings, &words).words);
}

TEST(WordMerging, HitReportsStrongestOrPinnedTokens) {
  const Trace trace = word_piece_trace();
  LayoutOptions look = word_look();
  const ViewLayout layout = lay_out_view(trace, "map", look);
  const Tensor weights = trace.attention[1].attention(2);
  std::optional<Hit> hit =
      layout.hit(cell_centre(layout, 4, 1));  // query word "Land", key word "sailor"
  ASSERT_TRUE(hit.has_value());
  EXPECT_EQ(hit->word_query, 4);
  EXPECT_EQ(hit->word_key, 1);
  EXPECT_TRUE(hit->query == 6 || hit->query == 7);
  EXPECT_TRUE(hit->key >= 1 && hit->key <= 3);
  for (const Index i : {6, 7}) {
    for (const Index c : {1, 2, 3}) {
      EXPECT_LE(weights(i, c), weights(hit->query, hit->key));
    }
  }
  EXPECT_NE(hit->shown, "");
  look.settings.pinned_query = hit->query == 6 ? 7 : 6;
  look.settings.pinned_key = hit->key == 1 ? 2 : 1;
  const ViewLayout pinned = lay_out_view(trace, "map", look);
  hit = pinned.hit(cell_centre(pinned, 4, 1));
  EXPECT_EQ(hit->query, look.settings.pinned_query);
  EXPECT_EQ(hit->key, look.settings.pinned_key);
  EXPECT_TRUE(has_text(pinned.list, "4 Land"));  // bars of the pinned word's row
  const Hit label = pinned.to_token_hit(Hit{1, 2, 1, -1});
  EXPECT_EQ(label.query, 1);
  EXPECT_EQ(label.key, -1);
}

TEST(WordMerging, ClicksOnLinesPinTokens) {
  const Trace trace = word_piece_trace();
  const ViewLayout layout = lay_out_view(trace, "lines", word_look("lines"));
  Session session;
  session.view = word_look("lines").settings;
  // The handles of three heads precede the handles of five query words and five key words.
  ASSERT_EQ(layout.handles.size(), 3u + 5 + 5);
  layout.handles[3 + 4].click(session);
  EXPECT_EQ(session.view.pinned_query, 6);
  EXPECT_EQ(session.view.pinned_key, -1);
  layout.handles[3 + 4].click(session);
  EXPECT_EQ(session.view.pinned_query, -1);
  layout.handles[3 + 5 + 1].click(session);
  EXPECT_EQ(session.view.pinned_key, 1);
}

TEST(WordMerging, ZoomIsStoredInTokens) {
  const Trace trace = word_piece_trace();
  LayoutOptions look = word_look();
  look.settings.row = 1, look.settings.height = 4;
  look.settings.column = 0, look.settings.width = 4;
  const ViewLayout layout = lay_out_view(trace, "map", look);
  EXPECT_DOUBLE_EQ(layout.row, 1);
  EXPECT_DOUBLE_EQ(layout.height, 2);  // "sailor sings"
  EXPECT_DOUBLE_EQ(layout.width, 2);   // "The sailor"
  Session session;
  session.view = look.settings;
  const ViewData::Matrix region = view_data(trace, session).matrices.at(0);
  EXPECT_EQ(region.rows, (std::vector<std::string>{"␣sailor", "␣sings"}));
  EXPECT_EQ(region.columns, (std::vector<std::string>{"The", "␣sailor"}));
  const Tensor weights = word_weights(trace);
  EXPECT_TRUE(close(region.values, Tensor::from({2, 2}, {weights(1, 0), weights(1, 1),
                                                         weights(2, 0), weights(2, 1)})));
}

TEST(WordMerging, MeansAndRolloutAreMergedFromTokens) {
  const Trace trace = word_piece_trace();
  const auto words = merge_words(trace);
  const WordPairs& pairs = words->pairs[0];
  EXPECT_TRUE(close(word_weights(trace), merged(trace.attention[1].attention(2), pairs)));
  for (const char* source : {"heads", "layers", "all", "rollout"}) {
    Session tokens;
    tokens.view = word_look().settings;
    tokens.view.words = false;
    set_view_value(tokens.view, "map", "source", std::string(source));
    const Tensor token_weights = view_data(trace, tokens).matrices.at(0).values;
    EXPECT_TRUE(close(word_weights(trace, source), merged(token_weights, pairs))) << source;
  }
}

TEST(WordMerging, StatisticsUseWords) {
  const Trace trace = word_piece_trace();
  const auto words = merge_words(trace);
  const HeadTable table = head_table(words->trace);
  EXPECT_TRUE(table.words);
  EXPECT_EQ(table.tokens, 5);
  const Tensor merged = words->trace.attention[1].attention(2);
  double previous = 0, entropy = 0;
  for (Index i = 0; i < 5; ++i) {
    if (i > 0) previous += static_cast<double>(merged(i, i - 1)) / 4;
    for (Index j = 0; j <= i; ++j) {
      const auto a = static_cast<double>(merged(i, j));
      if (a > 0) entropy -= a * std::log2(a) / 5;
    }
  }
  const HeadStatistics& head = *table.find({1, 2});
  EXPECT_NEAR(head.previous_token, previous, 1e-6);
  EXPECT_NEAR(head.entropy, entropy, 1e-6);
  EXPECT_TRUE(to_csv(table).starts_with(
      "layer,head,word_entropy,word_distance,first_word,previous_word,same_word,word_induction\n"));
  LayoutOptions look = word_look("grid");
  set_view_value(look.settings, "grid", "sort", std::string("entropy"));
  EXPECT_TRUE(has_text(lay_out_view(trace, "grid", look).list,
                       "By entropy of words (bits) over this text"));
}

TEST(WordMerging, SessionsPreserveSetting) {
  ViewSettings settings;
  settings.words = true;
  EXPECT_TRUE(view_settings_from_json(to_json(settings), "view").words);
  EXPECT_FALSE(view_settings_from_json(to_json(ViewSettings()), "view").words);
}

TEST(WordMerging, DescribesTokensOfAWord) {
  EXPECT_EQ(describe_pieces({{0, 1}, {1, 4}, 4}, 1), "tokens 1 to 3");
  EXPECT_EQ(describe_pieces({{0, 1}, {1, 4}, 4}, 0), "token 0");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
