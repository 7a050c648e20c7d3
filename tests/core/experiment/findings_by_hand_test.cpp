// Compares background findings with values computed by hand or by separate runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/experiment/datastore.h"
#include "core/experiment/exit_study.h"
#include "core/experiment/replaced_token.h"
#include "core/experiment/retrieved_contexts.h"
#include "core/experiment/samples.h"
#include "core/model/exits.h"
#include "core/model/pass.h"
#include "core/view/view_values.h"
#include "tests/core/experiment/tasks.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::ViewedRun;

// Returns the mean bits per predicted token.
double bits_by_hand(const Tensor& logits, const std::vector<TraceToken>& tokens) {
  double bits = 0;
  for (Index i = 0; i + 1 < logits.dim(0); ++i) {
    double sum = 0;
    for (Index n = 0; n < logits.dim(1); ++n) sum += std::exp(static_cast<double>(logits(i, n)));
    const auto next = static_cast<double>(logits(i, tokens[static_cast<std::size_t>(i + 1)].id));
    bits += (std::log(sum) - next) / std::log(2.0);
  }
  return bits / static_cast<double>(logits.dim(0) - 1);
}

Session exit_session(const std::string& model) {
  Session session;
  session.run.model = testing::model_case(model);
  session.run.ids = {5, 14, 12, 2, 9, 15, 4};
  session.view.id = "depth";
  return session;
}

TEST(ExitStudy, LastLayerGuessesMatchLogits) {
  for (const char* model : {"exits-geometric", "exits-classifier", "exits-saturation-decay"}) {
    const ViewedRun viewed(exit_session(model));
    const auto study = viewed.findings.get(Findings::exits);
    ASSERT_NE(study, nullptr) << model;
    const Tensor& logits = viewed.trace->logits;
    ASSERT_EQ(study->length(), 7);
    const Index last = study->layers() - 1;
    for (Index i = 0; i < 7; ++i) {
      const float* row = logits.data() + i * logits.dim(1);
      const Index likeliest = std::max_element(row, row + logits.dim(1)) - row;
      EXPECT_EQ(study->guess(last, i), likeliest) << model;
      double sum = 0;
      for (Index n = 0; n < logits.dim(1); ++n) {
        sum += std::exp(static_cast<double>(row[n]) - static_cast<double>(row[likeliest]));
      }
      EXPECT_NEAR(static_cast<double>(study->probability(last, i)), 1 / sum, 1e-5) << model;
    }
    EXPECT_EQ(study->oracle.size(), study->has_oracle ? 7u : 0u) << model;
    if (study->has_oracle) {
      for (std::size_t i = 0; i < 6; ++i) EXPECT_GE(study->oracle[i], 0) << model;
    }
  }
}

// With an unreachable threshold, tokens pass all layers.
TEST(ExitStudy, ComparesWorkOfBothRuns) {
  Session session = exit_session("exits-classifier");
  session.run.exit = 1.0;
  const ViewedRun unreachable_run(session);
  const auto full_work = unreachable_run.findings.get(Findings::exit_work);
  ASSERT_NE(full_work, nullptr);
  const Index layers = unreachable_run.findings.get(Findings::exits)->layers();
  const std::shared_ptr<const Trace> full_trace = ViewedRun(exit_session("exits-classifier")).trace;
  EXPECT_EQ(full_work->threshold, 1);
  EXPECT_EQ(full_work->exit_layers.size(), 7u);
  EXPECT_NEAR(full_work->all.bits, bits_by_hand(full_trace->logits, full_trace->tokens), 1e-4);
  EXPECT_GT(full_work->all.milliseconds, 0);
  EXPECT_LT(full_work->all.milliseconds, 1e5);
  session.run.exit = 0.0;
  const ViewedRun immediate_run(session);
  const auto early_work = immediate_run.findings.get(Findings::exit_work);
  for (const Index exit_layer : early_work->exit_layers) EXPECT_EQ(exit_layer, 0);
  EXPECT_EQ(early_work->mean_layers(), 1);
  EXPECT_LT(early_work->early.multiply_adds, early_work->all.multiply_adds);
  EXPECT_EQ(early_work->all.multiply_adds, full_work->all.multiply_adds);
  EXPECT_NEAR(early_work->early.bits,
              bits_by_hand(immediate_run.trace->logits, immediate_run.trace->tokens), 1e-4);
  const auto study = immediate_run.findings.get(Findings::exits);
  for (Index i = 0; i < 7; ++i) {
    EXPECT_EQ(early_work->agrees[static_cast<std::size_t>(i)],
              study->guess(0, i) == study->guess(layers - 1, i));
  }
}

