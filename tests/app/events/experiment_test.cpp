// The dialog Experiment in the window: a run to its conclusion, and a sweep of the session.
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/study/study.h"
#include "tests/app/events/desktop.h"
#include "tests/app/events/small_model.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

using Report = Program::Report;

// Counts operations of two variants at two lengths.
constexpr const char* kTinyDefinition = R"({
  "title": "Operations by length", "claim": "Local attention needs fewer operations.",
  "source": "a test", "minutes": 1,
  "base": {"measure": {"type": "cost", "variant": {"type": "full"}, "lengths": [64, 128],
                       "measured": false}},
  "vary": [{"name": "variant", "set": "/measure/variant",
            "values": [{"label": "full", "value": {"type": "full"}},
                       {"label": "local", "value": {"type": "local", "window": 4}}]}],
  "figure": {"x": "length", "y": "operations", "curves": "variant"},
  "compare": [{"about": "Operations at 128 tokens", "relation": "less", "margin": 1,
               "left": {"label": "local", "value": "operations",
                        "at": {"variant": "local", "length": 128}},
               "right": {"label": "full", "value": "operations",
                         "at": {"variant": "full", "length": 128}}}]
})";

class ExperimentDialog : public ::testing::Test {
 protected:
  ExperimentDialog() : display_(1280, 800) {
    save_small_model(folder_.path() / "model");
    make_folder(experiments());
    write_file(experiments() / "000-tiny.json", kTinyDefinition);
  }
  std::filesystem::path experiments() const { return folder_.path() / "attnscope/experiments"; }

  void open_dialog(Program& program) const {
    program.wait_for("a picture", [](const Report& r) { return r["has_trace"].get<bool>(); });
    program.click("menu.Edit");
    program.click("menu.experiment");
    program.wait_for("the dialog", [](const Report& r) { return r.contains("experiment_id"); });
  }

  // Adds a definition by the file browser.
  static void open_definition(Program& program, const std::filesystem::path& file) {
    program.click("experiment.open");
    program.wait_for("the browser", [](const Report& r) { return r.contains("browser_problem"); });
    program.type(file.string());
    program.press("Return");
    program.wait_for("the definition",
                     [&](const Report& r) { return r["experiment_id"] == file.stem().string(); });
  }

  testing::TemporaryFolder folder_;
  Display display_;
  std::vector<std::string> arguments_ = {"--model", (folder_.path() / "model").string(),
                                         "--size",  "1280x800",
                                         "--text",  "the cat sat on the mat"};
};

TEST_F(ExperimentDialog, RunsToItsConclusionAndKeepsIt) {
  Program program(display_, folder_.path(), arguments_);
  open_dialog(program);
  open_definition(program, experiments() / "000-tiny.json");
  program.click("experiment.start");
  const Report finished = program.wait_for("the conclusion", [](const Report& r) {
    return !r["experiment_is_running"].get<bool>() && r["experiment_points"] == 2;
  });
  EXPECT_EQ(finished["experiment_problem"], "");
  EXPECT_TRUE(finished["experiment_conclusion"].text().starts_with("Agrees with the article."))
      << finished["experiment_conclusion"];
  program.keep_screenshot("experiment");
  const std::filesystem::path results = experiments() / "000-tiny";
  EXPECT_TRUE(file_exists(results / "results.csv"));
  program.click("experiment.path");
  program.press("ctrl+a");
  program.type((folder_.path() / "table.csv").string());
  program.click("experiment.save");
  program.wait_for("the table",
                   [&](const Report&) { return file_exists(folder_.path() / "table.csv"); });
  EXPECT_EQ(read_file(folder_.path() / "table.csv"), read_file(results / "results.csv"));
  program.press("Escape");
  program.wait_for("no dialog", [](const Report& r) { return !r.contains("experiment_id"); });
}

TEST_F(ExperimentDialog, SweepWritesAndSelectsDefinition) {
  const std::filesystem::path file = folder_.path() / "session.json";
  write_file(file, Json{{"attnscope", 1},
                        {"text", "the cat sat on the mat"},
                        {"model", arguments_[1]},
                        {"variant", {{"type", "local"}, {"window", 4}}}}
                       .dump());
  Program program(display_, folder_.path(), {"open", file.string(), "--size", "1280x800"});
  open_dialog(program);
  program.click("experiment.sweep");
  program.click("sweep.measure");
  program.click("sweep.measure.pairs");
  program.click("sweep.values");
  program.press("ctrl+a");
  program.type("1, x");
  program.click("sweep.save");
  program.wait_for("a refusal", [](const Report& r) {
    return r["sweep_problem"].text().find("expected an integer") != std::string::npos;
  });
  program.keep_screenshot("sweep");
  program.click("sweep.values");
  program.press("ctrl+a");
  program.type("1, 2, 4");
  program.click("sweep.save");
  program.wait_for("the sweep",
                   [](const Report& r) { return r["experiment_id"] == "sweep-variant.window"; });
  const Study study = load_study(experiments() / "sweep-variant.window.json");
  ASSERT_EQ(study.parameters.size(), 1u);
  EXPECT_EQ(study.parameters.front().values.size(), 3u);
  EXPECT_EQ(study.figure.y, "pairs");
  EXPECT_EQ(study.base["session"]["model"], arguments_[1]);
  program.click("experiment.start");
  program.wait_for("three points", [](const Report& r) {
    return !r["experiment_is_running"].get<bool>() && r["experiment_points"] == 3;
  });
  program.keep_screenshot("sweep-result");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
