#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/experiment/datastore.h"
#include "core/experiment/run.h"
#include "core/figure/render.h"
#include "core/lesson/claim.h"
#include "core/view/retrieval/retrieval_numbers.h"
#include "tests/core/experiment/models.h"
#include "tests/support/compare.h"
#include "tests/support/golden.h"
#include "tests/support/golden_svg.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

const std::string kStored = "the cat sat on the mat and the dog sat on the log";
const std::string kText = "the cat sat on the rug";
constexpr Index kLength = 22;

class RetrievalView : public ::testing::Test {
 protected:
  RetrievalView() {
    testing::save_lively_model(folder_.path() / "model",
                               testing::small_config({.context = 64, .layers = 2, .hidden = 24}));
    session_.run.model = (folder_.path() / "model").string();
    session_.run.text = kText;
    session_.view.id = "retrieval";
    const auto checkpoint = run_.checkpoint(session_.run);
    std::vector<std::vector<std::int32_t>> texts;
    for (const std::string& text : {kStored, std::string("a cat")}) {
      texts.emplace_back();
      for (const Token& token : checkpoint->tokenizer->encode(text))
        texts.back().push_back(token.id);
    }
    store_ = make_store(checkpoint->model, texts, cpu_backend(), {});
    write_safetensors(folder_.path() / "store.safetensors", store_file(store_, false));
  }
  void use_store(const std::string& id, Index k, double lambda = 0.25, double temperature = 1) {
    RetrievalChoice choice{{id, default_values(retrieval_head(id).parameters)},
                           (folder_.path() / "store.safetensors").string()};
    choice.retrieval_head.values.set("k", k);
    if (choice.retrieval_head.values.has("lambda")) {
      choice.retrieval_head.values.set("lambda", lambda);
      choice.retrieval_head.values.set("temperature", temperature);
    }
    session_.run.retrieval = choice;
    traces_ = run_.observe(session_, {});
    traces_.findings.add(compute_background_findings(session_, {{"contexts"}}, run_, {}));
    contexts_ = traces_.findings.get(Findings::contexts);
  }
  void use_memory(Index segment) {
    session_.run.retrieval.reset();
    const Variant& memorizing = variant("memorizing");
    session_.run.variant = Choice{memorizing.id, default_values(memorizing.parameters)};
    session_.run.variant->values.set("top", Index{3});
    session_.run.variant->values.set("memory", Index{10});
    session_.run.structure.segment = segment;
    traces_ = run_.observe(session_, {});
  }
  ViewInput input(double width = 720, double height = 800, double font_size = 13,
                  bool framed = true) {
    return {.trace = *traces_.trace,
            .session = session_,
            .findings = traces_.findings,
            .canvas = {.width = width,
                       .height = height,
                       .font_size = font_size,
                       .theme = Theme::light(),
                       .measure = file_text_measure()},
            .figure = {.framed = framed},
            .interaction = {.pointer = pointer_}};
  }
  std::string picture_text() {
    return testing::all_text(view("retrieval").lay_out(input(1200, 900)).list);
  }
  void expect_no_layout_errors() {
    for (const auto& [width, height, font_size] : {std::tuple{700.0, 720.0, 13.0},
                                                   {1600.0, 900.0, 13.0},
                                                   {640.0, 560.0, 15.0},
                                                   {320.0, 260.0, 13.0},
                                                   {1280.0, 800.0, 26.0},
                                                   {300.0, 1000.0, 16.0}}) {
      for (const bool framed : {true, false}) {
        for (const double pointer_height : {-1.0, 0.3, 0.9}) {
          pointer_.reset();
          if (pointer_height > 0) pointer_ = Point{0.5 * width, pointer_height * height};
          EXPECT_EQ(testing::layout_error(
                        view("retrieval").lay_out(input(width, height, font_size, framed)).list),
                    "")
              << width << " x " << height << ", " << font_size;
        }
      }
    }
  }
  double measure(const char* id, Index query = -1) {
    Claim claim;
    claim.measure = id;
    claim.query = query;
    claim.least = 0;
    return check(claim, traces_).value;
  }

  testing::TemporaryFolder folder_;
  Session session_;
  ExperimentRun run_{cpu_only()};
  Store store_;
  Traces traces_;
  std::shared_ptr<const RetrievedContexts> contexts_;
  std::optional<Point> pointer_;
};

