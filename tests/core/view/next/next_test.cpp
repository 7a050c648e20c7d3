#include "core/view/next/next.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/text/tokenizer.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace {

using testing::Look;
using testing::look_at;
using testing::synthetic_trace;

TEST(Next, ABarGoesOnWithItsToken) {
  Trace trace = synthetic_trace(1, 1, 4);
  trace.tokenizer = byte_tokenizer();
  Look look;
  look.framed = false;
  int appended = 0, pinned = 0;
  const ViewLayout layout = look_at(trace, "next", look);
  for (const Handle& handle : layout.handles) {
    Experiment experiment;
    handle.click(experiment);
    if (experiment.text.size() == 1) ++appended;
    if (experiment.view.pinned_query >= 0) ++pinned;
  }
  EXPECT_GE(appended, 10);
  EXPECT_EQ(pinned, 4);
  look.settings.pinned_query = 1;  // the past cannot be gone on with
  EXPECT_EQ(look_at(trace, "next", look).handles.size(), 4u);
}

TEST(Next, MarksTheDrawnAndTheTextsOwnToken) {
  const Trace trace = synthetic_trace(1, 1, 6);
  Look look;
  look.settings.pinned_query = 2;
  const std::vector<Text> all = testing::texts(look_at(trace, "next", look).list);
  const auto shows = [&](const std::string& part) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Text& t) { return t.text.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(shows("drawn"));
  EXPECT_TRUE(shows("the text's own"));
  EXPECT_TRUE(shows("entropy"));
}

}  // namespace
}  // namespace attnscope
