#include "core/model/linear.h"

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/stop.h"
#include "core/model/output_softmax.h"
#include "core/model/rows.h"

namespace attnscope {
namespace {

Var add_bias(const Var& product, const Var& bias) {
  return bias.defined() ? add(product, bias) : product;
}

const Var& weight(const Model& model, const std::string& name) {
  return model.weights.find(name)->second;
}

}  // namespace

Var linear(const Var& x, const Var& w, const Var& bias) {
  check_stop();
  return add_bias(matmul(x, w), bias);  // [n, out]
}

Var linear(const Var& x, const NarrowMatrix& w, const Var& bias) {
  if (x.requires_gradient()) return linear(x, Var(w.to_tensor()), bias);
  check_stop();
  const Tensor& a = x.value();
  Tensor product({a.dim(0), w.columns});  // [n, out]
  multiply_matrices({a.data(), a.dim(0), w.rows, w.rows}, w, product.data(), w.columns, false);
  return add_bias(Var(product), bias);
}

Var linear_transposed(const Var& x, const Var& w) {
  check_stop();
  return matmul_transposed(x, w);  // [n, out]
}

Var linear(const Model& model, const Var& x, const std::string& matrix, const std::string& bias) {
  const auto bias_entry = model.weights.find(bias);
  const Var offset = bias_entry == model.weights.end() ? Var() : bias_entry->second;
  const auto entry = model.narrow.find(matrix);
  return entry == model.narrow.end() ? linear(x, weight(model, matrix), offset)
                                     : linear(x, entry->second, offset);
}

namespace {

// Token vectors of an adaptive vocabulary, cluster by cluster.  [B, L] -> [B, L, d]
Var embed_by_cluster(const Model& model, const IntTensor& ids) {
  const auto clusters = vocabulary_clusters(model.config);
  Var result;  // [n, d]
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    const std::string prefix = "embed.cluster." + std::to_string(c) + ".";
    IntTensor local_ids({ids.size()});
    Tensor in_cluster({ids.size()});
    for (Index n = 0; n < ids.size(); ++n) {
      const Index local = ids[n] - clusters[c].first;
      const bool is_member = local >= 0 && local < clusters[c].count;
      local_ids[n] = is_member ? static_cast<std::int32_t>(local) : 0;
      in_cluster[n] = is_member ? 1 : 0;
    }
    const auto entry = model.narrow.find(prefix + "table");
    Var rows;  // [n, e]
    if (entry == model.narrow.end()) {
      rows = gather(weight(model, prefix + "table"), local_ids);
    } else {
      Tensor vectors({ids.size(), clusters[c].width});
      for (Index n = 0; n < ids.size(); ++n) {
        entry->second.row(local_ids[n], vectors.data() + n * clusters[c].width);
      }
      rows = vectors;
    }
    rows = linear(model, rows, prefix + "project", "");
    result = c == 0 ? rows : choose_rows(in_cluster, rows, result);
  }
  return reshape(result, {ids.dim(0), ids.dim(1), model.config.width});
}

}  // namespace

Var embed_tokens(const Model& model, const IntTensor& ids) {
  if (!model.config.embedding.adaptive.cutoffs.empty()) return embed_by_cluster(model, ids);
  const auto entry = model.narrow.find("embed.weight");
  if (entry == model.narrow.end()) return gather(weight(model, "embed.weight"), ids);
  const NarrowMatrix& table = entry->second;
  Tensor rows({ids.dim(0), ids.dim(1), table.columns});  // [B, L, d]
  for (Index n = 0; n < ids.size(); ++n) table.row(ids[n], rows.data() + n * table.columns);
  return rows;
}

Var apply_norm(const Model& model, const Var& x, const std::string& name) {
  if (model.config.norm == Norm::None) return x;
  const Var& gain = weight(model, name + ".weight");
  const Values& values = model.config.architecture.values;
  const bool has_own_epsilon = name == "embed.norm" && values.has("norm_epsilon");
  const double epsilon = has_own_epsilon ? values.real("norm_epsilon") : model.config.norm_epsilon;
  if (model.config.norm == Norm::RmsNorm) return rms_norm(x, gain, epsilon);
  const auto bias = model.weights.find(name + ".bias");
  return layer_norm(x, gain, bias == model.weights.end() ? Var() : bias->second, epsilon);
}

Var table_logits(const Model& model, const Var& x, const std::string& table) {
  const auto entry = model.narrow.find(table);
  return entry == model.narrow.end() ? linear_transposed(x, weight(model, table))
                                     : linear(x, entry->second.transpose(), Var());
}

namespace {

// Transform before the product with the token table.  [n, d] -> [n, e]
Var apply_transform(const Model& model, const Var& x) {
  const std::string prefix = "output.transform.";
  const Var y =
      activation(model.config.head.activation).apply(linear(model, x, prefix + "w", prefix + "b"));
  return apply_norm(model, y, prefix + "norm");
}

Var unscaled_logits(const Model& model, const Var& x) {
  if (!model.config.embedding.adaptive.cutoffs.empty()) {
    return cluster_logits(model, x, vocabulary_clusters(model.config),
                          model.config.tied_output ? "embed.cluster." : "output.cluster.");
  }
  const bool has_bias = model.config.head.bias;
  const Var state = model.config.head.transform ? apply_transform(model, x) : x;
  if (!model.config.tied_output) {
    return linear(model, state, "output.weight", has_bias ? "output.bias" : "");
  }
  const Var logits = table_logits(model, state, "embed.weight");
  return has_bias ? add(logits, weight(model, "output.bias")) : logits;
}

Var scaled_logits(const Model& model, const Var& x) {
  const ModelOptions& options = model.config.model_options;
  Var logits = unscaled_logits(model, x);
  if (options.logit_scale != 1) logits = scale(logits, static_cast<float>(options.logit_scale));
  if (options.logit_cap == 0) return logits;
  const auto cap = static_cast<float>(options.logit_cap);
  return scale(tanh(scale(logits, 1 / cap)), cap);
}

}  // namespace

Var output_logits(const Model& model, const Var& x) {
  const auto token_logits = [&](const Var& state) { return scaled_logits(model, state); };
  const OutputSoftmax& softmax = output_softmax(model.config.softmax.id);
  return softmax.logits ? softmax.logits(model, x, token_logits) : token_logits(x);
}

}  // namespace attnscope
