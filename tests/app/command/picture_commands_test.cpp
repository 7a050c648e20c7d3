// render and gallery, using the built program on a small untrained model.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/base/file.h"
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/session.h"
#include "core/figure/png.h"
#include "core/tensor/npy.h"
#include "core/tensor/safetensors.h"
#include "core/view/session_file.h"
#include "core/view/view.h"
#include "tests/core/experiment/models.h"
#include "tests/core/experiment/tasks.h"
#include "tests/support/compare.h"
#include "tests/support/picture.h"
#include "tests/support/places.h"
#include "tests/support/process.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::expect_refusal;
using testing::ProcessResult;
namespace fs = std::filesystem;

const std::string kProgram = testing::program_path();

class PictureCommands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new testing::TemporaryFolder;
    testing::save_byte_model(path("model"), 2, 32, 64);
    testing::save_walker(path("walker"));
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }

  static std::string path(const std::string& name) { return folder_->path() / name; }

  static ProcessResult run_program(const std::vector<std::string>& arguments) {
    return testing::run_process(kProgram, arguments);
  }
  static ProcessResult render(const std::vector<std::string>& extra, const std::string& output) {
    std::vector<std::string> arguments = {"render", "--model", path("model"), "--backend",
                                          "cpu",    "-o",      path(output)};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    return run_program(arguments);
  }
  static testing::TemporaryFolder* folder_;
};
testing::TemporaryFolder* PictureCommands::folder_ = nullptr;

// Arguments of `render` with which the view has content.
std::vector<std::string> arguments_for(const View& view, const std::string& model) {
  if (view.id == "image")
    return {(testing::source_folder() / "assets/pictures/hills.png").string()};
  if (view.id == "alignment") {
    return {"--model", testing::model_case("rnn_attention-dot"), "--ids", "5,14,12,2"};
  }
  if (view.id == "trajectory") {
    return {"--model", fs::path(model).parent_path() / "walker", "--input",
            (testing::source_folder() / "assets/samples/walk.safetensors").string()};
  }
  if (view.id == "retrieval") {
    return {"--model", "twin-rope", "--text", "the cat sat", "--retrieval", "knn,store=lighthouse"};
  }
  if (view.id == "train") return {"--model", "induction-letters", "--text", "kqbkqb"};
  std::vector<std::string> arguments{"--model", model, "--text", "the cat sat"};
  const std::map<std::string, std::vector<std::string>> extra{
      {"compare", {"--compare-position", "alibi"}},
      {"memory", {"--variant", "segment_memory", "--segment-length", "4", "--segment", "1"}},
      {"steps", {"--architecture", "universal,steps=3,halting=act"}},
      {"gates", {"--join", "gru"}}};
  if (const auto found = extra.find(view.id); found != extra.end()) {
    arguments.insert(arguments.end(), found->second.begin(), found->second.end());
  }
  return arguments;
}

ProcessResult draw_view(const View& view, const std::string& model, const std::string& output) {
  std::vector<std::string> arguments{"render", "--view", view.id, "--backend", "cpu", "-o", output};
  for (const std::string& argument : arguments_for(view, model)) arguments.push_back(argument);
  return testing::run_process(kProgram, arguments);
}

TEST_F(PictureCommands, RendersEveryView) {
  for (const View& view : views()) {
    for (const char* extension : {".png", ".svg", ".pdf"}) {
      const std::string name = view.id + extension;
      const ProcessResult result = draw_view(view, path("model"), path(name));
      ASSERT_EQ(result.status, 0) << result.err;
      EXPECT_GT(fs::file_size(path(name)), 1000u);
    }
    EXPECT_EQ(testing::xml_error(read_file(path(view.id + ".svg"))), "");
  }
}

TEST_F(PictureCommands, ComparesAndIntervenesByOptions) {
  ASSERT_EQ(render({"--text", "the cat sat", "--compare-variant", "local,window=1",
                    "--compare-layer", "1", "--compare-head", "2"},
                   "compare.png")
                .status,
            0);
  const Session comparison = load_session(path("compare.png"));
  EXPECT_EQ(comparison.view.id, "compare");
  ASSERT_TRUE(comparison.b.has_value());
  EXPECT_EQ(comparison.b->run.variant->id, "local");
  EXPECT_EQ(comparison.b->run.text, "the cat sat");
  EXPECT_EQ(comparison.b->view.layer, 1);
  EXPECT_EQ(comparison.b->view.head, 2);
  EXPECT_FALSE(comparison.run.variant.has_value());

  ASSERT_EQ(
      render({"--text", "the cat sat", "--compare", path("compare.png"), "--compare-text", "a dog"},
             "again.png")
          .status,
      0);
  EXPECT_EQ(load_session(path("again.png")).b->run.text, "a dog");

  ASSERT_EQ(render({"--text", "the cat sat", "--intervene", "off layer=0 head=1", "--intervene",
                    "forbid key=0"},
                   "intervene.png")
                .status,
            0);
  const Session intervention = load_session(path("intervene.png"));
  EXPECT_EQ(intervention.view.id, "intervene");
  ASSERT_EQ(intervention.run.interventions.size(), 2u);
  EXPECT_EQ(to_text(intervention.run.interventions[1]), "forbid key=0");
  expect_refusal(render({"--text", "the cat", "--intervene", "off layer=99"}, "no.png"),
                 "expected layer below");
  expect_refusal(render({"--text", "the cat", "--intervene", "stop"}, "no.png"), "intervene");
  expect_refusal(render({"--text", "the cat", "--view", "compare"}, "no.png"), "compare");
}

