#include "tests/support/model_sweep.h"

#include <algorithm>
#include <ostream>

#include "core/base/error.h"
#include "core/model/architecture.h"
#include "core/model/capability.h"
#include "core/model/residual_connection.h"
#include "tests/support/compare.h"

namespace attnscope::testing {
namespace {

constexpr Index kSweepVocabulary = 7;
constexpr Index kTokensOfStep = 3;  // return, state, action
// Tried in order. Some variants require a multiple of a block size, or an image's width times its
// height.
constexpr Index kLengths[] = {12, 16, 9, 64, 256};
// Standard deviation of the noise added to initial weights, whose near-zero values would hide
// errors.
constexpr double kSpread = 0.3;

void set_value(Values& values, const Architecture& architecture, const SweepPair& pair) {
  for (const Parameter& parameter : architecture.parameters) {
    if (parameter.key != pair.key) continue;
    if (parameter.kind == Parameter::Kind::Flag) {
      values.set(pair.key, pair.value == "true");
    } else {
      values.set(pair.key, pair.value);
    }
  }
}

ModelConfig make_config(const SweepPair& pair, const Choice& variant, const Choice& encoding,
                        Index length, bool causal, bool in_segments) {
  ModelConfig c;
  c.vocabulary = kSweepVocabulary;
  c.context = length;
  c.width = 8;
  c.layers = 2;
  c.heads = c.kv_heads = 2;
  c.head_size = 4;
  c.hidden = 12;
  c.causal = causal;
  c.groups = uniform_groups(c, variant, encoding);
  const Architecture& info = architecture(pair.architecture);
  c.architecture = default_choice(info);
  if (!pair.key.empty()) set_value(c.architecture.values, info, pair);
  // More steps of both stacks make losses too rough for finite differences.
  if (info.has_encoder && c.architecture.values.has("steps"))
    c.architecture.values.set("steps", Index{2});
  const ResidualConnection& join = residual_connection(pair.residual_connection);
  c.residual_connection = default_choice(join);
  if (info.adapt) {
    info.adapt(c);
    c.residual_connection = default_choice(join);
    c.groups = uniform_groups(c, variant, encoding);
    c.causal = causal;
  }
  if (join.adapt) join.adapt(c);
  if (in_segments) c.segment = length / 2;
  return c;
}

// Config with the first length that is valid for the model; nullopt if there is none.
std::optional<ModelConfig> possible_config(const SweepPair& pair, const Choice& variant,
                                           const Choice& encoding, bool causal, bool in_segments) {
  for (const Index length : kLengths) {
    const ModelConfig config = make_config(pair, variant, encoding, length, causal, in_segments);
    const bool in_steps = architecture(pair.architecture).reads == Reads::Trajectories;
    if (in_steps && length % kTokensOfStep != 0) continue;
    try {
      check(config, "sweep");
    } catch (const InputError&) {
      continue;
    }
    const Dimensions sizes = group_dimensions(config, {0, config.heads, 0, config.kv_heads});
    if (refusal(variant, encoding, causal, sizes, length, length).empty()) return config;
  }
  return std::nullopt;
}

IntTensor make_ids(Index count, Index id_count, Index step) {
  IntTensor ids({1, count});
  for (Index i = 0; i < count; ++i) ids[i] = static_cast<std::int32_t>((i * step + 1) % id_count);
  return ids;
}

Batch make_batch(const ModelConfig& c) {
  const Reads reads = architecture(c.architecture.id).reads;
  if (reads == Reads::Trajectories) {
    // Complete steps (return, state, action) that fit into the context.
    const Index steps =
        std::min(c.architecture.values.integer("most_steps"), c.context / kTokensOfStep);
    Batch batch;
    batch.returns = random_tensor({1, steps}, 5);
    batch.states = random_tensor({1, steps, c.architecture.values.integer("state_size")}, 6);
    batch.targets = make_ids(steps, c.vocabulary, 3);
    if (has_continuous_actions(c)) {
      batch.moves = random_tensor({1, steps, c.vocabulary}, 7);
    } else {
      batch.actions = batch.targets;
    }
    return batch;
  }
  Batch batch = next_token_batch(make_ids(c.context, c.vocabulary, 3));
  if (reads == Reads::SourceAndTarget) batch.source = make_ids(c.context, c.vocabulary, 5);
  return batch;
}

Model make_random_model(const ModelConfig& config) {
  Model model = make_model(config, 11);
  std::uint64_t seed = 100;
  // Without norms states grow from layer to layer, beyond the range of float32 for larger noise.
  // The output of mamba even is of degree 4 in its input.
  const bool is_mamba = config.groups.front().front().variant.id == "mamba";
  const double spread = config.norm != Norm::None ? kSpread : kSpread / (is_mamba ? 16 : 4);
  for (auto& [name, weight] : model.weights) {
    if (!name.ends_with("weight") || name.find("norm") == std::string::npos) {
      const Tensor noise = random_tensor(weight.shape(), ++seed, spread);
      Tensor sum(weight.shape());
      for (Index i = 0; i < sum.size(); ++i) sum[i] = weight.value()[i] + noise[i];
      weight = Var(sum);
    }
  }
  return model;
}

// The architecture with each value of its choices and flags other than the default.
std::vector<SweepPair> other_choices(const Architecture& architecture) {
  std::vector<SweepPair> pairs;
  const std::string join = default_residual_connection().id;
  for (const Parameter& parameter : architecture.parameters) {
    if (parameter.kind == Parameter::Kind::Flag) {
      const bool initial = std::get<bool>(parameter.initial);
      pairs.push_back({architecture.id, join, parameter.key, initial ? "false" : "true"});
    }
    for (const ParameterChoice& choice : parameter.choices) {
      if (choice.id == std::get<std::string>(parameter.initial)) continue;
      pairs.push_back({architecture.id, join, parameter.key, choice.id});
    }
  }
  return pairs;
}

struct RunMode {
  bool causal, in_segments;
};

// Variants with a memory also run in segments.
std::vector<RunMode> run_modes(const Variant& variant) {
  if (!variant.memory.remember) return {{true, false}, {false, false}};
  return {{true, false}, {false, false}, {true, true}};
}

// Turn of a pair among those of its architecture.
int turn_of(const SweepPair& pair) {
  const auto& joins = residual_connections();
  const auto found = std::ranges::find(joins, pair.residual_connection, &ResidualConnection::id);
  return static_cast<int>(found - joins.begin());
}

}  // namespace

void PrintTo(const SweepPair& pair, std::ostream* out) {
  *out << pair.name();
}

std::vector<SweepPair> sweep_pairs() {
  std::vector<SweepPair> pairs;
  for (const Architecture& a : architectures()) {
    for (const ResidualConnection& j : residual_connections()) {
      const SweepPair pair{a.id, j.id};
      const Choice no_encoding = default_choice(encoding("none"));
      if (possible_config(pair, default_variant(), no_encoding, true, false)) pairs.push_back(pair);
    }
    for (SweepPair& pair : other_choices(a)) {
      const Choice no_encoding = default_choice(encoding("none"));
      if (possible_config(pair, default_variant(), no_encoding, true, false))
        pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

int sweep_models(const SweepPair& pair, const std::function<void(const SweepModel&)>& check) {
  const bool selects_all =
      !pair.key.empty() || (pair.architecture == default_architecture().id &&
                            pair.residual_connection == default_residual_connection().id);
  int turn = turn_of(pair), model_count = 0;
  for (const Variant& v : variants()) {
    if (!pair.key.empty() && v.id != default_variant().id) continue;
    for (const Encoding& e : encodings()) {
      for (const RunMode& mode : run_modes(v)) {
        ++turn;
        const auto config = possible_config(pair, default_choice(v), default_choice(e), mode.causal,
                                            mode.in_segments);
        if (!config) continue;
        const std::string name = pair.architecture + ", " + pair.residual_connection +
                                 (pair.key.empty() ? "" : ", " + pair.key + "=" + pair.value) +
                                 ", " + v.id + " with " + e.id +
                                 (mode.causal ? "" : ", bidirectional") +
                                 (mode.in_segments ? ", in segments" : "");
        const bool is_selected = selects_all || model_count == 0 || turn % kSweepShare == 0;
        check({name, make_random_model(*config), make_batch(*config), is_selected});
        ++model_count;
      }
    }
  }
  return model_count;
}

}  // namespace attnscope::testing
