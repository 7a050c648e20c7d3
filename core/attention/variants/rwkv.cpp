// rwkv: the time mixing of RWKV-4, a recurrence with a decay per channel. Peng et al., 2023.
#include <cmath>
#include <functional>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/features.h"
#include "core/attention/variants/shared/wkv.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_shape.h"

namespace attnscope {
namespace {

bool has_shift(const Values& values) {
  return values.flag("shift");
}

// μ ⊙ x_t + (1 - μ) ⊙ x_{t-1}, where x_{-1} = 0.  x: [B h, L, d], mix: [h, d]
Var shifted(const Var& x, const Var& mix, Index batch) {
  const Var zeros(Tensor::zeros({x.dim(0), 1, x.dim(2)}));
  const Var previous =
      x.dim(1) == 1 ? zeros : concat({zeros, slice(x, 1, 0, x.dim(1) - 1)}, 1);  // [B h, L, d]
  return add(previous, multiply(by_item(mix, batch), subtract(x, previous)));
}

// Receptance, keys and values of all heads, [B h, L, d].
HeadTensors<Var> mixed_vectors(const OperationInput& input) {
  HeadTensors<Var> vectors{input.q, repeat_heads(input.k, input.heads, input.kv_heads),
                           repeat_heads(input.v, input.heads, input.kv_heads)};
  if (!has_shift(input.variant.values)) return vectors;
  const auto mix = [&](Var& x, const char* name) {
    x = shifted(x, weight(input.weights, name), input.batch);
  };
  mix(vectors.q, "rwkv.mix_r");
  mix(vectors.k, "rwkv.mix_k");
  mix(vectors.v, "rwkv.mix_v");
  return vectors;
}

// Vectors of the recurrence, for the picture of its state.
void add_report(OperationResult& result, const HeadTensors<Var>& vectors, const Var& receptance,
                const OperationInput& input) {
  constexpr Index kMaxReported = Index{1} << 22;
  if (input.heads * vectors.k.dim(1) * vectors.k.dim(2) > kMaxReported) return;
  result.extra["rwkv.receptance"] = first_item(receptance, input.heads);
  result.extra["rwkv.k"] = first_item(vectors.k, input.heads);
  result.extra["rwkv.v"] = first_item(vectors.v, input.heads);
  Tensor kept = weight(input.weights, "rwkv.decay").value().copy();
  for (float& x : kept) x = static_cast<float>(std::exp(-std::exp(static_cast<double>(x))));
  result.extra["rwkv.kept"] = kept;
  result.extra["rwkv.bonus"] = weight(input.weights, "rwkv.bonus").value();
}

OperationResult evaluate_rwkv(const OperationInput& input, Backend&, const ResultRequest& wanted) {
  const HeadTensors<Var> vectors = mixed_vectors(input);
  const Var &decay = weight(input.weights, "rwkv.decay"),
            &bonus = weight(input.weights, "rwkv.bonus");
  const Var receptance = sigmoid(vectors.q);
  const Var all_rows = wkv(vectors.k, vectors.v, decay, bonus);  // [B h, L, d]
  const Index queries = vectors.q.dim(1);
  OperationResult result;
  result.output = multiply(receptance, slice(all_rows, 1, all_rows.dim(1) - queries, queries));
  const bool needs_maps = wanted.attention || wanted.device_attention || wanted.tiles;
  add_implied_maps(result,
                   needs_maps ? wkv_rows(vectors.k.value(), decay.value(), bonus.value()) : nullptr,
                   input, wanted);
  if (wants_report(wanted)) add_report(result, vectors, receptance, input);
  return result;
}

// Number of a channel within its layer, from 0 to 1, for head `head` of the operation.
double channel_share(const Dimensions& n, Index head, Index channel, Index size) {
  const Index count = n.all_heads() * size;
  const Index index = (n.first_head + head) * size + channel;
  return count > 1 ? static_cast<double>(index) / static_cast<double>(count - 1) : 0;
}

// Initial values by a channel's share, as in RWKV-4 for a layer in the middle of the model.
Initial by_channel(std::function<double(double share, Index channel)> value) {
  return [value = std::move(value)](const Shape& shape, const Dimensions& n, const Values&,
                                    std::uint64_t) {
    Tensor weights(shape);
    for (Index head = 0; head < shape[0]; ++head) {
      for (Index c = 0; c < shape[1]; ++c) {
        weights(head, c) = static_cast<float>(value(channel_share(n, head, c, shape[1]), c));
      }
    }
    return weights;
  };
}

WeightInfo channel_weight(const char* name, const char* help, Initial initial) {
  return {.name = name,
          .help = help,
          .shape = [](const Dimensions& n, const Values&) -> Shape {
            return {n.heads, n.value};
          },
          .initial = std::move(initial)};
}

WeightInfo mix_weight(const char* name, const char* help, double power, double offset) {
  WeightInfo info = channel_weight(
      name, help, by_channel([=](double share, Index) { return std::pow(share, power) + offset; }));
  info.used = has_shift;
  return info;
}

std::string rwkv_objection(const Values&, const Situation& in) {
  std::string reason = recurrence_objection("RWKV", in);
  const Index key = in.dimensions.key, value = in.dimensions.value;
  if (!reason.empty() || key <= 0 || value <= 0 || key == value) return reason;
  return "v: expected as many numbers per head as k for RWKV, " + std::to_string(key) + ", found " +
         std::to_string(value) + " (each channel has its own key and value)";
}

double rwkv_cost(const CostInput& in) {
  // Per channel: decay, addition and reading of two sums, and three token shifts.
  const Index operations = has_shift(in.values) ? 9 : 6;
  return static_cast<double>(in.keys * operations * in.value_size) /
         static_cast<double>(in.key_size + in.value_size);
}

double rwkv_bytes(const MemoryInput& in) {
  const auto channels = static_cast<double>(in.batch * in.heads * in.key_size);
  const double rows = channels * static_cast<double>(in.keys);
  const double copies = has_shift(in.values) ? 10 : 6;  // repeated, shifted, gated
  // Keys and denominators in double precision, and reported vectors.
  return rows * (sizeof(float) * copies + (in.maps ? 2 * sizeof(double) + 3 * sizeof(float) : 0)) +
         8 * channels * sizeof(double);
}

}  // namespace

Variant rwkv_variant() {
  Variant v;
  v.id = "rwkv";
  v.label = "RWKV";
  v.group = "Recurrences";
  v.equation =
      "out_t = σ(r_t) ⊙ wkv_t,   wkv_t = (Σ_{j<t} e^{k_j−(t−1−j)w} v_j + e^{u+k_t} v_t) / (Σ_{j<t} "
      "e^{k_j−(t−1−j)w} + e^{u+k_t})\nwith shift: k_t ← μ ⊙ k_t + (1−μ) ⊙ k_{t−1}, r and v "
      "likewise";
  v.summary =
      "A recurrent network that is trained like a transformer. Each channel carries two running "
      "sums, of e^k v and of e^k, which decay by e^−w at every token; their ratio is an average of "
      "past values. The current token has a bonus u, and the receptance σ(r), in place of the "
      "query, opens or closes each channel. Queries and keys are not compared, and every channel "
      "has weights of its own: the map shown is implied, the mean of these weights over the "
      "channels of a head. The paper mixes neighbouring tokens (token shift) before the "
      "projections; here, their results are mixed. The recurrence runs on the CPU.";
  v.source = "Peng et al., 2023, RWKV: Reinventing RNNs for the transformer era, arXiv:2305.13048";
  v.complexity = "O(L·d)";
  v.cost.growth = {.power = 1};
  v.cost.head = rwkv_cost;
  v.cost.bytes = rwkv_bytes;
  v.causality.incremental = [](const Values& values) { return !has_shift(values); };
  v.encodings.accepts_pairs = v.scores.has_terms = v.scores.has_softmax = never;
  v.encodings.pairs_refusal = "decays with distance instead and scores no pairs";
  v.objection = rwkv_objection;
  v.parameters = {{.key = "shift",
                   .symbol = "μ",
                   .label = "Token shift",
                   .help = "Mix receptance, key and value of each token with the previous token's.",
                   .kind = Parameter::Kind::Flag,
                   .initial = true}};
  v.weights = {
      channel_weight(
          "rwkv.decay", "Logarithm of the decay rate w of each channel.",
          by_channel([](double share, Index) { return -5 + 8 * std::pow(share, 1.35); })),
      channel_weight("rwkv.bonus", "Bonus u of the current token.", by_channel([](double, Index c) {
                       return std::log(0.3) + 0.5 * static_cast<double>((c + 1) % 3 - 1);
                     })),
      mix_weight("rwkv.mix_r", "Share μ of the current token in the receptance.", 0.25, 0),
      mix_weight("rwkv.mix_k", "Share μ of the current token in the key.", 0.5, 0),
      mix_weight("rwkv.mix_v", "Share μ of the current token in the value.", 0.5, 0.15)};
  v.evaluate = evaluate_rwkv;
  return v;
}

}  // namespace attnscope
