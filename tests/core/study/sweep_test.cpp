#include "core/study/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/checkpoint/model_store.h"
#include "core/study/study_point.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Sweep sweep_of(const std::string& model, const std::string& parameter,
               const std::function<void(RunSpec&)>& change = {}, bool has_plan = false) {
  Sweep sweep;
  sweep.session.run.model = model;
  sweep.session.run.text = "a b c";
  if (change) change(sweep.session.run);
  const auto list =
      sweep_parameters(sweep.session, model_store()->checkpoint(model)->model.config, has_plan);
  const auto found = std::ranges::find(list, parameter, &SweepParameter::id);
  if (found == list.end()) throw InputError("no parameter " + parameter);
  sweep.parameter = *found;
  sweep.values = default_sweep_values(*found);
  return sweep;
}

TEST(Sweep, VariesTheModelsOwnVariant) {
  const Sweep sweep = sweep_of("twin-local", "variant.window");
  const Study study = study_from_json(sweep_definition(sweep), "sweep");
  EXPECT_EQ(study.figure.x, study.parameters.front().name);
  for (const StudyPoint& point : study_points(study)) {
    const StudyWork work = work_of(point, "m");
    ASSERT_TRUE(work.session.run.variant.has_value());
    EXPECT_EQ(work.session.run.variant->id, "local");
    EXPECT_EQ(static_cast<double>(work.session.run.variant->values.integer("window")),
              study.parameters.front().values[point.values.front()].number);
  }
}

TEST(Sweep, FollowsTheGroupOfTheViewsHead) {
  const auto add_group = [](RunSpec& run) {
    run.groups.push_back({{0}, {}, default_choice(variant("local")), {}});
  };
  const Sweep sweep = sweep_of("default", "variant.window", add_group);
  EXPECT_EQ(sweep.parameter.pointer(), "/session/groups/0/variant/window");
  EXPECT_NO_THROW(sweep_definition(sweep));
}

TEST(Sweep, DefaultValuesSurroundTheCurrentOne) {
  const auto set_window = [](RunSpec& run) {
    run.variant = default_choice(variant("local"));
    run.variant->values.set("window", Index{32});
  };
  EXPECT_EQ(sweep_of("default", "variant.window", set_window).values, "8, 16, 32, 64, 128");
}

TEST(Sweep, RejectsInvalidValues) {
  Sweep sweep = sweep_of("twin-local", "variant.window");
  for (const char* values : {"", " , ", "4, x", "-1", "4, 4"}) {
    sweep.values = values;
    EXPECT_THROW(sweep_definition(sweep), InputError) << values;
  }
}

TEST(Sweep, OffersExitThresholdsOfModelsWithExits) {
  const Sweep sweep = sweep_of("exits-calm", "exits.threshold");
  EXPECT_EQ(sweep.parameter.pointer(), "/session/exit");
  EXPECT_NO_THROW(sweep_definition(sweep));
  EXPECT_THROW(sweep_of("default", "exits.threshold"), InputError);
}

TEST(Sweep, TrainsModelsOfOtherSizes) {
  Sweep sweep = sweep_of("default", "model.heads", {}, true);
  TrainingPlan plan;
  plan.task = "recall";
  plan.folder = "models/x";
  plan.model = model_config_from_json(
      Json::parse(
          R"({"vocabulary": 256, "context": 24, "width": 16, "layers": 1, "heads": 2, "hidden": 16})"),
      "model");
  sweep.plan = to_json(plan);
  sweep.values = "1, 2, 4";
  sweep.measure = "heads";
  sweep.column = "entropy";
  const Study study = study_from_json(sweep_definition(sweep), "sweep");
  EXPECT_TRUE(study.parameters.front().changes_training());
  const StudyWork work = work_of(study_points(study).back(), "m");
  EXPECT_EQ(work.stages.front().model.heads, 4);
  EXPECT_EQ(work.stages.front().model.head_size, 4);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