TEST(ExitStudy, ExitsAtConfidenceThreshold) {
  ExitStudy study;
  study.rule = {"saturation", default_values(exit_rule("saturation").parameters)};
  study.guess = IntTensor::zeros({3, 4});
  study.confidence = Tensor::from({3, 4}, {0.9F, 0.2F, 0.1F, 0.5F,  //
                                           0.1F, 0.8F, 0.2F, 0.5F,  //
                                           0.0F, 0.0F, 0.0F, 0.0F});
  using Layers = std::vector<Index>;
  EXPECT_EQ(study.exit_layers_at(0.5, 0), (Layers{0, 1, 2, 0}));
  EXPECT_EQ(study.exit_layers_at(0.51, 0), (Layers{0, 1, 2, 2}));
  EXPECT_EQ(study.exit_layers_at(0, 0), (Layers{0, 0, 0, 0}));
  EXPECT_EQ(study.threshold_of(3, 0.5, 0), 0.5);
  if (exit_rule(study.rule.id).decays) {
    EXPECT_NEAR(study.threshold_of(3, 0.5, 2), 0.45 + 0.1 * std::exp(-1.5), 1e-12);
    EXPECT_NEAR(study.threshold_of(0, 1, 2), 1, 1e-12);
  }
  study.confidence = {};
  study.distribution =
      Tensor::from({4, 3}, {0.2F, 0.6F, 0.2F, 0.4F, 0.4F, 0.2F, 0.1F, 0.1F, 0.8F, 1, 0, 0});
  EXPECT_EQ(study.exit_layers_at(0.5, 0), (Layers{1, 0, 2, 0}));
}

// Each token of a text except the last has a key, computed from the tokens since the beginning of
// its window. Each window begins in the middle of the previous window.
TEST(Datastore, ContainsNextTokenOfEachContext) {
  ModelConfig config = testing::small_config({.vocabulary = 20, .context = 6, .layers = 2});
  const Model model = make_model(config, 3);
  std::vector<std::vector<std::int32_t>> texts{{}, {3}, {}, {1, 2}};
  for (std::int32_t n = 0; n < 17; ++n) texts[0].push_back(n * 7 % 20);
  for (std::int32_t n = 0; n < 7; ++n) texts[2].push_back(n * 3 % 20);
  std::vector<std::pair<Index, Index>> reports;
  const Store store = make_store(model, texts, cpu_backend(), [&](Index done, Index total) {
    reports.emplace_back(done, total);
  });
  ASSERT_EQ(store.values.size(), 16 + 0 + 6 + 1);
  ForwardOptions options;
  options.backend = &cpu_backend();
  Index row = 0;
  for (std::size_t text = 0; text < texts.size(); ++text) {
    const std::vector<std::int32_t>& ids = texts[text];
    for (Index i = 0; i + 1 < static_cast<Index>(ids.size()); ++i, ++row) {
      EXPECT_EQ(store.values[row], ids[static_cast<std::size_t>(i + 1)]);
      EXPECT_EQ(store.places(row, 0), static_cast<std::int32_t>(text));
      EXPECT_EQ(store.places(row, 1), static_cast<std::int32_t>(i));
      const Index first = i < 6 ? 0 : (i - 6) / 3 * 3 + 3;
      Batch batch;
      batch.ids = IntTensor::from({1, i + 1 - first}, {ids.begin() + first, ids.begin() + i + 1});
      const Tensor keys = context_keys(model, batch, options);
      EXPECT_TRUE(testing::close(store.keys.slice(row, 1), keys.slice(i - first, 1), 1e-4)) << row;
    }
  }
  ASSERT_FALSE(reports.empty());
  EXPECT_TRUE(std::ranges::is_sorted(reports));
  EXPECT_EQ(reports.back(), (std::pair<Index, Index>{23, 23}));
  EXPECT_THROW(make_store(model, {{3}, {}}, cpu_backend(), {}), InputError);
}

TEST(Contexts, ContainOnlyTokensOfTheirText) {
  // Texts of 4 and 3 tokens, "10 11 12 13" and "20 21 22".
  const Store store{Tensor::zeros({5, 2}), IntTensor::from({5}, {11, 12, 13, 21, 22}),
                    IntTensor::from({5, 2}, {0, 0, 0, 1, 0, 2, 1, 0, 1, 1})};
  using Ids = std::vector<std::int32_t>;
  const auto words_of_row = [&](Index row, Index before, Index after) {
    return context_words(store, row, before, after);
  };
  EXPECT_EQ(words_of_row(2, 9, 9).before, (Ids{11, 12}));
  EXPECT_EQ(words_of_row(2, 1, 9).before, (Ids{12}));
  EXPECT_EQ(words_of_row(2, 0, 9).before, Ids{});
  EXPECT_EQ(words_of_row(2, 9, 9).after, Ids{});
  EXPECT_EQ(words_of_row(2, 9, 9).value, 13);
  EXPECT_EQ(words_of_row(2, 9, 9).position, 2);
  EXPECT_EQ(words_of_row(0, 9, 9).before, Ids{});
  EXPECT_EQ(words_of_row(0, 9, 9).after, (Ids{12, 13}));
  EXPECT_EQ(words_of_row(0, 9, 1).after, (Ids{12}));
  EXPECT_EQ(words_of_row(3, 9, 9).before, Ids{});
  EXPECT_EQ(words_of_row(3, 9, 9).after, (Ids{22}));
  EXPECT_EQ(words_of_row(3, 9, 9).text, 1);
  EXPECT_EQ(words_of_row(4, 9, 9).before, (Ids{21}));
}

