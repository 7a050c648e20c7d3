// Window for lectures: stage, lessons advanced by a clicker, fades, speaker window.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "core/lesson/lesson.h"
#include "tests/app/events/desktop.h"
#include "tests/app/events/small_model.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

using Report = Program::Report;

bool is_current(const Report& r) {
  return r["has_trace"].get<bool>() && r["current"].get<bool>();
}

// Number `index` of a widget's box {left, top, width, height}.
double box_value(const Report& r, const std::string& widget, std::size_t index) {
  return r["widgets"][widget][index].get<double>();
}

class Lecture : public ::testing::Test {
 protected:
  static constexpr double kWidth = 1400, kHeight = 900;

  Lecture() : display_(static_cast<int>(kWidth), static_cast<int>(kHeight)) {}
  static std::vector<std::string> arguments(const std::vector<std::string>& extra) {
    std::vector<std::string> options = {"--size", "1280x800", "--scale", "1"};
    options.insert(options.end(), extra.begin(), extra.end());
    return options;
  }
  static Report wait_for_step(Program& program, const std::string& lesson, int step) {
    return program.wait_for(lesson + ", step " + std::to_string(step), [&](const Report& r) {
      return is_current(r) && r.contains("lesson") && r["lesson"] == lesson &&
             r["lesson_step"] == step;
    });
  }

  testing::TemporaryFolder folder_;
  Display display_;
};

// Remote clickers send F5, Page Down, Page Up, B and Escape, as for any presentation program.
TEST_F(Lecture, RespondsToClicker) {
  Program program(display_, folder_.path(), arguments({"--lesson", "self-attention"}));
  wait_for_step(program, "self-attention", 0);
  program.press("F5");
  const Report stage = program.wait_for("the stage", [](const Report& r) {
    return is_current(r) && r["presenting"].get<bool>() && r["window"][0] == kWidth;
  });
  EXPECT_EQ(stage["window"][1], kHeight);
  EXPECT_GE(stage["lecture_text"].get<double>(), kHeight / 28);
  for (const char* hidden : {"text", "backend_name", "lesson.notes", "menu.File"}) {
    EXPECT_FALSE(stage["widgets"].contains(hidden)) << hidden;
  }
  EXPECT_EQ(box_value(stage, "lesson", 3), kHeight);  // no status line
  EXPECT_GE(box_value(stage, "middle", 2), 0.5 * kWidth);
  EXPECT_GE(box_value(stage, "lesson.text", 2), 0.35 * kWidth);
  program.press("Next");
  EXPECT_EQ(wait_for_step(program, "self-attention", 1)["experiment"]["view"]["type"], "scores");
  program.press("b");
  program.wait_for("a black screen", [](const Report& r) { return r["black"].get<bool>(); });
  program.press("Next");
  EXPECT_EQ(
      program.wait_for("the picture",
                       [](const Report& r) { return !r["black"].get<bool>(); })["lesson_step"],
      1);
  program.press("Next");
  wait_for_step(program, "self-attention", 2);
  program.press("Prior");
  wait_for_step(program, "self-attention", 1);
  program.press("Escape");
  program.wait_for("the window after the presentation", [](const Report& r) {
    return !r["presenting"].get<bool>() && r["window"][0] == 1280.0 &&
           r["widgets"].contains("text");
  });
}

TEST_F(Lecture, PresentOptionStartsOnStage) {
  Program program(display_, folder_.path(), arguments({"--lesson", "rope", "--present"}));
  program.wait_for("the stage", [](const Report& r) {
    return is_current(r) && r["presenting"].get<bool>() && r["window"][0] == kWidth &&
           r["lesson"] == "rope";
  });
  program.press("Escape");
  program.wait_for("the window", [](const Report& r) { return r["window"][0] == 1280.0; });
}

TEST_F(Lecture, FullScreenWindowStaysFullScreen) {
  Program program(display_, folder_.path(), arguments({"--lesson", "rope"}));
  wait_for_step(program, "rope", 0);
  const auto fills = [](bool is_presenting) {
    return [=](const Report& r) {
      return r["presenting"] == is_presenting && r["window"][0] == kWidth;
    };
  };
  program.press("F11");
  program.wait_for("the whole screen", fills(false));
  program.press("F5");
  program.wait_for("the stage", fills(true));
  program.press("Escape");
  program.wait_for("the whole screen again", fills(false));
  EXPECT_EQ(program.wait_for("rest")["window"][0], kWidth);
}

