#include "core/model/generate.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/weights.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;

Choice variant_choice(const std::string& id) {
  return {id, default_values(variant(id).parameters)};
}
Choice encoding_choice(const std::string& id) {
  return {id, default_values(encoding(id).parameters)};
}

ModelConfig small_config(const Choice& variant, const Choice& encoding) {
  ModelConfig config;
  config.vocabulary = 13;
  config.context = 24;
  config.width = 12;
  config.layers = 2;
  config.heads = 6;
  config.kv_heads = 2;
  config.head_size = 4;
  config.hidden = 20;
  config.groups = uniform_groups(config, variant, encoding);
  return config;
}

// Returns a model with weights so large that attention is far from uniform.
Model make_random_model(const ModelConfig& config, double deviation = 0.4) {
  Model model = make_model(config, 5);
  std::uint64_t seed = 5;
  for (auto& [name, weight] : model.weights) {
    const Tensor noise = testing::random_tensor(weight.shape(), ++seed, deviation);
    Tensor values = weight.value().copy();
    for (Index i = 0; i < values.size(); ++i) values[i] += noise[i];
    weight = Var(values);
  }
  return model;
}

const std::vector<std::int32_t> kIds = {3, 0, 12, 7, 7, 1, 5, 9, 2, 2, 11, 4, 6, 10, 8, 1, 3, 0};

// Returns the logits [vocabulary] after the last of `count` tokens, computed from the whole
// sequence.
Tensor whole_pass_logits(const Model& model, std::size_t count, Trace* trace = nullptr) {
  ForwardOptions options;
  options.trace = trace;
  const std::vector<std::int32_t> ids(kIds.begin(),
                                      kIds.begin() + static_cast<std::ptrdiff_t>(count));
  const Tensor all_logits =
      forward(model, IntTensor::from({1, static_cast<Index>(count)}, ids), options).value();
  const Index vocabulary = model.config.vocabulary, last_row = static_cast<Index>(count) - 1;
  return all_logits.reshaped({static_cast<Index>(count), vocabulary})
      .slice(last_row, 1)
      .reshaped({vocabulary});
}

// Compares steps of different lengths with whole passes. The first step is a prompt of seven
// tokens.
void expect_matches_whole_pass(const Model& model) {
  Generator generator(model);
  std::size_t count = 0;
  for (const std::size_t step : {7, 1, 1, 1, 1, 3, 1, 1, 2}) {
    const auto first = kIds.begin() + static_cast<std::ptrdiff_t>(count);
    count += step;
    const Tensor logits =
        generator.step({first, kIds.begin() + static_cast<std::ptrdiff_t>(count)});
    ASSERT_TRUE(close(logits, whole_pass_logits(model, count), 1e-5)) << count << " tokens";
  }
  EXPECT_EQ(generator.tokens(), kIds);
}

bool is_supported(const ModelConfig& config) {
  const auto& group = config.groups[0][0];
  return refusal(group.variant, group.encoding, config.causal,
                 group_dimensions(config, head_ranges(config, 0)[0]), 7, 7)
      .empty();
}

// Covers every registered variant with every encoding.
TEST(Generate, CachedStepsMatchWholeSequence) {
  int case_count = 0;
  for (const Variant& v : variants()) {
    for (const Encoding& e : encodings()) {
      const ModelConfig config = small_config(variant_choice(v.id), encoding_choice(e.id));
      if (!v.causality.incremental(default_values(v.parameters)) || !is_supported(config)) continue;
      SCOPED_TRACE(v.id + " " + e.id);
      const Model model = make_random_model(config);
      EXPECT_EQ(cache_refusal(config), "");
      expect_matches_whole_pass(model);
      ++case_count;
    }
  }
  EXPECT_GT(case_count, 100);
}

TEST(Generate, CachesEveryModeOfAVariant) {
  int mode_count = 0;
  for (const Variant& v : variants()) {
    if (!v.causality.incremental(default_values(v.parameters))) continue;
    for (const Parameter& parameter : v.parameters) {
      for (const std::string& mode : choice_ids(parameter)) {
        Choice choice = variant_choice(v.id);
        choice.values.set(parameter.key, mode);
        // Modes that depend on the text's structure are unavailable during generation.
        if (mode == "sentences" || mode == "brackets") continue;
        const ModelConfig config = small_config(choice, default_encoding());
        if (!is_supported(config)) continue;
        SCOPED_TRACE(v.id + " " + mode);
        // Larger weights amplify rounding errors by cancellation in trigonometric features.
        expect_matches_whole_pass(make_random_model(config, 0.2));
        ++mode_count;
      }
    }
  }
  EXPECT_GT(mode_count, 10);
}

