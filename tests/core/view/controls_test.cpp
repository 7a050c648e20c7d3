// Which controls change what a view shows: what it says against what its pictures do.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/json.h"
#include "core/figure/render.h"
#include "core/view/view.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::Look;

constexpr double kScale = 0.5;  // enough to tell pictures apart

class Controls : public ::testing::Test {
 protected:
  Image picture(const Trace& trace, const ViewSettings& settings) const {
    const ViewLayout layout = testing::look_at(trace, settings.id, look(settings));
    return render_image(layout.list, kScale);
  }
  bool differs(const Trace& trace, const ViewSettings& a, const ViewSettings& b) const {
    return picture(trace, a).rgba != picture(trace, b).rgba;
  }

  // Each control in turn, from these settings. What is said to have no effect has none; the rest
  // has one where the trace makes a difference.
  void expect_truth(const Trace& trace, const ViewSettings& now, bool differs_by_all = true) const {
    const ViewControls controls = view_controls(now, &trace);
    const auto changed = [&](const auto& change) {
      ViewSettings next = now;
      change(next);
      return differs(trace, now, next);
    };
    const auto expect = [&](const char* what, bool has_effect, const auto& change) {
      if (has_effect && !differs_by_all) return;
      EXPECT_EQ(changed(change), has_effect) << what;
    };
    using Colours = ViewControls::Colours;
    expect("layer", controls.layer, [](ViewSettings& v) { v.layer = 1; });
    expect("head", controls.head, [](ViewSettings& v) { v.head = 1; });
    const auto& ends = controls.colour_ends;
    const bool chosen = std::ranges::any_of(ends, [&](const ColourEndChoice& choice) {
      return changed([&](ViewSettings& v) { v.colour_end = choice.end; });
    });
    if (differs_by_all) {
      EXPECT_EQ(chosen, ends.size() > 1) << "colour ends";
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
      EXPECT_FALSE(changed([&](ViewSettings& v) { set_view_value(v, v.id, key, other(*p)); }))
          << key << ": " << reason;
    }
  }

  // A value that the parameter does not start with.
  static Value other(const Parameter& p) {
    if (p.kind == Parameter::Kind::Flag) return !std::get<bool>(p.initial);
    if (p.kind == Parameter::Kind::Choice) return p.choices.back();
    return p.initial;  // of an optional one
  }

  const Trace model_ = testing::run_model({.heads = 3, .kv_heads = 3});
  const Trace reference_ = testing::run_model({.encoding = "alibi", .heads = 3, .kv_heads = 3});
  // What the window shows: a title would name the layer and head.
  Look look(const ViewSettings& settings) const {
    Look look;
    look.framed = false;
    look.settings = settings;
    look.reference = &reference_;
    return look;
  }
};

ViewSettings of(const char* id, const char* json = "{}") {
  ViewSettings settings = testing::settings_with(id, json);
  settings.id = id;
  // Less than the whole: the first row of a causal map is 1, so that there is nothing to stretch.
  settings.row = 4;
  settings.column = 1;
  settings.height = settings.width = 6;
  return settings;
}

TEST_F(Controls, OfAModel) {
  for (const ViewSettings& settings :
       {of("map"), of("map", R"({"most": 0.5})"), of("map", R"({"scale": "rank"})"),
        of("grid", R"({"sort": "distance"})"), of("grid"), of("pattern", R"({"show": "reach"})"),
        of("lines"), of("lines", R"({"all": true})"), of("lines", R"({"heads": [0, 2]})"),
        of("lines", R"({"style": "arcs"})"), of("scores"), of("vectors"), of("rope"), of("span"),
        of("intervene"), of("flow")}) {
    const Values values = view_values(settings, settings.id);
    SCOPED_TRACE(settings.id + " " + to_json(values).dump());
    expect_truth(model_, settings);
  }
}

// Its heads are alike in these, and its first row is 1 already.
TEST_F(Controls, OfAModelOfLikeHeads) {
  for (const ViewSettings& settings :
       {of("pattern"), of("position"), of("compare"), of("compare", R"({"show": "A"})"),
        of("compare", R"({"show": "difference"})")}) {
    const Values values = view_values(settings, settings.id);
    SCOPED_TRACE(settings.id + " " + to_json(values).dump());
    expect_truth(model_, settings, false);
  }
}

TEST_F(Controls, OfWhatTheModelSays) {
  const Trace trace = testing::synthetic_trace(3, 3, 12);  // with logits and its layers' guesses
  for (const ViewSettings& settings : {of("depth"), of("next")}) {
    SCOPED_TRACE(settings.id);
    expect_truth(trace, settings);
  }
}

TEST_F(Controls, OfVectorsThatNothingTurns) {
  EXPECT_TRUE(view_controls(of("vectors"), &model_).idle.empty());
  const ViewControls controls = view_controls(of("vectors"), &reference_);
  EXPECT_TRUE(controls.idle.contains("before"));
  expect_truth(reference_, of("vectors"));
}

TEST_F(Controls, OfMechanisms) {
  expect_truth(model_, of("mechanism"), false);  // rules are the same in every head
  const Trace hashed =
      testing::run_model({.variant = R"({"type": "lsh", "buckets": 4, "rounds": 2})",
                          .heads = 3,
                          .kv_heads = 3,
                          .causal = false});
  expect_truth(hashed, of("mechanism"));
  // Rounds are of LSH alone, and change nothing elsewhere.
  const auto keys = [](const ViewSettings& settings, const Trace& trace) {
    std::vector<std::string> found;
    for (const Parameter& p : view_controls(settings, &trace).parameters) found.push_back(p.key);
    return found;
  };
  using Keys = std::vector<std::string>;
  EXPECT_EQ(keys(of("mechanism"), model_), Keys({"picture"}));
  EXPECT_EQ(keys(of("mechanism"), hashed), Keys({"picture", "round"}));
  // Which token is replaced matters where one is.
  EXPECT_EQ(keys(of("mechanism", R"({"picture": "replaced"})"), hashed),
            Keys({"picture", "token", "by"}));
  EXPECT_EQ(keys(of("mechanism", R"({"picture": "paths"})"), hashed), Keys({"picture"}));
  EXPECT_FALSE(differs(model_, of("mechanism"), of("mechanism", R"({"round": 2})")));
  EXPECT_TRUE(differs(hashed, of("mechanism"), of("mechanism", R"({"round": 2})")));
}

TEST_F(Controls, LimitsReachAsFarAsTheMeasure) {
  const auto most = [&](const char* sort) {
    const std::string json = std::string(R"({"sort": ")") + sort + R"("})";
    const ViewControls controls = view_controls(of("grid", json.c_str()), &model_);
    return std::ranges::find(controls.parameters, "at_least", &Parameter::key)->slider_most;
  };
  EXPECT_EQ(most("first_token"), 1);
  EXPECT_EQ(most("distance"), 12);
  EXPECT_EQ(most("entropy"), 4);  // bits of 12 tokens, rounded up
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
