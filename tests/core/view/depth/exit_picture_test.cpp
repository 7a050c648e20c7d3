#include "core/view/depth/exit_picture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/experiment/run.h"
#include "core/figure/render.h"
#include "core/lesson/claim.h"
#include "core/model/exits.h"
#include "core/model/logit_lens.h"
#include "tests/core/experiment/models.h"
#include "tests/support/compare.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kLayers = 3, kLength = 12, kWidth = 16, kHidden = 24, kVocabulary = 256;

class EarlyExits : public ::testing::Test {
 protected:
  void save(const std::string& rule, const std::function<void(Values&)>& adjust = {}) {
    ModelConfig config = testing::small_config(
        {.context = 24, .layers = kLayers, .heads = 2, .head_size = 8, .hidden = kHidden});
    config.exits = Choice{rule, default_values(exit_rule(rule).parameters)};
    if (adjust) adjust(config.exits->values);
    testing::save_lively_model(folder_.path() / rule, config);
    session_.run.model = (folder_.path() / rule).string();
    session_.run.text = "abracadabra!";
    session_.view.id = "depth";
  }
  void compute(double threshold, std::optional<double> decay = std::nullopt) {
    set_view_value(session_.view, "depth", "threshold", threshold);
    if (decay) set_view_value(session_.view, "depth", "decay", *decay);
    traces_ = run_.observe(session_, {{"lens"}});
    traces_.findings.add(
        compute_background_findings(session_, required_findings(session_), run_, {}));
    study_ = traces_.findings.get(Findings::exits);
    work_ = traces_.findings.get(Findings::exit_work);
    ASSERT_NE(study_, nullptr);
    ASSERT_NE(work_, nullptr);
  }
  ViewLayout look(double width = 720, double height = 800, double font = 13, bool framed = true) {
    const ViewInput input{.trace = *traces_.trace,
                          .session = session_,
                          .findings = traces_.findings,
                          .canvas = {.width = width,
                                     .height = height,
                                     .font_size = font,
                                     .theme = Theme::light(),
                                     .measure = file_text_measure()},
                          .figure = {.framed = framed},
                          .interaction = {.pointer = pointer_}};
    return view("depth").lay_out(input);
  }
  std::string picture_text() { return testing::all_text(look().list); }
  Tensor weight(const std::string& name) {
    return run_.checkpoint(session_.run)->model.weights.at(name).value();
  }
  // Log probabilities of the next token after position `token` by the lens of layer `n`, counted
  // from 1, computed from the equations.
  std::vector<double> lens_log_probabilities(Index n, Index token) {
    const Tensor x = traces_.trace->taps.at("layers." + std::to_string(n - 1) + ".residual");
    const bool has_classifier =
        traces_.trace->config->exits->values.choice("classifier") == "own" && n < kLayers;
    const Tensor gain = weight(has_classifier ? "exits." + std::to_string(n) + ".norm.weight"
                                              : "final_norm.weight");
    double squares = 0;
    for (Index c = 0; c < kWidth; ++c) squares += std::pow(static_cast<double>(x(token, c)), 2);
    const double scale = 1 / std::sqrt(squares / kWidth + traces_.trace->config->norm_epsilon);
    std::vector<double> logits(kVocabulary, 0.0);
    const Tensor out =
        weight(has_classifier ? "exits." + std::to_string(n) + ".weight" : "embed.weight");
    for (Index y = 0; y < kVocabulary; ++y) {
      for (Index c = 0; c < kWidth; ++c) {
        const double state =
            static_cast<double>(x(token, c)) * scale * static_cast<double>(gain[c]);
        logits[static_cast<std::size_t>(y)] +=
            state * static_cast<double>(has_classifier ? out(c, y) : out(y, c));
      }
    }
    double sum = 0;
    for (const double l : logits) sum += std::exp(l);
    for (double& l : logits) l -= std::log(sum);
    return logits;
  }
  std::int32_t next(Index token) {
    return traces_.trace->tokens[static_cast<std::size_t>(token + 1)].id;
  }

  testing::TemporaryFolder folder_;
  Session session_;
  ExperimentRun run_{cpu_only()};
  Traces traces_;
  std::shared_ptr<const ExitStudy> study_;
  std::shared_ptr<const ExitWork> work_;
  std::optional<Point> pointer_;
};

