// Window under real X events: typing, switching, dragging, exporting, closing.
#include "app/window/window.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "core/base/file.h"
#include "core/experiment/session.h"
#include "core/lesson/lesson.h"
#include "core/tensor/safetensors.h"
#include "core/view/session_file.h"
#include "tests/app/events/desktop.h"
#include "tests/app/events/drop.h"
#include "tests/app/events/small_model.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"
#include "tests/support/process.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

using Report = Program::Report;

class Window : public ::testing::Test {
 protected:
  Window() : display_(1400, 900) { save_small_model(model()); }
  std::filesystem::path model() const { return folder_.path() / "model"; }
  std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }
  std::vector<std::string> arguments(std::vector<std::string> extra = {}) const {
    std::vector<std::string> options = {"--model",  model().string(), "--size",
                                        "1280x800", "--scale",        "1"};
    options.insert(options.end(), extra.begin(), extra.end());
    return options;
  }
  static bool is_current(const Report& r) {
    return r["has_trace"].get<bool>() && r["current"].get<bool>();
  }
  // Waits for an idle report whose picture differs from `previous`; returns that picture.
  static std::string new_picture(Program& program, const std::string& previous) {
    program.rest_pointer();
    const Report report = program.wait_for("another picture", [&](const Report& r) {
      return is_current(r) && r["picture"] != previous;
    });
    return report["picture"].text();
  }

  testing::TemporaryFolder folder_;
  Display display_;
};

// Selects encoder, decoder and cross-attention of an encoder-decoder.
TEST_F(Window, SelectsStackAndAttentionKind) {
  Session session;
  session.run.model =
      testing::source_folder() / "tests" / "model-cases" / "encoder_decoder-sinusoidal";
  session.run.ids = {3, 8, 1, 9, 14, 2};
  session.run.target_ids = {0, 5, 7};
  save_session(file("both.json"), session);
  Program program(display_, folder_.path(),
                  {"--session", file("both.json").string(), "--size", "1280x800", "--scale", "1"});
  std::string picture = program.wait_for("a first picture", is_current)["picture"].text();
  const auto select_part = [&](const std::string& list, const std::string& entry) {
    program.click("part." + list);
    program.click("part." + list + "." + entry);
    picture = new_picture(program, picture);
    program.keep_screenshot("part-" + list);
    return Json(program.wait_for("the picture of the part", is_current)["experiment"]["view"]);
  };
  EXPECT_EQ(select_part("kind", "1")["kind"], "cross");
  const Json view = select_part("stack", "0");
  EXPECT_EQ(view["stack"], "encoder");
  EXPECT_FALSE(view.contains("kind"));
}

TEST_F(Window, PictureFollowsTyping) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat"}));
  std::string picture = program.wait_for("a first picture", is_current)["picture"].text();
  program.keep_screenshot("first");
  program.click("text");
  program.press("ctrl+a");
  program.type("the dog sat on the mat");
  const Report after_typing = program.wait_for("the typed text", [](const Report& r) {
    return is_current(r) && r["experiment"]["text"] == "the dog sat on the mat";
  });
  picture = new_picture(program, picture);
  EXPECT_GT(after_typing["tokens"], 4);
  program.keep_screenshot("typed");

  program.press("BackSpace");
  program.wait_for("a shorter text", [](const Report& r) {
    return is_current(r) && r["experiment"]["text"] == "the dog sat on the ma";
  });
  program.press("ctrl+z");
  program.wait_for("the text before the last key", [](const Report& r) {
    const std::string& text = r["experiment"]["text"].text();
    return is_current(r) && text != "the dog sat on the ma";
  });
}

TEST_F(Window, FollowsVariantEncodingAndParameters) {
  const std::string sentence = "the cat sat on the mat and the dog sat on the log ";
  Program program(display_, folder_.path(), arguments({"--text", sentence + sentence + sentence}));
  std::string picture = program.wait_for("a first picture", is_current)["picture"].text();

  program.click("variant.type");
  program.click("variant.type.local");
  Report report = program.wait_for("the variant Local window", [](const Report& r) {
    return is_current(r) && r["experiment"].contains("variant") &&
           r["experiment"]["variant"]["type"] == "local" && r["widgets"].contains("variant.window");
  });
  const auto window = report["experiment"]["variant"]["window"].get<int>();
  picture = new_picture(program, picture);
  program.keep_screenshot("local");

  program.drag("variant.window", 0.5, 0.06);
  report = program.wait_for("a narrower window", [&](const Report& r) {
    return is_current(r) && r["experiment"]["variant"]["window"] < window;
  });
  picture = new_picture(program, picture);

  program.click("position.type");
  program.click("position.type.alibi");
  program.wait_for("ALiBi", [](const Report& r) {
    return is_current(r) && r["experiment"].contains("position") &&
           r["experiment"]["position"]["type"] == "alibi";
  });
  picture = new_picture(program, picture);
  program.keep_screenshot("alibi");

  program.press("ctrl+z");
  program.wait_for("the undone encoding", [](const Report& r) {
    return is_current(r) && !r["experiment"].contains("position");
  });
  picture = new_picture(program, picture);
}

TEST_F(Window, AppliesChoiceToOneHead) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on the mat"}));
  program.wait_for("a first picture", is_current);
  program.click("scope.head");
  program.click("variant.type");
  program.click("variant.type.local");
  Report report = program.wait_for("a local window in one head", [](const Report& r) {
    return is_current(r) && r["experiment"].contains("groups");
  });
  EXPECT_FALSE(report["experiment"].contains("variant"));
  const Report& groups = report["experiment"]["groups"];
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0]["layers"], Report({0}));
  EXPECT_EQ(groups[0]["heads"], Report({0}));
  EXPECT_EQ(groups[0]["variant"]["type"], "local");

  program.click("scope.layer");
  program.wait_for("the settings of the layer", [](const Report& r) {
    return is_current(r) && !r["widgets"].contains("variant.window");
  });
  program.click("position.type");
  program.click("position.type.alibi");
  program.wait_for("ALiBi in the layer", [](const Report& r) {
    return is_current(r) && r["experiment"]["groups"].size() == 2;
  });
  program.rest_pointer();
  program.keep_screenshot("groups");

  program.press("ctrl+z");
  program.wait_for("the undone choice", [](const Report& r) {
    return is_current(r) && r["experiment"]["groups"].size() == 1;
  });
  program.click("scope.clear");
  program.wait_for("equal settings of all heads", [](const Report& r) {
    return is_current(r) && !r["experiment"].contains("groups");
  });
}

