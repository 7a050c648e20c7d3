#include "core/view/export/picture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/experiment/run.h"
#include "core/text/tokenizer.h"
#include "core/view/export/export_format.h"
#include "core/view/export/picture_preset.h"
#include "core/view/session_file.h"
#include "tests/support/compare.h"
#include "tests/support/model_trace.h"
#include "tests/support/picture.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Session session(const std::string& view) {
  Session result;
  result.run.text = "The lighthouse \"keeper\" <b>\n ä";
  result.view.id = view;
  result.view.head = 1;
  result.view.colour_map = "magma";
  result.run.causal = true;
  return result;
}

// Session for which the view has content.
Session example(const View& view) {
  Session result = session(view.id);
  if (view.content.example) view.content.example(result);
  return result;
}

// These views are tested in tests/core/view/alignment and trajectory.
bool needs_other_models(const View& view) {
  return view.id == "alignment" || view.id == "trajectory";
}

struct SampleRun {
  Trace trace;
  Findings further_findings;

  Findings findings() const {
    Findings all = testing::findings_of(trace, &trace);
    all.add(further_findings);
    return all;
  }
};

// Run for which the view has content. Views that need q, k and v get the run of a small model,
// other views a synthetic trace.
SampleRun sample_run_for(const View& view) {
  // Views that need pixels, segments, steps or gates, which the synthetic trace lacks.
  if (!view.objection(testing::synthetic_trace(2, 2, 9)).empty()) {
    ExperimentRun runner(cpu_only());
    const Session session = example(view);
    Traces traces = runner.observe(session, required_findings(session));
    SampleRun sample{*traces.trace, traces.findings};
    sample.further_findings.add(
        compute_background_findings(session, required_findings(session), runner, {}));
    sample.trace.model = "synthetic";
    return sample;
  }
  const Trace synthetic = testing::synthetic_trace(2, 2, 9);
  const Session session = example(view);
  const ViewInput input{
      .trace = synthetic,
      .session = session,
      .findings = testing::findings_of(synthetic, &synthetic),
      .canvas = {
          .width = 700, .height = 700, .theme = Theme::light(), .measure = file_text_measure()}};
  return {view.lay_out(input).refusal.empty() ? synthetic : testing::run_model({.length = 9}), {}};
}

TEST(Picture, DrawsEveryViewInEveryFormatAndTheme) {
  testing::TemporaryFolder folder;
  for (const View& view : views()) {
    if (needs_other_models(view)) continue;
    const SampleRun shown = sample_run_for(view);
    for (const bool dark : {false, true}) {
      PictureOptions options;
      options.dark = dark;
      const auto path = [&](const char* extension) {
        return folder.path() / (view.id + extension);
      };
      for (const char* extension : {".png", ".svg", ".pdf"}) {
        write_view(path(extension), shown.trace, example(view), options, shown.findings());
      }
      const Image image = testing::decode_png(read_file(path(".png")));
      EXPECT_EQ(image.width, 1440);
      EXPECT_LE(image.height, 2016);
      EXPECT_EQ(testing::pixel(image, 0, 0), (dark ? Theme::dark() : Theme::light()).background);
      EXPECT_EQ(testing::pixel(image, 1439, image.height - 1),
                (dark ? Theme::dark() : Theme::light()).background);
      const std::string svg = read_file(path(".svg"));
      EXPECT_EQ(testing::xml_error(svg), "");
      EXPECT_NE(svg.find("synthetic · "), std::string::npos);
    }
  }
}

TEST(Picture, EmbedsItsSession) {
  testing::TemporaryFolder folder;
  const auto path = folder.path() / "map.png";
  const Session saved = session("map");
  write_view(path, testing::synthetic_trace(1, 2, 5), saved, {});
  EXPECT_EQ(load_session(path), saved);
}

