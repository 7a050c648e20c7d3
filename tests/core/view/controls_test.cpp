// Compares the controls that view_controls() reports as effective or idle with pictures.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/json.h"
#include "core/figure/render.h"
#include "core/view/view.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::LayoutOptions;

constexpr double kScale = 0.5;  // large enough to distinguish pictures

class Controls : public ::testing::Test {
 protected:
  Image picture(const Trace& trace, const ViewSettings& settings) const {
    const ViewLayout layout = testing::lay_out_view(trace, settings.id, look(settings));
    return render_image(layout.list, kScale);
  }
  bool differs(const Trace& trace, const ViewSettings& a, const ViewSettings& b) const {
    return picture(trace, a).rgba != picture(trace, b).rgba;
  }

  // Changes each control in turn. Controls reported as idle must have no effect; if
  // `requires_effect` is set, all other controls must have an effect.
  void expect_reported_effects(const Trace& trace, const ViewSettings& settings,
                               bool requires_effect = true) const {
    const ViewControls controls = view_controls(settings, &trace);
    const auto changed = [&](const auto& change) {
      ViewSettings changed_settings = settings;
      change(changed_settings);
      return differs(trace, settings, changed_settings);
    };
    const auto expect = [&](const char* control, bool has_effect, const auto& change) {
      if (has_effect && !requires_effect) return;
      EXPECT_EQ(changed(change), has_effect) << control;
    };
    using Colours = ViewControls::Colours;
    expect("layer", controls.layer, [](ViewSettings& v) { v.layer = 1; });
    expect("head", controls.head, [](ViewSettings& v) { v.head = 1; });
    const auto& ends = controls.colour_ends;
    const bool ends_differ = std::ranges::any_of(ends, [&](const ColourEndChoice& choice) {
      return changed([&](ViewSettings& v) { v.colour_end = choice.end; });
    });
    if (requires_effect) {
      EXPECT_EQ(ends_differ, ends.size() > 1) << "colour ends";
    }
    for (const ColourEnd end : {ColourEnd::Largest, ColourEnd::One}) {
      if (ends.size() > 1) break;
      EXPECT_FALSE(changed([&](ViewSettings& v) { v.colour_end = end; })) << "colour ends";
    }
    expect("colours", controls.colours != Colours::None,
           [](ViewSettings& v) { v.colour_map = "magma"; });
    EXPECT_FALSE(controls.colours == Colours::Sequential &&
                 changed([](ViewSettings& v) { v.colour_map = "vik"; }));
    for (const auto& [key, reason] : controls.idle) {
      const auto& all = controls.parameters;
      const auto p = std::ranges::find(all, key, &Parameter::key);
      ASSERT_NE(p, all.end()) << key;
      EXPECT_FALSE(changed([&](ViewSettings& v) {
        set_view_value(v, v.id, key, non_initial_value(*p));
      })) << key
          << ": " << reason;
    }
  }

  // A value that differs from the initial one, or sets an optional parameter.
  static Value non_initial_value(const Parameter& p) {
    if (p.kind == Parameter::Kind::Flag) return !std::get<bool>(p.initial);
    if (p.kind == Parameter::Kind::Choice) return p.choices.back().id;
    return p.initial;  // sets an optional parameter
  }

  const Trace model_ = testing::run_model({.heads = 3, .kv_heads = 3});
  const Trace reference_ = testing::run_model({.encoding = "alibi", .heads = 3, .kv_heads = 3});
  // Layout without a frame, as in the window, because a title would name the layer and head.
  LayoutOptions look(const ViewSettings& settings) const {
    LayoutOptions look;
    look.framed = false;
    look.settings = settings;
    look.reference = &reference_;
    return look;
  }
};

ViewSettings settings_for(const char* id, const char* json = "{}") {
  ViewSettings settings = testing::settings_with(id, json);
  settings.id = id;
  // Part of the map without row 0, whose weight of 1 would make all colour ends equal.
  settings.row = 4;
  settings.column = 1;
  settings.height = settings.width = 6;
  return settings;
}