TEST_F(PictureCommands, AnimatesPictures) {
  const std::vector<std::string> options = {"--text",  "the cat sat", "--view",   "rope",
                                            "--scale", "0.5",         "--animate"};
  const auto with_options = [&](std::vector<std::string> extra) {
    extra.insert(extra.begin(), options.begin(), options.end());
    return extra;
  };
  ProcessResult result = render(with_options({"query=0:4", "--frames", "3"}), "move.gif");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(read_file(path("move.gif")).substr(0, 6), "GIF89a");
  result = render(with_options({"base=10:1000", "--frames", "3"}), "move-%02d.png");
  ASSERT_EQ(result.status, 0) << result.err;
  for (const char* name : {"move-00.png", "move-01.png", "move-02.png"}) {
    EXPECT_EQ(load_session(path(name)).view.id, "rope");
  }
  const std::vector<std::string> local = {"--text",         "the cat sat", "--variant",
                                          "local,window=2", "--animate",   "variant.window=1:3"};
  ASSERT_EQ(render(local, "window-%d.png").status, 0);
  for (Index n = 0; n < 3; ++n) {
    const Session session = load_session(path("window-" + std::to_string(n) + ".png"));
    EXPECT_EQ(session.run.variant->values.integer("window"), n + 1);
  }
  EXPECT_FALSE(fs::exists(path("window-3.png")));
  expect_refusal(render({"--text", "the cat", "--animate", "variant.window=1:3"}, "a.gif"),
                 "expected one of");
  expect_refusal(render(with_options({"query=0"}), "a.gif"), "KEY=FROM:TO");
  expect_refusal(render(with_options({"speed=0:1"}), "a.gif"), "speed");
  expect_refusal(render(with_options({"query=0:1"}), "a.png"), "numbered");
  expect_refusal(render(with_options({"query=0:1", "--frames", "1"}), "a.gif"), "frames");
  EXPECT_FALSE(fs::exists(path("a.gif")));
}

TEST_F(PictureCommands, OptionsAppearInPicture) {
  const std::vector<std::string> options = {
      "--text",     "the cat sat", "--variant",    "local,window=2",
      "--position", "alibi",       "--layer",      "1",
      "--head",     "3",           "--width",      "400",
      "--height",   "300",         "--scale",      "1.5",
      "--theme",    "dark",        "--colour-map", "magma"};
  ASSERT_EQ(render(options, "options.svg").status, 0);
  const std::string svg = read_file(path("options.svg"));
  EXPECT_NE(svg.find("layer 1, head 3"), std::string::npos);
  EXPECT_NE(svg.find("window = 2"), std::string::npos);
  ASSERT_EQ(render(options, "options.png").status, 0);
  const Image image = testing::decode_png(read_file(path("options.png")));
  EXPECT_EQ(image.width, 600);
  EXPECT_EQ(image.height, 450);
  EXPECT_EQ(testing::pixel(image, 0, 0), Theme::dark().background);
}

TEST_F(PictureCommands, RepeatedRenderIsByteIdentical) {
  const std::vector<std::string> options = {"--text", "the cat sat on the mat"};
  for (const char* extension : {".png", ".svg", ".pdf"}) {
    ASSERT_EQ(render(options, std::string("first") + extension).status, 0);
    ASSERT_EQ(render(options, std::string("second") + extension).status, 0);
    EXPECT_EQ(read_file(path(std::string("first") + extension)),
              read_file(path(std::string("second") + extension)));
  }
}

TEST_F(PictureCommands, PictureOpensAsSession) {
  ASSERT_EQ(
      render({"--text", "the cat", "--view", "pattern", "--variant", "local,window=3"}, "made.png")
          .status,
      0);
  const Session session = load_session(path("made.png"));
  EXPECT_EQ(session.run.text, "the cat");
  EXPECT_EQ(session.view.id, "pattern");
  ASSERT_TRUE(session.run.variant.has_value());
  EXPECT_EQ(session.run.variant->values.integer("window"), 3);
  ASSERT_EQ(run_program({"render", "--session", path("made.png"), "-o", path("again.png")}).status,
            0);
  EXPECT_EQ(read_file(path("again.png")), read_file(path("made.png")));
  save_session(path("made.json"), session);
  ASSERT_EQ(run_program({"render", path("made.json"), "-o", path("third.png")}).status, 0);
  EXPECT_EQ(read_file(path("third.png")), read_file(path("made.png")));
}

// Numbers may differ in the last bits: quantised matrices are stored in another order.
TEST_F(PictureCommands, DrawsQuantisedModelAsItsDecodedCopy) {
  const fs::path gguf = testing::source_folder() / "tests/gguf/llama.q4_0.gguf";
  const Checkpoint quantised = load_checkpoint(gguf.string());
  ASSERT_FALSE(quantised.model.narrow.empty());
  const std::string decoded = path(quantised.name);  // titles contain the name
  save_checkpoint(decoded, quantised, false);
  ASSERT_TRUE(load_checkpoint(decoded).model.narrow.empty());
  const auto draw = [&](const std::string& model, const std::string& view,
                        const std::string& output) {
    const ProcessResult result = run_program(
        {"render", "--model", model, "--backend", "cpu", "--ids", "3,8,1,9,14,2,41,8,1", "--view",
         view, "--layer", "1", "--head", "2", "--no-caption", "-o", path(output)});
    EXPECT_EQ(result.status, 0) << result.err;
    return read_file(path(output));
  };
  for (const std::string view : {"map", "grid", "next"}) {
    const Image a = testing::decode_png(draw(gguf, view, "gguf.png")),
                b = testing::decode_png(draw(decoded, view, "b.png"));
    ASSERT_EQ(a.rgba.size(), b.rgba.size());
    int largest = 0;
    for (std::size_t n = 0; n < a.rgba.size(); ++n) {
      largest = std::max(largest, std::abs(a.rgba[n] - b.rgba[n]));
    }
    EXPECT_LE(largest, 1) << view;
  }
  const auto attention = [&](const std::string& model) {
    draw(model, "map", "map.safetensors");
    return read_safetensors(path("map.safetensors")).tensors.begin()->second.floats();
  };
  EXPECT_TRUE(testing::close(attention(gguf), attention(decoded), 1e-6));
}

