#include "app/window/widgets/selection.h"

#include <gtest/gtest.h>

#include "app/window/widgets/structure_selection.h"
#include "core/attention/variant.h"
#include "core/model/exits.h"
#include "core/model/residual_connection.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

Choice with_defaults(const std::string& id, const std::vector<Parameter>& parameters) {
  return {id, default_values(parameters)};
}

// Choices that a run would reject are disabled, with the run's reason.
TEST(Selection, RejectsParametersThatRunRejects) {
  State state;
  state.session.edit().run.variant = with_defaults("full", variant("full").parameters);
  state.session.edit().run.encoding = with_defaults("rope", encoding("rope").parameters);
  Values additive = state.session->run.variant->values;
  additive.set("score", std::string("additive"));
  const ChoiceList variants_with_rope = variant_list(state);
  EXPECT_EQ(variants_with_rope.refusal(state.session->run.variant->values), "");
  EXPECT_NE(variants_with_rope.refusal(additive).find("no product of queries and keys"),
            std::string::npos);

  state.session.edit().run.encoding = with_defaults("none", {});
  EXPECT_EQ(variant_list(state).refusal(additive), "");

  state.session.edit().run.variant->values = additive;
  state.session.edit().run.encoding =
      with_defaults("sinusoidal", encoding("sinusoidal").parameters);
  const ChoiceList encoding_choices = encoding_list(state);
  EXPECT_EQ(encoding_choices.refusal(state.session->run.encoding->values), "");
}

TEST(Selection, AcceptsEverythingBeforeFirstRun) {
  const State state;
  EXPECT_FALSE(variant_list(state).refusal);
}

std::vector<std::string> offered_keys(const Info& info) {
  std::vector<std::string> keys;
  for (const Parameter& parameter : offered_parameters(info)) keys.push_back(parameter.key);
  return keys;
}

// The window offers no parameters that only training reads.
TEST(Selection, OmitsTrainingParameters) {
  using Keys = std::vector<std::string>;
  EXPECT_EQ(offered_keys(architecture("decoder")), Keys{});
  EXPECT_EQ(offered_keys(architecture("universal")), (Keys{"steps", "halting", "epsilon", "transition"}));
  EXPECT_EQ(offered_keys(exit_rule("geometric")), Keys{"classifier"});
  EXPECT_EQ(offered_keys(exit_rule("saturation")), (Keys{"classifier", "decay"}));
  EXPECT_EQ(offered_keys(variant("adaptive_span")), (Keys{"span", "ramp", "dynamic"}));
  // JSON files may set training parameters.
  const Json json = parse_json(R"({"type": "geometric", "oracle": "correctness"})", "exits");
  EXPECT_EQ(choice_from_json(exit_rule, json, "exits").values.choice("oracle"), "correctness");
}

// Simple controls show parameters without a default and parameters in use.
TEST(Selection, EssentialParametersHaveNoDefaultOrAreInUse) {
  using Keys = std::vector<std::string>;
  const auto keys = [](const Info& info, const Values& values, const Values& model_values) {
    Keys list;
    for (const Parameter& p : essential_parameters(info.parameters, values, model_values))
      list.push_back(p.key);
    return list;
  };
  const Info& full = variant("full");
  Values values = default_values(full.parameters);
  EXPECT_EQ(keys(full, values, {}), Keys{});
  values.set("score", std::string("additive"));
  EXPECT_EQ(keys(full, values, {}), Keys{"score"});
  EXPECT_EQ(keys(full, values, values), Keys{});  // the model's own setting
  const Info& local = variant("local");
  EXPECT_EQ(keys(local, default_values(local.parameters), {}), Keys{"window"});
}

// Lists show the model's setting, the selected replacement, or "none".
TEST(Selection, ListsShowCurrentChoice) {
  State state;
  const ChoiceList before_run = residual_connection_list(state);
  EXPECT_EQ(before_run.preview, "Model default");
  EXPECT_EQ(before_run.current, nullptr);
  EXPECT_EQ(before_run.entries.size(), residual_connections().size() + 1);
  EXPECT_EQ(before_run.entries.front().id, "");

  state.session.edit().run.structure.residual_connection =
      default_choice(residual_connection("gru"));
  EXPECT_EQ(residual_connection_list(state).preview, residual_connection("gru").label);
  EXPECT_EQ(residual_connection_list(state).current, &residual_connection("gru"));
  EXPECT_EQ(residual_connection_list(state).refusal(
                state.session->run.structure.residual_connection->values),
            "");

  state.session.edit().run.structure.exits = no_exits();
  EXPECT_EQ(exits_list(state).preview, "none");
  EXPECT_EQ(exits_list(state).current, nullptr);
  EXPECT_FALSE(exits_list(state).refusal);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
