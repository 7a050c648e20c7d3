#include "app/window/widgets/selection.h"

#include <gtest/gtest.h>

#include "app/window/widgets/structure_selection.h"
#include "core/attention/variant.h"
#include "core/model/exits.h"
#include "core/model/join.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

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
  EXPECT_NE(rotating.refusal(additive).find("multiplies no queries with keys"), std::string::npos);

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

std::vector<std::string> offered_keys(const Info& info) {
  std::vector<std::string> keys;
  for (const Parameter& parameter : offered_parameters(info)) keys.push_back(parameter.key);
  return keys;
}

// What only training reads would push what a run reads out of sight.
TEST(Selection, ParametersOfTrainingAloneAreNotOffered) {
  using Keys = std::vector<std::string>;
  EXPECT_EQ(offered_keys(architecture("decoder")), Keys{});
  EXPECT_EQ(offered_keys(architecture("universal")), (Keys{"steps", "halting", "epsilon"}));
  EXPECT_EQ(offered_keys(exit_rule("geometric")), Keys{"classifier"});
  EXPECT_EQ(offered_keys(exit_rule("saturation")), (Keys{"classifier", "decay"}));
  EXPECT_EQ(offered_keys(variant("adaptive_span")), (Keys{"span", "ramp", "dynamic"}));
  // What is not offered is taken all the same, and stays where something else changes.
  const Json asked = parse_json(R"({"type": "geometric", "oracle": "correctness"})", "exits");
  EXPECT_EQ(choice_from_json(exit_rule, asked, "exits").values.choice("oracle"), "correctness");
}

// One list as the other: what the model has, what is chosen in its place, and what is no longer
// there.
TEST(Selection, ListsSayWhatHolds) {
  State state;
  const ChoiceList unknown = join_list(state);
  EXPECT_EQ(unknown.preview, "As trained");
  EXPECT_EQ(unknown.now, nullptr);
  EXPECT_EQ(unknown.entries.size(), joins().size() + 1);
  EXPECT_EQ(unknown.entries.front().id, "");

  state.experiment.structure.join = default_choice(join("gru"));
  EXPECT_EQ(join_list(state).preview, join("gru").label);
  EXPECT_EQ(join_list(state).now, &join("gru"));
  EXPECT_EQ(join_list(state).refusal(state.experiment.structure.join->values), "");

  state.experiment.structure.exits = no_exits();
  EXPECT_EQ(exits_list(state).preview, "none");
  EXPECT_EQ(exits_list(state).now, nullptr);
  EXPECT_FALSE(exits_list(state).refusal);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
