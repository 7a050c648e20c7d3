// Where everything stands in pictures, and what their data say, of small models of every family, as
// sums that are kept beside this file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/attention/variant.h"
#include "core/view/mechanism/mechanism.h"
#include "core/view/view.h"
#include "core/view/view_values.h"
#include "tests/core/experiment/models.h"
#include "tests/core/experiment/tasks.h"
#include "tests/support/compare.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"
#include "tests/support/told_picture.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::Sight;

// Sums of up to some hundred places: less than the tenth of a pixel in one of them is seen.
constexpr double kRelative = 2e-6, kAbsolute = 0.06;

const Sight kWide{1400, 900};  // with a caption, which says on what a model ran
const Sight kNarrow{520, 640, false, true, Point{260, 330}};
const Sight kWindow{900, 620, false, false, Point{470, 250}};

// What a person could set a parameter to next.
std::vector<Value> other_values(const View& v, const Parameter& p) {
  std::vector<Value> others;
  // Springs carry the last digits, which processors round otherwise, into the places of nodes.
  if (v.id == "graph" && p.key == "layout") return others;
  switch (p.kind) {
    case Parameter::Kind::Choice:
      for (const std::string& choice : p.choices) {
        if (Value(choice) != p.initial) others.emplace_back(choice);
      }
      break;
    case Parameter::Kind::Flag:
      others.emplace_back(!std::get<bool>(p.initial));
      break;
    case Parameter::Kind::Integer: {
      const double middle = std::round((p.slider_least + p.slider_most) / 2);
      if (p.slider_most > p.slider_least) others.emplace_back(static_cast<Index>(middle));
      break;
    }
    case Parameter::Kind::Real:
      if (p.slider_most > p.slider_least) {
        others.emplace_back(p.slider_least + 0.3 * (p.slider_most - p.slider_least));
      }
      break;
    case Parameter::Kind::Integers:
    case Parameter::Kind::Reals:
    case Parameter::Kind::IntegerLists:
      break;
  }
  return others;
}

TEST(Views, StandAsTold) {
  const Trace trace = testing::run_model({.length = 24, .layers = 3, .heads = 4, .kv_heads = 2});
  const Trace other = testing::run_model({.variant = R"({"type": "local", "window": 5})",
                                          .encoding = "alibi",
                                          .length = 24,
                                          .layers = 3,
                                          .heads = 4,
                                          .kv_heads = 2});
  const Findings findings = testing::found_in(trace, &other);
  std::string text;
  for (const View& v : views()) {
    Experiment e;
    e.others.emplace_back();
    e.view.id = v.id;
    text += v.id + "\n" + testing::told_view(trace, e, findings, kWide) +
            testing::told_data(trace, e, findings);
    text += v.id + ", narrow\n" + testing::told_view(trace, e, findings, kNarrow);
    e.view.layer = 1;
    e.view.head = 2;
    e.view.pinned_query = 17;
    e.view.pinned_key = 5;
    text += v.id + ", pinned\n" + testing::told_view(trace, e, findings, kWindow);
    Experiment all = e;
    for (const Parameter& p : v.parameters) {
      for (const Value& value : other_values(v, p)) {
        set_view_value(all.view, v.id, p.key, value);
        Experiment set = e;
        set_view_value(set.view, v.id, p.key, value);
        text += v.id + ", " + p.key + "\n" + testing::told_view(trace, set, findings, kWindow) +
                testing::told_data(trace, set, findings);
      }
    }
    text += v.id + ", all\n" + testing::told_view(trace, all, findings, kWindow);
  }
  EXPECT_TRUE(testing::is_nearly_as_told(text, "core/view/pictures.txt", kRelative, kAbsolute));
}

