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
  LayoutOptions look;
  look.framed = false;
  int appended = 0, pinned = 0;
  const ViewLayout layout = lay_out_view(trace, "next", look);
  for (const Handle& handle : layout.handles) {
    Session session;
    handle.click(session);
    if (session.run.text.size() == 1) ++appended;
    if (session.view.pinned_query >= 0) ++pinned;
  }
  EXPECT_GE(appended, 10);
  EXPECT_EQ(pinned, 4);
  look.settings.pinned_query = 1;  // only the end of the text can be continued
  EXPECT_EQ(lay_out_view(trace, "next", look).handles.size(), 4u);
}

// A masked model predicts masked tokens, not the next one.
TEST(Next, MaskedModelListsCandidatesForEachMask) {
  Trace trace = synthetic_trace(1, 1, 6);
  auto config = std::make_shared<ModelConfig>(testing::small_config({}));
  config->causal = false;
  config->architecture.values.set("masked", 0.2);
  trace.config = config;
  trace.tokenizer = byte_tokenizer();
  trace.token_bits = Tensor();
  const ViewLayout layout = lay_out_view(trace, "next");
  std::string all;
  for (const Text& text : testing::texts(layout.list)) all += text.text + "\n";
  EXPECT_NE(all.find("masked tokens"), std::string::npos) << all;
  EXPECT_NE(all.find("In place of “"), std::string::npos) << all;
  for (const char* words : {"comes next", "After “", "surprise"}) {
    EXPECT_EQ(all.find(words), std::string::npos) << words;
  }
  EXPECT_EQ(layout.handles.size(), 6u);  // tokens can be pinned, but none appended
  config->architecture.values.set("mask", Index{trace.tokens[2].id});  // first masked token
  EXPECT_EQ(selected_position(ViewSettings(), trace), 2);
  ViewSettings pinned;
  pinned.pinned_query = 4;
  EXPECT_EQ(selected_position(pinned, trace), 4);
}

TEST(Next, MarksSampledAndActualToken) {
  const Trace trace = synthetic_trace(1, 1, 6);
  LayoutOptions look;
  look.settings.pinned_query = 2;
  const std::vector<Text> all = testing::texts(lay_out_view(trace, "next", look).list);
  const auto contains_text = [&](const std::string& part) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Text& t) { return t.text.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(contains_text("drawn"));
  EXPECT_TRUE(contains_text("the text's own"));
  EXPECT_TRUE(contains_text("entropy"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