TEST_F(EarlyExits, ConfidenceAndOracleMatchEquations) {
  save("geometric", [](Values& v) {
    v.set("classifier", std::string("own"));
    v.set("lambda", 0.3);
  });
  compute(0.5);
  const Tensor w = weight("exit.w"), b = weight("exit.b");
  for (Index i = 0; i < kLength; ++i) {
    double remaining = 1, best = -INFINITY;
    Index oracle = -1;
    for (Index n = 1; n <= kLayers; ++n) {
      const Tensor x = traces_.trace->taps.at("layers." + std::to_string(n - 1) + ".residual");
      double logit = n < kLayers ? static_cast<double>(b[n - 1]) : INFINITY;
      for (Index c = 0; n < kLayers && c < kWidth; ++c) {
        logit += static_cast<double>(x(i, c)) * static_cast<double>(w(n - 1, c));
      }
      const double confidence = 1 / (1 + std::exp(-logit));
      EXPECT_TRUE(std::abs(static_cast<double>(study_->confidence(n - 1, i)) - confidence) <= 1e-5);
      EXPECT_TRUE(std::abs(static_cast<double>(study_->distribution(i, n - 1)) -
                           remaining * confidence) <= 1e-5);
      remaining *= 1 - confidence;
      const std::vector<double> log_probabilities = lens_log_probabilities(n, i);
      const auto guess = std::ranges::max_element(log_probabilities) - log_probabilities.begin();
      EXPECT_EQ(study_->guess(n - 1, i), guess) << n << ", " << i;
      EXPECT_TRUE(std::abs(static_cast<double>(study_->probability(n - 1, i)) -
                           std::exp(log_probabilities[static_cast<std::size_t>(guess)])) <= 1e-4);
      if (i + 1 == kLength) continue;
      const double utility =
          log_probabilities[static_cast<std::size_t>(next(i))] - 0.3 * static_cast<double>(n - 1);
      if (utility > best) {
        best = utility;
        oracle = n - 1;
      }
    }
    EXPECT_EQ(study_->oracle[static_cast<std::size_t>(i)], oracle) << i;
  }
  // The lens uses the layers' own classifiers.
  const auto lens = traces_.findings.get(Findings::lens);
  for (Index n = 0; n < study_->guess.size(); ++n) EXPECT_EQ(lens->guess[n], study_->guess[n]);
  const Tensor shares = exit_shares(*study_, -1);
  double q = 0, oracle_share = 0;
  for (Index i = 0; i + 1 < kLength; ++i) {
    q += static_cast<double>(study_->distribution(i, 1)) / (kLength - 1);
    oracle_share += study_->oracle[static_cast<std::size_t>(i)] == 1 ? 1.0 / (kLength - 1) : 0;
  }
  EXPECT_TRUE(std::abs(static_cast<double>(shares(0, 1)) - q) <= 1e-6);
  EXPECT_TRUE(std::abs(static_cast<double>(shares(1, 1)) - oracle_share) <= 1e-6);
}

// Multiply-adds of one layer (weights and attention) and of the output.
constexpr double kLayerMultiplyAdds =
    kLength * (4.0 * kWidth * kWidth + 3 * kWidth * kHidden) +
    kLength * (kLength + 1) / 2 * 2 * 8 * 2;  // causal pairs, 2 products, head size, 2 heads
constexpr double kOutputMultiplyAdds = static_cast<double>(kLength) * kWidth * kVocabulary;

TEST_F(EarlyExits, CountsWorkOfExecutedLayers) {
  save("geometric");
  compute(0);  // all tokens exit after the first layer
  EXPECT_EQ(work_->all.multiply_adds, kLayers * kLayerMultiplyAdds + kOutputMultiplyAdds);
  EXPECT_EQ(work_->early.multiply_adds,
            kLayerMultiplyAdds + kOutputMultiplyAdds + kLength * kWidth);
  EXPECT_EQ(work_->mean_layers(), 1);
  for (const Index layer : work_->exit_layers) EXPECT_EQ(layer, 0);
  EXPECT_GT(work_->all.milliseconds, 0);
  compute(1);  // unreachable confidence
  EXPECT_EQ(work_->mean_layers(), kLayers);
  EXPECT_EQ(work_->agreement(), 1);
  EXPECT_TRUE(std::abs(work_->early.bits - work_->all.bits) <= 1e-6);
  double bits = 0;
  for (Index i = 0; i + 1 < kLength; ++i) {
    bits -= lens_log_probabilities(kLayers, i)[static_cast<std::size_t>(next(i))] / std::log(2.0) /
            (kLength - 1);
  }
  EXPECT_TRUE(std::abs(work_->all.bits - bits) <= 1e-4);
}

TEST_F(EarlyExits, MeasuredExitsMatchRunWithSameThreshold) {
  save("response");
  for (const double decay : {0.0, 5.0}) {
    compute(0.2, decay);
    Session early = session_;
    early.run.exit = 0.2;
    Choice rule{"response", default_values(exit_rule("response").parameters)};
    rule.values.set("decay", decay);
    early.run.structure.exits = rule;
    const auto trace = run_.run(early.run);
    for (Index i = 0; i < kLength; ++i) {
      EXPECT_EQ(work_->exit_layers[static_cast<std::size_t>(i)],
                trace->counts.at("exit.layer")[i] - 1);
    }
    // The first token exits as recorded, because no earlier token exited.
    const std::vector<Index> recorded = study_->exit_layers_at(0.2, decay);
    EXPECT_EQ(work_->exit_layers.front(), recorded.front());
    const double t = 0.9 * 0.2 + 0.1 * std::exp(-5.0 * 3 / kLength);
    const double threshold_of_third = study_->threshold_of(3, 0.2, decay);
    EXPECT_TRUE(std::abs(threshold_of_third - (decay > 0 ? t : 0.2)) <= 1e-12);
    Index first = 0;
    while (first + 1 < kLayers && static_cast<double>(study_->confidence(first, 3)) <
                                      study_->threshold_of(3, 0.2, decay)) {
      ++first;
    }
    EXPECT_EQ(recorded[3], first);
  }
}