TEST(Views, OfManySizesStandAsTold) {
  const Trace trace = testing::run_model({.length = 24, .layers = 3, .heads = 4, .kv_heads = 2});
  const Trace other = testing::run_model({.encoding = "alibi", .length = 24, .layers = 3});
  const Findings findings = testing::found_in(trace, &other);
  std::string text;
  for (const View& v : views()) {
    if (v.id == "compare") continue;  // how large its table is hangs on last digits
    Experiment e;
    e.others.emplace_back();
    e.view.id = v.id;
    e.view.pinned_query = 17;
    text += v.id + "\n" + testing::told_sizes(trace, e, findings);
  }
  EXPECT_TRUE(testing::is_nearly_as_told(text, "core/view/sizes.txt", kRelative, kAbsolute));
}

TEST(Mechanism, OfManySizesStandsAsTold) {
  std::string text;
  std::vector<std::string> seen;
  for (const Variant& v : variants()) {
    const Trace trace = testing::run_variant(v);
    const Findings findings = testing::found_in(trace);
    for (const Mechanism& m : mechanisms()) {
      if (!m.fits(trace.attention[0]) || std::ranges::find(seen, m.id) != seen.end()) continue;
      seen.push_back(m.id);  // of one variant each
      Experiment e;
      e.view = testing::settings_with("mechanism", R"({"picture": ")" + m.id + R"("})");
      text += v.id + ", " + m.id + "\n" + testing::told_sizes(trace, e, findings);
    }
  }
  EXPECT_TRUE(
      testing::is_nearly_as_told(text, "core/view/mechanism/sizes.txt", kRelative, kAbsolute));
}

TEST(Mechanism, StandsAsTold) {
  std::string text;
  for (const Variant& v : variants()) {
    const Trace trace = testing::run_variant(v);
    const Findings findings = testing::found_in(trace);
    for (const Mechanism& m : mechanisms()) {
      if (!m.fits(trace.attention[0])) continue;
      Experiment e;
      e.view = testing::settings_with("mechanism", R"({"picture": ")" + m.id + R"("})");
      e.view.head = 1;
      text += v.id + ", " + m.id + "\n" + testing::told_view(trace, e, findings, kWide) +
              testing::told_data(trace, e, findings);
      e.view.pinned_query = 11;
      text += v.id + ", " + m.id + ", pinned\n" + testing::told_view(trace, e, findings, kWindow);
    }
  }
  EXPECT_TRUE(
      testing::is_nearly_as_told(text, "core/view/mechanism/pictures.txt", kRelative, kAbsolute));
}

// A small model of a family, and what it reads.
struct Family {
  const char* model;
  std::vector<std::int32_t> ids, target_ids{};
};

const Family kFamilies[] = {
    {"memory-segment", {5, 14, 12, 2, 9, 15, 4, 9, 16, 14, 14}},
    {"memory-memorizing", {5, 14, 12, 2, 9, 15, 4, 9, 16, 14, 14}},
    {"memory-compressive-most_used", {5, 14, 12, 2, 9, 15, 4, 9, 16, 14, 14}},
    {"exits-geometric", {1, 7, 4, 9, 2, 6, 13}},
    {"exits-classifier", {1, 7, 4, 9, 2, 6, 13}},
    {"universal-act", {16, 4, 0, 13, 2, 3, 12, 6}},
    {"join-gru", {1, 7, 4, 9, 2, 6, 13}},
    {"more-dynamic-span", {1, 12, 12, 6, 14, 0, 6, 14, 8}},
    {"more-gated-rfa", {1, 12, 12, 6, 14, 0, 6, 14, 8}},
    {"decoder-masked", {1, 7, 4, 9, 2, 6, 13}},
    {"encoder_decoder-sinusoidal", {7, 0, 9, 7, 0, 16, 8}, {1, 5, 2, 4, 3}},
    {"rnn_attention-additive", {5, 14, 12, 2, 9}},
    {"image", {2, 2, 2, 5, 0, 1, 4, 1, 1, 2, 3, 1}},
};