TEST(Picture, LeavesOutSessionOnRequest) {
  testing::TemporaryFolder folder;
  PictureOptions options;
  options.embeds_session = false;
  Session secret = session("map");
  secret.run.text = "a secret text";
  for (const ExportFormat& format : export_formats()) {
    if (format.kind == ExportFormat::Kind::Movie || format.is_one_array) continue;
    const auto path = folder.path() / ("map" + format.ending);
    write_view(path, testing::synthetic_trace(1, 2, 5), secret, options);
    EXPECT_EQ(read_file(path).find("secret"), std::string::npos) << format.id;
  }
  EXPECT_FALSE(has_session(folder.path() / "map.png"));
}

// Files next to the picture are named relative to it, so that no folder above is disclosed.
TEST(Picture, NamesFilesInItsFolderOnly) {
  testing::TemporaryFolder folder;
  const auto input = folder.path() / "input" / "digit.png";
  make_folder(input.parent_path());
  write_file(input, "x");
  Session shown = session("map");
  shown.run.input = input.string();
  EXPECT_EQ(embedded_session(shown, folder.path() / "map.png").run.input, "input/digit.png");
  EXPECT_EQ(embedded_session(shown, "/elsewhere/map.png").run.input, input.string());
  EXPECT_EQ(embedded_session(shown, "map.png").run.input, input.string());
  const auto path = folder.path() / "map.png";
  write_view(path, testing::synthetic_trace(1, 2, 5), shown, {});
  EXPECT_EQ(load_session(path).run.input, input.string());
}

TEST(Picture, KeepsRequestedSize) {
  PictureOptions options;
  options.width = 333;
  options.height = 555;
  for (const View& view : views()) {
    if (needs_other_models(view)) continue;
    const SampleRun shown = sample_run_for(view);
    const DisplayList list = lay_out_picture(shown.trace, example(view), options, shown.findings());
    EXPECT_EQ(list.width, 333);
    EXPECT_EQ(list.height, 555);
    options.height = 0;
    EXPECT_LE(lay_out_picture(shown.trace, example(view), options, shown.findings()).height,
              66 * 13);
    options.height = 555;
  }
}

// Parts around the content can be omitted or edited; the content then uses the free space.
TEST(Picture, PartsCanBeOmittedOrEdited) {
  const Trace trace = testing::synthetic_trace(1, 2, 9);
  const auto text_with = [&](const PictureOptions& options) {
    std::string joined;
    for (const Text& text : testing::texts(lay_out_picture(trace, session("map"), options))) {
      joined += text.text + "\n";
    }
    return joined;
  };
  const auto has = [](const std::string& text, const std::string& fragment) {
    return text.find(fragment) != std::string::npos;
  };
  const std::string token = without_space_markers(trace.tokens[1].label),
                    title = picture_title(trace);
  const std::string full = text_with({});
  ASSERT_TRUE(has(full, title.substr(0, title.find(' ')))) << full;
  ASSERT_TRUE(has(full, token) && has(full, "0.5") && has(full, "9 tokens")) << full;

  PictureOptions options;
  options.parts.title = options.parts.caption = false;
  const std::string reduced = text_with(options);
  EXPECT_FALSE(has(reduced, title.substr(0, title.find(' ')))) << reduced;
  EXPECT_FALSE(has(reduced, "9 tokens")) << reduced;
  EXPECT_TRUE(has(reduced, token) && has(reduced, "0.5")) << reduced;
  options.parts.tokens = false;
  EXPECT_FALSE(has(text_with(options), token)) << text_with(options);
  EXPECT_TRUE(has(text_with(options), "key")) << text_with(options);
  options.parts.colour_bar = false;
  EXPECT_FALSE(has(text_with(options), "0.5")) << text_with(options);
  EXPECT_FALSE(has(text_with(options), "weight")) << text_with(options);

  options = {};
  options.parts.title_text = "What she looks at";
  options.parts.caption_text = "The seventh head.";
  const std::string edited = text_with(options);
  EXPECT_TRUE(has(edited, "What she looks at\n") && has(edited, "The seventh head.\n")) << edited;
  EXPECT_FALSE(has(edited, "9 tokens")) << edited;
}

