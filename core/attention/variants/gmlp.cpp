// gmlp: one learned matrix over positions, gated by the input. Liu et al., 2021.
#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"

namespace attnscope {
namespace {

// Psi, repeated for all heads.  [h, L, L]
Var spatial_weights(const OperationInput& input, Index length) {
  const Var& psi = weight(input.weights, "gmlp.psi");
  if (psi.dim(0) < length) {
    throw InputError("gmlp.psi: expected at least " + std::to_string(length) +
                     " rows, the number of positions, found " + std::to_string(psi.dim(0)));
  }
  const Var matrix = reshape(slice(slice(psi, 0, 0, length), 1, 0, length), {1, length, length});
  const std::vector<Var> copies(static_cast<std::size_t>(input.heads), matrix);
  return input.heads == 1 ? matrix : concat(copies, 0);
}

OperationResult evaluate_gmlp(const OperationInput& input, Backend& backend,
                              const ResultRequest& wanted) {
  const Index length = input.x.dim(1);
  const Var gate = sigmoid(matmul(input.x, weight(input.weights, "gmlp.u1")));  // [B, L, f]
  const Var mixed = matmul(input.x, weight(input.weights, "gmlp.u2"));          // [B, L, f]
  if (gate.dim(2) % input.heads != 0) {
    throw InputError("gmlp.u1: expected a number of columns divisible by the " +
                     std::to_string(input.heads) + " heads, found " + std::to_string(gate.dim(2)));
  }
  Part part = plain_part(
      input, input.causal ? Pattern::causal(length, length) : Pattern::all(length, length));
  part.source = Source::Logits;
  part.normaliser = Normaliser::None;
  part.logits = spatial_weights(input, length);
  part.q = part.k = Var();
  part.v = split_heads(mixed, input.heads);  // [B h, L, f / h]
  part.split.clear();
  OperationResult result = run_part(std::move(part), backend, wanted);
  result.output = multiply(split_heads(gate, input.heads), result.output);  // [B h, L, f / h]
  return result;
}

double gmlp_numbers(const MemoryInput& in) {
  const auto keys = static_cast<double>(in.keys);
  const auto copies = static_cast<double>(in.heads == 1 ? 1 : in.heads + 2);
  return copies * static_cast<double>(in.queries) * keys;
}

}  // namespace

Variant gmlp_variant() {
  Variant v;
  v.id = "gmlp";
  v.label = "gMLP, spatial gating";
  v.group = "Low rank and kernels";
  v.equation = "out = sigmoid(x U₁) ⊙ (Ψ · x U₂)";
  v.summary =
      "No attention at all: one learned matrix Ψ mixes positions, the same for every text, and a "
      "gate computed from each token scales the mixture. Its weights may be negative, so the map "
      "is signed. The paper multiplies by the gate itself; the sigmoid here is that of surveys.";
  v.source = "Liu et al., 2021, Pay attention to MLPs, arXiv:2105.08050";
  v.complexity = "O(L²·f)";
  v.inputs.needs = [](const Values&) {
    return Needs{.queries = false, .keys = false, .values = false, .input = true};
  };
  v.encodings.accepts_pairs = v.scores.has_terms = v.scores.has_softmax = never;
  v.encodings.pairs_refusal = "mixes positions by a learned matrix and scores no pairs";
  const auto projection = [](const char* name, const char* help) -> WeightInfo {
    return {.name = name,
            .help = help,
            .shape = [](const Dimensions& n, const Values&) -> Shape {
              return {n.model, n.inner_or(n.heads * n.value)};
            },
            .initial = initial_projection()};
  };
  v.weights = {projection("gmlp.u1", "Projects the input for the gate."),
               projection("gmlp.u2", "Projects the input for the mixture."),
               {.name = "gmlp.psi",
                .help = "The matrix over positions.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.context, n.context};
                },
                .initial = initial_normal(0.1)}};
  v.scores.weights_from = [](const Values&) { return WeightsFrom::Positions; };
  v.cost.bytes = [](const MemoryInput& in) { return sizeof(float) * gmlp_numbers(in); };
  v.evaluate = evaluate_gmlp;
  return v;
}

}  // namespace attnscope
