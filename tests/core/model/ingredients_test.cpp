// Ingredients of the table of Narang et al., 2021, arXiv:2102.11972: activations, residual
// connections and output softmaxes, compared with a decoder in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/autodiff/operations_reduce.h"
#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/model/activation.h"
#include "core/model/generate.h"
#include "core/model/model.h"
#include "core/model/output_softmax.h"
#include "core/model/residual_connection.h"
#include "core/model/structure.h"
#include "core/model/weights.h"
#include "tests/core/model/reference.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::Row;
using testing::Rows;

constexpr const char* kBaseConfig = R"({"vocabulary": 11, "context": 16, "width": 8, "layers": 2,
    "heads": 2, "head_size": 4, "hidden": 10, "position": {"type": "none"}})";

ModelConfig config_of(const std::string& members) {
  Json config = parse_json(kBaseConfig, "base");
  const Json changes = parse_json(members, "members");
  for (const auto& [key, value] : changes.items()) config[key] = value;
  return model_config_from_json(config, "config");
}

std::string refusal_of(const std::string& members) {
  try {
    config_of(members);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

const std::vector<std::string>& ingredients() {
  static const std::vector<std::string> list = [] {
    std::vector<std::string> members{
        R"({"norm": "none"})",
        R"({"norm": "none", "pre_norm": false})",
        R"({"join": {"type": "none"}})",
        R"({"join": {"type": "none"}, "pre_norm": false})",
        R"({"join": {"type": "rezero"}})",
        R"({"join": {"type": "rezero"}, "norm": "none", "gated": false})",
        R"({"join": {"type": "fixup"}, "norm": "none", "gated": false})",
        R"({"join": {"type": "fixup"}, "norm": "none"})",
        R"({"hidden": 0})",
        R"({"hidden": 0, "join": {"type": "fixup"}, "norm": "none"})",
        R"({"softmax": {"type": "mixture", "components": 3}})",
        R"({"softmax": {"type": "mixture", "components": 2}, "tied_output": false,
            "head": {"bias": true}})",
        R"({"softmax": {"type": "adaptive", "cutoffs": [4, 8], "narrowing": 2},
            "tied_output": false, "head": {"bias": true}})",
        R"({"softmax": {"type": "adaptive", "cutoffs": [5], "narrowing": 1},
            "tied_output": false})",
    };
    for (const ActivationFunction& f : activations()) {
      for (const char* gated : {"true", "false"}) {
        members.push_back(R"({"activation": ")" + f.id + R"(", "gated": )" + gated + "}");
      }
    }
    return members;
  }();
  return list;
}

Model make_random_model(const ModelConfig& config) {
  Model model = make_model(config, 3);
  std::uint64_t seed = 40;
  for (auto& [name, weight] : model.weights) {
    Tensor values = testing::random_tensor(weight.shape(), ++seed, 0.5);
    if (name.ends_with("norm.weight")) {
      for (float& x : values) x += 1;
    }
    weight = Var(values);
  }
  return model;
}

// The whole decoder, one sequence.
class Reference {
 public:
  explicit Reference(const Model& model) : model_(model), config_(model.config) {}

  Rows logits(const std::vector<std::int32_t>& ids) const {
    Rows x;
    const Rows table = testing::rows_of(tensor("embed.weight"));
    for (const std::int32_t id : ids) x.push_back(table[static_cast<std::size_t>(id)]);
    for (Index n = 0; n < config_.layers; ++n) {
      const std::string prefix = layer_prefix(n);
      x = block(prefix + "attn", x, [&](const Rows& in) { return attention(prefix, in); });
      if (config_.hidden == 0) continue;
      x = block(prefix + "ffn", x, [&](const Rows& in) { return feed_forward(prefix, in); });
    }
    if (config_.pre_norm) x = norm(x, "final_norm");
    return output(x);
  }

