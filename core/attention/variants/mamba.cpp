// mamba: the selective state space layer S6 of Mamba. Gu and Dao, 2023.
#include <algorithm>
#include <cmath>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/features.h"
#include "core/attention/variants/shared/selective_scan.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"

namespace attnscope {
namespace {

// Step sizes, rates and projections of the input.
SelectiveInput<Var> selective_input(const OperationInput& input) {
  const auto tensor = [&](const char* name) { return weight(input.weights, name); };
  const Var steps = matmul(matmul(input.x, tensor("mamba.delta_in")), tensor("mamba.delta_out"));
  return {softplus(add(split_heads(steps, input.heads),
                       by_item(tensor("mamba.delta_bias"), input.batch))),
          scale(exp(tensor("mamba.a_log")), -1), matmul(input.x, tensor("mamba.b")),
          matmul(input.x, tensor("mamba.c"))};
}

// Vectors of the recurrence, for the picture of its state.
void add_report(OperationResult& result, const SelectiveInput<Var>& in, const Var& v,
                const OperationInput& input) {
  constexpr Index kMaxReported = Index{1} << 22;
  if (v.dim(1) * std::max(input.heads * v.dim(2), in.b.dim(2)) > kMaxReported) return;
  const auto first_sequence = [&](const Var& rows) {
    return rows.value().slice(0, 1).copy().reshaped({rows.dim(1), rows.dim(2)});
  };
  result.extra["mamba.delta"] = first_item(in.delta, input.heads);
  result.extra["mamba.v"] = first_item(v, input.heads);
  result.extra["mamba.a"] = in.a.value();
  result.extra["mamba.b"] = first_sequence(in.b);
  result.extra["mamba.c"] = first_sequence(in.c);
  result.extra["mamba.skip"] = weight(input.weights, "mamba.skip").value();
}

OperationResult evaluate_mamba(const OperationInput& input, Backend&, const ResultRequest& wanted) {
  const Var v = repeat_heads(input.v, input.heads, input.kv_heads);  // [B h, L, d_v]
  const SelectiveInput<Var> in = selective_input(input);
  const Var skip = by_item(weight(input.weights, "mamba.skip"), input.batch);
  OperationResult result;
  result.output = add(selective_scan(in, v), multiply(v, skip));
  const bool needs_maps = wanted.attention || wanted.device_attention || wanted.tiles;
  add_implied_maps(
      result,
      needs_maps ? selective_rows({in.delta.value(), in.a.value(), in.b.value(), in.c.value()})
                 : nullptr,
      input, wanted);
  if (wants_report(wanted)) add_report(result, in, v, input);
  return result;
}

// Biases whose step sizes softplus(bias) are spread over [least, most], evenly on a logarithmic
// scale: neighbouring channels get different ones.
Tensor step_biases(const Shape& shape, Index first_channel, double least, double most) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  Tensor biases(shape);
  for (Index n = 0; n < biases.size(); ++n) {
    const double share = std::fmod(static_cast<double>(first_channel + n) * kGoldenRatio, 1.0);
    const double step = least * std::pow(most / least, share);
    biases[n] = static_cast<float>(std::log(std::expm1(step)));
  }
  return biases;
}

Tensor initial_biases(const Shape& shape, const Dimensions& n, const Values&, std::uint64_t) {
  return step_biases(shape, n.first_head * shape[1], 0.001, 0.1);
}

// Step sizes with which the slowest states reach over the text, and the fastest over one token.
Tensor illustrative_biases(const Shape& shape, const Situation& in, const Values&) {
  const double tokens = static_cast<double>(in.keys > 1 ? in.keys : 32);
  return step_biases(shape, in.dimensions.first_head * shape[1], 1 / tokens, 1);
}

// log(1), ..., log(N) for each channel.
Tensor initial_rates(const Shape& shape, const Dimensions&, const Values&, std::uint64_t) {
  Tensor rates(shape);
  for (Index n = 0; n < rates.size(); ++n) {
    rates[n] = static_cast<float>(std::log(static_cast<double>(n % shape[2] + 1)));
  }
  return rates;
}

WeightInfo state_projection(const char* name, const char* help) {
  return {.name = name,
          .help = help,
          .shape = [](const Dimensions& n, const Values& values) -> Shape {
            return {n.model, values.integer("states")};
          },
          .initial = initial_projection()};
}

std::vector<WeightInfo> mamba_weights() {
  const auto by_channel = [](const Dimensions& n, const Values&) -> Shape {
    return {n.heads, n.value};
  };
  return {{.name = "mamba.delta_in",
           .help = "Projects the input for the step sizes Δ.",
           .shape = [](const Dimensions& n, const Values& values) -> Shape {
             return {n.model, values.integer("rank")};
           },
           .initial = initial_projection()},
          {.name = "mamba.delta_out",
           .help = "Maps this projection to the step size of each channel.",
           .shape = [](const Dimensions& n, const Values& values) -> Shape {
             return {values.integer("rank"), n.heads * n.value};
           },
           .initial = initial_projection()},
          {.name = "mamba.delta_bias",
           .help = "Bias of the step sizes, before the softplus.",
           .shape = by_channel,
           .initial = initial_biases,
           .illustrative = illustrative_biases},
          {.name = "mamba.a_log",
           .help = "Logarithms of the rates −A at which each state decays.",
           .shape = [](const Dimensions& n, const Values& values) -> Shape {
             return {n.heads, n.value, values.integer("states")};
           },
           .initial = initial_rates},
          state_projection("mamba.b", "Projects the input to B, which writes to the states."),
          state_projection("mamba.c", "Projects the input to C, which reads the states."),
          {.name = "mamba.skip",
           .help = "Share D of the value that bypasses the states.",
           .shape = by_channel,
           .initial = initial_ones()}};
}

double mamba_cost(const CostInput& in) {
  // Per state of a channel: decay, addition and reading.
  return static_cast<double>(in.keys * 3 * in.values.integer("states") * in.value_size) /
         static_cast<double>(in.key_size + in.value_size);
}

double mamba_bytes(const MemoryInput& in) {
  const auto rows = static_cast<double>(in.batch * in.keys);
  const auto channels = static_cast<double>(in.heads * in.key_size);
  const auto states = static_cast<double>(in.values.integer("states"));
  const auto rank = static_cast<double>(in.values.integer("rank"));
  constexpr double kCopies = 8;      // step sizes with and without bias, values, output
  constexpr double kBlockRows = 20;  // states per head, if maps are computed
  return sizeof(float) * rows * (kCopies * channels + 4 * states + rank) +
         sizeof(double) * kBlockRows * channels * states;
}

}  // namespace

