// Compares the gradients of every operation in operation_names() with finite differences. The test
// fails if an operation has no case.
//
// Each case provides inputs and a function of them. The gradient of a random projection of the
// function's result is compared with central differences. Projections are summed in double
// precision.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "core/attention/attention_operation.h"
#include "core/attention/variants/shared/causal_matching.h"
#include "core/attention/variants/shared/feature_weights.h"
#include "core/attention/variants/shared/gated_sums.h"
#include "core/attention/variants/shared/selective_scan.h"
#include "core/attention/variants/shared/wkv.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/autodiff/var.h"
#include "core/model/model.h"
#include "core/model/residual_connection.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::random_tensor;

struct Case {
  std::vector<Tensor> inputs;
  std::function<Var(const std::vector<Var>&)> compute;
  float step = 1e-2f;
  double tolerance = 2e-3;               // relative to the largest gradient
  std::set<std::size_t> inert_inputs{};  // indices of inputs without effect on the result
};

void check_gradients(const std::string& name, const Case& c) {
  std::vector<Var> parameters, shifted;
  for (const Tensor& input : c.inputs) {
    parameters.push_back(Var::parameter(input.copy()));
    shifted.emplace_back(input.copy());
  }
  const Var result = c.compute(parameters);
  const Tensor weights = random_tensor(result.shape(), 99);
  backward(sum(multiply(result, weights)));
  const auto f = [&] { return testing::projected(c.compute(shifted).value(), weights); };
  for (std::size_t input = 0; input < c.inputs.size(); ++input) {
    const Tensor& values = shifted[input].value();
    const Tensor gradient = parameters[input].gradient();
    const testing::Differences options{{c.step}, c.tolerance, values.size()};
    ASSERT_TRUE(gradient.defined()) << name << " input " << input;
    if (c.inert_inputs.contains(input)) {
      EXPECT_TRUE(testing::has_no_gradient(gradient, values, f, 1e-4, options))
          << name << " input " << input;
    } else {
      EXPECT_TRUE(testing::is_gradient(gradient, values, f, options)) << name << " input " << input;
    }
  }
  // Gradients must accumulate onto an existing gradient, even if it is shared.
  std::vector<Tensor> first_gradients;
  for (const Var& parameter : parameters) first_gradients.push_back(parameter.gradient().copy());
  for (int pass = 2; pass <= 3; ++pass) {
    backward(sum(multiply(c.compute(parameters), weights)));
    for (std::size_t input = 0; input < c.inputs.size(); ++input) {
      if (c.inert_inputs.contains(input)) continue;
      Tensor expected = first_gradients[input].copy();
      for (float& g : expected) g *= static_cast<float>(pass);
      EXPECT_TRUE(testing::same_gradient(parameters[input].gradient(), expected, 1e-4))
          << name << " input " << input << ", accumulated over " << pass << " passes";
    }
  }
}

// Numbers of magnitude 0.3 to 2 with both signs, away from kinks and poles.
Tensor away_from_zero(Shape shape, std::uint64_t seed) {
  Tensor t = random_tensor(std::move(shape), seed);
  for (float& v : t) v = std::copysign(0.3f + std::min(std::abs(v), 1.7f), v);
  return t;
}

Tensor positive(Shape shape, std::uint64_t seed) {
  Tensor t = away_from_zero(std::move(shape), seed);
  for (float& v : t) v = std::abs(v);
  return t;
}

using Binary = Var (*)(const Var&, const Var&);
std::vector<Case> binary_cases(Binary f) {
  const auto compute = [f](const std::vector<Var>& in) { return f(in[0], in[1]); };
  std::vector<Case> cases;
  const std::vector<std::pair<Shape, Shape>> shapes{
      {{3, 5}, {3, 5}},       {{2, 3, 5}, {5}}, {{5}, {2, 3, 5}}, {{2, 3, 5}, {3, 1}},
      {{4, 1}, {1, 7}},       {{}, {3}},        {{1}, {1}},       {{2, 1, 3, 1}, {5, 1, 2}},
      {{2, 3, 4}, {2, 1, 4}}, {{3, 67}, {67}}};
  for (const auto& [a, b] : shapes) {
    cases.push_back({{away_from_zero(a, 1), away_from_zero(b, 2)}, compute, 1e-2f, 5e-3});
  }
  return cases;
}