TEST_F(Window, ChangesViewsByKeysAndClicks) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on the mat"}));
  std::string picture = program.wait_for("a first picture", is_current)["picture"].text();
  const auto wait_for_view = [&](const std::string& id) {
    program.wait_for("view " + id,
                     [&](const Report& r) { return r["experiment"]["view"]["type"] == id; });
    picture = new_picture(program, picture);
    program.keep_screenshot("view-" + id);
  };
  program.press("2");
  wait_for_view("grid");
  program.press("3");
  wait_for_view("pattern");
  program.open_view("map");
  wait_for_view("map");
  program.press("period");
  program.wait_for("the second head",
                   [](const Report& r) { return r["experiment"]["view"]["head"] == 1; });
  picture = new_picture(program, picture);
  program.press("ctrl+d");
  picture = new_picture(program, picture);
  program.keep_screenshot("dark");
  program.press("question");
  program.wait_for("the list of keys",
                   [](const Report& r) { return r["widgets"].contains("dialog.close"); });
  program.keep_screenshot("keys");
  program.press("Escape");
  program.wait_for("the closed list of keys",
                   [](const Report& r) { return !r["widgets"].contains("dialog.close"); });
  program.press("Tab");
  program.wait_for("hidden panels", [](const Report& r) { return !r["widgets"].contains("text"); });
  program.keep_screenshot("hidden-panels");
  program.click("panels");  // the way back
  program.wait_for("the panels", [](const Report& r) { return r["widgets"].contains("text"); });
}

// assets/docs/pictures/window.png, shown in the tour, is such a screenshot with SmolLM2 installed.
TEST_F(Window, MatchesReadmeScreenshot) {
  const Display display(1600, 1000);
  Program program(display, folder_.path(),
                  {"--size", "1600x1000", "--scale", "1", "--controls", "simple", "--no-tour"});
  const Report initial = program.wait_for("the pinned pair of a first start", [](const Report& r) {
    return is_current(r) && r["experiment"]["view"].contains("pinned_key");
  });
  program.point_at(550, 485);
  program.wait_for("the pair", [&](const Report& r) { return r["picture"] != initial["picture"]; });
  program.wait_for_still_frames(std::chrono::milliseconds(500));
  program.keep_screenshot("readme");
}

TEST_F(Window, EntersAndLeavesFullScreen) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on the mat"}));
  program.wait_for("a first picture", is_current);
  const auto is_wide = [](double width) {
    return [=](const Report& r) { return r["window"][0] == width && is_current(r); };
  };
  program.wait_for("the window", is_wide(1280));
  program.press("F11");
  program.wait_for("the whole screen", is_wide(1400));
  program.keep_screenshot("full-screen");
  program.press("F11");
  program.wait_for("the window without full screen", is_wide(1280));
}

TEST_F(Window, AcceptsDroppedFiles) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat"}));
  program.wait_for("a first picture", is_current);
  write_file(file("a text.txt"), "a mat that sat on the cat");
  drop_file(display_.name(), file("a text.txt"));
  program.wait_for("the dropped text", [](const Report& r) {
    return is_current(r) && r["experiment"]["text"] == "a mat that sat on the cat";
  });
  // A picture file embeds its session.
  const std::string render = testing::program_path() + " render --model " + model().string() +
                             " --text 'the dog' --variant local,window=1 --view grid -o " +
                             file("grid.png").string();
  ASSERT_EQ(std::system(render.c_str()), 0);
  drop_file(display_.name(), file("grid.png"));
  program.wait_for("the session of the picture", [](const Report& r) {
    const Report& experiment = r["experiment"];
    return is_current(r) && experiment["text"] == "the dog" &&
           experiment["view"]["type"] == "grid" && experiment["variant"]["type"] == "local";
  });
  write_file(file("broken.npy"), "not numbers");
  drop_file(display_.name(), file("broken.npy"));
  const Report report =
      program.wait_for("an error", [](const Report& r) { return !r["notices"].empty(); });
  EXPECT_NE(report["notices"].dump().find("broken.npy"), std::string::npos);
  EXPECT_EQ(report["experiment"]["text"], "the dog");
}

TEST_F(Window, WorksWithoutComputeShaders) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on the mat"}),
                  {{"MESA_GL_VERSION_OVERRIDE", "3.3"}});
  const Report report = program.wait_for("a first picture", is_current);
  EXPECT_NE(report["notes"].dump().find("no OpenGL 4.3"), std::string::npos) << report["notes"];
  EXPECT_EQ(report["backend"].get<std::string>().substr(0, 3), "CPU");
  program.press("2");
  program.wait_for("the grid",
                   [](const Report& r) { return r["experiment"]["view"]["type"] == "grid"; });
  program.keep_screenshot("opengl-3.3");
}

// At the first start, Flow plays while three cards wait for acts of the user.
TEST_F(Window, FirstStartWaitsForThreeMoves) {
  {
    Program program(display_, folder_.path(), {"--size", "1280x800", "--scale", "1"}, {},
                    Program::Start::First);
    program.rest_pointer();
    const auto waits_for = [](int move) {
      return [move](const Report& r) { return is_current(r) && r["tour"] == move; };
    };
    const auto step = [](const Report& r) {
      const Report& view = r["experiment"]["view"];
      return view.contains("options") ? view["options"]["flow"]["step"].get<int>() : 12;
    };
    Report report = program.wait_for(
        "Flow at play", [&](const Report& r) { return waits_for(0)(r) && step(r) < 12; });
    EXPECT_EQ(report["experiment"]["view"]["type"], "flow");
    EXPECT_TRUE(report["simple"].get<bool>());
    program.keep_screenshot("moves-point");
    program.press("2");  // no key acts behind a card
    program.press("s");
    program.press("Tab");
    const auto picture = report["widgets"]["picture"].get<std::vector<double>>();
    // Tokens are in the upper left panel.
    program.point_at(picture[0] + 45, picture[1] + 88);
    report = program.wait_for("the second card", waits_for(1));
    EXPECT_EQ(report["experiment"]["view"]["type"], "flow");
    program.keep_screenshot("moves-change");
    const std::string text = report["experiment"]["text"].text();
    program.click("text");
    program.press("ctrl+Home");
    program.type("Yes: ");
    report = program.wait_for("the third card", waits_for(2));
    EXPECT_EQ(report["experiment"]["text"].text(), "Yes: " + text);
    program.drag("variant.window", 0.1, 0.3);
    program.wait_for("the end", [](const Report& r) { return is_current(r) && r["tour"] == -1; });
    program.keep_screenshot("moves-done");
    program.press("ctrl+q");
    EXPECT_EQ(program.wait_for_end(), 0);
  }
  Program program(display_, folder_.path(), {}, {}, Program::Start::First);  // only once
  EXPECT_EQ(program.wait_for("the last session", is_current)["tour"], -1);
}