// The mix for the slider values equals a run with these values.
TEST_F(RetrievalView, SlidersMatchRun) {
  use_store("knn", 4);
  ASSERT_NE(contexts_, nullptr);
  EXPECT_EQ(contexts_->neighbours.index.dim(1), 48 + 4);  // all stored contexts
  const Traces first_traces = traces_;
  const Session run_session = session_;
  for (const auto& [k, lambda, temperature] :
       {std::tuple{Index{4}, 0.25, 1.0}, {Index{1}, 0.9, 3.0}, {Index{30}, 0.5, 40.0}}) {
    use_store("knn", k, lambda, temperature);
    const Tensor expected = traces_.trace->taps.at("log_probabilities");
    traces_ = first_traces;
    session_ = run_session;
    set_view_value(session_.view, "retrieval", "k", k);
    set_view_value(session_.view, "retrieval", "lambda", lambda);
    set_view_value(session_.view, "retrieval", "temperature", temperature);
    const ViewInput view_input = input();
    const MixSetting setting = mix_setting(view_input, *contexts_);
    EXPECT_EQ(setting.k, k);
    for (const Index token : {Index{0}, Index{7}, kLength - 1}) {
      const MixedRow row = mixed_row(*traces_.trace, *contexts_, setting, token);
      double sum = 0;
      for (Index y = 0; y < 256; ++y) {
        const double p = row.mixed[static_cast<std::size_t>(y)];
        sum += p;
        EXPECT_TRUE(std::abs(p - std::exp(static_cast<double>(expected(token, y)))) <= 1e-5);
      }
      EXPECT_TRUE(std::abs(sum - 1) <= 1e-6);
    }
    const Tensor bits = retrieval_bits(view_input, *contexts_, setting);
    for (Index i = 1; i < kLength; ++i) {
      const std::int32_t id = traces_.trace->tokens[static_cast<std::size_t>(i)].id;
      EXPECT_TRUE(std::abs(static_cast<double>(bits(1, i)) +
                           static_cast<double>(expected(i - 1, id)) / std::log(2.0)) <= 1e-3);
    }
  }
}

// Equation of p_kNN: the softmax of negative distances divided by the temperature.
TEST_F(RetrievalView, NeighbourWeightsMatchEquation) {
  use_store("knn", 3, 0.5, 2);
  const ViewInput view_input = input();
  const MixedRow row =
      mixed_row(*traces_.trace, *contexts_, mix_setting(view_input, *contexts_), 9);
  double sum = 0;
  for (Index n = 0; n < 3; ++n) {
    sum += std::exp(-static_cast<double>(contexts_->neighbours.distance(9, n)) / 2);
  }
  for (Index n = 0; n < 3; ++n) {
    const double weight =
        std::exp(-static_cast<double>(contexts_->neighbours.distance(9, n)) / 2) / sum;
    EXPECT_TRUE(std::abs(row.neighbours[static_cast<std::size_t>(n)] - weight) <= 1e-9);
  }
}

TEST_F(RetrievalView, ContextsQuoteStoredText) {
  const auto text_of = [](const std::vector<std::int32_t>& ids) {
    return std::string(ids.begin(), ids.end());
  };
  const ContextWords words = context_words(store_, 10, 6, 4);
  EXPECT_EQ(words.position, 10);
  EXPECT_EQ(text_of(words.before), kStored.substr(5, 6));
  EXPECT_EQ(words.value, kStored[11]);
  EXPECT_EQ(text_of(words.after), kStored.substr(12, 4));
  const ContextWords first = context_words(store_, 48, 6, 40);  // first context of the second text
  EXPECT_EQ(first.text, 1);
  EXPECT_TRUE(first.before.empty());
  EXPECT_EQ(first.value, ' ');
  EXPECT_EQ(text_of(first.after), "cat");
  // If a store's rows are not in text order, contexts have positions but no words.
  Store unordered = store_;
  unordered.places(9, 1) = 40;
  EXPECT_TRUE(context_words(unordered, 10, 6, 4).before.empty());
}

TEST_F(RetrievalView, ReportsNeighboursAndTheirEffect) {
  use_store("knn", 4);
  set_view_value(session_.view, "retrieval", "token", Index{10});  // the token after "the cat sat"
  const std::string drawn_text = picture_text();
  for (const char* part : {"52 contexts", "λ = 0.25", "he cat sat", "bits per token", "neighbours",
                           "model", "both", "After “t”"}) {
    EXPECT_NE(drawn_text.find(part), std::string::npos) << part << "\n" << drawn_text;
  }
  expect_no_layout_errors();
  EXPECT_EQ(view("retrieval").objection(*traces_.trace), "");
  const Tensor bits = retrieval_bits(input(), *contexts_, mix_setting(input(), *contexts_));
  EXPECT_TRUE(std::abs(measure("retrieval_gain") - (mean_bits(bits, 0) - mean_bits(bits, 1))) <=
              1e-4);
  const ViewData data = retrieval_data(input());
  ASSERT_EQ(data.matrices.size(), 3U);
  EXPECT_EQ(data.matrices[0].values.dim(0), 4);
  EXPECT_TRUE(data.matrices[1].values(0, 3) >= data.matrices[1].values(1, 3));
  traces_.findings.remove("contexts");
  EXPECT_NE(picture_text().find("Computing"), std::string::npos);
  EXPECT_THROW(retrieval_data(input()), InputError);
}