TEST_F(EarlyExits, PictureReportsSavedLayers) {
  save("geometric");
  compute(0);
  const std::string text = picture_text();
  for (const char* part : {"T = 0", "tokens use 1 of 3 layers on average", "exits after layer 0",
                           "Multiply-adds", "-67%", "q*, the oracle's", "0 (12)"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(look().pending, "");
  traces_.findings.remove("exit_work");  // a measurement with another threshold is pending
  EXPECT_NE(picture_text().find("as recorded"), std::string::npos);
  EXPECT_NE(look().pending, "");
  traces_.findings.remove("exits");
  EXPECT_NE(picture_text().find("Computing"), std::string::npos);
}

TEST_F(EarlyExits, ThresholdCanBeDragged) {
  save("geometric");
  compute(0.4);
  for (const bool run_exits : {false, true}) {
    if (run_exits) session_.run.exit = 0.4;
    const ViewLayout layout = look();
    const auto handle = std::ranges::find_if(layout.handles, [](const Handle& h) {
      return h.help.starts_with("Drag to make tokens exit");
    });
    ASSERT_NE(handle, layout.handles.end());
    Session dragged = session_;
    const Box& area = handle->area;
    handle->drag({area.x + 1, area.y + area.height / 2 - 30}, dragged);
    const double threshold =
        run_exits ? *dragged.run.exit : view_values(dragged.view, "depth").real("threshold");
    EXPECT_GT(threshold, 0.4);
    EXPECT_LT(threshold, 0.9);
    EXPECT_EQ(run_exits, session_.run.exit != dragged.run.exit);
  }
}

TEST_F(EarlyExits, EveryRuleIsLegibleAtEverySize) {
  for (const ExitRule& rule : exit_rules()) {
    save(rule.id);
    compute(0.3);
    EXPECT_FALSE(exits_data({.trace = *traces_.trace,
                             .session = session_,
                             .findings = traces_.findings,
                             .canvas = {.theme = Theme::light(), .measure = file_text_measure()}})
                     .matrices.empty());
    for (const auto& [width, height, font] : {std::tuple{700.0, 720.0, 13.0},
                                              {1600.0, 900.0, 13.0},
                                              {640.0, 560.0, 15.0},
                                              {320.0, 260.0, 13.0},
                                              {1280.0, 800.0, 26.0},
                                              {120.0, 90.0, 13.0}}) {
      for (const bool framed : {true, false}) {
        for (const double x_fraction : {-1.0, 0.3, 0.7}) {
          pointer_.reset();
          if (x_fraction > 0) pointer_ = Point{x_fraction * width, 0.5 * height};
          EXPECT_EQ(testing::layout_error(look(width, height, font, framed).list), "")
              << rule.id << " " << width << " x " << height << ", " << font;
        }
      }
    }
  }
}

TEST_F(EarlyExits, LogitLensRemainsSelectable) {
  save("geometric");
  compute(0.3);
  set_view_value(session_.view, "depth", "show", std::string("layers"));
  EXPECT_NE(picture_text().find("could be skipped"), std::string::npos) << picture_text();
  const ViewControls controls = view_controls(session_.view, traces_.trace.get());
  EXPECT_FALSE(std::ranges::any_of(controls.parameters,
                                   [](const Parameter& p) { return p.key == "decay"; }));
}

TEST_F(EarlyExits, ExportsMeasuresOfPicture) {
  save("geometric");
  compute(0);
  const auto measured = [&](const char* id) {
    Claim claim;
    claim.measure = id;
    claim.least = 0;
    return check(claim, traces_).value;
  };
  EXPECT_EQ(measured("layers_passed"), 1);
  EXPECT_EQ(measured("exit_agreement"), work_->agreement());
  EXPECT_TRUE(std::abs(measured("work_saved") -
                       (1 - work_->early.multiply_adds / work_->all.multiply_adds)) <= 1e-12);
  EXPECT_EQ(measured("exit_bits"), work_->early.bits - work_->all.bits);
  double hits = 0;
  for (Index i = 0; i + 1 < kLength; ++i) {
    Index best = 0;
    for (Index n = 1; n < kLayers; ++n) {
      if (study_->distribution(i, n) > study_->distribution(i, best)) best = n;
    }
    hits += best == study_->oracle[static_cast<std::size_t>(i)] ? 1 : 0;
  }
  EXPECT_TRUE(std::abs(measured("oracle_agreement") - hits / (kLength - 1)) <= 1e-12);
  traces_.findings.remove("exit_work");
  EXPECT_THROW(measured("work_saved"), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