// The cards replace the line on the salient pair, also behind a dialog.
TEST_F(Window, DialogKeepsOpeningMoves) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat", "--tour"}));
  program.wait_for("the cards", [](const Report& r) { return is_current(r) && r["tour"] == 0; });
  program.click("menu.Help");
  program.wait_for("the menu", [](const Report& r) { return r["widgets"].contains("menu.about"); });
  program.click("menu.about");
  const Report report = program.wait_for(
      "the dialog", [](const Report& r) { return r["widgets"].contains("about.close"); });
  EXPECT_EQ(report["tour"], 0);
  EXPECT_TRUE(report["widgets"].contains("tour.card.0"));
  EXPECT_FALSE(report["widgets"].contains("noticed"));
  program.press("Escape");
  program.wait_for("the cards again",
                   [](const Report& r) { return !r["widgets"].contains("about.close"); });
  program.press("ctrl+q");
  EXPECT_EQ(program.wait_for_end(), 0);
}

TEST_F(Window, EscapeEndsOpeningMoves) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat", "--tour"}));
  program.wait_for("the cards", [](const Report& r) { return is_current(r) && r["tour"] == 0; });
  program.click("text");
  program.press("Escape");
  program.wait_for("the end", [](const Report& r) { return r["tour"] == -1; });
  program.press("ctrl+q");
  EXPECT_EQ(program.wait_for_end(), 0);
}

// Simple controls hide rarely needed settings, unless they are in use.
TEST_F(Window, SimpleControlsShowSettingsInUse) {
  Program program(display_, folder_.path(),
                  arguments({"--text", "the cat sat on the mat", "--controls", "simple"}));
  const auto has = [](const Report& r, const std::string& id) { return r["widgets"].contains(id); };
  Report report = program.wait_for("a first picture", is_current);
  for (const char* id : {"text", "model", "variant.type", "position.type", "view.map"}) {
    EXPECT_TRUE(has(report, id)) << id;
  }
  for (const char* id : {"scope.all", "structure", "causal.model", "backend.auto", "position.base",
                         "position.style", "variant.score", "colour_map", "colour_end"}) {
    EXPECT_FALSE(has(report, id)) << id;
  }
  program.keep_screenshot("simple");
  program.click("controls.full");
  program.click("causal.yes");
  program.drag("position.base", 0.5, 0.7);
  program.wait_for("another base", [](const Report& r) {
    return is_current(r) && r["experiment"].contains("position");
  });
  program.click("controls.simple");
  report = program.wait_for("simple controls", [&](const Report& r) {
    return is_current(r) && r["simple"].get<bool>() && !has(r, "structure");
  });
  EXPECT_TRUE(has(report, "causal.yes"));
  EXPECT_TRUE(has(report, "position.base"));
  for (const char* id : {"position.dims", "variant.scale", "backend.auto"}) {
    EXPECT_FALSE(has(report, id)) << id;
  }
  program.press("ctrl+l");
  program.wait_for("full controls", [&](const Report& r) { return has(r, "structure"); });
  program.press("ctrl+q");
  EXPECT_EQ(program.wait_for_end(), 0);
  EXPECT_NE(read_file(file("attnscope/window.json")).find("\"simple\": false"), std::string::npos);
}

TEST_F(Window, StepsThroughLesson) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat"}));
  program.wait_for("a first picture", is_current);
  program.press("l");
  program.click("lesson.rope");
  const auto wait_for_step = [&](int step) {
    return program.wait_for("step " + std::to_string(step), [&](const Report& r) {
      return is_current(r) && r.contains("lesson_step") && r["lesson_step"] == step;
    });
  };
  const Report first = wait_for_step(0);
  EXPECT_EQ(first["experiment"]["model"], "default");
  EXPECT_EQ(first["experiment"]["view"]["layer"], 2);  // the previous model has fewer layers
  program.keep_screenshot("lesson");
  program.press("Next");  // Page Down, as sent by clickers
  wait_for_step(1);
  program.press("ctrl+m");
  program.click("lesson_on");
  wait_for_step(2);
  program.keep_screenshot("lesson-notes");
  program.press("Prior");
  wait_for_step(1);
  program.click("lesson.leave");
  program.wait_for("the text before the lesson", [&](const Report& r) {
    return is_current(r) && !r.contains("lesson_step") && r["experiment"]["text"] == "the cat sat";
  });
}

// The picture has most of the space, even if the text of a step is long.
TEST_F(Window, LessonLeavesSpaceForPicture) {
  Program program(display_, folder_.path(), arguments({"--lesson", "heads"}));
  const auto wait_for_step = [&](int step) {
    return program.wait_for("step " + std::to_string(step), [&](const Report& r) {
      return is_current(r) && r["lesson_step"] == step;
    });
  };
  const auto extent = [](const Report& r, const char* widget, int side) {
    return r["widgets"][widget][static_cast<std::size_t>(2 + side)].get<double>();
  };
  for (int step = 0; step < 4; ++step) {
    const Report report = wait_for_step(step);
    EXPECT_GE(extent(report, "middle", 1), 0.65 * (800 - 54));  // without menus and status line
    program.press("Next");
  }
}

TEST_F(Window, DialogsReceiveAllKeys) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat"}));
  program.wait_for("a first picture", is_current);
  program.click("text");
  program.press("ctrl+p");
  program.wait_for("the palette",
                   [](const Report& r) { return r["widgets"].contains("palette.typed"); });
  program.type("grid");
  program.press("Return");
  const Report report = program.wait_for("the grid", [](const Report& r) {
    return r["experiment"]["view"]["type"] == "grid" && !r["widgets"].contains("palette.typed");
  });
  EXPECT_EQ(report["experiment"]["text"], "the cat");
  program.press("ctrl+p");
  program.wait_for("the palette",
                   [](const Report& r) { return r["widgets"].contains("palette.typed"); });
  program.type("lsh");
  program.wait_for("the variant",
                   [](const Report& r) { return r["widgets"].contains("palette.variant.lsh"); });
  program.keep_screenshot("palette");
  program.press("Return");
  program.wait_for("the variant", [](const Report& r) {
    return is_current(r) && r["experiment"].contains("variant") &&
           r["experiment"]["variant"]["type"] == "lsh";
  });
  // Hidden editors do not receive keys.
  program.click("text");
  program.press("F5");
  program.wait_for("the presentation", [](const Report& r) { return r["presenting"].get<bool>(); });
  program.press("3");
  program.wait_for("the pattern",
                   [](const Report& r) { return r["experiment"]["view"]["type"] == "pattern"; });
}

