#include "core/view/next/next.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/text/tokenizer.h"
#include "core/view/parts/focus.h"
#include "tests/support/small_config.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;
using testing::synthetic_trace;

TEST(Next, ClickOnBarContinuesWithItsToken) {
  Trace trace = synthetic_trace(1, 1, 4);
  trace.tokenizer = byte_tokenizer();
  LayoutOptions options;
  options.framed = false;
  int appended_count = 0, pinned_count = 0;
  const ViewLayout layout = lay_out_view(trace, "next", options);
  for (const Handle& handle : layout.handles) {
    Session session;
    handle.click(session);
    if (session.run.text.size() == 1) ++appended_count;
    if (session.view.pinned_query >= 0) ++pinned_count;
  }
  EXPECT_GE(appended_count, 10);
  EXPECT_EQ(pinned_count, 3);         // the end of the text needs no pin
  options.settings.pinned_query = 1;  // only the end of the text can be continued
  EXPECT_EQ(lay_out_view(trace, "next", options).handles.size(), 4u);
}

TEST(Next, NarrowPicturesShortenTheSummary) {
  const Trace trace = synthetic_trace(1, 1, 12);
  LayoutOptions options;
  for (const auto& [width, is_full] : {std::pair{700.0, true}, {360.0, false}, {240.0, false}}) {
    options.width = width;
    const std::string text = testing::all_text(lay_out_view(trace, "next", options).list);
    EXPECT_NE(text.find("entropy "), std::string::npos) << width;
    EXPECT_EQ(text.find("can be sampled") != std::string::npos, is_full) << width;
    EXPECT_EQ(text.find("…"), std::string::npos) << text;
  }
}

// A pair that the program has found does not move the prediction away from the end of the text.
TEST(Next, BeginsAtEndOfTextUnlessUserHasPinned) {
  Trace trace = synthetic_trace(1, 1, 6);
  trace.tokenizer = byte_tokenizer();
  LayoutOptions options;
  options.framed = false;
  ViewSettings& view = options.settings;
  const auto title = [&] { return testing::all_text(lay_out_view(trace, "next", options).list); };
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(contains(title(), "the end of the text"));
  view.pinned_query = view.found_query = 2;
  view.pinned_key = view.found_key = 1;
  EXPECT_TRUE(contains(title(), "the end of the text"));
  view.found_query = view.found_key = -1;
  EXPECT_TRUE(contains(title(), "pinned, position 2 of 0–5"));
  // A click on the token of the found pair pins it.
  view.found_query = 2;
  view.found_key = 1;
  Session session;
  session.view = view;
  const std::vector<Handle> handles = lay_out_view(trace, "next", options).handles;
  handles[2].click(session);
  EXPECT_EQ(session.view.pinned_query, 2);
  EXPECT_FALSE(session.view.shows_found_pair());
}

// A masked model predicts masked tokens, not the next token.
TEST(Next, MaskedModelListsCandidatesForEachMask) {
  Trace trace = synthetic_trace(1, 1, 6);
  auto config = std::make_shared<ModelConfig>(testing::small_config({}));
  config->causal = false;
  config->architecture.values.set("masked", 0.2);
  trace.config = config;
  trace.tokenizer = byte_tokenizer();
  trace.token_bits = Tensor();
  const ViewLayout layout = lay_out_view(trace, "next");
  std::string drawn_text;
  for (const Text& text : testing::texts(layout.list)) drawn_text += text.text + "\n";
  EXPECT_NE(drawn_text.find("masked tokens"), std::string::npos) << drawn_text;
  EXPECT_NE(drawn_text.find("In place of “"), std::string::npos) << drawn_text;
  for (const char* phrase : {"comes next", "After “", "surprise"}) {
    EXPECT_EQ(drawn_text.find(phrase), std::string::npos) << phrase;
  }
  EXPECT_EQ(layout.handles.size(), 6u);  // tokens can be pinned, but not appended
  config->architecture.values.set("mask", Index{trace.tokens[2].id});  // first masked token
  EXPECT_EQ(selected_position(ViewSettings(), trace), 2);
  ViewSettings pinned_settings;
  pinned_settings.pinned_query = 4;
  EXPECT_EQ(selected_position(pinned_settings, trace), 4);
}

TEST(Next, MarksSampledAndActualToken) {
  const Trace trace = synthetic_trace(1, 1, 6);
  LayoutOptions options;
  options.settings.pinned_query = 2;
  const std::vector<Text> drawn_texts = testing::texts(lay_out_view(trace, "next", options).list);
  const auto contains_text = [&](const std::string& part) {
    return std::any_of(drawn_texts.begin(), drawn_texts.end(),
                       [&](const Text& t) { return t.text.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(contains_text("drawn"));
  EXPECT_TRUE(contains_text("the text's own"));
  EXPECT_TRUE(contains_text("entropy"));
}

// Default of the command line and of the view.
TEST(Next, SamplesFromTheModelsDistributionByDefault) {
  EXPECT_EQ(next_settings(ViewSettings()).sampling, Sampling());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