Session replacement_session() {
  Session session;
  session.run.model = testing::model_case("decoder-rope");
  session.run.ids = {5, 0, 12, 2, 9};
  session.view.id = "mechanism";
  set_view_value(session.view, "mechanism", "picture", std::string("replaced"));
  return session;
}

TEST(ReplacedTokenFinding, UsesRequestedToken) {
  const auto run_finding = [](const Session& session) {
    return ViewedRun(session).findings.get(Findings::replaced);
  };
  const auto by_default = run_finding(replacement_session());  // no words: the middle token
  ASSERT_NE(by_default, nullptr);
  ASSERT_EQ(by_default->problem, "");
  EXPECT_EQ(by_default->position, 2);
  EXPECT_EQ(by_default->before, 12);
  EXPECT_EQ(by_default->after, 11);
  EXPECT_EQ(by_default->with->tokens[2].id, 11);
  EXPECT_EQ(by_default->without->tokens[2].id, 12);
  Session session = replacement_session();
  set_view_value(session.view, "mechanism", "token", Index{1});
  EXPECT_EQ(run_finding(session)->before, 0);
  EXPECT_EQ(run_finding(session)->after, 1);
  set_view_value(session.view, "mechanism", "token", Index{99});  // clamped to the last token
  EXPECT_EQ(run_finding(session)->position, 4);
  set_view_value(session.view, "mechanism", "by", Index{7});
  EXPECT_EQ(run_finding(session)->after, 7);
  session = replacement_session();
  session.view.pinned_query = 0;
  EXPECT_EQ(run_finding(session)->position, 0);
  EXPECT_EQ(run_finding(session)->after, 4);
}

// The default is the word nearest to the middle. Ties go to the earlier word.
TEST(ReplacedTokenFinding, DefaultsToWordNearMiddle) {
  for (const char* text :
       {"The old house stood by the sea", "sea", "The cat sat on a mat, it was its own",
        "Nobody knows incomprehensibilities of it", "a b c d e f lighthouse"}) {
    Session session;
    session.run.text = text;
    session.view.id = "mechanism";
    set_view_value(session.view, "mechanism", "picture", std::string("replaced"));
    const ViewedRun viewed(session);
    const auto replaced = viewed.findings.get(Findings::replaced);
    ASSERT_NE(replaced, nullptr);
    const std::vector<TraceToken>& tokens = viewed.trace->tokens;
    const auto count = static_cast<Index>(tokens.size());
    Index best = -1;
    for (Index n = 0; n < count; ++n) {
      const std::string& bytes = tokens[static_cast<std::size_t>(n)].bytes;
      if (bytes.size() < 4 || bytes[0] != ' ') continue;
      if (best < 0 || std::abs(n - count / 2) < std::abs(best - count / 2)) best = n;
    }
    EXPECT_EQ(replaced->position, best < 0 ? count / 2 : best) << text;
  }
}

// Another sample is preferred if the model's card names it, or if a model with segments needs a
// long text.
TEST(Samples, PrefersSampleOfModel) {
  ModelCard card;
  Sample current;
  current.id = "a";
  EXPECT_FALSE(prefers_other_sample(card, current));
  card.sample = "a";
  EXPECT_FALSE(prefers_other_sample(card, current));
  card.sample = "b";
  EXPECT_TRUE(prefers_other_sample(card, current));
  card.sample.clear();
  ModelConfig config = testing::small_config({});
  card.config = config;
  EXPECT_FALSE(prefers_other_sample(card, current));
  config.segment = 1;
  card.config = config;
  EXPECT_TRUE(prefers_other_sample(card, current));
  current.is_long = true;
  EXPECT_FALSE(prefers_other_sample(card, current));
  EXPECT_TRUE(fits_task("brackets", "([])"));
  EXPECT_FALSE(fits_task("brackets", "([a])"));
  EXPECT_FALSE(fits_task("brackets", ""));
  EXPECT_FALSE(fits_task("text", "([])"));
  Session session;
  session.run.text = samples().front().text;
  session.run.input = samples().front().input;
  EXPECT_EQ(current_sample(session.run), &samples().front());
  session.run.ids = {1};
  EXPECT_EQ(current_sample(session.run), nullptr);
  session.run.ids.clear();
  session.run.text += "x";
  EXPECT_EQ(current_sample(session.run), nullptr);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