 private:
  const Tensor& tensor(const std::string& name) const { return model_.weights.at(name).value(); }
  const Tensor* find(const std::string& name) const {
    const auto entry = model_.weights.find(name);
    return entry == model_.weights.end() ? nullptr : &entry->second.value();
  }
  Rows norm(const Rows& x, const std::string& name) const {
    const Tensor* gain = find(name + ".weight");
    return gain ? testing::rms_norm_rows(x, *gain, config_.norm_epsilon) : x;
  }
  Rows shift(const Rows& x, const std::string& name) const {
    const Tensor* scalar = find(name);
    const double amount = scalar ? static_cast<double>((*scalar)[0]) : 0;
    return testing::each(x, [&](double v) { return v + amount; });
  }
  Rows block(const std::string& name, const Rows& x,
             const std::function<Rows(const Rows&)>& function) const {
    const std::string join = name + "_join.";
    const Rows in = shift(config_.pre_norm ? norm(x, name + "_norm") : x, join + "bias_in");
    double factor = 1;
    for (const char* scalar : {"alpha", "multiplier"}) {
      if (const Tensor* value = find(join + scalar)) factor = static_cast<double>((*value)[0]);
    }
    const Rows y = testing::each(function(in), [&](double v) { return factor * v; });
    const Rows sum = config_.residual_connection.id == "none" ? y : testing::sum(x, y);
    return config_.pre_norm ? sum : norm(sum, name + "_norm");
  }
  Rows attention(const std::string& prefix, const Rows& x) const {
    const std::string a = prefix + "attn.";
    const Rows heads = testing::reference_attention(testing::times(x, tensor(a + "wq")),
                                                    testing::times(x, tensor(a + "wk")),
                                                    testing::times(x, tensor(a + "wv")),
                                                    config_.heads, config_.kv_heads, true)
                           .output;
    return testing::times(shift(heads, prefix + "attn_join.bias_out"), tensor(a + "wo"));
  }
  Rows feed_forward(const std::string& prefix, const Rows& x) const {
    const std::string f = prefix + "ffn.", join = prefix + "ffn_join.";
    const auto activated = [&](const Rows& rows) {
      return testing::each(shift(rows, join + "bias_hidden"),
                           [&](double v) { return testing::activate(config_.activation, v); });
    };
    const Rows in = testing::times(x, tensor(f + "w_in"));
    const Rows hidden =
        config_.gated ? testing::product(activated(testing::times(x, tensor(f + "w_gate"))), in)
                      : activated(in);
    return testing::times(shift(hidden, join + "bias_out"), tensor(f + "w_out"));
  }
  Rows output(const Rows& x) const {
    const std::string& type = config_.softmax.id;
    if (type == "mixture") return mixture(x);
    return type == "adaptive" ? adaptive(x) : table(x);
  }
  Rows table(const Rows& x) const {
    const Rows logits = config_.tied_output ? testing::times_transposed(x, tensor("embed.weight"))
                                            : testing::times(x, tensor("output.weight"));
    const Tensor* bias = find("output.bias");
    return bias ? with_bias(logits, *bias, 0) : logits;
  }
  static Rows with_bias(Rows rows, const Tensor& bias, Index first) {
    for (Row& row : rows) {
      for (std::size_t c = 0; c < row.size(); ++c) {
        row[c] += static_cast<double>(bias[first + static_cast<Index>(c)]);
      }
    }
    return rows;
  }
  static Row softmax(const Row& logits) {
    double sum = 0;
    Row result;
    for (const double l : logits) sum += std::exp(l);
    for (const double l : logits) result.push_back(std::exp(l) / sum);
    return result;
  }
  Rows mixture(const Rows& x) const {
    const Rows states =
        testing::each(testing::times(x, tensor("output.mixture.w"), &tensor("output.mixture.b")),
                      [](double v) { return std::tanh(v); });
    const Rows priors = testing::times(x, tensor("output.mixture.prior"));
    const auto width = static_cast<std::size_t>(config_.width);
    Rows result;
    for (std::size_t r = 0; r < x.size(); ++r) {
      const Row prior = softmax(priors[r]);
      Row p(static_cast<std::size_t>(config_.vocabulary), 0.0);
      for (std::size_t k = 0; k < prior.size(); ++k) {
        const auto first = states[r].begin() + static_cast<std::ptrdiff_t>(k * width);
        const Row component =
            softmax(table({Row(first, first + static_cast<std::ptrdiff_t>(width))})[0]);
        for (std::size_t c = 0; c < p.size(); ++c) p[c] += prior[k] * component[c];
      }
      for (double& v : p) v = std::log(v);
      result.push_back(p);
    }
    return result;
  }
  Rows adaptive(const Rows& x) const {
    std::vector<Index> firsts = config_.softmax.values.get<std::vector<Index>>("cutoffs");
    firsts.insert(firsts.begin(), 0);
    Rows result(x.size()),
        choice = testing::times(x, tensor("output.choice.w"), &tensor("output.choice.b"));
    for (std::size_t c = 0; c < firsts.size(); ++c) {
      const std::string cluster = "output.cluster." + std::to_string(c) + ".";
      const Tensor* project = find(cluster + "project");
      Rows logits = testing::times_transposed(project ? testing::times(x, *project) : x,
                                              tensor(cluster + "table"));
      if (const Tensor* bias = find("output.bias")) logits = with_bias(logits, *bias, firsts[c]);
      for (std::size_t r = 0; r < x.size(); ++r) {
        Row all = logits[r];
        if (c == 0) all.insert(all.end(), choice[r].begin(), choice[r].end());
        const Row p = softmax(all);
        const std::size_t count = logits[r].size();
        if (c == 0) choice[r] = Row(p.begin() + static_cast<std::ptrdiff_t>(count), p.end());
        for (std::size_t t = 0; t < count; ++t) {
          result[r].push_back(std::log(c == 0 ? p[t] : choice[r][c - 1] * p[t]));
        }
      }
    }
    return result;
  }