TEST_F(Controls, ReportEffectsOnPicturesOfModels) {
  for (const ViewSettings& settings :
       {settings_for("map"), settings_for("map", R"({"most": 0.5})"),
        settings_for("map", R"({"scale": "rank"})"),
        settings_for("grid", R"({"sort": "distance"})"), settings_for("grid"),
        settings_for("pattern", R"({"show": "reach"})"), settings_for("lines"),
        settings_for("lines", R"({"all": true})"), settings_for("lines", R"({"heads": [0, 2]})"),
        settings_for("lines", R"({"style": "arcs"})"), settings_for("scores"),
        settings_for("vectors"), settings_for("rope"), settings_for("span"),
        settings_for("intervene"), settings_for("flow")}) {
    const Values values = view_values(settings, settings.id);
    SCOPED_TRACE(settings.id + " " + to_json(values).dump());
    expect_reported_effects(model_, settings);
  }
}

// In these views, all heads look alike and colours always end at 1.
TEST_F(Controls, ReportIdleControlsOfUniformHeads) {
  for (const ViewSettings& settings :
       {settings_for("pattern"), settings_for("position"), settings_for("compare"),
        settings_for("compare", R"({"show": "A"})"),
        settings_for("compare", R"({"show": "difference"})")}) {
    const Values values = view_values(settings, settings.id);
    SCOPED_TRACE(settings.id + " " + to_json(values).dump());
    expect_reported_effects(model_, settings, false);
  }
}

TEST_F(Controls, ReportEffectsOnPredictions) {
  const Trace trace = testing::synthetic_trace(3, 3, 12);  // with logits and layer predictions
  for (const ViewSettings& settings : {settings_for("depth"), settings_for("next")}) {
    SCOPED_TRACE(settings.id);
    expect_reported_effects(trace, settings);
  }
}

TEST_F(Controls, ReportIdleRotationWithoutRotaryEncoding) {
  EXPECT_TRUE(view_controls(settings_for("vectors"), &model_).idle.empty());
  const ViewControls controls = view_controls(settings_for("vectors"), &reference_);
  EXPECT_TRUE(controls.idle.contains("before"));
  expect_reported_effects(reference_, settings_for("vectors"));
}

TEST_F(Controls, DependOnMechanism) {
  expect_reported_effects(model_, settings_for("mechanism"),
                          false);  // rules are equal in all heads
  const Trace hashed =
      testing::run_model({.variant = R"({"type": "lsh", "buckets": 4, "rounds": 2})",
                          .heads = 3,
                          .kv_heads = 3,
                          .causal = false});
  expect_reported_effects(hashed, settings_for("mechanism"));
  // Only LSH has rounds; the setting has no effect on other variants.
  const auto keys = [](const ViewSettings& settings, const Trace& trace) {
    std::vector<std::string> found;
    for (const Parameter& p : view_controls(settings, &trace).parameters) found.push_back(p.key);
    return found;
  };
  using Keys = std::vector<std::string>;
  EXPECT_EQ(keys(settings_for("mechanism"), model_), Keys({"picture"}));
  EXPECT_EQ(keys(settings_for("mechanism"), hashed), Keys({"picture", "round"}));
  // The position of the replaced token matters only if a token is replaced.
  EXPECT_EQ(keys(settings_for("mechanism", R"({"picture": "replaced"})"), hashed),
            Keys({"picture", "token", "by"}));
  EXPECT_EQ(keys(settings_for("mechanism", R"({"picture": "paths"})"), hashed), Keys({"picture"}));
  EXPECT_FALSE(
      differs(model_, settings_for("mechanism"), settings_for("mechanism", R"({"round": 2})")));
  EXPECT_TRUE(
      differs(hashed, settings_for("mechanism"), settings_for("mechanism", R"({"round": 2})")));
}

TEST_F(Controls, LimitFilterToRangeOfMeasure) {
  const auto filter_limit = [&](const char* sort) {
    const std::string json = std::string(R"({"sort": ")") + sort + R"("})";
    const ViewControls controls = view_controls(settings_for("grid", json.c_str()), &model_);
    return std::ranges::find(controls.parameters, "at_least", &Parameter::key)->slider.max;
  };
  EXPECT_EQ(filter_limit("first_token"), 1);
  EXPECT_EQ(filter_limit("distance"), 12);
  EXPECT_EQ(filter_limit("entropy"), 4);  // log2(12) bits, rounded up
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
