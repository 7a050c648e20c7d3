#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/experiment/replaced_token.h"
#include "core/experiment/run.h"
#include "core/view/mechanism/replaced_numbers.h"
#include "tests/core/experiment/models.h"
#include "tests/support/compare.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kReplaced = 4;
const std::string kText = "abcabcabca";  // 10 tokens

class ReplacementPicture : public ::testing::Test {
 protected:
  ReplacementPicture() {
    testing::save_byte_model(folder_.path() / "model", 2, 16, 24);
    session_.run.model = (folder_.path() / "model").string();
    session_.run.text = kText;
    session_.view = settings(R"({"picture": "replaced", "token": 4, "by": 120})");
  }
  static ViewSettings settings(const std::string& json) {
    ViewSettings view;
    view.id = "mechanism";
    set_view_values(view, "mechanism",
                    values_from_json(attnscope::view("mechanism").options.parameters,
                                     Json::parse(json), "view"));
    return view;
  }
  void set_variant(const std::string& json) {
    session_.run.variant = variant_from_json(Json::parse(json), "variant");
    session_.run.encoding = default_encoding();
  }
  std::shared_ptr<const ReplacedToken> compute_runs() {
    return compute_background_findings(session_, required_findings(session_), run_, {})
        .get(Findings::replaced);
  }
  ReplacedChange compute_change(const ReplacedToken& runs, Index layer = 0) {
    const HeadRef ref{layer, 0, runs.without->part({})};
    Index head = 0;
    const AttentionTap* original = runs.without->find(ref, &head);
    return replaced_change(*runs.without, *original, *runs.with->find(ref), head, runs.position);
  }
  // Returns a digit for each row, 1 if its value exceeds the threshold: "0000100000".
  static std::string changed_rows(const std::vector<double>& values, double threshold) {
    std::string text;
    for (const double value : values) text += value > threshold ? '1' : '0';
    return text;
  }
  testing::TemporaryFolder folder_;
  Session session_;
  ExperimentRun run_{cpu_only()};
};

TEST_F(ReplacementPicture, ComparesTwoRuns) {
  const auto runs = compute_runs();
  ASSERT_NE(runs, nullptr);
  EXPECT_EQ(runs->problem, "");
  EXPECT_EQ(runs->position, kReplaced);
  EXPECT_EQ(runs->after, 120);
  ASSERT_EQ(runs->with->tokens.size(), runs->without->tokens.size());
  for (std::size_t n = 0; n < runs->with->tokens.size(); ++n) {
    const std::int32_t id = runs->without->tokens[n].id;
    EXPECT_EQ(runs->with->tokens[n].id, n == kReplaced ? 120 : id);
  }
  EXPECT_TRUE(session_.run.interventions.empty());
}

TEST_F(ReplacementPicture, DefaultsToPinnedQueryAndNeighbour) {
  session_.view = settings(R"({"picture": "replaced"})");
  session_.view.pinned_query = 6;
  const auto runs = compute_runs();
  EXPECT_EQ(runs->position, 6);
  EXPECT_EQ(runs->after, runs->before - 1);
  session_.view = settings(R"({"picture": "replaced", "token": 99})");
  EXPECT_EQ(compute_runs()->position, 9);  // the last token
}

TEST_F(ReplacementPicture, RequestsFindingForItsPictureOnly) {
  const std::vector<FindingRequest> requests = required_findings(session_);
  EXPECT_EQ(requests.front().id, "replaced");
  Session changed = session_;
  changed.view.layer = 1;
  EXPECT_EQ(required_findings(changed), requests);
  changed.view = settings(R"({"picture": "replaced", "token": 5, "by": 120})");
  EXPECT_NE(required_findings(changed), requests);
  changed.view = settings(R"({"token": 5})");
  EXPECT_NE(required_findings(changed).front().id, "replaced");
}

TEST_F(ReplacementPicture, ReportsUnknownToken) {
  session_.view = settings(R"({"picture": "replaced", "by": 100000})");
  const auto runs = compute_runs();
  EXPECT_NE(runs->problem.find("100000"), std::string::npos) << runs->problem;
}