// A list opened by a control of the view closes with the view.
TEST_F(Window, ClosesListsWithTheirView) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat"}));
  program.wait_for("a first picture", is_current);
  program.click("Head");
  program.wait_for("the list", [](const Report& r) { return r["widgets"].contains("Head.1"); });
  program.press("4");
  program.wait_for("the view Lines without the list", [](const Report& r) {
    return r["experiment"]["view"]["type"] == "lines" && !r["widgets"].contains("Head.1");
  });
}

// In an open list the arrow keys move the selection, Enter accepts it, and other handlers do not
// receive these keys.
TEST_F(Window, SelectsFromListsByKeys) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat"}));
  const Report first = program.wait_for("a first picture", is_current);
  const auto is_marked = [](const Report& r, const std::string& row) {
    const Report& widgets = r["widgets"];
    return widgets.contains("list.marked") && widgets.contains(row) &&
           widgets["list.marked"] == widgets[row];
  };
  const auto is_closed = [](const Report& r) { return !r["widgets"].contains("list.marked"); };
  program.click("text");
  program.click("Head");
  program.wait_for("the list", [&](const Report& r) { return is_marked(r, "Head.0"); });
  program.press("Down");
  program.wait_for("the next row", [&](const Report& r) { return is_marked(r, "Head.1"); });
  program.press("Return");
  Report report = program.wait_for("the next head", [&](const Report& r) {
    return is_closed(r) && r["experiment"]["view"]["head"] == 1;
  });
  EXPECT_EQ(report["experiment"]["text"], "the cat");

  // Long lists scroll; disabled rows are skipped, and Escape changes nothing.
  program.click("variant.type");
  program.wait_for("the list",
                   [&](const Report& r) { return r["widgets"].contains("variant.type.local"); });
  program.press("End");
  report = program.wait_for("the last row", [&](const Report& r) {
    return !is_closed(r) && !is_marked(r, "variant.type.model");
  });
  const Report& last = report["widgets"]["list.marked"];
  EXPECT_LE(last[1].get<double>() + last[3].get<double>(), 800);
  program.keep_screenshot("list-end");
  program.press("Home");
  program.wait_for("the first row",
                   [&](const Report& r) { return is_marked(r, "variant.type.model"); });
  program.press("Escape");
  report = program.wait_for("the closed list", is_closed);
  EXPECT_FALSE(report["experiment"].contains("variant"));
  program.click("scope.head");  // input encodings are not available for a single head
  program.click("position.type");
  program.wait_for("the list",
                   [&](const Report& r) { return r["widgets"].contains("position.type.none"); });
  program.press("Home");
  program.wait_for("the first row",
                   [&](const Report& r) { return is_marked(r, "position.type.model"); });
  program.press("Down");
  program.press("Down");
  program.wait_for("the row after the disabled rows", [&](const Report& r) {
    return r["widgets"].contains("position.type.sinusoidal") && is_marked(r, "position.type.rope");
  });
  program.press("Escape");
  report = program.wait_for("the closed list", is_closed);
  EXPECT_FALSE(report["experiment"].contains("groups"));

  program.press("1");
  program.click("map.source");
  report = program.wait_for("the list", [&](const Report& r) { return !is_closed(r); });
  program.press("Down");
  program.press("Return");
  program.wait_for("another source", [&](const Report& r) {
    return is_closed(r) && r["experiment"]["view"].contains("options") &&
           r["experiment"]["view"]["options"]["map"].contains("source");
  });
  program.keep_screenshot("list-source");
}

// Selects an architecture, which uses the existing weights and gets its required input.
TEST_F(Window, SelectsArchitecture) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat"}));
  program.wait_for("a first picture", is_current);
  program.click("structure");
  program.click("architecture.type");
  program.click("architecture.type.encoder_decoder");
  const Report report = program.wait_for("an encoder and a decoder", [](const Report& r) {
    const Report& experiment = r["experiment"];
    return is_current(r) && experiment.contains("architecture") &&
           experiment["target"] == "the cat sat" && r["widgets"].contains("target");
  });
  EXPECT_EQ(report["error"], "");
  EXPECT_EQ(report["experiment"]["architecture"]["type"], "encoder_decoder");
  const std::string notes = report["notes"].dump();
  EXPECT_NE(notes.find("untrained"), std::string::npos) << notes;
  program.rest_pointer();
  program.keep_screenshot("structure-encoder-decoder");
  program.click("join.type");
  program.click("join.type.gru");
  program.wait_for("gated residual connections", [](const Report& r) {
    return is_current(r) && r["experiment"].contains("join");
  });
  program.click("structure.clear");
  program.wait_for("the model as trained", [](const Report& r) {
    return is_current(r) && !r["experiment"].contains("architecture") &&
           !r["experiment"].contains("join");
  });
  program.click("exits.type");
  program.click("exits.type.saturation");
  program.wait_for("early exits", [](const Report& r) {
    return is_current(r) && r["experiment"].contains("exits") && r["experiment"].contains("exit");
  });
  program.rest_pointer();
  program.keep_screenshot("structure-exits");
}

// Implied changes are applied, listed and reverted.
TEST_F(Window, SelectsVariantWithImpliedChanges) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on the"}));
  const Report first = program.wait_for("a first picture", is_current);
  ASSERT_EQ(first["tokens"].get<int>(), 5);
  program.click("variant.type");
  program.click("variant.type.image_2d");  // requires width times height tokens
  const Report after_selection = program.wait_for("the variant", [](const Report& r) {
    return is_current(r) && r["tokens"].get<int>() == 4 && r["widgets"].contains("along.undo");
  });
  EXPECT_EQ(after_selection["error"], "");
  EXPECT_EQ(after_selection["experiment"]["variant"]["width"].get<int>(), 2);
  program.rest_pointer();
  program.keep_screenshot("picked-image-2d");
  program.click("along.undo");
  const Report after_undo = program.wait_for("the reverted settings", [](const Report& r) {
    return is_current(r) && r["tokens"].get<int>() == 5 && !r["widgets"].contains("along.undo");
  });
  EXPECT_FALSE(after_undo["experiment"].contains("variant"));
  program.press("ctrl+z");  // undoes the reverting
  program.wait_for("the variant again",
                   [](const Report& r) { return is_current(r) && r["tokens"].get<int>() == 4; });
}

