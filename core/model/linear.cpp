#include "core/model/linear.h"

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/stop.h"
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

Var apply_activation(Activation activation, const Var& x) {
  switch (activation) {
    case Activation::Relu:
      return relu(x);
    case Activation::Gelu:
      return gelu(x);
    case Activation::GeluTanh:
      return gelu_tanh(x);
    case Activation::Silu:
      return silu(x);
    case Activation::QuickGelu:
      return multiply(x, sigmoid(scale(x, 1.702f)));
    case Activation::SquaredRelu: {
      const Var positive = relu(x);
      return multiply(positive, positive);
    }
  }
  throw std::logic_error("activation");
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

// log p(token) = log p(cluster) + log p(token | cluster). For tokens of the first cluster, log
// p(token) is from one softmax over these tokens and the other clusters.  [n, d] -> [n, vocabulary]
Var adaptive_logits(const Model& model, const Var& x) {
  const auto clusters = vocabulary_clusters(model.config);
  const std::string table_prefix = model.config.tied_output ? "embed.cluster." : "output.cluster.";
  const bool has_bias = model.config.head.bias;
  std::vector<Var> parts;
  Var cluster_log_p;  // log p of the clusters after the first, [n, clusters - 1]
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    const std::string number = std::to_string(c);
    const std::string table = table_prefix + number + ".table";
    const Var y = linear(model, x, "output.cluster." + number + ".project", "");  // [n, e]
    const auto entry = model.narrow.find(table);
    Var logits = entry == model.narrow.end() ? linear_transposed(y, weight(model, table))
                                             : linear(y, entry->second.transpose(), Var());
    if (has_bias) {
      logits =
          add(logits, slice(weight(model, "output.bias"), 0, clusters[c].first, clusters[c].count));
    }
    if (c == 0) {
      const auto other_cluster_count = static_cast<Index>(clusters.size()) - 1;
      const Var cluster_logits = linear(model, y, "output.choice.w", "output.choice.b");
      const Var first_log_p = log_softmax(concat({logits, cluster_logits}, 1));
      parts.push_back(slice(first_log_p, 1, 0, clusters[0].count));
      cluster_log_p = slice(first_log_p, 1, clusters[0].count, other_cluster_count);
    } else {
      parts.push_back(
          add(log_softmax(logits), slice(cluster_log_p, 1, static_cast<Index>(c) - 1, 1)));
    }
  }
  return concat(parts, 1);
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
  const Var& gain = weight(model, name + ".weight");
  const double epsilon = model.config.norm_epsilon;
  if (model.config.norm == Norm::RmsNorm) return rms_norm(x, gain, epsilon);
  const auto bias = model.weights.find(name + ".bias");
  return layer_norm(x, gain, bias == model.weights.end() ? Var() : bias->second, epsilon);
}

namespace {

// Transform before the product with the token table.  [n, d] -> [n, e]
Var apply_transform(const Model& model, const Var& x) {
  const std::string prefix = "output.transform.";
  const Var y =
      apply_activation(model.config.head.activation, linear(model, x, prefix + "w", prefix + "b"));
  return apply_norm(model, y, prefix + "norm");
}

Var unscaled_logits(const Model& model, const Var& x) {
  if (!model.config.embedding.adaptive.cutoffs.empty()) return adaptive_logits(model, x);
  const bool has_bias = model.config.head.bias;
  const Var state = model.config.head.transform ? apply_transform(model, x) : x;
  if (!model.config.tied_output) {
    return linear(model, state, "output.weight", has_bias ? "output.bias" : "");
  }
  const auto entry = model.narrow.find("embed.weight");
  const Var logits = entry == model.narrow.end()
                         ? linear_transposed(state, weight(model, "embed.weight"))
                         : linear(state, entry->second.transpose(), Var());
  return has_bias ? add(logits, weight(model, "output.bias")) : logits;
}

}  // namespace

Var output_logits(const Model& model, const Var& x) {
  const ModelOptions& options = model.config.model_options;
  Var logits = unscaled_logits(model, x);
  if (options.logit_scale != 1) logits = scale(logits, static_cast<float>(options.logit_scale));
  if (options.logit_cap == 0) return logits;
  const auto cap = static_cast<float>(options.logit_cap);
  return scale(tanh(scale(logits, 1 / cap)), cap);
}

}  // namespace attnscope