using Unary = Var (*)(const Var&);
std::vector<Case> unary_cases(Unary f, const std::function<Tensor(Shape, std::uint64_t)>& numbers) {
  const auto compute = [f](const std::vector<Var>& in) { return f(in[0]); };
  return {{{numbers({37}, 1)}, compute}, {{numbers({2, 1, 3}, 2)}, compute}};
}

std::vector<Case> linear_cases(Binary f, bool is_transposed) {
  const auto compute = [f](const std::vector<Var>& in) { return f(in[0], in[1]); };
  const auto b = [&](Shape shape) {
    if (is_transposed) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    return random_tensor(shape, 2);
  };
  return {{{random_tensor({3, 5}, 1), b({5, 4})}, compute},
          {{random_tensor({5}, 1), b({5, 4})}, compute},
          {{random_tensor({1, 1}, 1), b({1, 1})}, compute},
          {{random_tensor({2, 3, 17}, 1), b({17, 1})}, compute},
          {{random_tensor({3, 2, 5}, 1), b({3, 5, 7})}, compute}};
}

using VarFunction = std::function<Var(const Var&)>;
Case unary_case(Shape shape, VarFunction f) {
  return {{random_tensor(std::move(shape), 1)},
          [f = std::move(f)](const std::vector<Var>& in) { return f(in[0]); }};
}

// Returns cosines and sines [rows, pairs] of the angles 0.7 n, where n is the element's index.
std::pair<Tensor, Tensor> angles(Index rows, Index pairs) {
  Tensor cosine({rows, pairs}), sine({rows, pairs});
  for (Index i = 0; i < cosine.size(); ++i) {
    cosine[i] = std::cos(0.7f * static_cast<float>(i));
    sine[i] = std::sin(0.7f * static_cast<float>(i));
  }
  return {cosine, sine};
}

Case rotate_case(Shape shape, Index pairs, bool is_interleaved) {
  const auto [cosine, sine] = angles(shape[shape.size() - 2], pairs);
  return unary_case(
      shape, [=, c = cosine, s = sine](const Var& x) { return rotate(x, c, s, is_interleaved); });
}

std::vector<Case> norm_cases(bool is_layer_norm) {
  std::vector<Case> cases;
  for (const Shape& shape : {Shape{3, 5}, Shape{2, 2, 33}, Shape{1, 2}, Shape{70}}) {
    const Shape d{shape.back()};
    Case c{{random_tensor(shape, 1), random_tensor(d, 2), random_tensor(d, 3)},
           [](const std::vector<Var>& in) { return layer_norm(in[0], in[1], in[2], 1e-2); },
           3e-3f,
           5e-3};
    if (!is_layer_norm) {
      c.inputs.pop_back();
      c.compute = [](const std::vector<Var>& in) { return rms_norm(in[0], in[1], 1e-5); };
    }
    cases.push_back(c);
  }
  if (is_layer_norm) {
    cases.push_back(
        {{random_tensor({3, 5}, 1), random_tensor({5}, 2)},
         [](const std::vector<Var>& in) { return layer_norm(in[0], in[1], Var(), 1e-5); },
         3e-3f,
         5e-3});
  }
  return cases;
}

