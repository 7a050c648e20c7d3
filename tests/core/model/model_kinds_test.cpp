// Small models of every kind that configurations support, with weights far from zero. Golden files
// contain the reasons why combinations of options are invalid, and numerical results of valid
// combinations. The golden numbers agree with the equations and with other libraries
// (forward_test.cpp, sweep_test.cpp, tests/layouts), so a change needs a justification.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/autodiff/var.h"
#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/model/architecture.h"
#include "core/model/beam.h"
#include "core/model/exits.h"
#include "core/model/generate.h"
#include "core/model/input_kind.h"
#include "core/model/logit_lens.h"
#include "core/model/model.h"
#include "core/model/weights.h"
#include "core/trace/address.h"
#include "core/trace/trace.h"
#include "tests/support/compare.h"
#include "tests/support/golden.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr double kTolerance = 3e-3;         // summation order differs between processors
constexpr double kHaltingTolerance = 2e-2;  // halting amplifies the differences in gradients

struct Kind {
  const char* name;
  const char* members;  // config members that replace members of kBaseConfig
};

// An option of the configuration. Local choices change a single operation that all kinds of models
// share, so their results are recorded for a decoder and an encoder-decoder only.
struct Choice {
  const char* name;
  const char* members;
  bool is_local = false;
};

constexpr const char* kBaseConfig = R"({"vocabulary": 11, "context": 16, "width": 12, "layers": 3,
    "heads": 4, "kv_heads": 2, "head_size": 4, "hidden": 10})";

const std::vector<Kind>& shapes() {
  static const std::vector<Kind> list{
      {"decoder", "{}"},
      {"bidirectional", R"({"causal": false})"},
      {"encoder_decoder", R"({"architecture": {"type": "encoder_decoder", "encoder_layers": 2,
          "start": 10}})"},
      {"universal", R"({"architecture": {"type": "universal", "steps": 3}})"},
      {"universal with halting",
       R"({"architecture": {"type": "universal", "steps": 4, "halting": "act"}})"},
      {"universal encoder-decoder",
       R"({"architecture": {"type": "universal_encoder_decoder", "encoder_layers": 2, "steps": 3,
          "halting": "act", "start": 10}})"},
      {"separable convolutions",
       R"({"architecture": {"type": "universal", "steps": 2,
          "transition": "separable_convolution"}})"},
      {"rnn_attention", R"({"architecture": {"type": "rnn_attention", "start": 10}, "heads": 1,
          "kv_heads": 1, "layers": 1, "hidden": 0})"},
      {"bidirectional rnn_attention",
       R"({"architecture": {"type": "rnn_attention", "score": "additive",
          "bidirectional": true, "start": 10}, "heads": 1, "kv_heads": 1, "layers": 1,
          "hidden": 0})"},
      {"recurrent", R"({"architecture": {"type": "recurrent", "steps": 4, "halting": "act"},
          "heads": 1, "kv_heads": 1, "layers": 1, "hidden": 0})"},
      {"trajectory",
       R"({"architecture": {"type": "trajectory", "state_size": 2, "actions": 4, "most_steps": 5},
          "vocabulary": 4, "tied_output": false})"},
      {"image", R"({"input": {"type": "image", "width": 4, "height": 3, "levels": 10}})"},
      {"patches", R"({"input": {"type": "patches", "width": 6, "height": 4, "patch": 2, "extra": 2},
          "vocabulary": 3, "context": 8, "causal": false, "output_head": false})"},
      {"segments", R"({"segment": 5, "variant": {"type": "segment_memory", "memory": 4},
          "position": {"type": "none"}})"},
      {"compressed", R"({"segment": 4, "variant": {"type": "compressive", "memory": 3,
          "compressed": 2, "rate": 2}, "position": {"type": "none"}})"},
  };
  return list;
}

