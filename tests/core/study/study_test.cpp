#include "core/study/study.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stop.h"
#include "core/study/study_point.h"
#include "core/study/study_result.h"
#include "core/study/study_run.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

// Two trainings of 3 steps on a task that generates its data.
Json small_definition() {
  return Json::parse(R"({
    "title": "Heads", "claim": "More heads are better.", "source": "here", "minutes": 0.1,
    "base": {
      "train": {"task": "recall", "steps": 3, "batch": 2, "warm_up": 0, "evaluate_every": 0,
                "model": {"vocabulary": 256, "context": 24, "width": 16, "layers": 1, "heads": 1,
                          "hidden": 16}},
      "measure": [{"type": "score"}, {"type": "curve", "points": 3}]
    },
    "vary": [{"name": "heads", "set": "/train/model/heads", "values": [1, 2]}],
    "figure": {"x": "step", "y": "training_loss", "curves": "heads"},
    "compare": [{"about": "Loss", "relation": "less", "margin": 100,
                 "left": {"label": "2", "value": "loss", "at": {"heads": "2"}},
                 "right": {"label": "1", "value": "loss", "at": {"heads": "1"}}}],
    "quick": {"base": {"train": {"steps": 2}}}
  })");
}

std::string refusal(const Json& definition) {
  try {
    const Study study = study_from_json(definition, "x.json");
    check_points(study, "x.json");
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Study, ReadsParametersAndQuickChanges) {
  const Study study = study_from_json(small_definition(), "x.json");
  EXPECT_EQ(study.title, "Heads");
  const std::vector<StudyPoint> points = study_points(study);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1].spec["train"]["model"]["heads"], Json(2));
  EXPECT_EQ(points[1].id, "1-2");
  EXPECT_EQ(points[1].row(study).words.at("heads"), "2");
  EXPECT_EQ(points[1].row(study).numbers.at("heads"), 2);
  EXPECT_EQ(work_of(points[0], "m").stages.front().steps, 3);
  const Study quick = study_from_json(small_definition(), "x.json", true);
  EXPECT_EQ(work_of(study_points(quick)[0], "m").stages.front().steps, 2);
}

TEST(Study, PointsShareModelsUnlessTheirTrainingDiffers) {
  Json definition = small_definition();
  definition["vary"].push_back(Json::parse(R"({"name": "points", "set": "/measure", "values": [
        {"label": "a", "value": {"type": "score"}}, {"label": "b", "value": {"type": "curve"}}]})"));
  const std::vector<StudyPoint> points = study_points(study_from_json(definition, "x.json"));
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[0].model_id, points[1].model_id);
  EXPECT_NE(points[1].model_id, points[2].model_id);
}

TEST(Study, RefusalsNamePlaceAndExpectedValue) {
  EXPECT_EQ(refusal(small_definition()), "");
  const auto with = [](const char* pointer, const Json& value) {
    Json definition = small_definition();
    definition.at_pointer(pointer) = value;
    return refusal(definition);
  };
  EXPECT_NE(with("/vary/0/set", "/folder").find("x.json: vary[0]: set"), std::string::npos);
  EXPECT_NE(with("/vary/0/values", Json::array({1, 1})).find("\"1\" twice"), std::string::npos);
  EXPECT_NE(with("/base/measure", Json::parse(R"([{"type": "scor"}])")).find("score"),
            std::string::npos);
  EXPECT_NE(with("/vary/0/values", Json::array({1, 2, -1})).find("heads -1"), std::string::npos);
  EXPECT_NE(with("/compare/0/left/at/heads", "4").find("expected one of 1, 2"), std::string::npos);
  EXPECT_NE(with("/base/train/preset", "../x").find("name of a preset"), std::string::npos);
  EXPECT_NE(with("/colour", 1).find("colour"), std::string::npos);
}

TEST(Study, AllBundledDefinitionsAreValidAndDocumented) {
  const std::string page =
      read_file(testing::source_folder() / "assets" / "docs" / "experiments.md");
  for (const std::string& id : bundled_studies()) {
    EXPECT_NE(page.find("| `" + id + "`"), std::string::npos) << id;
    for (const bool quick : {false, true}) {
      const Study study = find_study(id, quick);
      EXPECT_FALSE(study.comparisons.empty()) << id;
      EXPECT_GT(study.minutes, 0) << id;
    }
  }
  EXPECT_GE(bundled_studies().size(), 20u);
}

StudyRow row(const char* curve, double x, double y) {
  return {{{"x", x}, {"y", y}}, {{"curve", curve}}};
}

TEST(StudyResult, ComparesSelectedRows) {
  const StudyRows rows{row("a", 1, 2), row("a", 2, 8), row("b", 1, 3), row("b", 2, 3)};
  StudyTerm term{.label = "a", .value = "y", .at = {{"curve", "a"}, {"x", 2.0}}};
  EXPECT_EQ(value_of(term, rows), 8);
  term.minus = {{"x", 1.0}};
  EXPECT_EQ(value_of(term, rows), 6);
  term.minus.clear();
  term.over = {{"curve", "b"}};
  EXPECT_NEAR(value_of(term, rows), 8.0 / 3, 1e-12);
  const StudyTerm mean{.label = "", .value = "y", .at = {{"curve", "a"}}};
  EXPECT_EQ(value_of(mean, rows), 5);
  StudyTerm growth = mean;
  growth.take = StudyTake::Growth;
  growth.growth_in = "x";
  EXPECT_NEAR(value_of(growth, rows), 2, 1e-12);  // 2 to 8 while x doubles
}

