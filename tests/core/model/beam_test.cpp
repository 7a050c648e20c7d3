// Compares beam search with exhaustive search.
#include "core/model/beam.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/checkpoint/checkpoint.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

const std::vector<std::int32_t> kSource{5, 14, 12, 2};
constexpr std::int32_t kEnd = 3;

Checkpoint load_case(const std::string& name) {
  return load_checkpoint((testing::source_folder() / "tests" / "model-cases" / name).string());
}

std::vector<double> next_log_probabilities(const Model& model,
                                           const std::vector<std::int32_t>& ids) {
  Batch batch;
  batch.ids = IntTensor::from({1, static_cast<Index>(ids.size())}, ids);
  batch.source = IntTensor::from({1, static_cast<Index>(kSource.size())}, kSource);
  const Tensor logits = run(model, batch, {}).logits.value();
  const Index vocabulary = logits.dim(2), row = (logits.dim(1) - 1) * vocabulary;
  double sum = 0;
  std::vector<double> result;
  for (Index id = 0; id < vocabulary; ++id) sum += std::exp(double{logits[row + id]});
  for (Index id = 0; id < vocabulary; ++id) {
    result.push_back(double{logits[row + id]} - std::log(sum));
  }
  return result;
}

// Appends all continuations of `prefix` with at most `max_ids` ids to `continuations`. The id kEnd
// ends a continuation.
void enumerate_all(const Model& model, const std::vector<std::int32_t>& prompt, const Beam& prefix,
                   std::size_t max_ids, std::vector<Beam>& continuations) {
  if (prefix.ended || prefix.ids.size() == max_ids) {
    continuations.push_back(prefix);
    return;
  }
  std::vector<std::int32_t> ids = prompt;
  ids.insert(ids.end(), prefix.ids.begin(), prefix.ids.end());
  const std::vector<double> log_p = next_log_probabilities(model, ids);
  for (std::size_t id = 0; id < log_p.size(); ++id) {
    Beam extended = prefix;
    extended.ids.push_back(static_cast<std::int32_t>(id));
    extended.log_probability += log_p[id];
    extended.ended = extended.ids.back() == kEnd;
    enumerate_all(model, prompt, extended, max_ids, continuations);
  }
}

TEST(BeamSearch, FindsGlobalOptimumIfNoBeamIsDropped) {
  for (const char* name : {"encoder_decoder-sinusoidal", "rnn_attention-additive"}) {
    const Checkpoint checkpoint = load_case(name);
    const std::vector<std::int32_t> prompt{1};
    std::vector<Beam> continuations;
    enumerate_all(checkpoint.model, prompt, {}, 2, continuations);
    std::ranges::stable_sort(continuations, [](const Beam& a, const Beam& b) {
      return a.log_probability > b.log_probability;
    });
    BeamOptions options;
    options.width = 100000;
    options.max_tokens = 2;
    options.end_ids = {kEnd};
    options.source = kSource;
    const BeamSearch search = beam_search(checkpoint.model, prompt, options);
    const std::vector<Beam>& beams = search.steps.back();
    if (search.steps.size() == 2) {
      ASSERT_EQ(beams.size(), continuations.size()) << name;
    }
    for (std::size_t n = 0; n < std::min<std::size_t>(beams.size(), 5); ++n) {
      if (search.steps.size() < 2 && n > 0) break;  // ended at once: no other beam is likelier
      EXPECT_EQ(beams[n].ids, continuations[n].ids) << name << " " << n;
      EXPECT_NEAR(beams[n].log_probability, continuations[n].log_probability, 1e-4) << name;
    }
  }
}

TEST(BeamSearch, EqualsGreedyDecodingForWidthOne) {
  const Checkpoint checkpoint = load_case("encoder_decoder-sinusoidal");
  BeamOptions options;
  options.max_tokens = 6;
  options.source = kSource;
  const BeamSearch search = beam_search(checkpoint.model, {1}, options);
  ASSERT_EQ(search.best().ids.size(), 6u);
  std::vector<std::int32_t> ids{1};
  double sum = 0;
  for (const std::int32_t id : search.best().ids) {
    const std::vector<double> log_p = next_log_probabilities(checkpoint.model, ids);
    const auto best = std::ranges::max_element(log_p) - log_p.begin();
    EXPECT_EQ(id, best);
    sum += log_p[static_cast<std::size_t>(best)];
    ids.push_back(id);
  }
  EXPECT_NEAR(search.best().log_probability, sum, 1e-4);
}

// Also checks that a larger width never finds a less likely result.
TEST(BeamSearch, KeepsWidthBeamsInOrderOfLikelihood) {
  const Checkpoint checkpoint = load_case("encoder_decoder-sinusoidal");
  double previous = -1e9;
  for (const Index width : {1, 3, 50}) {
    BeamOptions options;
    options.width = width;
    options.max_tokens = 3;
    options.source = kSource;
    const BeamSearch search = beam_search(checkpoint.model, {1}, options);
    for (std::size_t step = 0; step < search.steps.size(); ++step) {
      const std::vector<Beam>& beams = search.steps[step];
      EXPECT_LE(static_cast<Index>(beams.size()), width);
      EXPECT_TRUE(std::ranges::is_sorted(beams, [](const Beam& a, const Beam& b) {
        return a.log_probability > b.log_probability;
      }));
      const Index rank = search.rank_of_best_prefix(step);
      ASSERT_LT(rank, static_cast<Index>(beams.size()));
      EXPECT_TRUE(std::equal(beams[static_cast<std::size_t>(rank)].ids.begin(),
                             beams[static_cast<std::size_t>(rank)].ids.end(),
                             search.best().ids.begin()));
    }
    EXPECT_GE(search.best().log_probability, previous - 1e-6);
    previous = search.best().log_probability;
  }
}

TEST(BeamSearch, RejectsInvalidOptionsAndStopsOnRequest) {
  const Checkpoint checkpoint = load_case("encoder_decoder-sinusoidal");
  BeamOptions options;
  options.source = kSource;
  EXPECT_THROW(beam_search(checkpoint.model, {}, options), InputError);
  options.width = 0;
  EXPECT_THROW(beam_search(checkpoint.model, {1}, options), InputError);
  options.width = 1;
  Model headless = checkpoint.model;
  headless.config.model_options.output_head = false;
  EXPECT_THROW(beam_search(headless, {1}, options), InputError);
  Stop stop;
  stop.request();
  const StopScope scope(stop);
  EXPECT_THROW(beam_search(checkpoint.model, {1}, options), Stopped);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