TEST(Picture, OmittedPartsEnlargeContent) {
  const Trace trace = testing::synthetic_trace(1, 2, 9);
  PictureOptions reduced;
  reduced.height = 500;
  const auto map_area = [&](const PictureOptions& options) {
    const DisplayList list = lay_out_picture(trace, session("map"), options);
    double area = 0;
    for (const Item& item : list.items) {
      if (const auto* map = std::get_if<HeatMap>(&item)) {
        area = std::max(area, map->box.width * map->box.height);
      }
    }
    return area;
  };
  double previous_area = map_area(reduced);
  for (bool FigureParts::*part :
       {&FigureParts::caption, &FigureParts::title, &FigureParts::tokens}) {
    reduced.parts.*part = false;
    EXPECT_GT(map_area(reduced), previous_area);
    previous_area = map_area(reduced);
  }
}

// Content stays within the page in every view.
TEST(Picture, EveryViewAllowsOmittedParts) {
  PictureOptions reduced;
  reduced.parts = {false, false, false, false, "", ""};
  for (const View& view : views()) {
    if (needs_other_models(view)) continue;
    const SampleRun shown = sample_run_for(view);
    for (const double height : {0.0, 480.0}) {
      reduced.height = height;
      const DisplayList list =
          lay_out_picture(shown.trace, example(view), reduced, shown.findings());
      EXPECT_GT(list.items.size(), 1u) << view.id;
      for (const Item& item : list.items) {
        const auto* map = std::get_if<HeatMap>(&item);
        if (map == nullptr) continue;
        EXPECT_GE(map->box.width, 0) << view.id;
        EXPECT_LE(map->box.right(), list.width) << view.id;
        EXPECT_LE(map->box.bottom(), list.height) << view.id;
      }
    }
  }
}

TEST(PicturePreset, DefinesSizeAndFont) {
  for (const PicturePreset& preset : picture_presets()) {
    PictureOptions options;
    options.dark = true;
    options.parts.title_text = "mine";
    EXPECT_FALSE(matches_preset(preset, options)) << preset.id;
    apply(preset, options);
    EXPECT_TRUE(matches_preset(preset, options)) << preset.id;
    EXPECT_TRUE(options.dark);
    EXPECT_EQ(options.parts.title_text, "mine");
    EXPECT_NEAR(options.width / 96, preset.inches_wide, 1e-9);
    EXPECT_NEAR(options.font_size * 0.75, preset.points, 1e-9);
    const Trace trace = testing::synthetic_trace(1, 2, 9);
    EXPECT_NEAR(lay_out_picture(trace, session("map"), options).width, options.width, 1e-9);
  }
  EXPECT_THROW(static_cast<void>(picture_preset("wall")), InputError);
}

TEST(Picture, ErrorsNameInvalidSettings) {
  const Trace trace = testing::synthetic_trace(2, 2, 9);
  const auto error_of = [&](const Trace& shown, const Session& invalid,
                            const PictureOptions& picture_options) {
    try {
      lay_out_picture(shown, invalid, picture_options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Session invalid = session("map");
  invalid.view.layer = 7;
  EXPECT_NE(error_of(trace, invalid, {}).find("No layer 7"), std::string::npos);
  EXPECT_NE(error_of(Trace{}, session("grid"), {}).find("No attention"), std::string::npos);
  EXPECT_NE(error_of(trace, session("nonsense"), {}).find("view: expected one of"),
            std::string::npos);
  invalid = session("map");
  invalid.view.colour_map = "jet";
  EXPECT_NE(error_of(trace, invalid, {}).find("colour map"), std::string::npos);
  PictureOptions options;
  options.width = std::nan("");
  EXPECT_NE(error_of(trace, session("map"), options).find("width"), std::string::npos);
  options = {};
  options.width = 60;
  options.height = 60;
  EXPECT_NE(error_of(trace, session("map"), options).find("No space"), std::string::npos);
}

TEST(Picture, ReportsPoolingAtOutputScale) {
  const Trace trace = testing::synthetic_trace(1, 2, 700);
  const auto reports_pooling = [&](double scale) {
    PictureOptions options;
    options.scale = scale;
    for (const Text& text : testing::texts(lay_out_picture(trace, session("map"), options))) {
      if (text.text.find("max-pooled") != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(reports_pooling(1));
  EXPECT_FALSE(reports_pooling(2));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
