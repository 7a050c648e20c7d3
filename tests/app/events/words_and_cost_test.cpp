// Word merging, and the dialogs for costs, window lengths and calibration, in the window.
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "tests/app/events/desktop.h"
#include "tests/app/events/small_model.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

using Report = Program::Report;

class WordsAndCost : public ::testing::Test {
 protected:
  WordsAndCost() : display_(1280, 800) { save_small_model(folder_.path() / "model"); }
  std::vector<std::string> arguments(const std::string& text) const {
    return {"--model", (folder_.path() / "model").string(), "--size", "1280x800", "--text", text};
  }
  testing::TemporaryFolder folder_;
  Display display_;
};

TEST_F(WordsAndCost, WordsAreMergedPinnedAndZoomed) {
  Program program(display_, folder_.path(), arguments("our hat was not on their mat"));
  const Report tokens = program.wait_for("a picture", [](const Report& r) {
    return r["has_trace"].get<bool>() && r.contains("picture");
  });
  program.press("j");
  const Report words = program.wait_for("merged words", [&](const Report& r) {
    return r["experiment"]["view"].contains("words") && r["picture"] != tokens["picture"];
  });
  // Pins refer to tokens, so that turning word merging off does not change them.
  const Report& box = words["widgets"]["picture"];
  program.point_at(box[0].get<double>() + box[2].get<double>() * 0.5,
                   box[1].get<double>() + box[3].get<double>() * 0.6);
  program.xdotool("click 3");
  const Report pinned = program.wait_for(
      "a pin", [](const Report& r) { return r["experiment"]["view"].contains("pinned_query"); });
  EXPECT_LT(pinned["experiment"]["view"]["pinned_query"].get<int>(), 22);
  program.xdotool("click 4");
  program.wait_for("a zoomed map", [](const Report& r) {
    const double height = r["experiment"]["view"]["height"].get<double>();
    return height > 0 && height < 22;
  });
  program.click("words");
  program.wait_for("tokens again", [&](const Report& r) {
    const Report& view = r["experiment"]["view"];
    return !view.contains("words") &&
           view["pinned_query"] == pinned["experiment"]["view"]["pinned_query"];
  });
}

TEST_F(WordsAndCost, KeyHasNoEffectWithoutWords) {
  Program program(display_, folder_.path(), arguments("!?!"));
  program.wait_for("a picture", [](const Report& r) { return r["has_trace"].get<bool>(); });
  program.press("j");
  program.press("n");
  const Report report = program.wait_for("other colours", [](const Report& r) {
    return r["experiment"]["view"]["colours"] == "largest";
  });
  EXPECT_FALSE(report["experiment"]["view"].contains("words"));
}

TEST_F(WordsAndCost, CurvesAppearWhileMeasuring) {
  Program program(display_, folder_.path(), arguments("the cat sat"));
  program.wait_for("a picture", [](const Report& r) { return r["has_trace"].get<bool>(); });
  program.press("k");
  program.wait_for("the dialog", [](const Report& r) { return r.contains("cost_points"); });
  program.click("cost.last");
  program.click("cost.last.512");
  program.click("cost.start");
  program.wait_for("curves", [](const Report& r) {
    return r.contains("cost_points") && r["cost_points"] == 18 && !r["cost_is_running"].get<bool>();
  });
  program.keep_screenshot("cost");
  program.click("cost.quantity.operations");
  program.press("Escape");
  program.wait_for("the closed dialog", [](const Report& r) { return !r.contains("cost_points"); });
}

TEST_F(WordsAndCost, BitsPerByteAppearLengthByLength) {
  std::string text;
  for (int n = 0; n < 300; ++n) text += "the cat sat ";
  write_file(folder_.path() / "text.txt", text);
  Program program(display_, folder_.path(), arguments("the cat sat"));
  program.wait_for("a picture", [](const Report& r) { return r["has_trace"].get<bool>(); });
  program.click("menu.Edit");
  program.click("menu.lengths");
  program.wait_for("the dialog", [](const Report& r) { return r.contains("lengths_points"); });
  program.click("lengths.text");
  program.press("ctrl+a");
  program.type((folder_.path() / "text.txt").string());
  program.click("lengths.last");
  program.click("lengths.last.128");
  program.click("lengths.start");
  program.wait_for("curves", [](const Report& r) {
    return r["lengths_points"] == 8 && !r["lengths_is_running"].get<bool>();
  });
  program.keep_screenshot("lengths");
  program.press("Escape");
  program.wait_for("the closed dialog",
                   [](const Report& r) { return !r.contains("lengths_points"); });
}

TEST_F(WordsAndCost, ViewsFollowATraining) {
  Program program(display_, folder_.path(), arguments("the cat sat"));
  program.wait_for("a picture", [](const Report& r) { return r["has_trace"].get<bool>(); });
  program.click("menu.Edit");
  program.click("menu.train");
  program.wait_for("the dialog", [](const Report& r) { return r.contains("training_problem"); });
  program.click("training.step");
  program.wait_for("one step", [](const Report& r) {
    return r.contains("training_steps") && r["training_steps"] == 1 &&
           !r["training_is_running"].get<bool>();
  });
  program.click("training.start");
  program.wait_for("more steps", [](const Report& r) { return r["training_steps"] > 20; });
  program.keep_screenshot("training");
  program.click("training.pause");
  program.wait_for("a pause",
                   [](const Report& r) { return !r["training_is_running"].get<bool>(); });
  program.press("Escape");
  program.wait_for("the trained model", [](const Report& r) {
    return !r.contains("training_problem") &&  // the dialog is closed
           r["experiment"]["model"].text().ends_with("models/my-induction");
  });
  program.click("training_step");  // in the middle
  program.wait_for("a snapshot", [](const Report& r) {
    return r["experiment"]["model"].text().find("snapshots/step-") != std::string::npos;
  });
  program.keep_screenshot("training-step");
}

TEST_F(WordsAndCost, ThresholdIsCalibratedAndUsed) {
  std::string text;
  for (int n = 0; n < 4000; ++n) text += static_cast<char>('a' + (n * n + n / 5) % 26);
  write_file(folder_.path() / "text.txt", text);
  save_small_model(folder_.path() / "model", "response");
  Program program(display_, folder_.path(), arguments("the cat sat"));
  program.wait_for("a picture", [](const Report& r) { return r["has_trace"].get<bool>(); });
  program.click("structure");
  program.click("exit.calibrate");
  program.wait_for("the dialog", [](const Report& r) { return r.contains("calibration_points"); });
  program.click("calibrate.sample");
  program.wait_for("the sample", [](const Report& r) {
    return r["calibration_text"].text().ends_with("mill.txt");
  });
  program.click("calibrate.text");  // an empty field selects the window's text
  program.press("ctrl+a");
  program.type((folder_.path() / "text.txt").string());
  program.click("calibrate.start");
  program.wait_for("thresholds", [](const Report& r) {
    return r.contains("calibration_points") && r["calibration_points"] == 20 &&
           !r["calibration_is_running"].get<bool>();
  });
  program.keep_screenshot("calibration");
  program.click("calibrate.use");
  program.wait_for("a threshold", [](const Report& r) { return r["experiment"].contains("exit"); });
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