// The store has contexts of the text; the tokens after them are mixed into the prediction.
TEST_F(Window, RetrievesFromStore) {
  const std::string store = file("store.safetensors").string();
  write_file(file("text.txt"), "the cat sat on the mat and the cat sat on the hat");
  const testing::ProcessResult datastore = testing::run_process(
      testing::program_path(),
      {"datastore", "--model", model().string(), "--text", file("text.txt").string(), "-o", store});
  ASSERT_EQ(datastore.status, 0) << datastore.err;
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on"}));
  program.wait_for("a first picture", is_current);
  program.press("ctrl+o");
  program.wait_for("the browser",
                   [](const Report& r) { return r["widgets"].contains("browser.name"); });
  program.wait_for_still_frames(std::chrono::milliseconds(300));
  program.type(store);
  program.press("Return");
  const Report report = program.wait_for("retrieval", [](const Report& r) {
    return is_current(r) && r["experiment"].contains("retrieval");
  });
  EXPECT_EQ(report["error"], "");
  EXPECT_NE(report["notes"].dump().find("predictions are mixed"), std::string::npos);
  program.click("structure");
  program.click("retrieval.type");
  program.click("retrieval.type.model");
  program.wait_for("no retrieval", [](const Report& r) {
    return is_current(r) && !r["experiment"].contains("retrieval");
  });
  program.click("retrieval.type");  // the store is still known
  program.click("retrieval.type.knn");
  program.wait_for("retrieval again", [](const Report& r) {
    return is_current(r) && r["experiment"].contains("retrieval");
  });
  program.rest_pointer();
  program.keep_screenshot("structure-retrieval");
}

// A right click on a row's label pins only the row; another right click unpins the row.
TEST_F(Window, PinsRowByLabel) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on the mat"}));
  const Report first = program.wait_for("a first picture", is_current);
  const Report& box = first["widgets"]["picture"];
  const auto point_in_picture = [&](std::size_t side, double fraction) {
    return box[side].get<double>() + fraction * box[2 + side].get<double>();
  };
  const auto pinned_index = [](const Report& r, const char* pin) {
    const Report& view = r["experiment"]["view"];
    return view.contains(pin) ? view[pin].get<int>() : -1;
  };
  program.point_at(point_in_picture(0, 0.1), point_in_picture(1, 0.5));
  program.xdotool("click 3");
  program.wait_for("a pinned row", [&](const Report& r) {
    return pinned_index(r, "pinned_query") >= 0 && pinned_index(r, "pinned_key") == -1;
  });
  program.keep_screenshot("pinned-row");
  program.xdotool("click 3");  // unpins, although the map has moved
  program.wait_for("no pin",
                   [&](const Report& r) { return pinned_index(r, "pinned_query") == -1; });
  program.xdotool("click 3");
  program.wait_for("a pinned row",
                   [&](const Report& r) { return pinned_index(r, "pinned_query") >= 0; });
  program.press("Escape");
  program.wait_for("no pin",
                   [&](const Report& r) { return pinned_index(r, "pinned_query") == -1; });
}

// A manual limit accepts digits immediately; digits are not commands.
TEST_F(Window, OpensFieldForManualLimits) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat"}));
  program.wait_for("a first picture", is_current);
  program.click("map.more");  // the field is in the overflow list
  program.click("map.most");
  program.wait_for("the field",
                   [](const Report& r) { return r["widgets"].contains("map.most.number"); });
  program.wait_for_still_frames(std::chrono::milliseconds(300));
  program.type("0.25");
  program.press("Return");
  const Report report = program.wait_for("the number", [](const Report& r) {
    const Report& view = r["experiment"]["view"];
    return view.contains("options") && view["options"]["map"]["most"] == 0.25;
  });
  EXPECT_EQ(report["experiment"]["view"]["type"], "map");
}

TEST_F(Window, OpensFilesByKeyboard) {
  std::filesystem::create_directories(file("texts"));
  write_file(file("texts/a.txt"), "a text of its own");
  write_file(file("texts/b.txt"), "and another one");
  Program program(display_, folder_.path(), arguments({"--text", "the cat"}));
  program.wait_for("a first picture", is_current);
  const auto open = [&] {
    program.press("ctrl+o");
    program.wait_for("the dialog",
                     [](const Report& r) { return r["widgets"].contains("browser.name"); });
    program.wait_for_still_frames(std::chrono::milliseconds(300));
  };
  const auto wait_for_text = [&](const std::string& text) {
    program.wait_for("the text of the file", [&](const Report& r) {
      return is_current(r) && r["experiment"]["text"] == text &&
             !r["widgets"].contains("browser.name");
    });
  };
  open();
  program.type(file("texts/nowhere.txt").string());
  program.press("Return");
  program.wait_for("an error", [](const Report& r) {
    return r.contains("browser_problem") && r["browser_problem"] != "";
  });
  program.keep_screenshot("open-problem");
  program.type(file("texts/a.txt").string());  // replaces the invalid name
  program.press("Return");
  wait_for_text("a text of its own");
  open();
  program.type(file("texts").string());
  program.press("Return");
  program.wait_for("the folder",
                   [](const Report& r) { return r["widgets"].contains("browser.entry.b.txt"); });
  program.press("Down");
  program.press("Down");
  program.press("Return");
  wait_for_text("and another one");
}

TEST_F(Window, SelectsLessonByKeyboard) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat"}));
  program.wait_for("a first picture", is_current);
  program.press("l");
  program.wait_for("the list",
                   [](const Report& r) { return r["widgets"].contains("lesson.self-attention"); });
  program.press("Down");
  program.press("Return");
  const Session second = bundled_lessons()[1].steps[0].session;
  program.wait_for("the second lesson", [&](const Report& r) {
    return is_current(r) && r.contains("lesson_step") &&
           r["experiment"]["text"] == second.run.text &&
           r["experiment"]["view"]["type"] == second.view.id;
  });
}

TEST_F(Window, StartsOpenedLesson) {
  Program program(
      display_, folder_.path(),
      {"open", (testing::source_folder() / "assets/lessons/01-self-attention.json").string()});
  program.wait_for("the first step", [](const Report& r) {
    return is_current(r) && r.contains("lesson_step") && r["lesson_step"] == 0;
  });
}

TEST_F(Window, ConfirmsBeforeExportReplacesFile) {
  write_file(file("kept.png"), "precious");
  Program program(display_, folder_.path(), arguments({"--text", "the cat"}));
  program.wait_for("a first picture", is_current);
  program.press("ctrl+e");
  program.click("export.path");
  program.press("ctrl+a");
  program.type(file("kept.png").string());
  program.wait_for("the typed path", [&](const Report& r) {
    return r.contains("export_path") && r["export_path"] == file("kept.png").string();
  });
  program.click("export.accept");
  program.wait_for("the question", [](const Report& r) { return r["export_asks"].get<bool>(); });
  EXPECT_EQ(read_file(file("kept.png")), "precious");
  program.keep_screenshot("export-replace");
  program.click("export.accept");
  program.wait_for("the closed dialog",
                   [](const Report& r) { return !r["widgets"].contains("export.path"); });
  EXPECT_EQ(read_file(file("kept.png")).substr(1, 3), "PNG");
}

