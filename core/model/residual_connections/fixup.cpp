// fixup: residual blocks without norms, stabilised by their initial values. Zhang et al., 2019.
//
// With B blocks (attention, cross-attention and feed-forwards of the whole model) and m matrices in
// a block, matrices begin with the standard deviation of He or Glorot times B^(-1 / (2 m - 2)), and
// the last matrix of each block with 0. A scalar bias precedes each product with a matrix and each
// activation; a scalar multiplies the block output. m = 4 for attention (q, k, v, o), 2 for a
// feed-forward, 3 for a gated one, as in Narang et al., 2021.
#include <cmath>

#include "core/autodiff/operations_elementwise.h"
#include "core/model/architecture.h"
#include "core/model/residual_connection.h"

namespace attnscope {
namespace {

WeightInfo scalar(const char* name, const char* help, Initial initial) {
  return {.name = name,
          .help = help,
          .shape = [](const Dimensions&, const Values&) -> Shape { return {1}; },
          .initial = std::move(initial)};
}

double block_count(const ModelConfig& config) {
  const Index feed_forwards = config.hidden > 0 ? 1 : 0;
  const auto encoder_layers = static_cast<Index>(encoder_groups(config).size());
  const Index cross_attentions = encoder_layers > 0 ? 1 : 0;
  return static_cast<double>(config.layers * (1 + cross_attentions + feed_forwards) +
                             encoder_layers * (1 + feed_forwards));
}

double initial_deviation(const ModelConfig& config, const BlockMatrix& matrix) {
  if (matrix.letter == "o" || matrix.letter == "_out") return 0;
  const bool is_feed_forward = matrix.block == "ffn";
  const double matrices = !is_feed_forward ? 4 : config.gated ? 3 : 2;
  const double gain = is_feed_forward ? 2 : 1;  // He for activations, else Glorot
  return std::sqrt(gain / static_cast<double>(matrix.rows)) *
         std::pow(block_count(config), -1 / (2 * matrices - 2));
}

std::string fixup_refusal(const ModelConfig& config) {
  if (config.norm != Norm::None) {
    return "join: expected norm \"none\" for fixup, found \"" + norm_name(config.norm) +
           "\" (its initial values replace norms)";
  }
  if (config.model_options.experts.count > 0) {
    return "join: expected a single feed-forward for fixup, found experts";
  }
  return "";
}

}  // namespace

ResidualConnection fixup_residual_connection() {
  ResidualConnection join;
  join.id = "fixup";
  join.label = "Fixup";
  join.group = "Residual connections";
  join.equation = "J(x, y) = x + s f(x + b),   W ~ B^(−1/(2m−2)),   last matrix 0 at first";
  join.summary =
      "Norms are left out. Instead, the last matrix of each block begins at 0 and the others are "
      "scaled down with the number of blocks, so that an update changes the output equally at any "
      "depth. Scalar biases before each matrix and activation, and a scalar factor of each block, "
      "replace the biases and gains of norms.";
  join.source =
      "Zhang et al., 2019, Fixup initialization, arXiv:1901.09321; in transformers: Narang "
      "et al., 2021, arXiv:2102.11972";
  join.complexity = "O(L·d)";
  join.weights = {
      scalar("bias_in", "Scalar added to the block input.", initial_zeros()),
      scalar("bias_hidden", "Scalar added before the activation.", initial_zeros()),
      scalar("bias_out", "Scalar added before the block's last matrix.", initial_zeros()),
      scalar("multiplier", "Factor of the block output.", initial_ones())};
  join.has_weight = [](std::string_view block, std::string_view name) {
    return name != "bias_hidden" || block == "ffn";
  };
  join.refusal = fixup_refusal;
  join.adapt = [](ModelConfig& config) {
    config.norm = Norm::None;
    config.model_options.norm_biases = true;
    config.model_options.output_norm = OutputNorm::None;
    config.model_options.query_key_norm = QueryKeyNorm::None;
  };
  join.shift_symbol = "+ b";
  join.scale_symbol = "× s";
  join.apply = add_residual;
  join.scale_output = [](const Var& y, const NamedVars& weights) {
    return multiply(y, weight(weights, "multiplier"));
  };
  join.deviation = initial_deviation;
  return join;
}

}  // namespace attnscope
