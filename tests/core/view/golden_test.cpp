// Golden pictures and data of views: tests/golden/views, tests/golden/mechanisms.
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/attention/variant.h"
#include "core/part/choice.h"
#include "core/view/mechanism/mechanism.h"
#include "core/view/view.h"
#include "core/view/view_values.h"
#include "tests/core/experiment/tasks.h"
#include "tests/core/view/families.h"
#include "tests/support/compare.h"
#include "tests/support/golden_svg.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::matches_golden_svg;
using testing::PageStyle;

const PageStyle kNarrowDark{420, 480, false, true, Point{210, 250}};
const PageStyle kWindow{900, 620, false, false, Point{470, 250}};

Trace small_run() {
  return testing::run_model({.length = 6, .layers = 2, .heads = 2, .kv_heads = 2});
}

// A run to compare with small_run().
Trace other_run() {
  return testing::run_model({.variant = R"({"type": "local", "window": 2})",
                             .encoding = "alibi",
                             .length = 6,
                             .layers = 2,
                             .heads = 2,
                             .kv_heads = 2});
}

// Values of a parameter that differ from its default.
std::vector<Value> other_values(const View& v, const Parameter& p) {
  std::vector<Value> alternatives;
  // The spring layout amplifies rounding differences between processors.
  if (v.id == "graph" && p.key == "layout") return alternatives;
  switch (p.kind) {
    case Parameter::Kind::Choice:
      for (const std::string& choice : choice_ids(p)) {
        if (Value(choice) != p.initial) alternatives.emplace_back(choice);
      }
      break;
    case Parameter::Kind::Flag:
      alternatives.emplace_back(!std::get<bool>(p.initial));
      break;
    case Parameter::Kind::Integer: {
      const double middle = std::round((p.slider.min + p.slider.max) / 2);
      if (p.slider.max > p.slider.min) alternatives.emplace_back(static_cast<Index>(middle));
      break;
    }
    case Parameter::Kind::Real:
      if (p.slider.max > p.slider.min) {
        alternatives.emplace_back(p.slider.min + 0.3 * (p.slider.max - p.slider.min));
      }
      break;
    case Parameter::Kind::Integers:
    case Parameter::Kind::Reals:
    case Parameter::Kind::IntegerLists:
      break;
  }
  return alternatives;
}

std::string value_text(const Parameter& p, const Value& value) {
  Choice choice{"", {}};
  choice.values.set(p.key, value);
  return to_json(choice).at(p.key).dump();
}

std::string view_path(const std::string& name) {
  return "golden/views/" + name;
}

TEST(Views, MatchGoldenSvg) {
  const Trace trace = small_run(), other = other_run();
  const Findings findings = testing::findings_of(trace, &other);
  for (const View& v : views()) {
    if (!v.objection(trace).empty()) continue;  // see ModelFamiliesMatchGolden
    if (v.id == "mechanism") continue;          // see Mechanism
    Session session;
    session.b.emplace();
    session.view.id = v.id;
    EXPECT_TRUE(matches_golden_svg(testing::lay_out_plain(trace, session, findings),
                                   view_path(v.id + ".svg")));
  }
}

// Draws pinned tokens and the pointer in a small dark window without title and caption.
TEST(Views, PinnedInSmallWindowMatchGoldenSvg) {
  const Trace trace = small_run(), other = other_run();
  const Findings findings = testing::findings_of(trace, &other);
  for (const char* id : {"map", "pattern", "lines"}) {
    Session session;
    session.view.id = id;
    session.view.layer = 1;
    session.view.head = 1;
    session.view.pinned_query = 4;
    session.view.pinned_key = 1;
    EXPECT_TRUE(matches_golden_svg(testing::lay_out_plain(trace, session, findings, kNarrowDark),
                                   view_path(std::string(id) + "-pinned.svg")));
  }
}

// Draws a whole map, and a zoomed region.
TEST(Views, LongTextMatchesGoldenSvg) {
  const Trace trace = testing::run_model({.length = 260, .layers = 1, .heads = 1, .kv_heads = 1});
  const Findings findings = testing::findings_of(trace);
  Session session;
  session.view.id = "map";
  EXPECT_TRUE(matches_golden_svg(
      testing::lay_out_plain(trace, session, findings, {.width = 420, .height = 360}),
      view_path("map-long.svg")));
  session.view.row = session.view.column = 60;
  session.view.height = 12;
  session.view.width = 17;
  EXPECT_TRUE(matches_golden_svg(testing::lay_out_plain(trace, session, findings, kWindow),
                                 view_path("map-zoomed.svg")));
}

TEST(Views, InterventionLayoutMatchesGoldenSvg) {
  const Trace trace = small_run(), baseline = other_run();
  const Findings findings = testing::findings_of(trace, &baseline);
  Session session;
  for (const char* line : {"off layer=0 head=1", "off layer=1", "forbid query=4 key=2",
                           "force layer=1 query=4 key=3", "replace position=3 token=5"}) {
    session.run.interventions.push_back(intervention_from_text(line));
  }
  session.view.layer = 1;
  for (const char* id : {"intervene", "compare"}) {
    session.view.id = id;
    EXPECT_TRUE(matches_golden_svg(testing::lay_out_plain(trace, session, findings, kWindow),
                                   view_path(std::string(id) + "-interventions.svg")));
  }
}