// Attention textures are released before the graphics context.
TEST_F(Window, ExitsCleanlyAfterGpuRuns) {
  write_file(file("gpu.json"), R"({"attnscope": 1, "text": "the cat", "backend": "gpu"})");
  Program program(display_, folder_.path(), arguments({"--session", file("gpu.json").string()}));
  program.wait_for("a run on the GPU", [](const Report& r) {
    return is_current(r) && !r["backend"].get<std::string>().starts_with("CPU");
  });
  program.press("ctrl+q");
  EXPECT_EQ(program.wait_for_end(), 0);
}

// First number of the second row: weight of the second token on the first.
double second_row_weight(const std::string& csv) {
  const std::size_t row = csv.find('\n', csv.find('\n') + 1) + 1;
  return std::stod(csv.substr(csv.find(',', row) + 1));
}

TEST_F(Window, RopePlaysAndFollowsDraggedHandle) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on the mat"}));
  program.wait_for("a first picture", is_current);
  program.open_view("rope");
  program.wait_for("the RoPE view", [](const Report& r) {
    return is_current(r) && r["experiment"]["view"]["type"] == "rope";
  });
  const auto query = [](const Report& r) {
    const Report& view = r["experiment"]["view"];
    const bool is_set = view.contains("options") && view["options"].contains("rope") &&
                        view["options"]["rope"].contains("query");
    return is_set ? view["options"]["rope"]["query"].get<double>() : -1.0;
  };
  program.press("space");
  program.wait_for("a moving query", [&](const Report& r) { return query(r) > 1; });
  program.keep_screenshot("rope");
  program.press("space");
  program.wait_for_still_frames(std::chrono::milliseconds(500));
  const double stop_position = query(program.wait_for("the stopped query", is_current));
  const Report after_stop = program.wait_for("the same query", is_current);
  EXPECT_EQ(query(after_stop), stop_position);
  program.drag("handle.0", 0.3, 0.7);  // drags the position of query and key
  program.wait_for("the dragged position", [&](const Report& r) {
    return is_current(r) && r["experiment"]["view"] != after_stop["experiment"]["view"];
  });
}

TEST_F(Window, ExportMatchesWindow) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on the mat"}));
  program.wait_for("a first picture", is_current);
  const auto export_to = [&](const std::string& name) {
    program.press("ctrl+e");
    program.wait_for("the dialog",
                     [](const Report& r) { return r["widgets"].contains("export.path"); });
    program.type(file(name).string());  // replaces the selected text
    program.wait_for("the typed path", [&](const Report& r) {
      return r.contains("export_path") && r["export_path"] == file(name).string();
    });
    program.click("export.accept");
    program.wait_for("file " + name,
                     [&](const Report&) { return std::filesystem::exists(file(name)); });
    program.wait_for("the closed dialog",
                     [](const Report& r) { return !r["widgets"].contains("export.path"); });
    return read_file(file(name));
  };
  const std::string picture = export_to("before.png");
  EXPECT_EQ(picture.substr(1, 3), "PNG");
  const std::string command = testing::program_path() + " render --model " + model().string() +
                              " --text 'the cat sat on the mat' -o " +
                              file("rendered.png").string();
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(read_file(file("rendered.png")), picture);  // equal to the output of the command line
  const std::string numbers = export_to("before.csv");

  program.click("position.type");
  program.click("position.type.none");
  program.wait_for("no encoding", [](const Report& r) {
    return is_current(r) && r["experiment"].contains("position");
  });
  EXPECT_NE(export_to("after.png"), picture);
  EXPECT_NE(second_row_weight(export_to("after.csv")), second_row_weight(numbers));
  EXPECT_NE(export_to("after.svg").find("<svg"), std::string::npos);
}

// Letters typed in an open list are not commands: G would change the colour map.
TEST_F(Window, IgnoresLetterCommandsInOpenList) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on the mat"}));
  program.wait_for("a first picture", is_current);
  program.click("variant.type");
  program.wait_for("the list",
                   [](const Report& r) { return r["widgets"].contains("variant.type.local"); });
  program.press("g");
  program.press("n");
  const Report report = program.wait_for("handled keys");
  EXPECT_TRUE(report["widgets"].contains("variant.type.local"));
  EXPECT_EQ(report["experiment"]["view"]["colour_map"], "viridis");
  EXPECT_EQ(report["experiment"]["view"]["colours"], "percentile");
  program.press("Escape");
  program.wait_for("the closed list",
                   [](const Report& r) { return !r["widgets"].contains("variant.type.local"); });
  program.press("n");
  program.wait_for("an executed command",
                   [](const Report& r) { return r["experiment"]["view"]["colours"] == "largest"; });
}

// .npy files contain one array, so they are not available for views with several tables.
TEST_F(Window, OffersNpyForSingleArrays) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on the mat"}));
  program.wait_for("a first picture", is_current);
  const auto extension_after = [&](const std::string& format) {
    program.press("ctrl+e");
    program.wait_for("the dialog",
                     [](const Report& r) { return r["widgets"].contains("export.format.npy"); });
    program.click("export.format.csv");
    program.wait_for("a table", [](const Report& r) {
      return r["export_path"].get<std::string>().ends_with(".csv");
    });
    program.click("export.format." + format);
    const Report report = program.wait_for("the effect of the click");
    program.press("Escape");
    program.wait_for("the closed dialog",
                     [](const Report& r) { return !r["widgets"].contains("export.path"); });
    return std::filesystem::path(report["export_path"].get<std::string>()).extension().string();
  };
  EXPECT_EQ(extension_after("npy"), ".npy");  // map
  program.open_view("rope");
  program.wait_for("RoPE", [](const Report& r) {
    return is_current(r) && r["experiment"]["view"]["type"] == "rope";
  });
  EXPECT_EQ(extension_after("npy"), ".csv");
}