Variant mamba_variant() {
  Variant v;
  v.id = "mamba";
  v.label = "Mamba (S6)";
  v.group = "Recurrences";
  v.equation =
      "H_t = e^{Δ_t A} ⊙ H_{t−1} + B_t ⊗ (Δ_t ⊙ v_t),   out_t = H_tᵀ C_t + D ⊙ v_t,   "
      "Δ_t = softplus(x_t W_Δ + b), A < 0\n"
      "aᵢⱼ = Σₙ Cᵢₙ e^{Aₙ Σ_{j<r≤i} Δ_r} Δⱼ Bⱼₙ in each channel";
  v.summary =
      "A state space model that selects: each channel carries N numbers that decay at rates A, and "
      "the input decides how fast time passes for a token (the step size Δ, large to replace the "
      "state, small to skip the token), what it writes (B) and what it reads (C). Unrolled over "
      "the text, the recurrence is a sum over earlier values with signed weights (Ali et al., "
      "2024). Every channel has weights of its own: the map shown is implied, their mean over the "
      "channels of a head, without the skip D. This is the S6 layer; the convolution, SiLU and "
      "gate of the Mamba block around it are left out. The recurrence runs on the CPU.";
  v.source = "Gu and Dao, 2023, Mamba, arXiv:2312.00752; map: Ali et al., 2024, arXiv:2403.01590";
  v.complexity = "O(L·d·N)";
  v.cost.growth = {.power = 1};
  v.cost.head = mamba_cost;
  v.cost.bytes = mamba_bytes;
  v.inputs.needs = [](const Values&) {
    return Needs{.queries = false, .keys = false, .input = true};
  };
  v.encodings.accepts_pairs = v.scores.has_terms = v.scores.has_softmax = never;
  v.encodings.pairs_refusal = "decays with distance instead and scores no pairs";
  v.objection = [](const Values&, const Situation& in) {
    return recurrence_objection("Mamba", in);
  };
  v.parameters = {{.key = "states",
                   .symbol = "N",
                   .label = "States per channel",
                   .help = "Numbers in the state of each channel.",
                   .initial = Index{16},
                   .limits = {.min = 1, .max = 1024},
                   .slider = {.min = 1, .max = 64}},
                  {.key = "rank",
                   .symbol = "R",
                   .label = "Rank of the step sizes",
                   .help = "Width of the projection from which step sizes are computed; the paper "
                           "uses 1/16 of the model's width.",
                   .initial = Index{8},
                   .limits = {.min = 1, .max = 4096},
                   .slider = {.min = 1, .max = 64}}};
  v.weights = mamba_weights();
  v.evaluate = evaluate_mamba;
  return v;
}

}  // namespace attnscope