// Describes the data of each view for its defaults, and for other values of each parameter.
TEST(Views, DataMatchesGolden) {
  const Trace trace = testing::run_model({.length = 24, .layers = 3, .heads = 4, .kv_heads = 2});
  const Trace other = testing::run_model({.variant = R"({"type": "local", "window": 5})",
                                          .encoding = "alibi",
                                          .length = 24,
                                          .layers = 3,
                                          .heads = 4,
                                          .kv_heads = 2});
  const Findings findings = testing::findings_of(trace, &other);
  for (const View& v : views()) {
    if (!v.data || (!v.objection(trace).empty())) continue;
    Session session;
    session.b.emplace();
    session.view.id = v.id;
    session.view.layer = 1;
    session.view.head = 2;
    session.view.pinned_query = 17;
    session.view.pinned_key = 5;
    std::string text = "default\n" + testing::describe_data(trace, session, findings);
    std::string default_text = text;
    for (const Parameter& p : v.options.parameters) {
      for (const Value& value : other_values(v, p)) {
        Session changed = session;
        set_view_value(changed.view, v.id, p.key, value);
        const std::string data = testing::describe_data(trace, changed, findings);
        if (default_text.ends_with(data)) continue;
        text += p.key + " " + value_text(p, value) + "\n" + data;
      }
    }
    EXPECT_TRUE(testing::matches_golden_rounded(text, view_path(v.id + ".txt")));
  }
}

// Data of models of every family, and pictures of the views that only some families support.
TEST(Views, ModelFamiliesMatchGolden) {
  const Trace plain = small_run();
  std::map<std::string, std::string> data;
  std::set<std::string> pictures;
  for (const testing::Family& family : testing::families()) {
    testing::ViewRun run(testing::family_session(family));
    for (const View& v : views()) {
      if (!v.objection(run.trace()).empty()) continue;
      Session session = run.session();
      session.view.id = v.id;
      Findings findings = run.findings(session);
      findings.remove(Findings::exit_work.id);  // depends on the clock
      const bool has_own_test = v.id == "alignment" || v.id == "retrieval";
      if (!has_own_test && !v.objection(plain).empty() && pictures.insert(v.id).second) {
        EXPECT_TRUE(matches_golden_svg(testing::lay_out_plain(run.trace(), session, findings),
                                       view_path(v.id + "-" + std::string(family.model) + ".svg")));
      }
      session.view.layer = run.trace().config->layers - 1;
      session.view.pinned_query = 3;
      session.view.pinned_key = 1;
      const std::string text = testing::describe_data(run.trace(), session, findings);
      if (!text.empty()) data[v.id] += std::string(family.model) + "\n" + text;
    }
  }
  for (const auto& [id, text] : data) {
    EXPECT_TRUE(testing::matches_golden_rounded(text, view_path(id + "-families.txt")));
  }
}

TEST(Views, WordsMatchGoldenSvg) {
  const testing::TemporaryFolder folder;
  testing::save_lively_model(folder.path() / "model",
                             testing::small_config({.context = 64, .layers = 2, .hidden = 24}));
  Session session;
  session.run.model = (folder.path() / "model").string();
  session.run.text = "a cat sat";
  session.view.id = "map";
  session.view.words = true;
  session.view.layer = 1;
  session.view.pinned_query = 3;
  testing::ViewRun run(session);
  EXPECT_TRUE(matches_golden_svg(
      testing::lay_out_plain(run.trace(), session, run.findings(session), kWindow),
      view_path("map-words.svg")));
}

TEST(Views, AlignmentMatchesGoldenSvg) {
  Session session = testing::alignment_session("encoder_decoder-sinusoidal");
  session.run.ids = {7, 0, 9};
  session.run.target_ids = {1, 5};
  testing::ViewRun run(session);
  EXPECT_TRUE(
      matches_golden_svg(testing::lay_out_plain(run.trace(), session, run.findings(session)),
                         view_path("alignment.svg")));
}

TEST(Views, TrajectoryMatchesGoldenSvg) {
  const testing::TemporaryFolder folder;
  testing::save_walker(folder.path() / "walker");
  const Session session = testing::trajectory_session(folder.path() / "walker");
  testing::ViewRun run(session);
  EXPECT_TRUE(
      matches_golden_svg(testing::lay_out_plain(run.trace(), session, run.findings(session)),
                         view_path("trajectory.svg")));
  EXPECT_TRUE(testing::matches_golden_rounded(
      testing::describe_data(run.trace(), session, run.findings(session)),
      view_path("trajectory.txt")));
}

// Draws each mechanism for the first compatible variant, and describes its data for all of them.
TEST(Mechanism, MatchesGoldenSvg) {
  std::vector<std::string> drawn;
  std::map<std::string, std::string> data;
  for (const Variant& v : variants()) {
    const Trace trace = testing::run_variant(v);
    const Findings findings = testing::findings_of(trace);
    for (const Mechanism& m : mechanisms()) {
      if (!m.fits(trace.attention[0])) continue;
      Session session;
      session.view = testing::settings_with("mechanism", R"({"picture": ")" + m.id + R"("})");
      session.view.head = 1;
      session.view.pinned_query = 11;
      data[m.id] += v.id + "\n" + testing::describe_data(trace, session, findings);
      if (std::ranges::find(drawn, m.id) != drawn.end()) continue;
      drawn.push_back(m.id);
      EXPECT_TRUE(matches_golden_svg(testing::lay_out_plain(trace, session, findings),
                                     "golden/mechanisms/" + m.id + ".svg"));
    }
  }
  for (const auto& [id, text] : data) {
    EXPECT_TRUE(testing::matches_golden_rounded(text, "golden/mechanisms/" + id + ".txt"));
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