// Exports animations of a view and of a growing text, as GIF and as numbered pictures.
TEST_F(Window, ExportsAnimations) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on the mat"}));
  program.wait_for("a first picture", is_current);
  program.open_view("rope");
  program.wait_for("RoPE", [](const Report& r) {
    return is_current(r) && r["experiment"]["view"]["type"] == "rope";
  });
  const auto type_name = [&](const std::string& name) {
    program.wait_for("the dialog",
                     [](const Report& r) { return r["widgets"].contains("export.path"); });
    program.click("export.path");
    program.press("ctrl+a");
    program.type(file(name).string());
  };
  const auto export_as = [&](const std::string& format, const std::string& written) {
    program.click("export.format." + format);
    program.wait_for("the name of a " + format, [&](const Report& r) {
      return r["export_path"] == file(written).string() && r["widgets"].contains("export.moves");
    });
    program.click("export.frames");
    program.press("ctrl+a");
    program.type("4");
    program.keep_screenshot("export-" + format);
    program.click("export.accept");
    program.wait_for("the closed dialog",
                     [](const Report& r) { return !r["widgets"].contains("export.path"); });
  };
  program.press("ctrl+e");
  type_name("turning.png");
  export_as("gif", "turning.gif");
  EXPECT_EQ(read_file(file("turning.gif")).substr(0, 6), "GIF89a");

  program.press("ctrl+e");
  program.click("export.format.frames");
  program.click("export.moves");
  program.click("export.moves.tokens");
  export_as("frames", "turning-%03d.png");
  EXPECT_EQ(load_session(file("turning-000.png")).run.text, "the cat sat on the mat");
  EXPECT_GT(load_session(file("turning-003.png")).run.text.size(), 22U);
  EXPECT_FALSE(std::filesystem::exists(file("turning-004.png")));

  // A rejected name can be corrected immediately.
  program.press("ctrl+e");
  type_name("x.bmp");
  program.press("Return");
  program.wait_for("the refusal", [](const Report& r) { return r["export_problem"] != ""; });
  program.type(file("mended.png").string());
  program.press("Return");
  program.wait_for("the closed dialog",
                   [](const Report& r) { return !r["widgets"].contains("export.path"); });
  EXPECT_EQ(read_file(file("mended.png")).substr(1, 3), "PNG");
}

TEST_F(Window, OpensImportedTensors) {
  SafetensorsFile tensors;
  tensors.tensors.emplace("attention", stored(Tensor::full({2, 3, 4, 6}, 1.0F / 6)));
  write_safetensors(file("own.safetensors"), tensors);
  Program program(display_, folder_.path(),
                  {"open", file("own.safetensors").string(), "--size", "1280x800", "--scale", "1"});
  program.wait_for("the tensors", [](const Report& r) {
    return is_current(r) && r["experiment"].contains("tensors") && r["tokens"] == 4;
  });
  program.keep_screenshot("tensors");
  program.click("view.next");  // disabled: the file has no next token
  for (const char* view : {"grid", "lines", "depth", "next", "intervene", "scores", "span"}) {
    program.open_view_by_menu(view);
    program.wait_for(view, [&](const Report& r) {
      return is_current(r) && r["experiment"]["view"]["type"] == view && r["error"] == "";
    });
    program.rest_pointer();
    program.keep_screenshot(std::string("tensors-") + view);
  }
  program.click("tensors.close");
  program.wait_for("a model again", [](const Report& r) {
    return is_current(r) && !r["experiment"].contains("tensors");
  });
}

// Model input other than text.
TEST_F(Window, ReadsTrajectory) {
  const std::filesystem::path folder =
      testing::source_folder() / "tests" / "model-cases" / "trajectory";
  Session session;
  session.run.model = folder.string();
  session.run.input = (folder / "input.safetensors").string();
  save_session(file("session.json"), session);
  Program program(display_, folder_.path(),
                  {"open", file("session.json").string(), "--size", "1280x800", "--scale", "1"});
  program.wait_for("the attention of the trajectory", [](const Report& r) {
    return is_current(r) && r["experiment"].contains("input") && r["error"] == "";
  });
  program.rest_pointer();
  program.keep_screenshot("trajectory");
  program.click("input.close");
  program.wait_for("the text field", [](const Report& r) {
    return !r["experiment"].contains("input") && r["widgets"].contains("text");
  });
}

TEST_F(Window, ComparesTwoSettings) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on the mat"}));
  std::string picture = program.wait_for("a first picture", is_current)["picture"].text();
  program.press("b");
  program.wait_for("a run B", [](const Report& r) {
    return is_current(r) && r["experiment"].contains("compare") &&
           r["experiment"]["view"]["type"] == "compare";
  });
  picture = new_picture(program, picture);
  program.click("position.type");
  program.click("position.type.none");
  program.wait_for("another encoding in A", [](const Report& r) {
    return is_current(r) && r["experiment"].contains("position") &&
           !r["experiment"]["compare"].contains("position");
  });
  picture = new_picture(program, picture);
  program.keep_screenshot("compare");

  program.xdotool("keydown shift");
  const std::string swapped_picture = new_picture(program, picture);
  program.xdotool("keyup shift");
  EXPECT_EQ(new_picture(program, swapped_picture), picture);

  // Shift shows B in views of one run.
  program.press("4");
  const std::string picture_a = new_picture(program, picture);
  program.xdotool("keydown shift");
  const std::string picture_b = new_picture(program, picture_a);
  program.wait_for("the status of run B",
                   [](const Report& r) { return r["widgets"].contains("shows_other"); });
  // The panels describe B, too: B has the model's RoPE, A no encoding.
  program.wait_for("the panels of run B",
                   [](const Report& r) { return r["widgets"].contains("position.base"); });
  program.keep_screenshot("compare-shift");
  program.xdotool("keyup shift");
  EXPECT_EQ(new_picture(program, picture_b), picture_a);
  program.wait_for("the panels of run A",
                   [](const Report& r) { return !r["widgets"].contains("position.base"); });
  program.open_view("compare");

  program.click("edited.b");
  program.click("position.type");
  program.click("position.type.alibi");
  program.wait_for("another encoding in B", [](const Report& r) {
    return is_current(r) && r["experiment"]["position"]["type"] == "none" &&
           r["experiment"]["compare"].contains("position") &&
           r["experiment"]["compare"]["position"]["type"] == "alibi";
  });
  program.command("compare_swap");
  program.wait_for("swapped runs A and B", [](const Report& r) {
    return is_current(r) && r["experiment"]["position"]["type"] == "alibi" &&
           r["experiment"]["compare"]["position"]["type"] == "none";
  });
  program.press("period");
  program.wait_for("the next head in B, which is edited", [](const Report& r) {
    return r["experiment"]["compare"]["view"]["head"] == 1 && r["experiment"]["view"]["head"] == 0;
  });
  program.command("compare_stop");
  program.wait_for("the end of the comparison",
                   [](const Report& r) { return !r["experiment"].contains("compare"); });
  program.press("ctrl+z");
  program.wait_for("the comparison again",
                   [](const Report& r) { return r["experiment"].contains("compare"); });
}