  const Model& model_;
  const ModelConfig& config_;
};

const std::vector<std::int32_t> kIds{1, 5, 3, 10, 0, 7, 7, 2};
const Index kCount = static_cast<Index>(kIds.size());

TEST(Ingredients, AgreeWithDoublePrecision) {
  for (const std::string& members : ingredients()) {
    const Model model = make_random_model(config_of(members));
    const Tensor logits = forward(model, IntTensor::from({1, kCount}, kIds)).value();
    const Tensor expected = testing::tensor_of(Reference(model).logits(kIds));
    EXPECT_TRUE(testing::close(logits.reshaped(expected.shape()), expected, 2e-4)) << members;
  }
}

TEST(Ingredients, GradientsMatchFiniteDifferences) {
  for (const std::string& members : ingredients()) {
    Model model = make_random_model(config_of(members));
    for (auto& [name, weight] : model.weights) weight = Var::parameter(weight.value());
    const IntTensor ids = IntTensor::from({2, 4}, {1, 2, 3, 4, 5, 6, 7, 0});
    const IntTensor targets = IntTensor::from({2, 4}, {2, 3, 10, 5, 6, 7, 0, 1});
    const auto loss = [&] { return cross_entropy(forward(model, ids), targets); };
    backward(loss());
    const auto loss_value = [&] { return static_cast<double>(loss().value()[0]); };
    const testing::Differences settings{{1e-2f, 3e-3f, 1e-3f}, 2e-2, 4};
    for (auto& [name, weight] : model.weights) {
      ASSERT_TRUE(weight.gradient().defined()) << members << " " << name;
      EXPECT_TRUE(testing::is_gradient(weight.gradient(), weight.value(), loss_value, settings))
          << members << " " << name;
    }
  }
}

TEST(Ingredients, GiveSameLogitsWithCache) {
  for (const std::string& members : ingredients()) {
    const Model model = make_random_model(config_of(members));
    Generator generator(model, {});
    Tensor last_logits;
    for (const std::int32_t id : kIds) last_logits = generator.step({id});
    const Tensor all = forward(model, IntTensor::from({1, kCount}, kIds)).value();
    EXPECT_TRUE(
        testing::close(last_logits, all.reshaped({kCount, 11}).slice(kCount - 1, 1).reshaped({11})))
        << members;
  }
}

TEST(Ingredients, RoundTripThroughJson) {
  for (const std::string& members : ingredients()) {
    const ModelConfig config = config_of(members);
    EXPECT_EQ(model_config_from_json(to_json(config), "config"), config) << members;
  }
}

TEST(Activations, ReadNamesOfGatedForms) {
  EXPECT_EQ(config_of(R"({"activation": "glu"})").activation, Activation::Sigmoid);
  EXPECT_TRUE(config_of(R"({"activation": "reglu"})").gated);
  EXPECT_EQ(activation_label(Activation::Silu, true), "SwiGLU");
  EXPECT_EQ(activation_label(Activation::Selu, true), "SELU, gated");
  EXPECT_EQ(refusal_of(R"({"activation": "swiglu", "gated": false})"),
            "config: gated: expected true for activation \"swiglu\", found false");
}

TEST(Activations, AreListedInTheOrderOfTheEnum) {
  for (std::size_t n = 0; n < activations().size(); ++n) {
    EXPECT_EQ(activations()[n].type, static_cast<Activation>(n));
  }
  EXPECT_EQ(activations().back().type, Activation::Linear);
}

// ReZero and Fixup begin as the identity: the logits are those of the embedding.
TEST(ResidualConnections, BeginAsIdentity) {
  for (const char* type : {"rezero", "fixup"}) {
    const std::string members =
        R"({"norm": "none", "join": {"type": ")" + std::string(type) + "\"}}";
    const Model model = make_model(config_of(members), 1);
    const Tensor logits = forward(model, IntTensor::from({1, kCount}, kIds)).value();
    const Rows table = testing::rows_of(model.weights.at("embed.weight").value());
    Rows x;
    for (const std::int32_t id : kIds) x.push_back(table[static_cast<std::size_t>(id)]);
    const Tensor expected =
        testing::tensor_of(testing::times_transposed(x, model.weights.at("embed.weight").value()));
    EXPECT_TRUE(testing::close(logits.reshaped(expected.shape()), expected)) << type;
  }
}

