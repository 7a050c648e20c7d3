// Properties shared by the mechanisms of all variants.
#include "core/view/mechanism/mechanism.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/analysis/error_study.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "tests/support/compare.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;

Trace run_variant(const Variant& v, Index length) {
  const Choice choice{v.id, illustrative_values(v.parameters, length)};
  return testing::run_model({.variant = to_json(choice).dump(),
                             .encoding = "none",
                             .length = length,
                             .causal = v.causality.refusal.empty()});
}

// Settings of all pictures available for a head.
std::vector<ViewSettings> picture_settings(const Trace& trace) {
  std::vector<ViewSettings> settings;
  for (const Mechanism& m : mechanisms()) {
    if (!m.fits(trace.attention[0])) continue;
    settings.push_back(testing::settings_with("mechanism", R"({"picture": ")" + m.id + R"("})"));
  }
  return settings;
}

void expect_legible(const Trace& trace, const ViewSettings& settings, const std::string& context,
                    const ErrorStudy* errors = nullptr) {
  for (const auto& [width, height, font_size] :
       {std::tuple{1100.0, 900.0, 13.0}, std::tuple{700.0, 600.0, 13.0},
        std::tuple{1600.0, 900.0, 20.0}, std::tuple{300.0, 1000.0, 16.0},
        std::tuple{250.0, 200.0, 13.0}}) {
    for (const std::optional<Point> pointer :
         {std::optional<Point>(), std::optional<Point>({width / 3, height / 5}),
          std::optional<Point>({width / 3, 0.8 * height})}) {
      LayoutOptions options;
      options.width = width;
      options.height = height;
      options.font_size = font_size;
      options.framed = !pointer;
      options.pointer = pointer;
      options.settings = settings;
      options.errors = errors;
      options.settings.head = 1;
      const ViewLayout layout = lay_out_view(trace, "mechanism", options);
      EXPECT_EQ(testing::layout_error(layout.list), "")
          << context << ", " << width << " x " << height;
      if (width > 1000) {
        EXPECT_EQ(layout.refusal, "") << context;
      }
    }
  }
}

TEST(Mechanism, IsLegibleForEveryVariant) {
  for (const Variant& v : variants()) {
    for (const Index length : {4, 16, 144}) {
      const Trace trace = run_variant(v, length);
      for (const ViewSettings& settings : picture_settings(trace)) {
        expect_legible(trace, settings,
                       v.id + " of " + std::to_string(length) + ", " +
                           view_values(settings, "mechanism").choice("picture"));
      }
    }
  }
}

// Windows draw the same layout repeatedly with one cache.
TEST(Mechanism, CachedDrawingIsIdentical) {
  for (const Variant& v : variants()) {
    const Trace trace = run_variant(v, 16);
    ViewCache cache;
    for (const Index head : {0, 1, 0}) {
      LayoutOptions options;
      options.settings.head = head;
      const DisplayList uncached = lay_out_view(trace, "mechanism", options).list;
      options.cache = &cache;
      const DisplayList cached = lay_out_view(trace, "mechanism", options).list;
      EXPECT_EQ(render_image(uncached, 1).rgba, render_image(cached, 1).rgba)
          << v.id << " " << head;
    }
  }
}

TEST(Mechanism, ExportedNumbersHaveUniqueNames) {
  for (const Variant& v : variants()) {
    const Trace trace = run_variant(v, 16);
    for (const ViewSettings& settings : picture_settings(trace)) {
      const testing::ViewInputFixture fixture(trace, settings);
      std::set<std::string> names;
      for (const ViewData::Matrix& m : view("mechanism").data(fixture.input).matrices) {
        EXPECT_TRUE(names.insert(m.name).second) << v.id << " " << m.name;
        for (const auto& [labels, axis] : {std::pair{&m.rows, -2}, {&m.columns, -1}}) {
          if (labels->empty()) continue;  // an axis without labels
          EXPECT_EQ(static_cast<Index>(labels->size()), m.values.dim(axis)) << v.id << m.name;
        }
      }
    }
  }
}

// The default is a preferred picture or the first compatible picture. Rules are always compatible.
TEST(Mechanism, DefaultPictureFitsVariant) {
  EXPECT_EQ(default_mechanism(run_variant(variant("lsh"), 16).attention[0]).id, "lsh");
  EXPECT_EQ(default_mechanism(run_variant(variant("routing"), 16).attention[0]).id, "routing");
  EXPECT_EQ(default_mechanism(run_variant(variant("sinkhorn"), 16).attention[0]).id, "sinkhorn");
  for (const char* id : {"performer", "rfa", "linformer"}) {
    EXPECT_EQ(default_mechanism(run_variant(variant(id), 16).attention[0]).id, "approximation")
        << id;
  }
  for (const char* id : {"linear", "rwkv", "mamba"}) {
    EXPECT_EQ(default_mechanism(run_variant(variant(id), 16).attention[0]).id, "recurrence") << id;
  }
  EXPECT_EQ(default_mechanism(run_variant(variant("hopfield"), 16).attention[0]).id, "settling");
  for (const char* id : {"synthesizer", "gmlp", "dynamic_convolution"}) {
    EXPECT_EQ(default_mechanism(run_variant(variant(id), 16).attention[0]).id, "made") << id;
  }
  EXPECT_EQ(default_mechanism(run_variant(variant("swin"), 16).attention[0]).id, "windows");
  EXPECT_EQ(default_mechanism(run_variant(variant("bigbird"), 16).attention[0]).id, "rules");
  EXPECT_EQ(default_mechanism(testing::synthetic_trace(1, 1, 5).attention[0]).id, "rules");
  std::set<std::string> ids;
  for (const Mechanism& m : mechanisms()) {
    EXPECT_TRUE(ids.insert(m.id).second);
    EXPECT_NE(m.label, "") << m.id;
    for (const std::string& key : m.parameters) {
      const auto& parameters = view("mechanism").options.parameters;
      EXPECT_NE(std::ranges::find(parameters, key, &Parameter::key), parameters.end())
          << m.id << " " << key;
    }
  }
}