// Draws the whole map, and tiles of it, of a text far beyond the context.
TEST_F(PictureCommands, DrawsTilesOfLongText) {
  std::string text;
  for (int i = 0; i < 4200; ++i) text += static_cast<char>('a' + i * i % 26);
  write_file(path("long.txt"), text);
  const std::vector<std::string> file_arguments = {
      "--text-file", path("long.txt"), "--overlong", "all", "--scale", "1", "--layer", "1"};
  const auto with_options = [&](std::vector<std::string> extra) {
    extra.insert(extra.end(), file_arguments.begin(), file_arguments.end());
    return extra;
  };
  const ProcessResult whole = render(file_arguments, "whole.png");
  ASSERT_EQ(whole.status, 0) << whole.err;
  EXPECT_NE(whole.err.find("trained on 64 tokens at a time"), std::string::npos) << whole.err;
  EXPECT_EQ(load_session(path("whole.png")).run.overlong, Overlong::All);
  ASSERT_EQ(render(with_options({"--tile", "4000,100,200,300"}), "tile.png").status, 0);
  EXPECT_EQ(load_session(path("tile.png")).view.column, 100);
  EXPECT_NE(read_file(path("tile.png")), read_file(path("whole.png")));
  ASSERT_EQ(render(with_options({"--tile", "0,0,12,12"}), "cells.svg").status, 0);
  EXPECT_NE(read_file(path("cells.svg")).find(">1.00<"), std::string::npos);  // numbers in cells
  ASSERT_EQ(render(with_options({"--tile", "4000,100,12,12"}), "small.svg").status, 0);
  EXPECT_EQ(read_file(path("small.svg")).find(">0.00<"),
            std::string::npos);  // none that round to 0
  ASSERT_EQ(
      render(with_options({"--tile", "0,0,800,800", "--variant", "local,window=5"}), "band.png")
          .status,
      0);
  expect_refusal(render(with_options({"--tile", "4200,0,10,10"}), "a.png"),
                 "--tile: expected a part of");
  expect_refusal(render(with_options({"--overlong", "some"}), "a.png"), "--overlong");
}

// Selects stacks, kinds, steps and segments of models that have them.
TEST_F(PictureCommands, SelectsAttentionKindAndStack) {
  const fs::path cases = testing::source_folder() / "tests" / "model-cases";
  const auto draw = [&](const std::string& model, const std::vector<std::string>& extra,
                        const std::string& output) {
    std::vector<std::string> arguments = {"render",       "--model", cases / model,
                                          "--backend",    "cpu",     "--ids",
                                          "3,8,1,9,14,2", "-o",      path(output)};
    if (model.starts_with("encoder_decoder")) {
      arguments.insert(arguments.end(), {"--target-ids", "0,5,7"});
    }
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    return run_program(arguments);
  };
  const std::string encoder_decoder = "encoder_decoder-sinusoidal";
  const auto table = [&](const std::string& model, const std::vector<std::string>& extra) {
    const ProcessResult result = draw(model, extra, "part.csv");
    EXPECT_EQ(result.status, 0) << result.err;
    return read_file(path("part.csv"));
  };
  const std::string cross = table(encoder_decoder, {"--kind", "cross"});
  EXPECT_NE(cross.find("#3,#8,■,#9,#14,#2"), std::string::npos) << cross;
  EXPECT_NE(cross.find("\n#0,"), std::string::npos) << cross;
  const std::string encoder = table(encoder_decoder, {"--stack", "encoder", "--layer", "1"});
  EXPECT_NE(encoder.find("\n#3,"), std::string::npos) << encoder;
  EXPECT_NE(table("universal-fixed", {"--step", "2"}), table("universal-fixed", {"--step", "1"}));
  const std::string segment = table("memory-segment", {"--segment", "1"});
  EXPECT_NE(segment.find("#14,#2"), std::string::npos) << segment;
  EXPECT_EQ(segment.find("\n#3,"), std::string::npos) << segment;
  // The picture file records the selected part.
  ASSERT_EQ(draw(encoder_decoder, {"--kind", "cross"}, "part.png").status, 0);
  EXPECT_EQ(load_session(path("part.png")).view.part.kind, AttentionKind::Cross);

  expect_refusal(draw("universal-fixed", {"--kind", "cross"}, "no.png"), "--kind");
  expect_refusal(draw("universal-fixed", {"--step", "4"}, "no.png"), "1 to 3");
  expect_refusal(draw("universal-fixed", {"--segment", "0"}, "no.png"), "--segment");
  expect_refusal(draw("memory-segment", {"--segment", "2"}, "no.png"), "0 to 1");
  expect_refusal(draw("memory-segment", {"--stack", "encoder"}, "no.png"), "--stack");
  expect_refusal(draw(encoder_decoder, {"--stack", "encoder", "--kind", "cross"}, "no.png"),
                 "--kind");
  expect_refusal(draw(encoder_decoder, {"--stack", "both"}, "no.png"), "encoder or decoder");
  expect_refusal(draw(encoder_decoder, {"--step", "1"}, "no.png"), "--step");
  // Interventions on pairs require a run without segments, and indices of existing pairs.
  expect_refusal(draw("memory-segment", {"--intervene", "forbid key=0"}, "no.png"), "segments");
  expect_refusal(draw(encoder_decoder, {"--intervene", "forbid query=3 key=0"}, "no.png"),
                 "below 3");
  EXPECT_FALSE(fs::exists(path("no.png")));
}