// B = 4 blocks; attention has 4 matrices, a plain feed-forward 2, a gated one 3.
TEST(ResidualConnections, FixupScalesInitialMatrices) {
  const ResidualConnection& fixup = residual_connection("fixup");
  for (const bool gated : {false, true}) {
    ModelConfig config = config_of(R"({"norm": "none", "join": {"type": "fixup"}})");
    config.gated = gated;
    EXPECT_NEAR(fixup.deviation(config, {"attn", "v", 8}),
                std::sqrt(1.0 / 8) * std::pow(4.0, -1.0 / 6), 1e-12);
    EXPECT_NEAR(fixup.deviation(config, {"ffn", "_in", 8}),
                std::sqrt(2.0 / 8) * std::pow(4.0, gated ? -1.0 / 4 : -1.0 / 2), 1e-12);
    EXPECT_EQ(fixup.deviation(config, {"attn", "o", 8}), 0);
    EXPECT_EQ(fixup.deviation(config, {"ffn", "_out", 10}), 0);
  }
}

TEST(ResidualConnections, FixupIsSelectedWithoutNorms) {
  const Model model = make_model(config_of("{}"), 1);
  Structure structure;
  structure.residual_connection = default_choice(residual_connection("fixup"));
  const Model changed = with_structure(model, structure);
  EXPECT_EQ(changed.config.norm, Norm::None);
  EXPECT_FALSE(changed.weights.contains("final_norm.weight"));
  EXPECT_TRUE(changed.weights.contains("layers.0.ffn_join.bias_hidden"));
  EXPECT_FALSE(changed.weights.contains("layers.0.attn_join.bias_hidden"));
  EXPECT_NE(refusal_of(R"({"join": {"type": "fixup"}})").find("expected norm \"none\""),
            std::string::npos);
}

TEST(OutputSoftmaxes, GiveProbabilities) {
  for (
      const char* members :
      {R"({"softmax": {"type": "mixture"}})",
       R"({"softmax": {"type": "adaptive", "cutoffs": [3, 7], "narrowing": 2}, "tied_output": false})"}) {
    const Model model = make_random_model(config_of(members));
    const Tensor logits = forward(model, IntTensor::from({1, 3}, {1, 2, 3})).value();
    for (Index row = 0; row < 3; ++row) {
      double sum = 0;
      for (Index t = 0; t < 11; ++t) sum += std::exp(static_cast<double>(logits[row * 11 + t]));
      EXPECT_NEAR(sum, 1, 1e-5) << members;
    }
  }
}

// The matrix of log-probabilities of one softmax has rank d at most, plus one for its normaliser;
// that of a mixture does not.
TEST(OutputSoftmaxes, MixtureExceedsRankOfWidth) {
  const auto has_rank_of_width = [](const std::string& members) {
    const ModelConfig config = config_of(members);
    const Model model = make_random_model(config);
    std::vector<std::int32_t> ids{0, 1, 2, 3, 4, 5};
    const Tensor logits = forward(model, IntTensor::from({1, 6}, ids)).value();
    Rows rows = testing::rows_of(logits.reshaped({6, 11}));
    // Gaussian elimination of the differences to the first token's log-probability.
    for (Row& row : rows) {
      const double first = row[0];
      for (double& v : row) v -= first;
    }
    std::size_t rank = 0;
    for (std::size_t column = 0; column < 11 && rank < rows.size(); ++column) {
      std::size_t best = rank;
      for (std::size_t r = rank; r < rows.size(); ++r) {
        if (std::abs(rows[r][column]) > std::abs(rows[best][column])) best = r;
      }
      if (!(std::abs(rows[best][column]) > 1e-4)) continue;
      std::swap(rows[rank], rows[best]);
      for (std::size_t r = rank + 1; r < rows.size(); ++r) {
        const double factor = rows[r][column] / rows[rank][column];
        for (std::size_t c = column; c < 11; ++c) rows[r][c] -= factor * rows[rank][c];
      }
      ++rank;
    }
    return rank <= 4;
  };
  const std::string narrow = R"("width": 4, "heads": 1, "head_size": 4)";
  EXPECT_TRUE(has_rank_of_width("{" + narrow + "}"));
  EXPECT_FALSE(
      has_rank_of_width("{" + narrow + R"(, "softmax": {"type": "mixture", "components": 3}})"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