TEST(Views, OfEveryFamilyStandAsTold) {
  std::string text, sizes;
  std::map<std::string, int> sized;
  for (const Family& family : kFamilies) {
    Experiment e;
    e.model = testing::model_case(family.model);
    e.ids = family.ids;
    e.target_ids = family.target_ids;
    ExperimentRun run(cpu_only());
    const auto trace = run.run(e, {});
    for (const View& v : views()) {
      if (v.objection && !v.objection(*trace).empty()) continue;
      Experiment shown = e;
      shown.view.id = v.id;
      const std::vector<std::string> names = findings_read(shown);
      const Traces traces = run.observe(shown, names, {});
      Findings findings = traces.findings;
      findings.add(find_beside(shown, names, run, {}, {}));
      findings.remove(Findings::exit_work.id);  // times
      text += std::string(family.model) + ", " + v.id + "\n" +
              testing::told_view(*traces.trace, shown, findings, kWindow) +
              testing::told_data(*traces.trace, shown, findings);
      if (v.objection && ++sized[v.id] <= 2) {  // views of some families alone
        sizes += std::string(family.model) + ", " + v.id + "\n" +
                 testing::told_sizes(*traces.trace, shown, findings);
      }
      shown.view.layer = trace->config->layers - 1;
      shown.view.pinned_query = 3;
      shown.view.pinned_key = 1;
      text += std::string(family.model) + ", " + v.id + ", pinned\n" +
              testing::told_view(*traces.trace, shown, findings, kNarrow) +
              testing::told_data(*traces.trace, shown, findings);
    }
  }
  EXPECT_TRUE(testing::is_nearly_as_told(text, "core/view/families.txt", kRelative, kAbsolute));
  EXPECT_TRUE(
      testing::is_nearly_as_told(sizes, "core/view/families_sizes.txt", kRelative, kAbsolute));
}

TEST(Views, OfEveryVariantStandAsTold) {
  std::string text;
  for (const Variant& v : variants()) {
    const Trace trace = testing::run_variant(v);
    const Findings findings = testing::found_in(trace);
    for (const char* id : {"map", "pattern", "lines", "scores", "graph", "flow", "architecture"}) {
      Experiment e;
      e.view.id = id;
      e.view.layer = 1;
      e.view.pinned_query = 9;
      text += v.id + ", " + id + "\n" + testing::told_view(trace, e, findings, kWindow);
    }
  }
  EXPECT_TRUE(testing::is_nearly_as_told(text, "core/view/variants.txt", kRelative, kAbsolute));
}

TEST(Views, OfEveryEncodingStandAsTold) {
  std::string text;
  for (const Encoding& n : encodings()) {
    const Choice choice{n.id, telling_values(n.parameters, 12)};
    const Trace trace = testing::run_model({.encoding = to_json(choice).dump(), .kv_heads = 1});
    const Findings findings = testing::found_in(trace);
    for (const char* id : {"position", "rope", "scores", "vectors"}) {
      for (const Sight& sight : {kWide, kNarrow}) {
        Experiment e;
        e.view.id = id;
        e.view.head = 1;
        text += n.id + ", " + id + "\n" + testing::told_view(trace, e, findings, sight) +
                testing::told_data(trace, e, findings);
      }
    }
  }
  EXPECT_TRUE(testing::is_nearly_as_told(text, "core/view/encodings.txt", kRelative, kAbsolute));
}

// More cells than pixels, and labels that have no room.
TEST(Views, OfALongTextStandAsTold) {
  const Trace trace = testing::run_model({.length = 260, .layers = 2, .heads = 2, .kv_heads = 1});
  const Findings findings = testing::found_in(trace);
  std::string text;
  for (const View& v : views()) {
    Experiment e;
    e.view.id = v.id;
    e.view.pinned_query = 201;
    e.view.pinned_key = 77;
    for (const Sight& sight : {kNarrow, kWindow}) {
      text += v.id + "\n" + testing::told_view(trace, e, findings, sight);
    }
    e.view.row = e.view.column = 60;  // zoomed in
    e.view.height = 35;
    e.view.width = 50;
    text += v.id + ", in part\n" + testing::told_view(trace, e, findings, kWindow);
  }
  EXPECT_TRUE(testing::is_nearly_as_told(text, "core/view/long.txt", kRelative, kAbsolute));
}