TEST_F(PictureCommands, RejectsOptionsBeforeTheCommand) {
  const ProcessResult early =
      run_program({"--layer", "3", "render", "--text", "the cat", "-o", path("early.png")});
  expect_refusal(early, "--layer: expected after the command render");
  EXPECT_FALSE(std::filesystem::exists(path("early.png")));
}

TEST_F(PictureCommands, RejectsInvalidOptions) {
  const std::vector<std::string> text = {"--text", "the cat sat"};
  const auto with_options = [&](std::vector<std::string> extra) {
    extra.insert(extra.end(), text.begin(), text.end());
    return extra;
  };
  expect_refusal(render(text, "picture.bmp"), ".png, .svg, .pdf, .csv, .npy or .safetensors");
  expect_refusal(render(with_options({"--view", "nonesuch"}), "a.png"), "map, grid, pattern");
  expect_refusal(render(with_options({"--layer", "2"}), "a.png"), "No layer 2");
  expect_refusal(render(with_options({"--head", "-1"}), "a.png"), "head -1");
  expect_refusal(render(with_options({"--colour-map", "jet"}), "a.png"), "viridis");
  expect_refusal(render(with_options({"--theme", "blue"}), "a.png"), "light or dark");
  expect_refusal(render(with_options({"--width", "0"}), "a.png"), "width");
  expect_refusal(render(with_options({"--scale", "nan"}), "a.png"), "scale");
  expect_refusal(render(with_options({"--tile", "0,0,0,5"}), "a.png"), "--tile");
  expect_refusal(render(with_options({"--tile", "0,-9,5,5"}), "a.png"), "--tile");
  expect_refusal(render(with_options({"--pin", "11,0"}), "a.png"),
                 "--pin: expected a row below 11");
  expect_refusal(render(with_options({"--view", ""}), "a.png"), "--view");
  expect_refusal(render(with_options({"--colour-map", ""}), "a.png"), "--colour-map");
  expect_refusal(render(with_options({"--view", "rope", "--animate", "query=0:4"}), "a-%d-%d.png"),
                 "one number in the name");
  expect_refusal(render({"--text", "the cat sat", "--view", "image"}, "a.png"), "not pixels");
  expect_refusal(render({"--text", "the cat sat", "--view", "memory"}, "a.png"), "as a whole");
  expect_refusal(render({"--text", "the cat sat", "--view", "steps"}, "a.png"),
                 "no recurrence over depth");
  expect_refusal(render({"--text", "the cat sat", "--view", "gates"}, "a.png"), "No gates");
  expect_refusal(render({"--text", "the cat sat", "--view", "gates"}, "a.csv"), "No gates");
  EXPECT_FALSE(fs::exists(path("a.png")));
}

// A picture without a session is read as pixels.
TEST_F(PictureCommands, ReadsForeignPicturesAsPixels) {
  const Image blank{1, 1, {0, 0, 0, 255}};
  write_file(path("foreign.png"), encode_png(blank, {}));
  const ProcessResult result =
      run_program({"render", path("foreign.png"), "--view", "image", "-o", path("pixels.png")});
  EXPECT_EQ(result.status, 0) << result.err;
  write_file(path("foreign.png"), "\x89PNG\r\n\x1a\n and no more");
  expect_refusal(run_program({"render", path("foreign.png"), "-o", path("b.png")}), "foreign.png");
}

TEST_F(PictureCommands, ReportsUnwritableOutputBeforeRunning) {
  write_file(path("text.txt"), "the cat sat");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"statistics", path("text.txt"), "--model", path("model")},
        {"render", "--text", "the cat", "--model", path("model")},
        {"run", "--text", "the cat", "--model", path("model")}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"-o", path("none/a.npy")});
    const ProcessResult result = run_program(arguments);
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find("none/a.npy: cannot be written"), std::string::npos) << result.err;
  }
  const std::vector<std::string> run{"run", "--text", "the cat", "--model", path("model"), "-o"};
  for (const std::string name : {"a.npy", "a.png", "a.csv"}) {
    std::vector<std::string> arguments = run;
    arguments.push_back(path(name));
    expect_refusal(run_program(arguments), "--output: expected a safetensors file, found " + name);
    EXPECT_FALSE(fs::exists(path(name)));
  }
  expect_refusal(run_program({"gallery", path("no-gallery"), "--model", "nonesuch"}), "nonesuch");
  EXPECT_FALSE(fs::exists(path("no-gallery")));
}