TEST_F(Lecture, LastStepLeadsToNextLesson) {
  display_.use(folder_.path());  // steps depend on installed models
  const std::vector<Lesson> lessons = bundled_lessons();
  const int last = static_cast<int>(lessons[0].steps.size()) - 1;
  Program program(display_, folder_.path(), arguments({"--lesson", lessons[0].id}));
  wait_for_step(program, lessons[0].id, 0);
  program.press("End");
  wait_for_step(program, lessons[0].id, last);
  program.keep_screenshot("lesson-last-step");
  program.click("lesson_on");
  wait_for_step(program, lessons[1].id, 0);
  program.press("Prior");
  wait_for_step(program, lessons[0].id, last);
  program.press("Home");
  wait_for_step(program, lessons[0].id, 0);
}

// The stage names the pair under the pointer, or else the pinned pair, in large type.
TEST_F(Lecture, NamesPairUnderPointer) {
  Program program(display_, folder_.path(), arguments({"--lesson", "self-attention"}));
  wait_for_step(program, "self-attention", 0);
  EXPECT_FALSE(program.wait_for("rest")["widgets"].contains("stage.pinned"));
  program.press("F5");
  program.rest_pointer();
  const Report pinned = program.wait_for("the pinned pair", [](const Report& r) {
    return is_current(r) && r["window"][0] == kWidth && r["widgets"].contains("stage.pinned");
  });
  program.keep_screenshot("stage-pinned");
  const double x = box_value(pinned, "picture", 0) + 0.4 * box_value(pinned, "picture", 2);
  const double y = box_value(pinned, "picture", 1) + 0.5 * box_value(pinned, "picture", 3);
  program.point_at(x, y);
  const Report pair = program.wait_for(
      "the pair", [](const Report& r) { return r["widgets"].contains("stage.pair"); });
  program.keep_screenshot("stage-pair");
  EXPECT_FALSE(pair["widgets"].contains("stage.pinned"));
  EXPECT_GE(box_value(pair, "stage.pair", 3), kHeight / 28);
  EXPECT_GE(box_value(pair, "stage.pair", 0), box_value(pair, "picture", 0));
  EXPECT_LE(box_value(pair, "stage.pair", 0) + box_value(pair, "stage.pair", 2),
            box_value(pair, "picture", 0) + box_value(pair, "picture", 2));
}

