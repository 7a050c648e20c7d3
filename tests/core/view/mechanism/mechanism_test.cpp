// What holds for the mechanism of every variant.
#include "core/view/mechanism/mechanism.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/json.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace {

using testing::Look;
using testing::look_at;

Trace trace_of(const Variant& v, Index length) {
  const Choice choice{v.id, telling_values(v.parameters, length)};
  return testing::run_model({.variant = to_json(choice).dump(),
                             .encoding = "none",
                             .length = length,
                             .causal = v.causal_refusal.empty()});
}

TEST(Mechanism, OfEveryVariantIsLegible) {
  for (const Variant& v : variants()) {
    for (const Index length : {4, 16, 144}) {
      const Trace trace = trace_of(v, length);
      for (const auto& [width, height, font] :
           {std::tuple{1100.0, 900.0, 13.0}, std::tuple{700.0, 600.0, 13.0},
            std::tuple{1600.0, 900.0, 20.0}, std::tuple{300.0, 1000.0, 16.0},
            std::tuple{250.0, 200.0, 13.0}}) {
        for (const std::optional<Point> pointer :
             {std::optional<Point>(), std::optional<Point>({width / 3, height / 5}),
              std::optional<Point>({width / 3, 0.8 * height})}) {
          Look look;
          look.width = width;
          look.height = height;
          look.font_size = font;
          look.framed = !pointer;
          look.pointer = pointer;
          look.settings.head = 1;
          const ViewLayout layout = look_at(trace, "mechanism", look);
          EXPECT_EQ(testing::fault(layout.list), "")
              << v.id << " of " << length << ", " << width << " x " << height;
          if (width > 1000) {
            EXPECT_EQ(layout.refusal, "") << v.id << " of " << length;
          }
        }
      }
    }
  }
}

// A window repeats the same layout with a cache of its own.
TEST(Mechanism, ACacheChangesNothing) {
  for (const Variant& v : variants()) {
    const Trace trace = trace_of(v, 16);
    ViewCache cache;
    for (const Index head : {0, 1, 0}) {
      Look look;
      look.settings.head = head;
      const DisplayList fresh = look_at(trace, "mechanism", look).list;
      look.cache = &cache;
      const DisplayList cached = look_at(trace, "mechanism", look).list;
      EXPECT_EQ(render_image(fresh, 1).rgba, render_image(cached, 1).rgba) << v.id << " " << head;
    }
  }
}

TEST(Mechanism, NumbersHaveNamesOfTheirOwn) {
  for (const Variant& v : variants()) {
    const Trace trace = trace_of(v, 16);
    const testing::InputOf of(trace, testing::settings_with("mechanism", "{}"));
    std::set<std::string> names;
    for (const ViewData::Matrix& m : view("mechanism").data(of.input).matrices) {
      EXPECT_TRUE(names.insert(m.name).second) << v.id << " " << m.name;
      EXPECT_EQ(static_cast<Index>(m.rows.size()), m.values.dim(-2)) << v.id << " " << m.name;
      EXPECT_EQ(static_cast<Index>(m.columns.size()), m.values.dim(-1)) << v.id << " " << m.name;
    }
  }
}

// The first that fits, and the rules fit any.
TEST(Mechanism, IsChosenByTheTrace) {
  EXPECT_EQ(mechanism_of(trace_of(variant("lsh"), 16).attention[0]).id, "lsh");
  EXPECT_EQ(mechanism_of(trace_of(variant("routing"), 16).attention[0]).id, "routing");
  EXPECT_EQ(mechanism_of(trace_of(variant("sinkhorn"), 16).attention[0]).id, "sinkhorn");
  for (const char* id : {"performer", "rfa", "linear", "linformer"}) {
    EXPECT_EQ(mechanism_of(trace_of(variant(id), 16).attention[0]).id, "approximation") << id;
  }
  for (const char* id : {"synthesizer", "gmlp", "dynamic_convolution"}) {
    EXPECT_EQ(mechanism_of(trace_of(variant(id), 16).attention[0]).id, "made") << id;
  }
  EXPECT_EQ(mechanism_of(trace_of(variant("bigbird"), 16).attention[0]).id, "rules");
  EXPECT_EQ(mechanism_of(testing::synthetic_trace(1, 1, 5).attention[0]).id, "rules");
  std::set<std::string> ids;
  for (const Mechanism& m : mechanisms()) {
    EXPECT_TRUE(ids.insert(m.id).second);
    for (const std::string& key : m.parameters) {
      const auto& all = view("mechanism").parameters;
      EXPECT_NE(std::ranges::find(all, key, &Parameter::key), all.end()) << m.id << " " << key;
    }
  }
  EXPECT_EQ(mechanisms().back().id, "rules");
}

}  // namespace
}  // namespace attnscope