TEST_F(PictureCommands, GalleryShowsEveryViewAndMethod) {
  const ProcessResult result =
      run_program({"gallery", path("gallery"), "--model", path("model"), "--scale", "1", "--text",
                   "the cat & the <mat>", "--backend", "cpu"});
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string page = read_file(path("gallery/index.html"));
  EXPECT_NE(page.find("the cat &amp; the &lt;mat&gt;"), std::string::npos);
  for (const View& view : views()) {
    if (!fs::exists(path("gallery/" + view.id + ".png"))) {  // listed without a picture
      EXPECT_TRUE(view.id == "alignment" || view.id == "trajectory") << view.id;
      EXPECT_NE(page.find(view.label), std::string::npos);
      continue;
    }
    for (const std::string extension : {".png", "-dark.png", ".svg", ".pdf"}) {
      EXPECT_TRUE(fs::exists(path("gallery/" + view.id + extension))) << view.id << extension;
      EXPECT_NE(page.find("\"" + view.id + extension + "\""), std::string::npos)
          << view.id << extension;
    }
  }
  // Every method has a picture, or a reason why this model cannot draw it.
  const std::string variants_page = read_file(path("gallery/variants.html"));
  for (const Variant& v : variants()) {
    EXPECT_TRUE(fs::exists(path("gallery/variant-" + v.id + ".png"))) << v.id;
    EXPECT_TRUE(fs::exists(path("gallery/variant-" + v.id + "-dark.png"))) << v.id;
    EXPECT_NE(variants_page.find("\"variant-" + v.id + ".png\""), std::string::npos) << v.id;
  }
  const std::string encodings_page = read_file(path("gallery/encodings.html"));
  for (const Encoding& e : encodings()) {
    EXPECT_TRUE(fs::exists(path("gallery/position-" + e.id + ".png"))) << e.id;
    EXPECT_NE(encodings_page.find("\"position-" + e.id + ".png\""), std::string::npos) << e.id;
  }
}

TEST(Documentation, ShowsEveryMethod) {
  const fs::path source = testing::source_folder();
  const std::string page = read_file(source / "assets/docs/methods.md");
  const auto expect_shown = [&](const std::string& name) {
    const std::string file = "pictures/methods/" + name + ".png";
    EXPECT_NE(page.find(file), std::string::npos) << name;
    EXPECT_TRUE(fs::exists(source / "assets/docs" / file)) << file;
  };
  for (const Variant& v : variants()) expect_shown("variant-" + v.id);
  for (const Encoding& e : encodings()) expect_shown("position-" + e.id);
}

TEST_F(PictureCommands, AcceptsSizesInPixelsAndInches) {
  ASSERT_EQ(
      render({"--text", "the cat sat", "--pixels", "901x777", "--dpi", "150"}, "size.png").status,
      0);
  Image image = testing::decode_png(read_file(path("size.png")));
  EXPECT_EQ(image.width, 901);
  EXPECT_EQ(image.height, 777);
  ASSERT_EQ(render({"--text", "the cat sat", "--inches", "3.5x3", "--dpi", "300", "--transparent"},
                   "print.png")
                .status,
            0);
  const std::string png = read_file(path("print.png"));
  image = testing::decode_png(png);
  EXPECT_EQ(image.width, 1050);
  EXPECT_EQ(image.height, 900);
  EXPECT_EQ(image.rgba[3], 0);  // corner
  // 300 dots per inch are 11811 per metre.
  EXPECT_NE(png.find(std::string("pHYs\0\0\x2e\x23\0\0\x2e\x23\1", 13)), std::string::npos);
  expect_refusal(render({"--text", "a b", "--inches", "wide"}, "no.png"), "WIDTHxHEIGHT");
  expect_refusal(render({"--text", "a b", "--inches", "3", "--pixels", "300"}, "no.png"),
                 "expected no --pixels");
}

TEST_F(PictureCommands, OmitsPartsAndAppliesPresets) {
  const auto svg = [&](std::vector<std::string> extra) {
    extra.insert(extra.end(), {"--text", "abcdef"});
    const ProcessResult result = render(extra, "parts.svg");
    EXPECT_EQ(result.status, 0) << result.err;
    return read_file(path("parts.svg"));
  };
  const auto width_of = [](const std::string& picture) {
    return std::stod(picture.substr(picture.find("width=\"") + 7));
  };
  const auto texts_in = [](const std::string& picture) {
    std::size_t count = 0;
    for (std::size_t position = 0;
         (position = picture.find("<text", position)) != std::string::npos; ++position)
      ++count;
    return count;
  };
  const std::string whole = svg({"--theme", "light"});
  const std::string column = svg({"--for", "column"});
  EXPECT_NEAR(width_of(column) / width_of(whole), 3.5 * 96 / 720, 1e-3);
  std::vector<std::string> omissions;
  std::size_t previous_count = texts_in(whole);
  for (const char* part : {"--no-caption", "--no-title", "--no-tokens", "--no-colour-bar"}) {
    omissions.push_back(part);
    const std::size_t text_count = texts_in(svg(omissions));
    EXPECT_LT(text_count, previous_count) << part;
    previous_count = text_count;
  }
  // Explicit options override a preset.
  EXPECT_NEAR(width_of(svg({"--for", "column", "--width", "500"})) / width_of(whole), 500.0 / 720,
              1e-3);
  EXPECT_EQ(texts_in(svg({"--for", "column", "--caption", "Mine"})), texts_in(column) + 1);
  expect_refusal(render({"--text", "abc", "--for", "wall"}, "x.svg"), "--for");
  expect_refusal(render({"--text", "abc", "--title", "T", "--no-title"}, "x.svg"), "--no-title");
}

