#include <gtest/gtest.h>

#include "core/view/mechanism/mechanism.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

testing::LayoutOptions paths_options() {
  testing::LayoutOptions options;
  options.settings = testing::settings_with("mechanism", R"({"picture": "paths"})");
  return options;
}

TEST(PathsMechanism, ConnectsPairThroughLayers) {
  const Trace trace = testing::run_model(
      {.variant = R"({"type": "strided", "stride": 4, "mode": "merged"})", .length = 16});
  testing::LayoutOptions options = paths_options();
  const ViewLayout farthest = testing::lay_out_view(trace, "mechanism", options);
  EXPECT_TRUE(testing::shows_text(farthest.list, "in 2 steps: 4 back, then every 4th"));
  EXPECT_TRUE(testing::shows_text(farthest.list, "reached by 16 of 16"));
  options.settings.pinned_query = 9;
  options.settings.pinned_key = 7;
  EXPECT_TRUE(testing::shows_text(testing::lay_out_view(trace, "mechanism", options).list,
                                  "in one step: 4 back"));
  options.settings.pinned_key = 12;
  EXPECT_TRUE(testing::shows_text(testing::lay_out_view(trace, "mechanism", options).list,
                                  "does not reach"));
}

TEST(PathsMechanism, ClickPinsQueryOrKey) {
  const Trace trace = testing::run_model({.variant = R"({"type": "local", "window": 2})"});
  const ViewLayout layout = testing::lay_out_view(trace, "mechanism", paths_options());
  ASSERT_EQ(layout.handles.size(), 24u);
  Session session;
  layout.handles[2 * 5].click(session);
  layout.handles[2 * 3 + 1].click(session);
  EXPECT_EQ(session.view.pinned_query, 5);
  EXPECT_EQ(session.view.pinned_key, 3);
}

TEST(PathsMechanism, ExcludesMemory) {
  const Trace trace = testing::synthetic_trace(Pattern::causal(8, 11, 3));
  EXPECT_NE(testing::lay_out_view(trace, "mechanism", paths_options()).refusal.find("memory"),
            std::string::npos);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