const std::vector<Choice>& choices() {
  static const std::vector<Choice> list{
      {"post-norm", R"({"pre_norm": false})"},
      {"layer norms",
       R"({"norm": "layer", "attention_biases": true, "feed_forward_biases": true})"},
      {"no norm biases", R"({"norm": "layer", "norm_biases": false})", true},
      {"RMS norm with biases", R"({"norm_biases": false})", true},
      {"ungated", R"({"gated": false, "activation": "gelu"})"},
      {"quick_gelu", R"({"activation": "quick_gelu"})", true},
      {"gelu_tanh", R"({"activation": "gelu_tanh"})", true},
      {"relu", R"({"activation": "relu"})", true},
      {"squared ReLU", R"({"activation": "squared_relu"})", true},
      {"output norms", R"({"output_norm": "also"})"},
      {"output norms instead", R"({"output_norm": "instead"})", true},
      {"parallel", R"({"parallel": true})"},
      {"shared norm", R"({"parallel": true, "shared_norm": true})"},
      {"shared norm without parallel", R"({"shared_norm": true})", true},
      {"query-key norm by head", R"({"query_key_norm": "head"})"},
      {"query-key norm by projection", R"({"query_key_norm": "projection"})", true},
      {"output bias", R"({"attention_output_bias": true})", true},
      {"scaled", R"({"attention_scale": 0.7, "residual_scale": 0.8, "embedding_scale": 1.5})"},
      {"score cap", R"({"score_cap": 2})", true},
      {"sinks", R"({"attention_sinks": true})", true},
      {"experts", R"({"experts": {"count": 4, "chosen": 2}})"},
      {"experts without renormalisation",
       R"({"experts": {"count": 3, "chosen": 3, "renormalised": false,
          "router_bias": true}})",
       true},
      {"too many experts", R"({"experts": {"count": 2, "chosen": 3}})", true},
      {"gate limit", R"({"gate_limit": 0.5})", true},
      {"gate offset", R"({"gate_offset": 1})", true},
      {"scaled and capped logits", R"({"logit_scale": 0.5, "logit_cap": 3})", true},
      {"no output head", R"({"output_head": false})"},
      {"untied output", R"({"tied_output": false})"},
      {"head with transform",
       R"({"head": {"transform": true, "activation": "gelu", "bias": true}})", true},
      {"head with bias", R"({"head": {"bias": true}})", true},
      {"narrow embedding", R"({"embedding": {"width": 7}, "tied_output": false})", true},
      {"narrow tied embedding", R"({"embedding": {"width": 7}})", true},
      {"token types", R"({"embedding": {"types": 2, "norm": true}})"},
      {"embedding norm", R"({"embedding": {"norm": true}})", true},
      {"first norm", R"({"embedding": {"norm": true, "first_norm": true}})", true},
      {"first norm without embedding norm", R"({"embedding": {"first_norm": true}})", true},
      {"adaptive embedding", R"({"embedding": {"cutoffs": [4, 8], "narrowing": 2}})", true},
      {"narrowing without cutoffs", R"({"embedding": {"narrowing": 2}})", true},
      {"shared layers", R"({"own_layers": 2})"},
      {"one shared layer", R"({"own_layers": 1})"},
      {"too many own layers", R"({"own_layers": 4})", true},
      {"sinusoidal", R"({"position": {"type": "sinusoidal"}})"},
      {"learned", R"({"position": {"type": "learned"}})"},
      {"alibi", R"({"position": {"type": "alibi"}})"},
      {"local", R"({"variant": {"type": "local", "window": 2}})"},
      {"no feed-forward", R"({"hidden": 0})"},
      {"auxiliary losses", R"({"auxiliary": {"layers": true, "future": 2}})"},
      {"in segments", R"({"segment": 5, "position": {"type": "none"}})"},
      {"gru", R"({"join": {"type": "gru"}})"},
      {"reversible", R"({"join": {"type": "reversible"}})"},
      {"reversible, both ends",
       R"({"join": {"type": "reversible", "end": "both"}, "tied_output": false})"},
      {"reversible, both ends tied", R"({"join": {"type": "reversible", "end": "both"}})", true},
      {"geometric exits", R"({"exits": {"type": "geometric"}})"},
      {"geometric exits, own classifiers",
       R"({"exits": {"type": "geometric", "classifier": "own"}})"},
      {"multinomial exits", R"({"exits": {"type": "multinomial", "oracle": "correctness",
          "lambda": 0.01, "sigma": 2}})",
       true},
      {"sequence exits", R"({"exits": {"type": "sequence", "lambda": 0.05}})"},
      {"response exits", R"({"exits": {"type": "response", "decay": 2}})", true},
      {"saturation exits", R"({"exits": {"type": "saturation", "training": "mixed"}})"},
      {"classifier exits", R"({"exits": {"type": "classifier"}})", true},
      {"one layer", R"({"layers": 1})"},
      {"masked", R"({"architecture": {"type": "decoder", "masked": 0.2, "mask": 10}})"},
      {"no norms", R"({"norm": "none"})"},
      {"elu", R"({"activation": "elu", "gated": false})", true},
      {"selu", R"({"activation": "selu"})", true},
      {"glu", R"({"activation": "glu"})", true},
      {"softplus", R"({"activation": "softplus", "gated": false})", true},
      {"bilinear", R"({"activation": "liglu"})", true},
      {"no residual connections", R"({"join": {"type": "none"}})"},
      {"rezero", R"({"join": {"type": "rezero"}, "norm": "none"})"},
      {"rezero with norms", R"({"join": {"type": "rezero"}})", true},
      {"fixup", R"({"join": {"type": "fixup"}, "norm": "none"})"},
      {"fixup with norms", R"({"join": {"type": "fixup"}})", true},
      {"mixture of softmaxes", R"({"softmax": {"type": "mixture", "components": 3}})", true},
      {"adaptive softmax", R"({"softmax": {"type": "adaptive", "cutoffs": [4, 8], "narrowing": 2},
          "tied_output": false})",
       true},
      {"adaptive softmax without projections", R"({"softmax": {"type": "adaptive", "cutoffs": [5],
          "narrowing": 1}, "tied_output": false})",
       true},
      {"tied adaptive softmax", R"({"softmax": {"type": "adaptive", "cutoffs": [4]}})", true},
  };
  return list;
}