TEST_F(Window, AppliesInterventions) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on the mat"}));
  program.wait_for("a first picture", is_current);
  program.open_view("intervene");
  program.click("handle.0");  // switch of the first layer
  program.wait_for("a disabled layer", [](const Report& r) {
    return is_current(r) && r["experiment"].contains("interventions") &&
           r["experiment"]["interventions"][0]["type"] == "off";
  });
  program.keep_screenshot("intervene-layer");
  program.click("handle.1");
  program.wait_for("a disabled head, too", [](const Report& r) {
    return is_current(r) && r["experiment"]["interventions"].size() == 2;
  });
  program.click("intervention.0");
  program.wait_for("the remaining intervention", [](const Report& r) {
    return is_current(r) && r["experiment"]["interventions"].size() == 1 &&
           r["experiment"]["interventions"][0]["head"] == 0;
  });
  program.press("ctrl+z");
  program.wait_for("both interventions again", [](const Report& r) {
    return is_current(r) && r["experiment"]["interventions"].size() == 2;
  });
  program.command("intervene_reset");
  program.wait_for("the model as trained", [](const Report& r) {
    return is_current(r) && !r["experiment"].contains("interventions");
  });
}

TEST_F(Window, ShowsLogitLens) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on the mat"}));
  std::string picture = program.wait_for("a first picture", is_current)["picture"].text();
  program.open_view("depth");
  program.wait_for("the predictions of the layers",
                   [](const Report& r) { return is_current(r) && r["has_lens"].get<bool>(); });
  picture = new_picture(program, picture);
  // The toolbar lists parameters without space under "more", depending on the font.
  const Report lens = program.wait_for("the toolbar");
  if (!lens["widgets"].contains("depth.threshold")) program.click("depth.more");
  program.click("depth.threshold");  // automatic until set
  program.wait_for("a threshold", [](const Report& r) {
    const auto& view = r["experiment"]["view"];
    return view.contains("options") && view["options"]["depth"].contains("threshold");
  });
  // The automatic threshold is low, because the untrained model's layers agree.
  program.drag("depth.threshold", 0.02, 0.9);
  program.wait_for("a higher threshold", [](const Report& r) {
    const auto& view = r["experiment"]["view"];
    return view.contains("options") && view["options"]["depth"]["threshold"] > 0.5;
  });
  picture = new_picture(program, picture);
  program.keep_screenshot("depth");
}

// The text, in hexadecimal if an untrained model generated invalid UTF-8.
std::string text_of(const Report& r) {
  const auto& session = r["experiment"];
  return session[session.contains("text") ? "text" : "text_hex"].text();
}

TEST_F(Window, GeneratesText) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat"}));
  program.wait_for("a first picture", is_current);
  program.open_view("next");
  program.press("s");
  const std::string one_token_more = text_of(program.wait_for(
      "another token", [](const Report& r) { return is_current(r) && text_of(r).size() > 7; }));
  program.press("ctrl+z");
  program.wait_for("the text before",
                   [](const Report& r) { return is_current(r) && text_of(r) == "the cat"; });
  program.press("s");
  program.wait_for("the same token, by the same seed",
                   [&](const Report& r) { return is_current(r) && text_of(r) == one_token_more; });
  program.press("w");
  // The window is never idle during generation, and only idle windows report.
  std::this_thread::sleep_for(std::chrono::seconds(2));
  program.press("Escape");
  const std::string generated = text_of(program.wait_for("more tokens", [&](const Report& r) {
    return is_current(r) && text_of(r).size() > one_token_more.size() + 8;
  }));
  program.wait_for_still_frames(std::chrono::seconds(1));
  EXPECT_EQ(text_of(program.wait_for("rest")), generated);
  program.keep_screenshot("next");
}

TEST_F(Window, DrawsNothingWhenNothingChanges) {
  Program program(display_, folder_.path(), arguments({"--text", "the cat sat on the mat"}));
  program.wait_for("a first picture", is_current);
  program.click("text");  // the caret is in the editor
  program.rest_pointer();
  const int frames = program.wait_for_still_frames(std::chrono::seconds(2));
  const double start_seconds = program.processor_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(5));
  EXPECT_EQ(program.wait_for("rest")["frames"].get<int>(), frames);
  EXPECT_LT(program.processor_seconds() - start_seconds, 0.2);
}

TEST_F(Window, RestoresStateAfterRestart) {
  {
    Program program(display_, folder_.path(), arguments({"--text", "the cat"}));
    program.wait_for("a first picture", is_current);
    program.click("text");
    program.type("x");
    program.wait_for("the letter", [](const Report& r) {
      const std::string& text = r["experiment"]["text"].text();
      return is_current(r) && text.find('x') != std::string::npos;
    });
    program.press("ctrl+q");
    EXPECT_EQ(program.wait_for_end(), 0);
  }
  Program program(display_, folder_.path(), {});
  const Report report = program.wait_for("the restored text", [](const Report& r) {
    return r["experiment"]["text"].get<std::string>().find('x') != std::string::npos;
  });
  EXPECT_FALSE(report["widgets"].contains("autosave.restore"));
}

// The first start shows a pinned pair; a key shows the next one.
TEST_F(Window, OpensOnSalientPair) {
  Program program(display_, folder_.path(), {"--size", "1280x800", "--scale", "1", "--no-tour"});
  const auto has_pin = [](const Report& r) {
    return is_current(r) && r["experiment"]["view"].contains("pinned_key");
  };
  const Json first = Json(program.wait_for("a pinned pair", has_pin)["experiment"]["view"]);
  program.keep_screenshot("first-start");
  program.press("ctrl+z");  // opening on a pair is no undo step
  program.press("u");
  const Json next = Json(program.wait_for("another pair", [&](const Report& r) {
    return has_pin(r) && Json(r["experiment"]["view"]) != first;
  })["experiment"]["view"]);
  EXPECT_EQ(next["type"], "map");
  program.keep_screenshot("surprise");
  program.press("ctrl+z");
  program.wait_for("the first pair again",
                   [&](const Report& r) { return Json(r["experiment"]["view"]) == first; });
}

TEST_F(Window, ReportsErrorsAndContinues) {
  Program program(display_, folder_.path(),
                  {"--model", file("none").string(), "--text", "the cat", "--size", "1280x800"});
  const Report report = program.wait_for(
      "an error", [](const Report& r) { return !r["error"].get<std::string>().empty(); });
  EXPECT_FALSE(report["has_trace"].get<bool>());
  program.keep_screenshot("error");
  program.press("ctrl+q");
  EXPECT_EQ(program.wait_for_end(), 0);
}

TEST(WindowWithoutDisplay, ListsCommandsThatNeedNoDisplay) {
  const testing::TemporaryFolder folder;
  const std::string command =
      "env -u DISPLAY -u WAYLAND_DISPLAY XDG_CONFIG_HOME=" + folder.path().string() + " " +
      testing::program_path() + " 2>" + (folder.path() / "stderr").string();
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  const std::string message = read_file(folder.path() / "stderr");
  EXPECT_NE(message.find("attend"), std::string::npos) << message;
  EXPECT_EQ(message.find(", open"), std::string::npos) << message;  // "open" needs a display
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 1) << message;
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