// With tokens and heads that are switched off, replaced words, and the run as it was beside it.
TEST(Views, OfWhatIsIntervenedStandAsTold) {
  const Trace trace = testing::run_model({.length = 14, .layers = 3, .heads = 3, .kv_heads = 3});
  const Trace before = testing::run_model({.variant = R"({"type": "local", "window": 3})",
                                           .length = 14,
                                           .layers = 3,
                                           .heads = 3,
                                           .kv_heads = 3});
  const Findings findings = testing::found_in(trace, &before);
  Experiment e;
  for (const char* line : {"off layer=0 head=1", "off layer=1", "forbid query=9 key=2",
                           "force layer=2 query=4 key=7", "replace position=3 token=5"}) {
    e.interventions.push_back(intervention_from_text(line));
  }
  e.view.layer = 2;
  std::string text;
  for (const char* id : {"intervene", "compare", "map", "grid", "flow", "depth", "next"}) {
    e.view.id = id;
    for (const Sight& sight : {kWide, kNarrow, kWindow}) {
      text += std::string(id) + "\n" + testing::told_view(trace, e, findings, sight) +
              testing::told_data(trace, e, findings);
    }
  }
  EXPECT_TRUE(testing::is_nearly_as_told(text, "core/view/intervened.txt", kRelative, kAbsolute));
}

// Of a text with a tokenizer: its pieces, its words, and without what the tokenizer puts in.
TEST(Views, OfATextStandAsTold) {
  const testing::TemporaryFolder folder;
  testing::save_lively_model(folder.path() / "model",
                             testing::small_config({.context = 64, .layers = 2, .hidden = 24}));
  Experiment e;
  e.model = (folder.path() / "model").string();
  e.text = "the cat sat on the mat";
  ExperimentRun run(cpu_only());
  std::string text;
  for (const View& v : views()) {
    for (const char* how : {"pieces", "words", "without special tokens"}) {
      Experiment shown = e;
      shown.view.id = v.id;
      shown.view.words = how == std::string("words");
      shown.view.hides_special = how == std::string("without special tokens");
      shown.view.layer = 1;
      shown.view.pinned_query = 9;
      if (how != std::string("pieces") && !v.merges_words) continue;
      const std::vector<std::string> names = findings_read(shown);
      const Traces traces = run.observe(shown, names, {});
      if (v.objection && !v.objection(*traces.trace).empty()) continue;
      Findings findings = traces.findings;
      findings.add(find_beside(shown, names, run, {}, {}));
      text += v.id + ", " + how + "\n" +
              testing::told_view(*traces.trace, shown, findings, kWindow) +
              testing::told_data(*traces.trace, shown, findings);
    }
  }
  EXPECT_TRUE(testing::is_nearly_as_told(text, "core/view/text.txt", kRelative, kAbsolute));
}

TEST(Views, OfWalksStandAsTold) {
  testing::TemporaryFolder folder;
  testing::save_walker(folder.path() / "walker");
  Experiment e = testing::walking(folder.path() / "walker");
  const testing::Looked looked(e);
  std::string text;
  for (const Sight& sight : {kNarrow, kWindow}) {
    text += "trajectory\n" + testing::told_view(*looked.trace, e, looked.findings, sight);
  }
  text += testing::told_data(*looked.trace, e, looked.findings);
  text += "trajectory\n" + testing::told_sizes(*looked.trace, e, looked.findings);
  EXPECT_TRUE(
      testing::is_nearly_as_told(text, "core/view/trajectory/pictures.txt", kRelative, kAbsolute));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