TEST_F(PictureCommands, ExportsNumbers) {
  for (const View& view : views()) {
    if (!view.data) continue;
    for (const char* extension : {".csv", ".npy", ".safetensors"}) {
      const std::string name = view.id + extension;
      if (view.id == "compare") {  // without a run B, refused as in pictures
        expect_refusal(render({"--text", "the cat sat", "--view", "compare"}, name),
                       "No run B yet");
      }
      const ProcessResult result = draw_view(view, path("model"), path(name));
      if (result.status == 2) {  // a .npy file contains one array
        EXPECT_STREQ(extension, ".npy") << result.err;
        expect_refusal(result, "contains one array");
        continue;
      }
      ASSERT_EQ(result.status, 0) << view.id << result.err;
      EXPECT_GT(fs::file_size(path(name)), 50u);
    }
  }
  expect_refusal(render({"--text", "a b"}, "map.txt"), ".safetensors");
  ASSERT_EQ(render({"--text", "the cat sat", "--tile", "2,1,3,2"}, "tile.csv").status, 0);
  const std::string tile = read_file(path("tile.csv"));
  EXPECT_EQ(std::count(tile.begin(), tile.end(), '\n'), 1 + 3);
  EXPECT_EQ(std::count(tile.begin(), tile.end(), ','), 4 * 2);
}

// `render` reads the files that `run` writes.
TEST_F(PictureCommands, ReadsImportedTensors) {
  const std::string file = path("own.safetensors");
  ASSERT_EQ(
      run_program({"run", "--model", path("model"), "--text", "the cat sat", "-o", file}).status,
      0);
  for (const char* view : {"map", "grid", "pattern"}) {
    const ProcessResult result =
        run_program({"render", file, "--view", view, "-o", path("own.svg")});
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_NE(read_file(path("own.svg")).find("own.safetensors"), std::string::npos);
  }
  ASSERT_EQ(run_program({"render", file, "--layer", "1", "-o", path("given.csv")}).status, 0);
  ASSERT_EQ(render({"--text", "the cat sat", "--layer", "1"}, "computed.csv").status, 0);
  EXPECT_EQ(read_file(path("given.csv")), read_file(path("computed.csv")));
  // The picture records the path of its tensors.
  ASSERT_EQ(run_program({"render", file, "-o", path("own.png")}).status, 0);
  EXPECT_EQ(load_session(path("own.png")).run.tensors.file, file);
  expect_refusal(run_program({"render", path("none.npz"), "-o", path("no.png")}), "no such file");
  write_file(path("tokens.txt"), "a\nb\n");
  expect_refusal(
      run_program({"render", file, "--tokens", path("tokens.txt"), "-o", path("no.png")}),
      "expected 11 tokens, found 2");
  expect_refusal(render({"--text", "a", "--tokens", path("tokens.txt")}, "no.png"),
                 "expected a tensor file");
  for (const auto& [option, value] : {std::pair("--text", "a"), std::pair("--model", "default"),
                                      std::pair("--variant", "local,window=1")}) {
    expect_refusal(run_program({"render", file, option, value, "-o", path("no.png")}), option);
  }
}

TEST_F(PictureCommands, StatisticsMeasuresTextsAndTensors) {
  write_file(path("texts.txt"), "the cat sat\n\non the mat");
  const ProcessResult statistics =
      run_program({"statistics", path("texts.txt"), "--model", path("model")});
  ASSERT_EQ(statistics.status, 0) << statistics.err;
  EXPECT_EQ(std::count(statistics.out.begin(), statistics.out.end(), '\n'), 1 + 2 * 4);
  EXPECT_TRUE(statistics.out.starts_with("layer,head,entropy,"));
  EXPECT_NE(statistics.err.find("8 heads over 21 tokens of 2 texts"), std::string::npos);
  ASSERT_EQ(run_program({"statistics", path("texts.txt"), "--model", path("model"), "-o",
                         path("heads.csv")})
                .status,
            0);
  EXPECT_EQ(read_file(path("heads.csv")), statistics.out);
  const std::string sorted_grid = "grid,sort=entropy";
  const ProcessResult picture =
      render({"--text", "the cat", "--view", sorted_grid, "--statistics-file", path("texts.txt")},
             "sorted.svg");
  ASSERT_EQ(picture.status, 0) << picture.err;
  EXPECT_NE(read_file(path("sorted.svg")).find("texts.txt (21 tokens)"), std::string::npos);
  ASSERT_EQ(run_program({"run", "--model", path("model"), "--text", "the cat sat", "-o",
                         path("statistics.safetensors")})
                .status,
            0);
  EXPECT_EQ(run_program({"statistics", path("statistics.safetensors")}).status, 0);
  expect_refusal(run_program({"statistics", path("missing.txt")}), "no such file");
}

// Views without content export no numbers either.
TEST_F(PictureCommands, DepthRejectsRunsWithoutLayers) {
  for (const char* name : {"depth.csv", "depth.png"}) {
    expect_refusal(run_program({"render", "--model", "paths", "--view", "depth", "-o", path(name)}),
                   "actions");
    expect_refusal(run_program({"render", "--model", "numbers-dot", "--text", "24", "--view",
                                "depth", "-o", path(name)}),
                   "depth");
  }
}