TEST_F(ReplacementPicture, ChangesEqualDifferencesOfRuns) {
  const auto runs = compute_runs();
  const ReplacedChange change = compute_change(*runs, 1);
  const HeadRef ref{1, 0, runs->without->part({})};
  const AttentionTap &a = *runs->without->find(ref), &b = *runs->with->find(ref);
  const Tensor old_weights = a.attention(0), new_weights = b.attention(0);
  for (Index i = 0; i < 10; ++i) {
    double sum = 0;
    for (Index j = 0; j < 10; ++j) {
      const double difference =
          std::abs(static_cast<double>(old_weights(i, j)) - new_weights(i, j));
      sum += difference;
      if (j > i) {
        EXPECT_TRUE(std::isnan(change.weights(i, j)));
      } else {
        EXPECT_NEAR(change.weights(i, j), difference, 1e-7);
      }
    }
    EXPECT_NEAR(change.rows[static_cast<std::size_t>(i)], sum / 2, 1e-7);
    double compute_change = 0, norm = 0;
    const Tensor &o = a.output(), &p = b.output();
    for (Index c = 0; c < o.dim(2); ++c) {
      compute_change += std::pow(static_cast<double>(o(0, i, c)) - p(0, i, c), 2);
      norm += std::pow(static_cast<double>(o(0, i, c)), 2);
    }
    EXPECT_NEAR(change.outputs[static_cast<std::size_t>(i)], std::sqrt(compute_change / norm),
                1e-6);
  }
  EXPECT_EQ(change.row, kReplaced);
  EXPECT_EQ(change.column, kReplaced);
}

// The equation of a method determines which tokens a row depends on, hence which rows change.
TEST_F(ReplacementPicture, ReportsChangedRowsOfEachMethod) {
  struct Case {
    std::string variant, weights, outputs, sentence;
  };
  for (const Case& c : {
           Case{R"({"type": "full"})", "0000111111", "0000111111",
                "6 rows of 10 change: row 4, since its query changes, and 5 that attend"},
           Case{R"({"type": "local", "window": 2})", "0000111000", "0000111000",
                "3 rows of 10 change: row 4, since its query changes, and 2 that attend"},
           Case{R"({"type": "synthesizer"})", "0000100000", "0000111111", "Row 4 changes"},
           Case{R"({"type": "synthesizer", "mode": "random"})", "0000000000", "0000111111",
                "No weight changes"},
           Case{R"({"type": "gmlp"})", "0000000000", "0000111111", "No weight changes"},
           Case{R"({"type": "dynamic_convolution", "width": 3})", "0000100000", "0000111000",
                "Row 4 changes"},
       }) {
    set_variant(c.variant);
    const auto runs = compute_runs();
    ASSERT_EQ(runs->problem, "");
    const ReplacedChange change = compute_change(*runs);
    EXPECT_EQ(changed_rows(change.rows, kMinChange), c.weights) << c.variant;
    if (c.variant.find("gmlp") == std::string::npos) {  // untrained gMLP weights mix very little
      EXPECT_EQ(changed_rows(change.outputs, kMinOutputChange), c.outputs) << c.variant;
    }
    EXPECT_EQ(describe_change(change, 0).front().rfind(c.sentence, 0), 0u)
        << c.variant << ": " << describe_change(change, 0).front();
    EXPECT_EQ(describe_change(change, 1).size(), 3u);
  }
}

TEST_F(ReplacementPicture, PictureReportsChanges) {
  set_variant(R"({"type": "synthesizer"})");
  const auto trace = run_.run(session_.run);
  const testing::ViewInputFixture fixture(*trace, session_.view);
  ViewInput input{.trace = fixture.input.trace,
                  .session = fixture.input.session,
                  .canvas = {.width = 800,
                             .height = 800,
                             .theme = fixture.input.canvas.theme,
                             .measure = fixture.input.canvas.measure}};
  const ViewLayout pending_layout = view("mechanism").lay_out(input);
  EXPECT_NE(pending_layout.pending, "");
  input.findings = compute_background_findings(session_, required_findings(session_), run_, {});
  ViewCache cache;
  input.cache = &cache;
  for (int n = 0; n < 2; ++n) {
    const ViewLayout layout = view("mechanism").lay_out(input);
    EXPECT_EQ(layout.refusal, "");
    EXPECT_EQ(testing::layout_error(layout.list), "");
    bool is_shown = false;
    for (const Text& text : testing::texts(layout.list)) {
      is_shown |= text.text.find("Row 4 changes") != std::string::npos;
    }
    EXPECT_TRUE(is_shown);
    ASSERT_EQ(layout.handles.size(), 11u);
    Session session;
    layout.handles[2].click(session);
    layout.handles[10].click(session);
    const Values values = view_values(session.view, "mechanism");
    EXPECT_EQ(values.integer("token"), 2);
    EXPECT_EQ(values.integer("by"), 121);
  }
  EXPECT_EQ(view("mechanism").data(input).matrices.size(), 3u);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