TEST(Generate, CachesInputDependentSpans) {
  Choice dynamic = variant_choice("adaptive_span");
  dynamic.values.set("dynamic", true);
  Model model = make_random_model(small_config(dynamic, encoding_choice("rope")));
  for (const char* group : {"layers.0.groups.0.", "layers.1.groups.0."}) {
    EXPECT_FALSE(model.weights.contains(std::string(group) + "span.z"));
    model.weights[std::string(group) + "span.v"] = Var(testing::random_tensor({6, 12}, 3));
    model.weights[std::string(group) + "span.b"] = Var(testing::random_tensor({6}, 4));
  }
  expect_matches_whole_pass(model);
}

// The token shift reads receptance and key of the previous token, which are not cached.
TEST(Generate, CachesRwkvWithoutTokenShift) {
  Choice choice = variant_choice("rwkv");
  EXPECT_NE(cache_refusal(small_config(choice, default_encoding())), "");
  choice.values.set("shift", false);
  for (const char* encoding : {"none", "sinusoidal", "learned"}) {
    const ModelConfig config = small_config(choice, encoding_choice(encoding));
    ASSERT_TRUE(is_supported(config)) << encoding;
    expect_matches_whole_pass(make_random_model(config));
  }
}

TEST(Generate, CannotCacheGatedModels) {
  Choice gated = variant_choice("rfa");
  EXPECT_EQ(cache_refusal(small_config(gated, default_encoding())), "");
  gated.values.set("gate", true);
  EXPECT_NE(cache_refusal(small_config(gated, default_encoding())), "");
}

// For models that cannot be cached, the generator recomputes the sequence, or throws InputError if
// forward() does.
TEST(Generate, RecomputesModelsThatCannotBeCached) {
  int case_count = 0;
  for (const Variant& v : variants()) {
    ModelConfig config = small_config(variant_choice(v.id), default_encoding());
    if (!v.causality.refusal.empty()) config.causal = false;
    if (!is_supported(config) || cache_refusal(config).empty()) continue;
    SCOPED_TRACE(v.id);
    const Model model = make_random_model(config);
    Generator generator(model);
    EXPECT_NE(generator.recompute_reason(), "");
    const auto tokens = [](std::size_t count) {
      return std::vector<std::int32_t>(kIds.begin(),
                                       kIds.begin() + static_cast<std::ptrdiff_t>(count));
    };
    try {
      whole_pass_logits(model, 8);
    } catch (const InputError&) {
      EXPECT_THROW(generator.step(tokens(8)), InputError);
      continue;
    }
    EXPECT_TRUE(close(generator.step(tokens(7)), whole_pass_logits(model, 7), 1e-6));
    EXPECT_TRUE(close(generator.step({kIds[7]}), whole_pass_logits(model, 8), 1e-6));
    ++case_count;
  }
  EXPECT_GT(case_count, 3);
  ModelConfig bidirectional = small_config(default_variant(), default_encoding());
  bidirectional.causal = false;
  EXPECT_NE(cache_refusal(bidirectional), "");
  State cache;
  ForwardOptions options;
  options.cache = &cache;
  EXPECT_THROW(forward(make_model(bidirectional, 1), IntTensor::from({1, 2}, {1, 2}), options),
               InputError);
}

TEST(Generate, CachesLayersOfSeveralGroups) {
  ModelConfig config = small_config(default_variant(), encoding_choice("rope"));
  config.groups[0] = {HeadGroup{3, variant_choice("local"), encoding_choice("alibi")},
                      HeadGroup{2, variant_choice("linear"), default_encoding()},
                      HeadGroup{1, default_variant(), encoding_choice("t5")}};
  expect_matches_whole_pass(make_random_model(config));
}