// Covers grouped heads and a bias. tests/core/attention covers the other ingredients.
Case attention_case(Index queries, Index keys) {
  return {{random_tensor({4, queries, 3}, 1), random_tensor({2, keys, 3}, 2),
           random_tensor({2, keys, 2}, 3), random_tensor({2, 4}, 4)},
          [=](const std::vector<Var>& in) {
            Part part;
            part.batch = part.heads = 2;
            part.q = in[0];
            part.k = in[1];
            part.v = in[2];
            part.scale = 0.5f;
            const OffsetIndex index{-1, {0, 1, 2, 3}};
            part.bias = OffsetTable{in[3], std::make_shared<const OffsetIndex>(index)};
            part.pattern = std::make_shared<const Pattern>(Pattern::causal(queries, keys, 1));
            return attention(part, cpu_backend(), {}, nullptr);
          }};
}

Case feature_weights_case(bool causal, Index exponents) {
  return {{random_tensor({4, 3, 5}, 1), random_tensor({4, 3, exponents}, 2),
           random_tensor({4, 3, 5}, 3), random_tensor({4, 3, exponents}, 4)},
          [=](const std::vector<Var>& in) {
            const auto positive = [](const Var& x) {
              return add(multiply(x, x), Var(Tensor::full({1}, 0.5f)));
            };
            Features q, k;
            q.mantissa = positive(in[0]);
            q.exponents = in[1];
            k.mantissa = positive(in[2]);
            k.exponents = in[3];
            const auto pattern = std::make_shared<const Pattern>(causal ? Pattern::causal(3, 3)
                                                                        : Pattern::all(3, 3));
            return feature_weights(q, k, pattern, 2);
          }};
}

// Two items of a batch with two heads; `spread`: magnitude of the keys.
Case wkv_case(Index length, double spread) {
  const Shape rows{4, length, 3};
  return {{random_tensor(rows, 1, spread), random_tensor(rows, 2), random_tensor({2, 3}, 3),
           random_tensor({2, 3}, 4)},
          [](const std::vector<Var>& in) { return wkv(in[0], in[1], in[2], in[3]); },
          3e-3f};
}

Case selective_scan_case(Index length) {
  const Shape rows{4, length, 3};
  return {{positive(rows, 1), random_tensor({2, 3, 2}, 2), random_tensor({2, length, 2}, 3),
           random_tensor({2, length, 2}, 4), random_tensor(rows, 5)},
          [](const std::vector<Var>& in) {
            return selective_scan({in[0], scale(exp(in[1]), -1), in[2], in[3]}, in[4]);
          },
          5e-3f};
}

// A model that recomputes its layers in the backward pass. The inputs are its token vectors and one
// matrix of each layer.
Case recomputing_case(const Choice& residual_connection, const ForwardOptions& options) {
  ModelConfig config = testing::small_config(
      {.vocabulary = 5, .context = 6, .layers = 2, .heads = 1, .head_size = 4, .hidden = 6});
  config.residual_connection = residual_connection;
  Model model = make_model(config, 3);
  for (auto& [name, weight] : model.weights) {  // large enough for measurable differences
    if (weight.rank() == 2) weight = scale(weight, 25);
  }
  const std::vector<std::string> names{"embed.weight", "layers.0.attn.wv", "layers.1.ffn.w_in"};
  Case c;
  for (const std::string& name : names) {
    const Shape shape = model.weights.find(name)->second.shape();
    c.inputs.push_back(random_tensor(shape, c.inputs.size() + 1));
  }
  c.compute = [model, names, options](const std::vector<Var>& in) {
    Model modified = model;
    for (std::size_t n = 0; n < names.size(); ++n) modified.weights[names[n]] = in[n];
    return forward(modified, IntTensor::from({1, 4}, {0, 1, 2, 4}), options);
  };
  c.step = 2e-2f;  // smaller steps have more rounding error, larger steps more truncation error
  c.tolerance = 5e-4;
  return c;
}

Case reversible_case() {
  Choice join = default_choice(residual_connection("reversible"));
  join.values.set("chunks", Index{2});
  return recomputing_case(join, {});
}