// After a fade, the picture equals the picture of a program that was started with that head.
TEST_F(Lecture, FadeEndsInExactPicture) {
  save_small_model(folder_.path() / "model");
  const auto model_arguments = [&](const std::vector<std::string>& extra) {
    std::vector<std::string> options = {"--model", (folder_.path() / "model").string(), "--text",
                                        "the cat sat on the mat"};
    options.insert(options.end(), extra.begin(), extra.end());
    return arguments(options);
  };
  const auto picture = [](Program& program, int head) {
    program.wait_for("a picture", is_current);
    program.rest_pointer();
    return program
        .wait_for("head " + std::to_string(head),
                  [&](const Report& r) {
                    return is_current(r) && r["experiment"]["view"]["head"] == head;
                  })["picture"]
        .text();
  };
  const auto picture_at_start = [&](const std::string& head) {
    Program program(display_, folder_.path(), model_arguments({"--head", head}));
    return picture(program, std::stoi(head));
  };
  const std::string first = picture_at_start("0"), second = picture_at_start("1");
  ASSERT_NE(first, second);
  for (const bool is_reduced : {false, true}) {
    Program program(display_, folder_.path(), model_arguments({"--head", "0"}));
    EXPECT_EQ(picture(program, 0), first);
    if (is_reduced) {
      program.click("menu.Window");
      program.click("menu.reduced_motion");
      program.rest_pointer();
      program.wait_for("the closed menu", [](const Report& r) {
        return !r["widgets"].contains("menu.reduced_motion");
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const int start_frames = program.wait_for("rest")["frames"].get<int>();
    program.press("period");
    EXPECT_EQ(picture(program, 1), second);
    const int frames = program.wait_for("rest")["frames"].get<int>() - start_frames;
    if (is_reduced) {
      EXPECT_LT(frames, 8);
    } else {
      EXPECT_GT(frames, 3);
    }
  }
}

// xdotool arguments that click a widget of the speaker window.
std::string click_arguments(const Report& speaker, const std::string& widget) {
  const auto middle = [&](std::size_t axis) {
    return std::to_string(static_cast<int>(speaker["place"][axis].get<double>() +
                                           box_value(speaker, widget, axis) +
                                           box_value(speaker, widget, axis + 2) / 2));
  };
  return "mousemove " + middle(0) + " " + middle(1) + " click 1";
}

// The speaker window has notes, next step and clock; its actions apply to the stage.
TEST_F(Lecture, SpeakerWindowShowsNotesAndControlsStage) {
  Program program(display_, folder_.path(), arguments({"--lesson", "self-attention"}));
  EXPECT_FALSE(wait_for_step(program, "self-attention", 0)["speaker"].get<bool>());
  program.press("F5");
  program.wait_for("the stage", [](const Report& r) { return r["window"][0] == kWidth; });
  program.press("ctrl+m");
  program.wait_for("the second window", [](const Report& r) { return r["speaker"].get<bool>(); });
  const auto wait_for_notes = [&](const std::string& notes) {
    return program.wait_for_speaker(notes, [&](const Report& r) { return r["says"] == notes; });
  };
  const std::vector<LessonStep>& steps = find_lesson("self-attention").steps;
  const Report first = wait_for_notes(steps[0].notes);
  for (const char* widget : {"speaker.elapsed", "speaker.time", "speaker.next", "lesson.step.4"}) {
    EXPECT_TRUE(first["widgets"].contains(widget)) << widget;
  }
  // All widgets are inside the window.
  for (const auto& [id, box] : first["widgets"].items()) {
    EXPECT_GE(box[0].get<double>(), 0) << id;
    EXPECT_LE(box[0].get<double>() + box[2].get<double>(), first["window"][0].get<double>()) << id;
    EXPECT_LE(box[1].get<double>() + box[3].get<double>(), first["window"][1].get<double>()) << id;
  }
  program.press("Next");
  wait_for_step(program, "self-attention", 1);
  const Report second = wait_for_notes(steps[1].notes);
  program.wait_for("all pictures", [](const Report& r) { return r["lesson_pictures"] == 4; });
  program.keep_screenshot("speaker", true);
  program.xdotool(click_arguments(second, "speaker.lesson_on"));
  program.wait_for_speaker("the third notes",
                           [&](const Report& r) { return r["says"] == steps[2].notes; });
  program.xdotool(click_arguments(second, "speaker.black"));
  program.wait_for_speaker("a black screen",
                           [](const Report& r) { return r["black"].get<bool>(); });
  program.xdotool(click_arguments(second, "lesson.step.1"));
  wait_for_notes(steps[0].notes);
  // The speaker window accepts the keys of the stage.
  program.xdotool("search --name Speaker windowfocus --sync key Next");
  wait_for_notes(steps[1].notes);
  program.xdotool("key b");
  program.wait_for_speaker("a black screen by a key",
                           [](const Report& r) { return r["black"].get<bool>(); });
  program.xdotool("key b");
  // The clock runs without input, and can be restarted.
  const double start = first["elapsed"].get<double>();
  const Report report = program.wait_for_speaker(
      "three seconds", [&](const Report& r) { return r["elapsed"].get<double>() >= start + 3; });
  program.xdotool(click_arguments(report, "speaker.lesson_clock"));
  program.wait_for_speaker("a new beginning", [&](const Report& r) {
    return r["elapsed"].get<double>() < report["elapsed"].get<double>();
  });
  program.press("ctrl+m");
  program.rest_pointer();
  program.wait_for("the closed window", [](const Report& r) { return !r["speaker"].get<bool>(); });
  program.press("ctrl+q");
  EXPECT_EQ(program.wait_for_end(), 0);
}

// Pictures of each step are drawn in idle time; a click on one opens the step.
TEST_F(Lecture, DrawsPictureOfEachStep) {
  Program program(display_, folder_.path(), arguments({"--lesson", "induction"}));
  wait_for_step(program, "induction", 0);
  const Report report =
      program.wait_for("all pictures", [](const Report& r) { return r["lesson_pictures"] == 5; });
  EXPECT_GE(box_value(report, "lesson.step.5", 3), 20);
  program.click("lesson.step.4");
  program.rest_pointer();
  wait_for_step(program, "induction", 3);
  program.keep_screenshot("lesson-strip");
  program.press("ctrl+d");  // dark pictures are computed separately
  program.wait_for("dark pictures", [](const Report& r) { return r["lesson_pictures"] != 5; });
  program.wait_for("all dark pictures", [](const Report& r) { return r["lesson_pictures"] == 5; });
  program.press("Next");  // does not wait for pictures
  wait_for_step(program, "induction", 4);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
