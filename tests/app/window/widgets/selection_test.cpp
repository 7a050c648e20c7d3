#include "app/window/widgets/selection.h"

#include <gtest/gtest.h>

#include "core/attention/variant.h"

namespace attnscope::window {
namespace {

Choice initial(const std::string& id, const std::vector<Parameter>& parameters) {
  return {id, default_values(parameters)};
}

// What a run would refuse is not offered, with the run's own reason.
TEST(Selection, ParametersAreRefusedAsTheRunWould) {
  State state;
  state.experiment.variant = initial("full", variant("full").parameters);
  state.experiment.encoding = initial("rope", encoding("rope").parameters);
  Values additive = state.experiment.variant->values;
  additive.set("score", std::string("additive"));
  const ChoiceList rotating = variant_list(state);
  EXPECT_EQ(rotating.refusal(state.experiment.variant->values), "");
  EXPECT_NE(rotating.refusal(additive).find("no scores of pairs"), std::string::npos);

  state.experiment.encoding = initial("none", {});
  EXPECT_EQ(variant_list(state).refusal(additive), "");

  state.experiment.variant->values = additive;
  state.experiment.encoding = initial("sinusoidal", encoding("sinusoidal").parameters);
  const ChoiceList of_input = encoding_list(state);
  EXPECT_EQ(of_input.refusal(state.experiment.encoding->values), "");
}

TEST(Selection, NothingIsRefusedBeforeItIsKnownWhatHolds) {
  const State state;
  EXPECT_FALSE(variant_list(state).refusal);
}

}  // namespace
}  // namespace attnscope::window
