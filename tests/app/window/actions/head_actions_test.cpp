// Actions on the heads that are selected in the grid.
#include <gtest/gtest.h>

#include "app/window/actions/actions.h"
#include "core/view/grid/grid_order.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

// A state with a run whose heads can be switched off, and two selected heads.
State state_with_selection() {
  State state;
  auto trace = std::make_shared<Trace>();
  for (Index layer = 0; layer < 3; ++layer) {
    AttentionTap tap;
    tap.address.layer = layer;
    tap.heads = {0, 1};
    tap.variant = default_variant();
    tap.encoding = default_encoding();
    tap.result.pattern = std::make_shared<const Pattern>(Pattern::causal(3, 3));
    tap.result.attention = Tensor::full({2, 3, 3}, 0.5F);
    trace->attention.push_back(tap);
  }
  state.run.trace = trace;
  state.session.edit().view.id = "grid";
  select_heads(state.session.edit().view, {{0, 1}, {1, 0}});
  return state;
}

TEST(HeadActions, SwitchSelectedHeadsOffAndOn) {
  State state = state_with_selection();
  const Action& off = action("heads_off");
  ASSERT_TRUE(off.enabled(state)) << off.refusal(state);
  EXPECT_FALSE(off.checked(state));
  off.run(state);
  EXPECT_TRUE(off.checked(state));
  const Interventions& list = state.session->run.interventions;
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(is_off(list, 0, 1));
  EXPECT_TRUE(is_off(list, 1, 0));
  EXPECT_FALSE(is_off(list, 0, 0));
  off.run(state);
  EXPECT_TRUE(state.session->run.interventions.empty());
}

TEST(HeadActions, CompareWithoutSelectedHeads) {
  State state = state_with_selection();
  Intervention other;
  other.layer = 1;
  state.session.edit().run.interventions = {other};
  action("heads_off").run(state);
  action("heads_compare").run(state);  // the heads are off already: they stay off in A
  EXPECT_EQ(state.session->view.id, "compare");
  EXPECT_EQ(state.session->view.layer, 2);  // after the last selected head
  EXPECT_EQ(state.session->run.interventions.size(), 3u);
  ASSERT_TRUE(state.session->b.has_value());
  EXPECT_EQ(state.session->b->run.interventions, Interventions{other});
}

TEST(HeadActions, RequireSelection) {
  State state = state_with_selection();
  action("heads_clear").run(state);
  EXPECT_TRUE(selected_heads(state.session->view).empty());
  for (const char* id : {"heads_off", "heads_compare", "heads_clear"}) {
    EXPECT_FALSE(action(id).enabled(state)) << id;
    EXPECT_NE(help_text(action(id), state).find("No head is selected"), std::string::npos) << id;
    EXPECT_FALSE(action(id).has_button(state)) << id;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