// Incompatible pictures are rejected with a reason, and not offered.
TEST(Mechanism, RefusesPicturesOfOtherMethods) {
  const Trace trace = run_variant(variant("full"), 8);
  LayoutOptions options;
  options.settings = testing::settings_with("mechanism", R"({"picture": "recurrence"})");
  const ViewLayout layout = lay_out_view(trace, "mechanism", options);
  EXPECT_NE(layout.refusal.find("State"), std::string::npos) << layout.refusal;
  const testing::ViewInputFixture fixture(trace, options.settings);
  EXPECT_THROW(view("mechanism").data(fixture.input), InputError);
  const auto picture_ids = [&](const Trace& t, const ViewSettings& settings) {
    for (const Parameter& p : view_controls(settings, &t).parameters) {
      if (p.key == "picture") return choice_ids(p);
    }
    return std::vector<std::string>();
  };
  ViewSettings settings = testing::settings_with("mechanism", "{}");
  EXPECT_EQ(
      picture_ids(trace, settings),
      (std::vector<std::string>{"automatic", "rules", "paths", "replaced", "lookup", "tiles"}));
  EXPECT_EQ(picture_ids(run_variant(variant("linear"), 8), settings),
            (std::vector<std::string>{"automatic", "approximation", "recurrence", "rules", "paths",
                                      "replaced"}));
}

// The animation steps through the tokens to the end of the text.
TEST(Mechanism, PlaysTokenByToken) {
  const Trace linear = run_variant(variant("linear"), 8), full = run_variant(variant("full"), 8);
  ViewSettings settings = testing::settings_with("mechanism", "{}");
  const auto animation = view_controls(settings, &linear).animation;
  ASSERT_TRUE(animation);
  EXPECT_EQ(animation->key, "token");
  EXPECT_EQ(animation->to, 7);
  EXPECT_FALSE(view_controls(settings, &full).animation);
  const auto state = [&](const char* json) {
    const testing::ViewInputFixture fixture(linear, testing::settings_with("mechanism", json));
    return view("mechanism").data(fixture.input).matrices[0].values;
  };
  EXPECT_TRUE(testing::differs(state(R"({"token": 2})"), state(R"({"token": 3})"), 1e-4));
  EXPECT_TRUE(testing::close(state(R"({"token": 7})"), state("{}"), 0));
  EXPECT_TRUE(testing::close(state(R"({"token": 999})"), state("{}"), 0));  // beyond the end
}

// Only the picture "errors" requests the finding "errors", and draws it once available.
TEST(Mechanism, DrawsErrorsOnceMeasured) {
  for (const char* id : {"performer", "rfa", "linformer"}) {
    const Trace trace = run_variant(variant(id), 16);
    LayoutOptions options;
    options.width = 900;
    options.settings = testing::settings_with("mechanism", R"({"picture": "errors"})");
    EXPECT_EQ(lay_out_view(trace, "mechanism", options).pending, "errors") << id;
    const ErrorStudy study =
        error_study(trace.attention[0], 1, 16, [](std::size_t, std::size_t) {});
    options.errors = &study;
    EXPECT_EQ(lay_out_view(trace, "mechanism", options).pending, "") << id;
    expect_legible(trace, options.settings, id, &study);
  }
  Session session;
  session.view = testing::settings_with("mechanism", R"({"picture": "errors"})");
  const auto other_requests = [](const Session& session) {
    std::vector<FindingRequest> requests = required_findings(session);
    std::erase_if(requests,
                  [](const FindingRequest& request) { return request.id == "reference"; });
    return requests;
  };
  const std::vector<FindingRequest> first = other_requests(session);
  EXPECT_EQ(first, (std::vector<FindingRequest>{{"errors", ErrorStudySettings{}}}));
  Session changed = session;
  changed.view.colour_map = "grey";
  EXPECT_EQ(other_requests(changed), first);
  changed.view.head = 1;
  EXPECT_NE(other_requests(changed), first);
  session.view = testing::settings_with("mechanism", "{}");
  EXPECT_TRUE(other_requests(session).empty());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
