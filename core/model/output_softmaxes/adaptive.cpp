// adaptive: predicts a cluster of tokens, then a token of it. Grave et al., 2016.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/linear.h"
#include "core/model/output_softmax.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

std::vector<VocabularyCluster> output_clusters(const ModelConfig& config) {
  const Values& values = config.softmax.values;
  return vocabulary_clusters(
      config.vocabulary, config.width,
      {values.get<std::vector<Index>>("cutoffs"), values.integer("narrowing")});
}

Var adaptive_logits(const Model& model, const Var& x, const std::function<Var(const Var&)>&) {
  return cluster_logits(model, x, output_clusters(model.config), "output.cluster.");
}

std::string adaptive_refusal(const ModelConfig& config) {
  const std::string expected = "softmax: expected ", found = " for adaptive, found ";
  if (!config.model_options.output_head) return expected + "output_head true" + found + "false";
  if (config.tied_output) {
    return expected + "tied_output false" + found + "true (clusters have their own tables)";
  }
  if (config.head.transform) return expected + "no head.transform" + found + "one";
  if (!config.embedding.adaptive.cutoffs.empty()) {
    return expected + "no embedding.cutoffs" + found + "some (they divide the output, too)";
  }
  if (config.model_options.logit_scale != 1 || config.model_options.logit_cap != 0) {
    return expected + "logit_scale 1 and logit_cap 0" + found +
           "others (its logits are log-probabilities)";
  }
  const auto clusters = output_clusters(config);
  for (const VocabularyCluster& cluster : clusters) {
    if (cluster.count < 1 || clusters.size() < 2) {
      return "softmax.cutoffs: expected rising ids between 0 and " +
             std::to_string(config.vocabulary) + ", at least one";
    }
    if (cluster.width < 1) {
      return "softmax.narrowing: expected a smaller number, found " +
             std::to_string(config.softmax.values.integer("narrowing")) +
             " (the last cluster would have width 0)";
    }
  }
  return "";
}

void add_clusters(WeightList& list) {
  const ModelConfig& config = list.config();
  const auto clusters = output_clusters(config);
  list.clusters("output.", clusters, true, true);
  list.cluster_choice(config.width, static_cast<Index>(clusters.size()) - 1);
}

}  // namespace

Var cluster_logits(const Model& model, const Var& x, const std::vector<VocabularyCluster>& clusters,
                   const std::string& table_prefix) {
  const bool has_bias = model.config.head.bias;
  std::vector<Var> parts;
  Var cluster_log_p;  // log p of the clusters after the first, [n, clusters - 1]
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    const std::string number = std::to_string(c);
    const std::string project = "output.cluster." + number + ".project";
    const bool is_projected = model.weights.contains(project) || model.narrow.contains(project);
    const Var y = is_projected ? linear(model, x, project, "") : x;  // [n, e]
    Var logits = table_logits(model, y, table_prefix + number + ".table");
    if (has_bias) {
      const Var& bias = model.weights.find("output.bias")->second;
      logits = add(logits, slice(bias, 0, clusters[c].first, clusters[c].count));
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

OutputSoftmax adaptive_softmax() {
  OutputSoftmax s;
  s.id = "adaptive";
  s.label = "Adaptive softmax";
  s.group = "Output softmaxes";
  s.equation = "p(w) = p(c) p(w | c),   p(w | c) = softmax(x P_c T_cᵀ)";
  s.summary =
      "The vocabulary is divided into clusters by falling frequency of the tokens. The model "
      "predicts a frequent token or a cluster, then a token of that cluster with vectors that are "
      "narrower the rarer its tokens are, which saves parameters and work.";
  s.source = "Grave et al., 2016, Efficient softmax approximation for GPUs, arXiv:1609.04309";
  s.complexity = "O(L·d·(V₀ + Σ_c V_c / narrowing^c))";
  s.parameters = {
      {.key = "cutoffs",
       .symbol = "",
       .label = "Cutoffs",
       .help = "First id of each cluster after the first, in rising order.",
       .kind = Parameter::Kind::Integers,
       .required = true,
       .initial = std::vector<Index>{64},
       .limits = {.min = 1}},
      {.key = "narrowing",
       .symbol = "",
       .label = "Narrowing",
       .help = "Width of a cluster divided by the width of the next; 1: no projections.",
       .initial = Index{4},
       .limits = {.min = 1, .max = 65536},
       .slider = {.min = 1, .max = 8}}};
  s.has_token_table = false;
  s.refusal = adaptive_refusal;
  s.add_weights = add_clusters;
  s.logits = adaptive_logits;
  s.multiply_adds = [](const ModelConfig& config) {
    const auto clusters = output_clusters(config);
    Index sum = config.width * (static_cast<Index>(clusters.size()) - 1);
    for (const VocabularyCluster& c : clusters) {
      sum += c.width * (c.count + (c.width == config.width ? 0 : config.width));
    }
    return sum;
  };
  s.title = [](const ModelConfig&) { return std::string("Adaptive softmax"); };
  s.note = [](const ModelConfig& config) {
    std::string text;
    for (const VocabularyCluster& cluster : output_clusters(config)) {
      text += (text.empty() ? "" : " + ") + std::to_string(cluster.count) + "×" +
              std::to_string(cluster.width);
    }
    return text;
  };
  return s;
}

}  // namespace attnscope