// `render --salient` shows the pairs that `pairs` lists.
TEST_F(PictureCommands, PairsListsSalientPairs) {
  const std::string text = "the cat saw the dog";
  const ProcessResult pair_list = run_program({"pairs", "--text", text, "--most", "3"});
  ASSERT_EQ(pair_list.status, 0) << pair_list.err;
  EXPECT_TRUE(pair_list.out.starts_with("layer,head,query,key,query_word,key_word,words,weight,"));
  ASSERT_EQ(std::count(pair_list.out.begin(), pair_list.out.end(), '\n'), 1 + 3);
  const std::string second_pair =
      pair_list.out.substr(pair_list.out.find('\n', pair_list.out.find('\n') + 1) + 1);
  Index layer = 0, head = 0, query = 0, key = 0;
  ASSERT_EQ(std::sscanf(second_pair.c_str(), "%td,%td,%td,%td", &layer, &head, &query, &key), 4);
  const auto draw_csv = [&](const std::vector<std::string>& extra, const char* name) {
    std::vector<std::string> arguments{"render", "--text", text, "-o", path(name)};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    const ProcessResult result = run_program(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return read_file(path(name));
  };
  EXPECT_EQ(draw_csv({"--striking", "2"}, "striking.csv"),
            draw_csv({"--layer", std::to_string(layer), "--head", std::to_string(head), "--pin",
                      std::to_string(query) + "," + std::to_string(key)},
                     "named.csv"));
  expect_refusal(render({"--text", text, "--striking", "900"}, "no.png"), "--striking");
  expect_refusal(run_program({"pairs", "--model", path("model"), "--text", "a", "--most", "0"}),
                 "--most");
}

// Words of a byte model have one token per letter.
TEST_F(PictureCommands, MergesWords) {
  ASSERT_EQ(render({"--text", "the cat sat", "--words"}, "words.csv").status, 0);
  EXPECT_TRUE(read_file(path("words.csv")).starts_with("query,the,␣cat,␣sat\nthe,1,0,0\n"));
  ASSERT_EQ(render({"--text", "the cat sat", "--words"}, "words.png").status, 0);
  const Session session = load_session(path("words.png"));
  EXPECT_TRUE(session.view.words);
  expect_refusal(render({"--text", "the cat", "--words", "--view", "pattern"}, "no.png"),
                 "--words");
  expect_refusal(render({"--text", "!?", "--words"}, "no.png"), "several tokens");
  write_file(path("texts.txt"), "the cat sat on the mat\n");
  const ProcessResult table =
      run_program({"statistics", path("texts.txt"), "--model", path("model"), "--words"});
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_TRUE(table.out.starts_with("layer,head,word_entropy,")) << table.out;
  EXPECT_NE(table.err.find("over 6 words of 1 text\n"), std::string::npos) << table.err;
  write_file(path("single.txt"), "!?!\n");
  const ProcessResult single =
      run_program({"statistics", path("single.txt"), "--model", path("model"), "--words"});
  EXPECT_EQ(single.status, 2);
  EXPECT_NE(single.err.find("several tokens"), std::string::npos) << single.err;
}

// Refusals of incompatible settings name the option that resolves them.
TEST_F(PictureCommands, ErrorsNameOptionThatResolvesThem) {
  const auto render = [&](std::vector<std::string> extra) {
    extra.insert(extra.begin(), {"render", "--text", "the cat sat", "-o", path("refused.png")});
    return run_program(extra);
  };
  expect_refusal(render({"--variant", "linformer", "--strict"}), "; use --no-causal");
  expect_refusal(render({"--variant", "hopfield", "--strict"}), "; use --position none");
  expect_refusal(render({"--view", "mechanism,token=999"}), "--view: token: expected a token of");
  EXPECT_EQ(render({"--variant", "hopfield", "--position", "none", "--strict"}).status, 0);
  expect_refusal(render({"--compare-variant", "hopfield", "--strict"}),
                 "; use --compare-position none");
  expect_refusal(run_program({"run", "--text", "the cat sat", "--variant", "linformer", "-o",
                              path("refused.safetensors")}),
                 "; use --no-causal");
  write_file(path("strict.txt"), "the cat sat\n");
  expect_refusal(
      run_program({"statistics", path("strict.txt"), "--variant", "hopfield", "--strict"}),
      "; use --position none");
}

// Settings that do not combine change with the variant, and a note names the changes.
TEST_F(PictureCommands, SetsCompatibleSettingsWithANote) {
  const auto draw = [](std::vector<std::string> extra) {
    extra.insert(extra.begin(),
                 {"render", "--text", "the cat sat on the mat", "-o", path("set.png")});
    return run_program(extra);
  };
  ProcessResult result = draw({"--variant", "linformer"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("note: also set: bidirectional (Each projected key"), std::string::npos)
      << result.err;
  RunSpec run = load_session(path("set.png")).run;
  EXPECT_FALSE(run.encoding.has_value());
  EXPECT_EQ(run.causal, false);
  // Omitted parameters are illustrative, given ones stay.
  result = draw({"--variant", "strided,stride=2"});
  EXPECT_EQ(result.err.find("also set"), std::string::npos) << result.err;
  run = load_session(path("set.png")).run;
  EXPECT_EQ(run.variant->values.choice("mode"), "merged");
  EXPECT_EQ(run.variant->values.integer("stride"), 2);
  result = draw({"--compare-variant", "longformer", "--group", "layers=0;variant=fixed"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("note: B: also set: bidirectional"), std::string::npos) << result.err;
  const Session session = load_session(path("set.png"));
  EXPECT_EQ(session.run.groups[0].variant->values.choice("mode"), "merged");
  EXPECT_EQ(session.b->run.causal, false);
  write_file(path("set.txt"), "the cat sat\n");
  result = run_program({"statistics", path("set.txt"), "--variant", "hopfield"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("note: also set: no positions"), std::string::npos) << result.err;
}

TEST_F(PictureCommands, CostWritesTableAndPicture) {
  const auto cost = [](std::vector<std::string> extra) {
    extra.insert(extra.begin(), {"cost", "--heads", "1", "--head-size", "8"});
    return run_program(extra);
  };
  const ProcessResult table =
      cost({"--variant", "full,local,window=2,linear", "--lengths", "16..64"});
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_TRUE(table.out.starts_with("variant,parameters,length,")) << table.out;
  EXPECT_NE(table.out.find("local,\"window = 2, dilation = 1\",64,64,"), std::string::npos)
      << table.out;
  for (const char* name : {"cost.png", "cost.svg", "cost.pdf", "cost.csv"}) {
    const ProcessResult picture = cost({"--lengths", "16,40", "--variant", "strided", "-o",
                                        path(name), "--quantity", "operations"});
    ASSERT_EQ(picture.status, 0) << picture.err;
    EXPECT_GT(fs::file_size(path(name)), 100u) << name;
  }
  EXPECT_NE(read_file(path("cost.svg")).find("Strided"), std::string::npos);
  expect_refusal(cost({"--variant", "custom"}), "drawn by hand");
  expect_refusal(cost({"--lengths", "64..16"}), "--lengths");
  expect_refusal(cost({"--lengths", "0..5"}), "at least 1, FIRST..LAST");
  expect_refusal(cost({"--lengths", "64,32"}), "expected ascending lengths");
  expect_refusal(cost({"--quantity", "money", "--lengths", "16,32"}), "time, operations or bytes");
  expect_refusal(cost({"--variant", "fuul"}), "fuul");
  expect_refusal(cost({"-o", path("cost.bmp")}), "bmp");
}

// Without an input, a model opens with its sample in its recommended view.
TEST_F(PictureCommands, ModelAloneSelectsSampleAndView) {
  for (const char* model : {"digits", "paths", "numbers", "brackets"}) {
    const ProcessResult result =
        run_program({"render", "--model", model, "-o", path("opened.svg")});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_NE(result.err.find("note: no input given; using the sample"), std::string::npos)
        << result.err;
  }
  // Options override the corresponding settings.
  EXPECT_EQ(run_program({"render", "--model", "memory-xl", "--view", "map", "--segment", "1", "-o",
                         path("opened.svg")})
                .status,
            0);
  expect_refusal(
      run_program({"render", "--model", "memory-xl", "--segment", "99", "-o", path("opened.svg")}),
      "--segment");
  expect_refusal(run_program({"render", "-o", path("opened.svg")}), "or --model alone");
}

// Errors name the parameter and its valid values in the unit that was typed, and suggest a name.
TEST_F(PictureCommands, ErrorsNameParameterUnitAndNearName) {
  const auto refusal = [](const std::vector<std::string>& options, const std::string& message) {
    std::vector<std::string> arguments = options;
    arguments.insert(arguments.end(), {"-t", "a"});
    expect_refusal(render(arguments, "refused.png"), message);
  };
  refusal({"--variant", "local,window=abc"},
          "variant.window: expected an integer of at least 0, found \"abc\"");
  refusal({"--variant", "loca"}, "found \"loca\"; did you mean \"local\"?");
  refusal({"--variant", "local,windw=3"}, "; did you mean \"window\"?");
  refusal({"--view", "mpa"}, "; did you mean \"map\"?");
  refusal({"--vaiant", "local"}, "--vaiant; did you mean \"--variant\"?");
  refusal({"--pixels", "12"},
          "--pixels: expected a width from 100 to 32768 pixels at scale 2, found 12");
  refusal({"--pixels", "12", "--scale", "1"}, "from 50 to 16384 pixels at scale 1, found 12");
  refusal({"--inches", "6x0.1"},
          "--inches: expected a height from 0.520833 to 170.667 inches, found 0.1");
  expect_refusal(run_program({"render", "--model", "defalt", "-t", "a", "-o", path("refused.png")}),
                 "; did you mean \"default\"?");
  expect_refusal(run_program({"rendr"}), "rendr; did you mean \"render\"?");
  expect_refusal(run_program({"list", "variatns"}), "; did you mean \"variants\"?");
}

// The picture of the tensors opens after their file was removed.
TEST_F(PictureCommands, PictureContainsItsTensors) {
  const std::string tensors = path("moved.npy");
  write_npy(tensors, stored(Tensor::from({2, 2}, {1, 0, 0.25F, 0.75F})));
  ASSERT_EQ(run_program({"render", tensors, "-o", path("own.png")}).status, 0);
  fs::remove(tensors);
  const ProcessResult again = run_program({"render", path("own.png"), "-o", path("again.csv")});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_NE(read_file(path("again.csv")).find("0.75"), std::string::npos);
}

TEST_F(PictureCommands, EncoderDecodersOpenInAlignment) {
  const auto view_of = [](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"render", "--model", "numbers",          "-t",
                                          "24",     "-o",      path("numbers.png")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProcessResult result = run_program(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return load_session(path("numbers.png")).view.id;
  };
  EXPECT_EQ(view_of({}), "alignment");
  EXPECT_EQ(view_of({"--target", "v"}), "map");
  EXPECT_EQ(view_of({"--stack", "encoder"}), "map");
  EXPECT_EQ(view_of({"--view", "grid"}), "grid");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