// Base configuration in which `members` replace top-level members.
Json config_of(std::initializer_list<const char*> members) {
  Json config = parse_json(kBaseConfig, "usual");
  for (const char* text : members) {
    const Json changes = parse_json(text, "members");
    for (const auto& [key, value] : changes.items()) config[key] = value;
  }
  return config;
}

std::string refusal(const Json& config) {
  try {
    model_config_from_json(config, "config");
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

bool is_recorded(const Kind& shape, const Choice& choice) {
  const std::string name = shape.name;
  return !choice.is_local || name == "decoder" || name == "encoder_decoder";
}

// Pairs of choices are listed only if the pair is refused and both single choices are accepted:
// "a with b" if the order does not matter, "a then b" if only b replacing members of a is refused.
TEST(ModelKinds, RefusalsMatchGolden) {
  std::string text;
  for (const Kind& shape : shapes()) {
    EXPECT_EQ(refusal(config_of({shape.members})), "") << shape.name;
    text += std::string(shape.name) + "\n";
    std::vector<const Choice*> accepted;
    testing::NamesByResult results;
    for (const Choice& choice : choices()) {
      if (!is_recorded(shape, choice)) continue;
      const std::string reason = refusal(config_of({shape.members, choice.members}));
      results.add(reason.empty() ? " accepted" : " " + reason, choice.name);
      if (reason.empty()) accepted.push_back(&choice);
    }
    for (const Choice* a : accepted) {
      for (const Choice* b : accepted) {
        if (a == b) continue;
        const std::string reason = refusal(config_of({shape.members, a->members, b->members}));
        if (reason.empty()) continue;
        const bool symmetric =
            reason == refusal(config_of({shape.members, b->members, a->members}));
        if (symmetric && a > b) continue;  // listed as b with a
        results.add(" " + reason, a->name + std::string(symmetric ? " with " : " then ") + b->name);
      }
    }
    text += results.text();
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/model/refusals.txt"));
}

Model make_random_model(const ModelConfig& config) {
  Model model = make_model(config, 11);
  std::uint64_t seed = 100;
  const double spread = config.norm == Norm::None ? 0.1 : 0.4;  // states without norms grow
  for (auto& [name, weight] : model.weights) {
    const Tensor noise = testing::random_tensor(weight.shape(), ++seed, spread);
    Tensor sum(weight.shape());
    for (Index i = 0; i < sum.size(); ++i) sum[i] = weight.value()[i] + noise[i];
    weight = Var::parameter(sum);
  }
  return model;
}

IntTensor make_ids(Index items, Index count, Index below, Index step) {
  IntTensor ids({items, count});
  for (Index i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<std::int32_t>((i * step + i * i / 3 + 1) % below);
  }
  return ids;
}

Batch batch_of(const ModelConfig& c, Index items) {
  const Reads reads = architecture(c.architecture.id).reads;
  Batch batch;
  if (reads == Reads::Trajectories) {
    batch.returns = testing::random_tensor({items, 4}, 5);
    batch.states = testing::random_tensor({items, 4, 2}, 6);
    batch.actions = make_ids(items, 4, c.vocabulary, 3);
    if (c.model_options.output_head) batch.targets = batch.actions;
    return batch;
  }
  const InputKind& kind = input_kind(c.input.id);
  if (kind.uses_patches) {
    for (Index b = 0; b < items; ++b) {
      const Tensor item_patches = kind.patch_pixels(
          testing::random_tensor({4, 6, 3}, static_cast<std::uint64_t>(b) + 1), c.input.values);
      if (b == 0) batch.patches = Tensor({items, item_patches.dim(1), item_patches.dim(2)});
      std::copy_n(item_patches.data(), item_patches.size(),
                  batch.patches.data() + b * item_patches.size());
    }
    const std::vector<std::int32_t> ids = kind.patch_ids(c.input.values);
    batch.ids = IntTensor({items, static_cast<Index>(ids.size())});
    for (Index b = 0; b < items; ++b) {
      std::copy(ids.begin(), ids.end(), batch.ids.data() + b * batch.ids.dim(1));
    }
    return batch;
  }
  batch = next_token_batch(make_ids(items, 12, std::min<Index>(c.vocabulary, 10), 3));
  if (!kind.is_text) {
    std::vector<std::int32_t> ids(batch.ids.begin(), batch.ids.begin() + 12);
    batch = kind.batch(ids, c);
  }
  if (reads == Reads::SourceAndTarget) batch.source = make_ids(items, 7, c.vocabulary, 5);
  if (c.embedding.types > 0) batch.types = make_ids(items, 12, c.embedding.types, 1);
  if (!c.model_options.output_head) batch.targets = {};
  return batch;
}

// A single number that depends on all elements of an array and their order.
double fingerprint(const float* numbers, Index count) {
  double sum = 0;
  for (Index n = 0; n < count; ++n) {
    sum += static_cast<double>(numbers[n]) * std::cos(1.3 * static_cast<double>(n));
  }
  return sum / std::sqrt(static_cast<double>(std::max<Index>(count, 1)));
}

class Numbers {
 public:
  explicit Numbers(std::string prefix) : prefix_(std::move(prefix)) {}
  void add(const std::string& name, double value) {
    if (value == 0) return;  // most counts; a missing name fails like a different value
    entries_.emplace_back(prefix_ + ": " + name, value);
  }
  void add(const std::string& name, const Tensor& t) {
    add(name + " " + to_string(t.shape()), t.defined() ? fingerprint(t.data(), t.size()) : 0);
  }
  void add(const std::string& name, const IntTensor& t) {
    Tensor numbers(t.shape());
    std::ranges::copy(t, numbers.begin());
    add(name, numbers);
  }
  void append_to(testing::NamedNumbers& all) const {
    all.insert(all.end(), entries_.begin(), entries_.end());
  }

 private:
  std::string prefix_;
  testing::NamedNumbers entries_;
};

// A single number that depends on all members of an address.
double address_number(const Address& address) {
  return static_cast<double>(static_cast<int>(address.stack)) +
         3.0 * static_cast<double>(static_cast<int>(address.kind)) +
         0.7 * static_cast<double>(address.segment) + 0.11 * static_cast<double>(address.step) +
         0.05 * static_cast<double>(address.layer) + 0.013 * static_cast<double>(address.group);
}

// Counts the records of each kind. Also computes a number that depends on all records of the kind.
class RecordTotals {
 public:
  void add(const std::string& kind, double value) {
    auto& [count, sum] = totals_[kind];
    sum += value * std::cos(0.7 * count);
    ++count;
  }
  void add(const std::string& kind, const Tensor& t) {
    if (t.defined()) add(kind, fingerprint(t.data(), t.size()));
  }
  void add_to(Numbers& numbers) const {
    for (const auto& [kind, total] : totals_) {
      numbers.add(std::to_string(static_cast<int>(total.first)) + " " + kind, total.second);
    }
  }

 private:
  std::map<std::string, std::pair<double, double>> totals_;
};

void add_trace(const Trace& trace, Numbers& numbers) {
  RecordTotals totals;
  for (const auto& [name, tap] : trace.taps) totals.add("taps", tap);
  for (const auto& [name, counts] : trace.counts) {
    Tensor numbers_of_counts(counts.shape());
    std::ranges::copy(counts, numbers_of_counts.begin());
    totals.add("counts", numbers_of_counts);
  }
  for (const auto& located : trace.located) {
    totals.add(located.name, located.values);
    totals.add("places of " + located.name, address_number(located.address));
  }
  for (const AttentionTap& tap : trace.attention) {
    totals.add("places of attention", address_number(tap.address));
    totals.add("rows", static_cast<double>(tap.query_rows.first));
    totals.add("columns", static_cast<double>(tap.key_rows.first));
    totals.add("attention", tap.result.attention);
    totals.add("queries", tap.input().q);
    totals.add("keys", tap.input().k);
    totals.add("values", tap.input().v);
    for (const RowSource& source : tap.remembered) {
      totals.add("remembered",
                 static_cast<double>(source.first + 100 * source.count + 1000 * source.step));
    }
  }
  totals.add_to(numbers);
}

// Adds the results of the logit lens, and the early exits that they imply.
void add_lens(const Model& model, const Trace& trace, Numbers& numbers) {
  const LogitLens lens = logit_lens(model, trace);
  RecordTotals totals;
  for (const Tensor& t :
       {lens.probability, lens.margin, lens.final_guess_probability, lens.saturation}) {
    totals.add("lenses", t);
  }
  for (const Confidence measure :
       {Confidence::Margin, Confidence::Probability, Confidence::Saturation}) {
    for (const double threshold : {0.15, 0.3, 0.6}) {
      const ExitSummary summary = exit_summary(lens, exit_layers(lens, measure, threshold));
      totals.add("saved", summary.saved);
      totals.add("agreement", summary.agreement);
    }
  }
  totals.add_to(numbers);
}

// Adds results of beam search and of generation beyond the context.
void add_continuations(const Model& model, Numbers& numbers) {
  const ModelConfig& c = model.config;
  if (!input_kind(c.input.id).is_text || !c.model_options.output_head) return;
  const Reads reads = architecture(c.architecture.id).reads;
  if (reads == Reads::Trajectories) return;
  const std::vector<std::int32_t> source = reads == Reads::SourceAndTarget
                                               ? std::vector<std::int32_t>{3, 1, 4, 1, 5}
                                               : std::vector<std::int32_t>{};
  for (const std::optional<double> exit : {std::optional<double>(), std::optional(0.6)}) {
    if (exit && !c.exits) continue;
    Generator generator(model, {.kept = 2, .source = source, .exit = exit});
    const std::string name = exit ? "with exit " : "";
    numbers.add(name + "recomputes", generator.recompute_reason().empty() ? 0 : 1);
    RecordTotals totals;
    std::vector<std::int32_t> ids{1, 7, 2};
    for (int n = 0; n < 22; ++n) {
      totals.add(name + "steps", generator.step(ids));
      totals.add(name + "layers", static_cast<double>(generator.exit_layer()));
      ids = {static_cast<std::int32_t>((n * 5 + n * n) % 10)};
    }
    totals.add(name + "forgotten", static_cast<double>(generator.forgotten()));
    totals.add(name + "remembered", static_cast<double>(generator.tokens().size()));
    const BeamSearch search =
        beam_search(model, {1, 7, 2},
                    {.width = 3, .max_tokens = 5, .end_ids = {4}, .source = source, .exit = exit});
    for (std::size_t n = 0; n < search.steps.size(); ++n) {
      for (const Beam& beam : search.steps[n]) {
        totals.add(name + "beams", beam.log_probability);
        totals.add(name + "written", static_cast<double>(beam.ids.size()));
        totals.add(name + "last", static_cast<double>(beam.ids.back()));
      }
      totals.add(name + "best", static_cast<double>(search.rank_of_best_prefix(n)));
    }
    totals.add_to(numbers);
  }
}

// Records the reported progress whenever attention is computed.
class ProgressRecorder : public Backend {
 public:
  explicit ProgressRecorder(const Progress& progress) : progress_(progress) {}
  std::string name() const override { return cpu_backend().name(); }
  std::string refusal(const Part& part, const ResultRequest& wanted) const override {
    return cpu_backend().refusal(part, wanted);
  }
  PartResult run(const Part& part, const ResultRequest& wanted) override {
    fractions.push_back(progress_.snapshot().share);
    return cpu_backend().run(part, wanted);
  }

  std::vector<double> fractions;

 private:
  const Progress& progress_;
};

// Expects that progress never decreases and is below 1 at every computation of attention.
void add_progress(const std::string& name, const Model& model, const Batch& batch,
                  Numbers& numbers) {
  Progress progress;
  ProgressRecorder recorder(progress);
  ForwardOptions options;
  options.progress = &progress;
  options.backend = &recorder;
  run(model, batch, options);
  double sum = 0;
  for (std::size_t n = 0; n < recorder.fractions.size(); ++n) {
    EXPECT_GE(recorder.fractions[n], n == 0 ? 0 : recorder.fractions[n - 1]) << name << " " << n;
    EXPECT_LT(recorder.fractions[n], 1) << name << " " << n;
    sum += recorder.fractions[n] * static_cast<double>(n + 1);
  }
  numbers.add("progress", sum);
}

void add_model(const std::string& name, const ModelConfig& config,
               testing::NamedNumbers& all_numbers) {
  Numbers numbers(name);
  Model model = make_random_model(config);
  numbers.add("parameters", static_cast<double>(parameter_count(config)));
  Work work;
  ForwardOptions options;
  options.work = &work;
  const Index items = config.input.id == "image" ? 1 : 2;
  const Batch batch = batch_of(config, items);
  const Output output = run(model, batch, options);
  numbers.add("multiply-adds", work.multiply_adds);
  numbers.add("logits", output.logits.defined() ? output.logits.value() : Tensor());
  for (const Loss& loss : output.losses) {
    const auto value = static_cast<double>(loss.value.value()[0]);
    numbers.add("loss " + loss.name, value);
    const auto weighted = static_cast<double>(loss.weighted.value()[0]);
    if (weighted != value) numbers.add("weighed " + loss.name, weighted);
  }
  if (!output.losses.empty()) {
    ForwardOptions training;
    training.training = true;
    training.dropout_seed = 5;
    Model trained = model;
    trained.config.dropout = 0.2;
    Batch training_batch = batch;
    training_batch.progress = 0.3;
    const Output training_output = run(trained, training_batch, training);
    numbers.add("loss in training", static_cast<double>(training_output.total_loss().value()[0]));
    backward(training_output.total_loss());
    double gradients = 0;
    Index index = 0;
    for (const auto& [weight, value] : model.weights) {
      const Tensor gradient = value.gradient();
      if (gradient.defined()) {
        ++index;
        gradients += fingerprint(gradient.data(), gradient.size()) * static_cast<double>(index);
      }
    }
    numbers.add("gradients", gradients);
  }
  Trace trace;
  ForwardOptions trace_options;
  trace_options.trace = &trace;
  Batch single_batch = batch_of(config, 1);
  run(model, single_batch, trace_options);
  add_trace(trace, numbers);
  add_progress(name, model, single_batch, numbers);
  if (trace.logits.defined() && architecture(config.architecture.id).has_self_attention &&
      config.architecture.id != "trajectory") {
    add_lens(model, trace, numbers);
  }
  add_continuations(model, numbers);
  if (config.exits) {
    single_batch.targets = {};
    for (const double threshold : {0.2, 0.5, 0.9, 1.0}) {
      ForwardOptions exit_options;
      exit_options.exit = threshold;
      const Output exit_output = run(model, single_batch, exit_options);
      const std::string prefix = "exit at " + std::to_string(threshold);
      numbers.add(prefix, exit_output.exits);
      numbers.add(prefix + " logits", exit_output.logits.value());
      Batch pair_batch = batch_of(config, 2);
      pair_batch.targets = {};
      const Output pair_output = run(model, pair_batch, exit_options);
      numbers.add(prefix + " of two", pair_output.exits);
      numbers.add(prefix + " logits of two", pair_output.logits.value());
      Trace record;
      exit_options.trace = &record;
      run(model, single_batch, exit_options);
      for (const char* tap : {"exit.confidence", "exit.distribution"}) {
        if (record.taps.contains(tap)) numbers.add(prefix + " " + tap, record.taps.at(tap));
      }
      numbers.add(prefix + " recorded", record.counts.at("exit.layer"));
    }
  }
  numbers.append_to(all_numbers);
}

TEST(ModelKinds, NumbersMatchGolden) {
  for (const Kind& shape : shapes()) {
    testing::NamedNumbers numbers;
    for (const Choice& choice : choices()) {
      if (!is_recorded(shape, choice)) continue;
      const Json json = config_of({shape.members, choice.members});
      if (!refusal(json).empty()) continue;
      try {
        add_model(choice.name, model_config_from_json(json, "config"), numbers);
      } catch (const std::exception& e) {
        ADD_FAILURE() << shape.name << ", " << choice.name << ": " << e.what();
      }
    }
    std::string file = shape.name;
    std::ranges::replace(file, ' ', '_');
    const double tolerance =
        file.find("halting") == std::string::npos ? kTolerance : kHaltingTolerance;
    EXPECT_TRUE(
        testing::numbers_match_golden(numbers, tolerance, "core/model/numbers/" + file + ".txt"));
  }
}

// Lists variants, encodings and choices that can be cached, and the reasons why others cannot.
TEST(ModelKinds, CachesMatchGolden) {
  testing::NamesByResult results;
  const auto add = [&](const std::string& name, const Json& json) {
    if (!refusal(json).empty()) return;
    const ModelConfig config = model_config_from_json(json, "config");
    const std::string reason = cache_refusal(config);
    std::string text = reason.empty() ? "has a cache" : "no cache: " + reason;
    const std::string exit_reason = cache_refusal(config, true);
    if (exit_reason != reason) text += "; with early exit: " + exit_reason;
    for (const std::string& note : future_leak_notes(make_random_model(config))) {
      text += "; note: " + note;
    }
    results.add(text, name);
  };
  for (const Variant& v : variants()) {
    for (const char* causal : {"true", "false"}) {
      Json json = config_of({});
      json["causal"] = std::string(causal) == "true";
      json["variant"] = to_json(default_choice(v));
      add(v.id + " " + causal, json);
    }
  }
  for (const Encoding& e : encodings()) {
    Json json = config_of({});
    json["position"] = to_json(default_choice(e));
    add(e.id, json);
  }
  for (const Kind& shape : shapes()) {
    for (const Choice& choice : choices()) {
      if (!is_recorded(shape, choice)) continue;
      add(std::string(shape.name) + ", " + choice.name, config_of({shape.members, choice.members}));
    }
  }
  EXPECT_TRUE(testing::matches_golden(results.text(), "core/model/caches.txt"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