Case recomputed_layer_case() {
  ForwardOptions options;
  options.recomputes_layers = true;
  return recomputing_case(default_residual_connection(), options);
}

std::map<std::string_view, std::vector<Case>> all_cases() {
  const auto normal_numbers = [](Shape shape, std::uint64_t seed) {
    return random_tensor(std::move(shape), seed, 2);
  };
  std::map<std::string_view, std::vector<Case>> cases;
  cases["matmul"] = linear_cases(matmul, false);
  cases["matmul_transposed"] = linear_cases(matmul_transposed, true);

  cases["add"] = binary_cases(add);
  cases["subtract"] = binary_cases(subtract);
  cases["multiply"] = binary_cases(multiply);
  cases["divide"] = binary_cases(divide);
  cases["scale"] = {unary_case({2, 3}, [](const Var& x) { return scale(x, -2.5f); })};
  cases["relu"] = unary_cases(relu, away_from_zero);
  cases["clamp"] = unary_cases([](const Var& x) { return clamp(x, 0, 10); }, away_from_zero);
  for (Case& clamped : unary_cases([](const Var& x) { return clamp(x, -10, 0); }, away_from_zero)) {
    cases["clamp"].push_back(clamped);
  }
  cases["gelu"] = unary_cases(gelu, normal_numbers);
  cases["gelu_tanh"] = unary_cases(gelu_tanh, normal_numbers);
  cases["silu"] = unary_cases(silu, normal_numbers);
  cases["tanh"] = unary_cases(tanh, normal_numbers);
  cases["sigmoid"] = unary_cases(sigmoid, normal_numbers);
  cases["softplus"] = unary_cases(softplus, normal_numbers);
  cases["elu"] = unary_cases([](const Var& x) { return elu(x, 1.7f); }, away_from_zero);
  cases["exp"] = unary_cases(exp, normal_numbers);
  cases["log"] = unary_cases(log, positive);
  cases["sine"] = unary_cases(sine, normal_numbers);
  cases["cosine"] = unary_cases(cosine, normal_numbers);
  cases["dropout"] = {unary_case({7, 9}, [](const Var& x) { return dropout(x, 0.4, 7); })};

  cases["reshape"] = {unary_case({2, 6}, [](const Var& x) { return reshape(x, {3, 1, 4}); })};
  cases["permute"] = {unary_case({2, 3, 4},
                                 [](const Var& x) {
                                   return permute(x, {2, 0, 1});
                                 }),
                      unary_case({2, 3, 4},
                                 [](const Var& x) {
                                   return permute(x, {1, 0, -1});
                                 }),
                      unary_case({3, 5}, [](const Var& x) { return transpose(x); }),
                      unary_case({3}, [](const Var& x) { return permute(x, {0}); })};
  for (const Index axis : {0, 1, -1}) {
    Shape a{2, 3, 4}, b{2, 3, 4};
    b[static_cast<std::size_t>(axis < 0 ? axis + 3 : axis)] = 5;
    cases["concat"].push_back(
        {{random_tensor(a, 1), random_tensor(b, 2)}, [axis](const std::vector<Var>& in) {
           return concat({in[0], in[1], in[0]}, axis);
         }});
    cases["slice"].push_back(
        unary_case({3, 4, 5}, [axis](const Var& x) { return slice(x, axis, 1, 2); }));
  }
  const IntTensor ids = IntTensor::from({2, 3}, {0, 4, 4, 1, 0, 4});
  cases["gather"] = {unary_case({5, 3}, [ids](const Var& x) { return gather(x, ids); }),
                     unary_case({5, 1}, [ids](const Var& x) { return gather(x, ids); })};
  cases["split_heads"] = {unary_case({2, 3, 8}, [](const Var& x) { return split_heads(x, 4); }),
                          unary_case({1, 5, 3}, [](const Var& x) { return split_heads(x, 1); })};
  cases["merge_heads"] = {unary_case({8, 3, 2}, [](const Var& x) { return merge_heads(x, 4); }),
                          unary_case({3, 1, 1}, [](const Var& x) { return merge_heads(x, 3); })};
  cases["rotate"] = {rotate_case({2, 3, 8}, 4, true), rotate_case({2, 3, 8}, 4, false),
                     rotate_case({3, 7}, 2, true), rotate_case({3, 7}, 2, false)};

  cases["sum"] = {unary_case({3, 5}, [](const Var& x) { return sum(x); })};
  cases["mean"] = {unary_case({3, 5}, [](const Var& x) { return mean(x); })};
  for (const Index axis : {0, 1, 2, -1}) {
    cases["sum_axis"].push_back(
        unary_case({2, 3, 4}, [axis](const Var& x) { return sum_axis(x, axis); }));
  }
  for (const Shape& shape : {Shape{3, 5}, Shape{1}, Shape{2, 1, 67}, Shape{32}}) {
    cases["softmax"].push_back(unary_case(shape, [](const Var& x) { return softmax(x); }));
    cases["log_softmax"].push_back(unary_case(shape, [](const Var& x) { return log_softmax(x); }));
    if (shape.back() > 1) continue;
    cases["softmax"].back().inert_inputs = {0};  // the result is 1 for any input
    cases["log_softmax"].back().inert_inputs = {0};
  }
  for (const Shape& shape : {Shape{3, 5}, Shape{2}, Shape{2, 1, 67}}) {
    cases["unit_rows"].push_back(unary_case(shape, [](const Var& x) { return unit_rows(x); }));
  }
  cases["cross_entropy"] = {
      unary_case({2, 2, 5},
                 [](const Var& x) {
                   return cross_entropy(x, IntTensor::from({2, 2}, {0, 4, -1, 2}));
                 }),
      unary_case({67}, [](const Var& x) { return cross_entropy(x, IntTensor::from({}, {66})); })};
  cases["layer_norm"] = norm_cases(true);
  cases["rms_norm"] = norm_cases(false);

  cases["attention"] = {attention_case(1, 1), attention_case(5, 6), attention_case(7, 4)};
  cases["attention"].front().inert_inputs = {0, 1, 3};  // a single key has all the weight
  cases["gate_exponents"] = {
      unary_case({2, 5}, [](const Var& x) { return gate_exponents(x).exponents; })};
  cases["feature_weights"] = {feature_weights_case(false, 5), feature_weights_case(true, 5),
                              feature_weights_case(true, 1)};
  // With a single exponent per query, the exponent cancels in the ratio.
  cases["feature_weights"].back().inert_inputs = {1};
  cases["causal_matching"] = {
      unary_case({2, 5, 5}, [](const Var& x) { return causal_matching(x, 3); }),
      unary_case({1, 4, 4}, [](const Var& x) { return causal_matching(x, 1); })};
  cases["wkv"] = {wkv_case(5, 1), wkv_case(5, 40), wkv_case(2, 1)};
  cases["wkv"].back().inert_inputs = {2};  // without a token further back, nothing decays
  cases["selective_scan"] = {selective_scan_case(5), selective_scan_case(1)};
  cases["selective_scan"].back().inert_inputs = {1};  // a single token does not decay
  cases["reversible"] = {reversible_case()};
  cases["recomputed_layer"] = {recomputed_layer_case()};
  return cases;
}

TEST(Operations, MatchFiniteDifferences) {
  const auto cases = all_cases();
  for (const std::string_view name : operation_names()) {
    const auto it = cases.find(name);
    if (it == cases.end()) {
      ADD_FAILURE() << "operation \"" << name << "\" has no case";
      continue;
    }
    for (const Case& c : it->second) check_gradients(std::string(name), c);
  }
  EXPECT_EQ(cases.size(), operation_names().size()) << "some cases are for unknown operations";
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