TEST(Generate, KeepsBatchItemsSeparate) {
  const Model model = make_random_model(small_config(default_variant(), encoding_choice("rope")));
  State cache;
  ForwardOptions options;
  options.cache = &cache;
  const IntTensor ids = IntTensor::from({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor whole_pass = forward(model, ids).value();
  forward(model, IntTensor::from({2, 2}, {1, 2, 4, 5}), options);
  const Tensor last = forward(model, IntTensor::from({2, 1}, {3, 6}), options).value();
  for (Index b = 0; b < 2; ++b) {
    EXPECT_TRUE(close(last.slice(b, 1).reshaped({13}),
                      whole_pass.slice(b, 1).reshaped({3, 13}).slice(2, 1).reshaped({13}), 1e-5));
  }
}

TEST(Generate, FillsATraceOfEachStep) {
  const Model model = make_random_model(small_config(default_variant(), encoding_choice("rope")));
  Generator generator(model);
  generator.step({kIds.begin(), kIds.begin() + 7});
  Trace step, whole_pass;
  generator.step({kIds[7]}, &step);
  whole_pass_logits(model, 8, &whole_pass);
  ASSERT_EQ(step.attention.size(), 2u);
  EXPECT_EQ(step.attention[0].address.step, 1);
  for (Index layer = 0; layer < 2; ++layer) {
    for (Index head = 0; head < 6; ++head) {
      const Tensor row = step.attention[static_cast<std::size_t>(layer)].attention(head);
      ASSERT_EQ(row.shape(), (Shape{1, 8}));
      const Tensor expected = whole_pass.attention[static_cast<std::size_t>(layer)].attention(head);
      EXPECT_TRUE(close(row, expected.slice(7, 1), 1e-5)) << layer << " " << head;
    }
  }
}

// Steps without a trace read keys and values in the memory of the cache, where keys are rotated
// once. Steps with a trace copy them and rotate all keys again. In full attention, both compute the
// same numbers; other patterns sum in another order if maps are requested.
TEST(Generate, CachedKeysMatchRecomputedKeys) {
  struct Case {
    const char *variant, *position;
    bool is_exact;
  };
  for (const Case& c : {Case{"full", "rope", true}, Case{"full", "none", true},
                        Case{"full", "alibi", false}, Case{"local", "rope", false},
                        Case{"strided", "rope", false}, Case{"linear", "rope", false}}) {
    SCOPED_TRACE(std::string(c.variant) + " " + c.position);
    ModelConfig config = small_config(variant_choice(c.variant), encoding_choice(c.position));
    config.context = 80;
    const Model model = make_random_model(config);
    Generator in_place(model), copying(model);
    for (std::size_t n = 0; n < 80; n += n == 16 ? 3 : 1) {  // passes the first 64 keys
      const std::vector<std::int32_t> ids(n == 16 ? 3 : 1, kIds[n % kIds.size()]);
      Trace trace;
      const Tensor expected = copying.step(ids, &trace), logits = in_place.step(ids);
      ASSERT_TRUE(close(logits, expected, 1e-5)) << n;
      ASSERT_TRUE(!c.is_exact || std::ranges::equal(logits, expected)) << n;
    }
  }
}

// A copy of a generator shares cached keys until either of them continues.
TEST(Generate, CopiesContinueIndependently) {
  const Model model = make_random_model(small_config(default_variant(), encoding_choice("rope")));
  Generator first(model);
  first.step({kIds.begin(), kIds.begin() + 6});
  first.step({kIds[6]});
  Generator second = first;
  first.step({12});
  EXPECT_TRUE(close(second.step({kIds[7]}), whole_pass_logits(model, 8), 1e-5));
  Generator third = second;
  third.step({12});
  EXPECT_TRUE(close(second.step({kIds[8]}), whole_pass_logits(model, 9), 1e-5));
}

TEST(Generate, DropsOlderHalfOfAFullContext) {
  ModelConfig config = small_config(default_variant(), encoding_choice("rope"));
  config.context = 8;
  const Model model = make_random_model(config);
  Generator generator(model, {.backend = nullptr, .kept = 1});
  generator.step({kIds.begin(), kIds.begin() + 8});
  EXPECT_EQ(generator.forgotten(), 0);
  const Tensor logits = generator.step({kIds[8]});
  // Nine tokens exceed the context of eight. The first token and the last three remain.
  const std::vector<std::int32_t> expected = {kIds[0], kIds[6], kIds[7], kIds[8]};
  EXPECT_EQ(generator.tokens(), expected);
  EXPECT_EQ(generator.forgotten(), 5);
  EXPECT_TRUE(close(logits,
                    forward(model, IntTensor::from({1, 4}, expected))
                        .value()
                        .reshaped({4, 13})
                        .slice(3, 1)
                        .reshaped({13}),
                    1e-5));
  generator.step({1, 2, 3, 4});
  EXPECT_EQ(generator.tokens().size(), 8u);
}

TEST(Generate, WorksWithSmallestContext) {
  ModelConfig config = small_config(default_variant(), encoding_choice("learned"));
  config.context = 1;
  const Model model = make_random_model(config);
  Generator generator(model, {.backend = nullptr, .kept = 3});
  for (int n = 0; n < 4; ++n)
    EXPECT_TRUE(close(generator.step({3}), whole_pass_logits(model, 1), 1e-6));
  EXPECT_EQ(generator.forgotten(), 3);
}

TEST(Generate, IsUnchangedAfterAFailure) {
  const Model model = make_random_model(small_config(default_variant(), encoding_choice("rope")));
  Generator generator(model);
  EXPECT_THROW(generator.step({}), InputError);
  generator.step({kIds.begin(), kIds.begin() + 7});
  EXPECT_THROW(generator.step({99}), InputError);
  {
    const Stop stop;
    stop.request();
    const StopScope scope(stop);
    EXPECT_THROW(generator.step({kIds[7]}), Stopped);
  }
  EXPECT_EQ(generator.tokens().size(), 7u);
  EXPECT_TRUE(close(generator.step({kIds[7]}), whole_pass_logits(model, 8), 1e-5));
}

// Returns the logits [vocabulary] after the last token of a batch, from a whole pass.
Tensor last_logits(const Model& model, const Batch& batch, const ForwardOptions& options = {}) {
  const Tensor all_logits = run(model, batch, options).logits.value();
  const Index vocabulary = model.config.vocabulary, rows = all_logits.size() / vocabulary;
  return all_logits.reshaped({rows, vocabulary}).slice(rows - 1, 1).reshaped({vocabulary});
}

IntTensor one_sequence(const std::vector<std::int32_t>& ids) {
  return IntTensor::from({1, static_cast<Index>(ids.size())}, ids);
}

Choice architecture_choice(const std::string& id) {
  return {id, default_values(architecture(id).parameters)};
}

// Covers every architecture that generates tokens.
TEST(Generate, ContinuesInEveryArchitecture) {
  int count = 0;
  for (const Architecture& type : architectures()) {
    if (type.reads == Reads::Trajectories) continue;
    SCOPED_TRACE(type.id);
    ModelConfig config = small_config(default_variant(), encoding_choice("rope"));
    config.architecture = architecture_choice(type.id);
    if (type.adapt) type.adapt(config);
    const Model model = make_random_model(config);
    GeneratorOptions options;
    Batch batch;
    if (type.reads == Reads::SourceAndTarget) options.source = {5, 6, 7};
    if (type.reads == Reads::SourceAndTarget) batch.source = one_sequence(options.source);
    Generator generator(model, options);
    for (const std::size_t step : {3, 1, 1}) {
      const std::size_t token_count = generator.tokens().size();
      const auto first = kIds.begin() + static_cast<std::ptrdiff_t>(token_count);
      const Tensor logits = generator.step({first, first + static_cast<std::ptrdiff_t>(step)});
      batch.ids = one_sequence(generator.tokens());
      EXPECT_TRUE(close(logits, last_logits(model, batch), 1e-5));
    }
    EXPECT_EQ(generator.recompute_reason().empty(), type.can_cache);
    ++count;
  }
  EXPECT_GE(count, 4);
}

// Earlier segments remain in memory. Only the current segment is processed again.
TEST(Generate, RecomputesOnlyTheCurrentSegment) {
  for (const char* id : {"segment_memory", "compressive", "memorizing", "full"}) {
    SCOPED_TRACE(id);
    ModelConfig config = small_config(variant_choice(id), encoding_choice("none"));
    config.segment = 4;
    config.context = 4;
    const Model model = make_random_model(config);
    Generator generator(model);
    std::size_t count = 0;
    for (const std::size_t step : {6, 1, 1, 1, 5, 1}) {
      const auto first = kIds.begin() + static_cast<std::ptrdiff_t>(count);
      count += step;
      Trace trace;
      const Tensor logits =
          generator.step({first, kIds.begin() + static_cast<std::ptrdiff_t>(count)}, &trace);
      EXPECT_TRUE(close(logits, whole_pass_logits(model, count), 1e-5)) << count;
      EXPECT_LE(trace.attention.at(0).queries(), 4);
    }
    EXPECT_EQ(generator.forgotten(), 0);
    EXPECT_EQ(generator.tokens().size(), 15u);
  }
}

ModelConfig with_exits(const ExitRule& rule, const char* variant = "full") {
  ModelConfig config = small_config(variant_choice(variant), encoding_choice("rope"));
  config.layers = 4;
  config.groups = uniform_groups(config, variant_choice(variant), encoding_choice("rope"));
  config.exits = Choice{rule.id, default_values(rule.parameters)};
  return config;
}

// Compares generation steps at a threshold with whole passes, which record a trace and therefore
// skip no rows. Returns the exit layers.
std::set<Index> expect_exits_match_whole_pass(const Model& model, double threshold,
                                              const std::vector<std::int32_t>& source) {
  GeneratorOptions options;
  options.exit = threshold;
  options.source = source;
  Generator generator(model, options);
  std::set<Index> layers;
  std::size_t count = 0;
  for (const std::size_t step : {3, 1, 1, 1, 4, 1, 2, 1, 1}) {
    const auto first = kIds.begin() + static_cast<std::ptrdiff_t>(count);
    count += step;
    const auto last = kIds.begin() + static_cast<std::ptrdiff_t>(count);
    const Tensor logits = generator.step({first, last});
    Batch batch;
    batch.ids = one_sequence({kIds.begin(), last});
    if (!source.empty()) batch.source = one_sequence(source);
    ForwardOptions whole_pass;
    Trace trace;
    whole_pass.trace = &trace;
    whole_pass.exit = threshold;
    EXPECT_TRUE(close(logits, last_logits(model, batch, whole_pass), 1e-4)) << count;
    const IntTensor& exit_layers = trace.counts.at("exit.layer");
    EXPECT_EQ(generator.exit_layer(), exit_layers[exit_layers.size() - 1]);
    layers.insert(generator.exit_layer());
  }
  return layers;
}

// Tokens exit at different layers. Skipping their rows changes no logits, with or without a cache.
TEST(Generate, ExitsMatchWholePass) {
  for (const ExitRule& rule : exit_rules()) {
    for (const char* id : {"decoder", "encoder_decoder"}) {
      SCOPED_TRACE(rule.id + " " + id);
      ModelConfig config = with_exits(rule);
      config.architecture = architecture_choice(id);
      const bool has_encoder = architecture(id).has_encoder;
      const Model model = make_random_model(config);
      EXPECT_EQ(cache_refusal(config, true).empty(), rule.distribution_at != 0 || has_encoder);
      std::set<Index> layers;
      for (const double threshold : {0.2, 0.5, 0.8}) {
        layers.merge(expect_exits_match_whole_pass(
            model, threshold,
            has_encoder ? std::vector<std::int32_t>{4, 5, 6} : std::vector<std::int32_t>{}));
      }
      EXPECT_TRUE(rule.distribution_at == 0 || layers.size() > 1);
    }
  }
}

// Skipping the rows of exited tokens does not change the logits of any variant.
TEST(Generate, SkipsRowsInEveryVariant) {
  int case_count = 0;
  for (const Variant& v : variants()) {
    ModelConfig config = small_config(variant_choice(v.id), default_encoding());
    config.layers = 4;
    config.groups = uniform_groups(config, variant_choice(v.id), default_encoding());
    config.exits = Choice{"geometric", default_values(exit_rule("geometric").parameters)};
    if (!is_supported(config)) continue;
    SCOPED_TRACE(v.id);
    const Model model = make_random_model(config);
    Batch batch;
    batch.ids = one_sequence(kIds);
    ForwardOptions skipping_options, recorded_options;
    Trace trace;
    skipping_options.exit = recorded_options.exit = 0.5;
    recorded_options.trace = &trace;
    try {
      const Tensor all_logits = run(model, batch, recorded_options).logits.value();
      const Output skipping_output = run(model, batch, skipping_options);
      EXPECT_TRUE(close(skipping_output.logits.value(), all_logits, 1e-4));
      const IntTensor& exit_layers = trace.counts.at("exit.layer");
      EXPECT_TRUE(
          std::equal(exit_layers.begin(), exit_layers.end(), skipping_output.exits.begin()));
      ++case_count;
    } catch (const InputError&) {  // invalid length for this variant
    }
  }
  EXPECT_GT(case_count, 15);
}

// With a cache, thresholds decay along the context, because the final length is unknown.
TEST(Generate, ThresholdsDecayAlongTheContext) {
  ModelConfig config = with_exits(exit_rule("saturation"));
  config.exits->values.set("decay", 4.0);
  const Model model = make_random_model(config);
  GeneratorOptions options;
  options.exit = 0.6;
  Generator stepwise_generator(model, options), whole_generator(model, options);
  for (const std::int32_t id : kIds) {
    const Tensor logits = stepwise_generator.step({id});
    if (stepwise_generator.tokens().size() < kIds.size()) continue;
    EXPECT_TRUE(close(whole_generator.step(kIds), logits, 1e-4));
  }
  EXPECT_EQ(stepwise_generator.exit_layer(), whole_generator.exit_layer());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