TEST(StudyResult, MissingNumbersSupportNoClaim) {
  const StudyTerm missing{.label = "c", .value = "y", .at = {{"curve", "c"}}};
  const StudyTerm number{.number = 5};
  for (const StudyRelation relation :
       {StudyRelation::Less, StudyRelation::Greater, StudyRelation::Equal}) {
    StudyComparison comparison{"Height", missing, number, relation, 1};
    const StudyRows rows{row("a", 1, 2)};
    EXPECT_FALSE(check(comparison, rows).holds);
    comparison.right = missing;
    EXPECT_FALSE(check(comparison, rows).holds);
  }
}

TEST(StudyResult, ConclusionGivesBothNumbers) {
  Study study;
  const StudyTerm a{.label = "a", .value = "y", .at = {{"curve", "a"}}};
  const StudyTerm b{.label = "b", .value = "y", .at = {{"curve", "b"}}};
  study.comparisons = {{"Height", a, b, StudyRelation::Less, 0.5},
                       {"", b, StudyTerm{.number = 3}, StudyRelation::Equal, 0.1}};
  EXPECT_EQ(conclusion(study, {row("a", 1, 2), row("b", 1, 3)}),
            "Agrees with the article. Height: a 2, b 3 (less by more than 0.5, as claimed); b 3 "
            "(within 0.1 of 3, as claimed).");
  EXPECT_EQ(conclusion(study, {row("a", 1, 4), row("b", 1, 3)}),
            "Agrees in part (1 of 2). Height: a 4, b 3 (not less by more than 0.5, against the "
            "claim); b 3 (within 0.1 of 3, as claimed).");
  EXPECT_EQ(conclusion(study, {row("a", 1, 4), row("b", 1, 1)}).substr(0, 32),
            "Does not agree with the article.");
  EXPECT_EQ(conclusion(study, {row("a", 1, 4)}),
            "Not measured completely (0 of 2). Height: a 4, b not measured; b not measured.");
}

TEST(StudyRun, ContinuesWhereItWasStopped) {
  const testing::TemporaryFolder folder;
  const Study study = study_from_json(small_definition(), "x.json");
  const Stop stop;
  EXPECT_THROW(
      {
        const StopScope scope(stop);
        run_study(study, folder.path(), [&](const StudyProgress& progress) {
          if (progress.point == 1) stop.request();
        });
      },
      Stopped);
  EXPECT_TRUE(fs::exists(folder.path() / "points" / "0-1.json"));
  EXPECT_FALSE(fs::exists(folder.path() / "points" / "1-2.json"));
  const auto first_written = fs::last_write_time(folder.path() / "points" / "0-1.json");
  double last_fraction = 0;
  const StudyResult result = run_study(study, folder.path(), [&](const StudyProgress& progress) {
    EXPECT_GE(progress.fraction, last_fraction);
    last_fraction = progress.fraction;
  });
  EXPECT_EQ(last_fraction, 1);
  EXPECT_EQ(fs::last_write_time(folder.path() / "points" / "0-1.json"), first_written);
  EXPECT_TRUE(result.problems.empty());
  EXPECT_EQ(result.rows.size(), 8u);  // a score and three points of a curve each
  for (const char* name : {"results.csv", "figure.png", "figure.svg", "conclusion.txt"}) {
    EXPECT_TRUE(fs::exists(folder.path() / name)) << name;
  }
  // Measured anew, the losses are the same.
  const testing::TemporaryFolder other;
  const StudyRows again = run_study(study, other.path()).rows;
  ASSERT_EQ(again.size(), result.rows.size());
  for (std::size_t n = 0; n < again.size(); ++n) {
    if (!again[n].numbers.contains("training_loss")) continue;
    EXPECT_EQ(again[n].numbers.at("training_loss"), result.rows[n].numbers.at("training_loss"));
  }
}

TEST(StudyRun, TrainsAgainIfThePlanChanged) {
  const testing::TemporaryFolder folder;
  run_study(study_from_json(small_definition(), "x.json", true), folder.path());
  const StudyResult full = run_study(study_from_json(small_definition(), "x.json"), folder.path());
  EXPECT_TRUE(full.problems.empty());
  EXPECT_EQ(full.rows.size(), 8u);
}

TEST(StudyRun, SingleRowsOfMeasuresBecomeOne) {
  const testing::TemporaryFolder folder;
  Json definition = small_definition();
  definition["base"]["session"] = Json::parse(R"({"text": "!k40?k"})");
  definition["base"]["measure"] = Json::parse(
      R"([{"type": "score"}, {"type": "curve", "points": 2}, {"type": "pairs"}, {"type": "step"}])");
  const StudyResult result = run_study(study_from_json(definition, "x.json", true), folder.path());
  ASSERT_EQ(result.rows.size(), 8u);  // at each point one shared row, two of the curve, a step
  EXPECT_TRUE(result.rows[0].numbers.contains("accuracy"));
  EXPECT_TRUE(result.rows[0].numbers.contains("pairs"));
  EXPECT_FALSE(result.rows[3].numbers.contains("pairs"));  // has peak_bytes, as the score has
}

TEST(StudyRun, FailedPointsAreProblems) {
  const testing::TemporaryFolder folder;
  Json definition = small_definition();
  definition["base"]["train"]["rate"] = 1e30;  // the loss is not finite from the second step on
  definition["base"]["train"]["least_rate"] = 1e30;
  const StudyResult result = run_study(study_from_json(definition, "x.json"), folder.path());
  ASSERT_EQ(result.problems.size(), 2u);
  EXPECT_TRUE(result.problems[0].starts_with("1: ")) << result.problems[0];
  EXPECT_TRUE(result.rows.empty());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