TEST_F(RetrievalView, GateMatchesRun) {
  use_store("spalm", 4);
  const ViewInput view_input = input();
  const MixSetting setting = mix_setting(view_input, *contexts_);
  EXPECT_TRUE(setting.is_gated);
  const MixedRow row = mixed_row(*traces_.trace, *contexts_, setting, 5);
  EXPECT_EQ(row.gate, 0.5);  // the gate is untrained
  // Weights are the softmax of the products of the value vectors with the final state.
  const auto& weights = run_.checkpoint(session_.run)->model.weights;
  const Tensor embedding = weights.at("embed.weight").value();
  const Tensor r = traces_.trace->taps.at("final");
  std::vector<double> scores;
  double sum = 0;
  for (Index n = 0; n < 4; ++n) {
    const std::int32_t value = store_.values[contexts_->neighbours.index(5, n)];
    double product = 0;
    for (Index c = 0; c < r.dim(1); ++c) {
      product += static_cast<double>(embedding(value, c)) * static_cast<double>(r(5, c));
    }
    scores.push_back(std::exp(product));
    sum += scores.back();
  }
  for (std::size_t n = 0; n < 4; ++n) {
    EXPECT_TRUE(std::abs(row.neighbours[n] - scores[n] / sum) <= 1e-4);
  }
  EXPECT_NE(picture_text().find("no trained gate"), std::string::npos) << picture_text();
  const ViewControls controls = view_controls(session_.view, traces_.trace.get());
  EXPECT_TRUE(controls.idle.contains("k") && controls.idle.contains("lambda"));
  expect_no_layout_errors();
}

// Fetched keys have the weights of the memory columns, in descending order.
TEST_F(RetrievalView, FetchedTokensBelongToEarlierSegments) {
  use_memory(6);
  const Trace& trace = *traces_.trace;
  const RetrievedKeys retrieved =
      retrieved_keys(trace, 1, 1, 20);  // in the segment of tokens 18 to 21
  ASSERT_NE(retrieved.tap, nullptr);
  EXPECT_EQ(retrieved.tap->address.segment, 3);
  EXPECT_EQ(retrieved.tap->address.layer, 1);
  EXPECT_EQ(retrieved.row, 2);
  EXPECT_EQ(retrieved.stored_count, 10);
  ASSERT_EQ(retrieved.keys.size(), 3U);
  const Tensor weights = retrieved.tap->attention(1);
  double fraction = 0, previous_weight = 1;
  for (const RetrievedKeys::Key& key : retrieved.keys) {
    EXPECT_EQ(key.token, 8 + key.column);  // the ten tokens before 18
    EXPECT_EQ(key.weight, static_cast<double>(weights(2, key.column)));
    EXPECT_LE(key.weight, previous_weight);
    previous_weight = key.weight;
    fraction += key.weight;
  }
  EXPECT_TRUE(std::abs(retrieved.memory_fraction - fraction) <= 1e-12);
  EXPECT_TRUE(std::abs(measure("fetched_share", 20) -
                       retrieved_keys(trace, 0, 0, 20).memory_fraction) <= 1e-12);
  EXPECT_EQ(retrieved_keys(trace, 0, 0, 2).stored_count, 0);  // no token precedes the first segment
  EXPECT_NE(picture_text().find("fetched 3 of 10 stored tokens"), std::string::npos)
      << picture_text();
  expect_no_layout_errors();
  EXPECT_EQ(retrieval_data(input()).matrices.front().values.dim(0), 3);
}

TEST_F(RetrievalView, ExplainsMissingRetrieval) {
  session_.run.retrieval.reset();
  traces_ = run_.observe(session_, {});
  EXPECT_NE(view("retrieval").objection(*traces_.trace), "");
  EXPECT_NE(picture_text().find("attnscope datastore"), std::string::npos);
  EXPECT_THROW(retrieval_data(input()), InputError);
  EXPECT_THROW(measure("retrieval_gain"), InputError);
}

TEST_F(RetrievalView, MatchesGoldenSvg) {
  std::string data;
  const auto expect_svg = [&](const std::string& name) {
    EXPECT_TRUE(testing::matches_golden_svg(
        testing::lay_out_plain(*traces_.trace, session_, traces_.findings),
        "golden/views/retrieval-" + name + ".svg"));
  };
  const auto add_data = [&](const std::string& name) {
    data += name + "\n" + testing::describe_data(*traces_.trace, session_, traces_.findings);
  };
  use_store("knn", 3);
  expect_svg("knn");
  add_data("knn");
  session_.view.pinned_query = 5;
  use_store("spalm", 4);
  add_data("spalm");
  use_memory(6);
  session_.view.layer = 1;
  session_.view.pinned_query = 17;
  add_data("memorizing");
  EXPECT_TRUE(testing::matches_golden_rounded(data, "golden/views/retrieval.txt"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
