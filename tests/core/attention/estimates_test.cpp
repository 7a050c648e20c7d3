// Compares properties of variants with golden files: estimates of memory, columns and cost,
// weights, illustrative lengths and parameters, refusals and results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/attention/variant.h"
#include "core/base/json.h"
#include "tests/core/attention/operation_cases.h"
#include "tests/support/compare.h"
#include "tests/support/golden.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Additional test cases that value_cases() does not contain, as JSON choices.
const std::vector<const char*>& additional_choices() {
  static const std::vector<const char*> list{
      R"({"type": "local", "window": 3, "dilation": 2})",
      R"({"type": "longformer", "window": 3, "global": [1, 5], "projections": "own"})",
      R"({"type": "bigbird", "block": 3, "window_blocks": 1, "global_blocks": 1, "random_blocks": 2,
          "by_head": true})",
      R"({"type": "bigbird", "block": 3, "window_blocks": 1, "global_blocks": 1,
          "random_blocks": 9})",
      R"({"type": "lsh", "buckets": 12, "rounds": 3, "factor": 6, "chunk": 5, "before": 2,
          "after": 1})",
      R"({"type": "lsh", "buckets": 12, "rounds": 3, "chunk": 2, "before": 0})",
      R"({"type": "lsh", "buckets": 4, "rounds": 7})",
      R"({"type": "lsh", "buckets": 4, "rounds": 3, "form": "released", "chunk": 2, "before": 2,
          "after": 1})",
      R"({"type": "routing", "clusters": 3})",
      R"({"type": "routing", "clusters": 5, "shared": true})",
      R"({"type": "sinkhorn", "block": 3, "iterations": 4})",
      R"({"type": "rfa", "features": 5, "gate": true})",
      R"({"type": "performer", "features": 5, "kind": "trig"})",
      R"({"type": "performer", "features": 5, "orthogonal": false})",
      R"({"type": "memory_compressed", "stride": 4})",
      R"({"type": "linformer", "k": 6, "mode": "convolution"})",
      R"({"type": "linformer", "k": 6, "share": "key_value"})",
      R"({"type": "compressive", "rate": 3})",
      R"({"type": "compressive", "rate": 2, "function": "convolution", "auto_encoding": 0.5})",
      R"({"type": "compressive", "rate": 2, "memory": 5, "compressed": 3})",
      R"({"type": "adaptive_span", "span": 9, "ramp": 3, "dynamic": true})",
      R"({"type": "adaptive_span", "span": 9, "ramp": 3})",
      R"({"type": "dynamic_convolution", "width": 4})",
      R"({"type": "hopfield", "steps": 2})",
      R"({"type": "memorizing", "top": 3})",
      R"({"type": "synthesizer", "mode": "random"})",
      R"({"type": "graph", "from": "chain"})"};
  return list;
}

std::vector<Choice> all_choices(const Variant& v) {
  std::vector<Choice> choices;
  for (const Values& values : testing::value_cases(v.parameters)) {
    choices.push_back(testing::small_choice(v, values));
  }
  for (const char* json : additional_choices()) {
    const Choice choice = variant_from_json(Json::parse(json), "variant");
    if (choice.id == v.id) choices.push_back(choice);
  }
  return choices;
}

std::string format_number(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.10g", x);
  return text;
}

// Describes the values that differ from `reference`.
std::string describe_changes(const Variant& v, const Values& values, const Values& reference) {
  const Json changed = to_json(Choice{v.id, values}), original = to_json(Choice{v.id, reference});
  std::string text;
  for (const auto& [key, value] : changed.items()) {
    const Json* original_value = original.find(key);
    if (original_value == nullptr || !(original_value->dump() == value.dump()))
      text += " " + key + "=" + value.dump();
  }
  return text.empty() ? " all defaults" : text;
}

// Norm of a tensor, and sums of its numbers weighted by index from both ends.
std::string summary(const Tensor& x) {
  double squares = 0, forwards = 0, backwards = 0;
  for (Index n = 0; n < x.size(); ++n) {
    squares += static_cast<double>(x[n]) * static_cast<double>(x[n]);
    forwards += static_cast<double>(x[n]) * static_cast<double>(n + 1);
    backwards += static_cast<double>(x[n]) * static_cast<double>(x.size() - n);
  }
  char text[80];
  std::snprintf(text, sizeof text, "%.3g %.3g %.3g", std::sqrt(squares), forwards, backwards);
  return text;
}

TEST(Estimates, MatchGolden) {
  const Dimensions sizes{.model = 24,
                         .heads = 6,
                         .kv_heads = 3,
                         .key = 4,
                         .value = 5,
                         .context = 30,
                         .batch = 2,
                         .memory = 8,
                         .old_memory = 9};
  const Dimensions small_sizes{.model = 6,
                               .heads = 3,
                               .kv_heads = 3,
                               .key = 4,
                               .value = 4,
                               .context = 12,
                               .memory = 2,
                               .old_memory = 4};
  std::string text;
  for (const Variant& v : variants()) {
    const Values defaults = default_values(v.parameters);
    text += v.id + "\n";
    for (const Choice& choice : all_choices(v)) {
      text += " with" + describe_changes(v, choice.values, defaults) + "\n";
      if (v.cost.bytes) {
        text += "  bytes";
        for (const auto& [queries, keys] : {std::pair<Index, Index>{7, 7}, {40, 50}}) {
          for (const int case_number : {0, 1, 2}) {
            text += " " + format_number(v.cost.bytes({.values = choice.values,
                                                      .batch = case_number == 1 ? 1 : 2,
                                                      .heads = case_number == 2 ? 1 : 3,
                                                      .queries = queries,
                                                      .keys = keys,
                                                      .key_size = 5,
                                                      .causal = case_number == 1,
                                                      .maps = case_number == 2}));
          }
        }
        text += "\n";
      }
      if (v.cost.columns) {
        text += "  columns of 0, 1, 2, 5, 16, 23 keys";
        for (const Index keys : {0, 1, 2, 5, 16, 23}) {
          text += " " + std::to_string(v.cost.columns(choice.values, keys));
        }
        text += "\n";
      }
      for (const WeightInfo& w : v.weights) {
        if (!v.uses(w, choice.values)) continue;
        text += "  " + w.name + " " + to_string(w.shape(sizes, choice.values));
        Dimensions inner_sizes = sizes;
        inner_sizes.inner = 7;
        const Shape inner_shape = w.shape(inner_sizes, choice.values);
        if (inner_shape != w.shape(sizes, choice.values)) text += " or " + to_string(inner_shape);
        const Shape shape = w.shape(small_sizes, choice.values);
        if (w.initial)
          text += " initial " + summary(w.initial(shape, small_sizes, choice.values, 3));
        if (w.illustrative) {
          text += " illustrative " +
                  summary(w.illustrative(shape, {.dimensions = small_sizes}, choice.values));
        }
        if (w.training.max) text += " at most " + format_number(w.training.max(choice.values));
        text += "\n";
      }
      const Needs needs = v.inputs.needs(choice.values);
      text += std::string("  needs") + (needs.queries ? " queries" : "") +
              (needs.keys ? " keys" : "") + (needs.values ? " values" : "") +
              (needs.input ? " input" : "") +
              (v.causality.incremental(choice.values) ? ", incremental" : "") +
              (is_pattern_only(v, choice.values) ? ", a pattern alone" : "") +
              (v.scores.has_terms(choice.values) ? ", terms" : "") +
              (v.scores.has_softmax(choice.values) ? ", scores" : "") +
              (v.encodings.accepts_pairs(choice.values) ? ", pairs" : "") +
              (v.memory.needs_attention(choice.values) ? ", remembers attention" : "") +
              (v.scores.weights_from(choice.values) != WeightsFrom::Pairs
                   ? ", weights from " +
                         std::to_string(static_cast<int>(v.scores.weights_from(choice.values)))
                   : "") +
              "\n";
    }
    std::vector<std::string> entries;
    for (const Index length : {1, 6, 20, 100, 4096}) {
      std::string entry = "at " + std::to_string(length) + ": " +
                          format_number(v.cost.growth.at(static_cast<double>(length)));
      if (v.defaults.length) entry += ", a picture of " + std::to_string(v.defaults.length(length));
      if (v.cost.growth.sizes) {
        Values values = defaults;
        v.cost.growth.sizes(values, length);
        entry += ", " + describe_changes(v, values, defaults);
      }
      std::string illustrated;
      for (const Parameter& p : v.parameters) {
        if (!p.illustrative_default) continue;
        Values values = defaults;
        values.set(p.key, p.illustrative_default(length));
        illustrated += " " + describe_changes(v, values, defaults);
      }
      if (!illustrated.empty()) entry += "; illustrated with" + illustrated;
      entries.push_back(entry);
    }
    text += testing::wrapped_entries(entries);
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/attention/estimates.txt"));
}

// Cost of each head of an operation.
TEST(Costs, MatchGolden) {
  std::string text;
  for (const Variant& v : variants()) {
    if (!v.cost.head) continue;
    for (const Choice& choice : all_choices(v)) {
      const bool causal = v.causality.refusal.empty();
      const testing::OperationSizes sizes =
          testing::compatible_sizes({}, choice, default_encoding(), causal);
      const std::string reason = refusal(choice, default_encoding(), causal,
                                         testing::dimensions(sizes), sizes.length, sizes.length);
      if (!reason.empty()) continue;
      const OperationInput input =
          testing::random_operation(sizes, choice, default_encoding(), causal, 5);
      const OperationResult result =
          evaluate(input, cpu_backend(), {.output = true, .attention = true});
      text += v.id + describe_changes(v, choice.values, default_values(v.parameters)) + ":";
      for (Index head = 0; head < sizes.heads; ++head) {
        text += " " + format_number(v.cost.head({.values = choice.values,
                                                 .result = result,
                                                 .head = head,
                                                 .queries = 16,
                                                 .keys = 16,
                                                 .key_size = 4,
                                                 .value_size = 3,
                                                 .pairs = 101}));
      }
      text += "\n";
    }
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/attention/costs.txt"));
}

// Refused values of each integer parameter, and reasons for refusals at lengths 0, 8 and 9. All
// other parameters have defaults.
TEST(Refusals, MatchGolden) {
  std::string text;
  Dimensions sizes;
  sizes.model = 8;
  sizes.heads = sizes.kv_heads = 2;
  sizes.key = sizes.value = 4;
  // Writes one line per reason. Skips values outside of a parameter's limits, which another golden
  // file covers.
  std::set<std::pair<std::string, std::string>> refused_defaults;
  const auto add_refusals = [&](const Choice& choice, const std::string& label) {
    std::map<std::string, std::string> lengths_by_reason;
    for (const bool causal : {false, true}) {
      for (const Index length : {0, 8, 9}) {
        const std::string reason =
            refusal(choice, default_encoding(), causal, sizes, length, length);
        if (reason.empty() || reason.find("expected an integer") != std::string::npos) continue;
        lengths_by_reason[reason] += (causal ? " causal " : " ") + std::to_string(length);
      }
    }
    std::erase_if(lengths_by_reason,
                  [&](const auto& entry) { return refused_defaults.contains(entry); });
    for (const auto& [reason, lengths] : lengths_by_reason) {
      text += " " + label + ":" + lengths + ": " + reason + "\n";
    }
    return lengths_by_reason;
  };
  for (const Variant& v : variants()) {
    text += v.id + "\n";
    const Choice default_choice{v.id, default_values(v.parameters)};
    refused_defaults.clear();
    const auto default_refusals = add_refusals(default_choice, "all defaults");
    refused_defaults.insert(default_refusals.begin(), default_refusals.end());
    for (const Parameter& p : v.parameters) {
      if (p.kind != Parameter::Kind::Integer || !default_choice.values.has(p.key)) continue;
      for (const Index n : {0, 1, 2, 3, 4, 5, 8, 9, 10}) {
        Choice choice = default_choice;
        choice.values.set(p.key, n);
        add_refusals(choice, p.key + "=" + std::to_string(n));
      }
    }
    for (const Choice& choice : all_choices(v))
      add_refusals(choice, describe_changes(v, choice.values, default_choice.values));
  }
  for (
      const char* json :
      {R"({"type": "etc", "global": 8, "radius": 1})",
       R"({"type": "etc", "global": 9, "radius": 1})",
       R"({"type": "etc", "global": 2, "radius": 1, "segments": [0, 1, 0, 1, 0, 1]})",
       R"({"type": "etc", "global": 2, "radius": 1, "segments": [0, 1, 0, 1, 0, 2]})",
       R"({"type": "etc", "global": 2, "radius": 1, "segments": [0, 1, 0, 1, 0, 1, 1]})",
       R"({"type": "longformer", "window": 1, "global": [7]})",
       R"({"type": "longformer", "window": 1, "global": [8]})",
       R"({"type": "bigbird", "block": 3, "window_blocks": 1, "global_blocks": 0,
            "random_blocks": 1, "random": [[0], [1], [2]]})",
       R"({"type": "bigbird", "block": 3, "window_blocks": 1, "global_blocks": 0,
            "random_blocks": 1, "random": [[0], [1], [3]]})",
       R"({"type": "bigbird", "block": 3, "window_blocks": 1, "global_blocks": 0,
            "random_blocks": 1, "random": [[0], [1]]})",
       R"({"type": "blockwise", "blocks": 2, "permutations": [[0, 1], [1, 0]]})",
       R"({"type": "blockwise", "blocks": 2, "permutations": [[0, 1]]})",
       R"({"type": "blockwise", "blocks": 2, "permutations": [[0, 1], [1, 1]]})",
       R"({"type": "blockwise", "blocks": 2, "permutations": [[0, 1], [1, 2]]})",
       R"({"type": "blockwise", "blocks": 2, "permutations": [[0, 1], [1]]})",
       R"({"type": "image_2d", "width": 3, "height": 3, "block_h": 1, "block_w": 1, "top": 0,
            "left": 0, "right": 0})",
       R"({"type": "swin", "width": 3, "height": 3, "window": 2})",
       R"({"type": "graph", "from": "edges", "edges": [[0, 1], [1, 2, 3]]})",
       R"({"type": "graph", "from": "edges", "edges": [[0, 1]]})",
       R"({"type": "lsh", "buckets": 8, "rounds": 1, "factor": 2})",
       R"({"type": "lsh", "buckets": 12, "rounds": 1, "factor": 4})",
       R"({"type": "lsh", "buckets": 8, "rounds": 1, "factor": 3})",
       R"({"type": "lsh", "buckets": 8, "rounds": 1, "factor": 6})",
       R"({"type": "lsh", "buckets": 8, "rounds": 1, "form": "released", "chunk": 0})",
       R"({"type": "lsh", "buckets": 8, "rounds": 1, "form": "released", "chunk": 1})",
       R"({"type": "lsh", "buckets": 8, "rounds": 1, "form": "released", "chunk": 4, "fill": 8})",
       R"({"type": "lsh", "buckets": 8, "rounds": 1, "form": "released", "chunk": 4, "fill": 6})"}) {
    text += std::string(json) + "\n";
    add_refusals(variant_from_json(Json::parse(json), "variant"), "lengths");
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/attention/refusals.txt"));
}

// Results of operations besides the output: column kinds, pairs per rule, extras.
TEST(Reports, MatchGolden) {
  std::string text;
  for (const Variant& v : variants()) {
    for (const Choice& choice : all_choices(v)) {
      for (const bool causal : {false, true}) {
        testing::OperationSizes sizes;
        sizes.length = 12;
        Choice small_choice = choice;
        if (small_choice.values.has("height")) small_choice.values.set("height", Index{3});
        sizes = testing::compatible_sizes(sizes, small_choice, default_encoding(), causal);
        if (!refusal(small_choice, default_encoding(), causal, testing::dimensions(sizes), 12, 12)
                 .empty()) {
          continue;
        }
        const OperationInput input =
            testing::random_operation(sizes, small_choice, default_encoding(), causal, 5);
        const OperationResult result =
            evaluate(input, cpu_backend(),
                     {.output = true, .attention = true, .scores = true, .log_sum_exp = true});
        text += v.id + describe_changes(v, small_choice.values, default_values(v.parameters)) +
                (causal ? ", causal" : "") + ":";
        for (const auto& [kind, count] : result.columns) {
          text +=
              " " + std::to_string(count) + " of kind " + std::to_string(static_cast<int>(kind));
        }
        const Pattern& pattern = *result.pattern;
        text += " pattern " + std::to_string(pattern.heads()) + "x" +
                std::to_string(pattern.queries()) + "x" + std::to_string(pattern.keys());
        for (std::size_t rule = 0; rule < pattern.rules().size(); ++rule) {
          Index pairs = 0;
          for (Index head = 0; head < pattern.heads(); ++head) {
            for (Index i = 0; i < pattern.queries(); ++i) {
              for (Index j = 0; j < pattern.keys(); ++j) {
                pairs += pattern.rule(head, i, j) == static_cast<int>(rule);
              }
            }
          }
          text += ", " + pattern.rules()[rule] + " " + std::to_string(pairs);
        }
        for (const auto& [name, tensor] : result.extra)
          text += " " + name + to_string(tensor.shape());
        for (const auto& [name, tensor] : result.extra_counts) {
          Index sum = 0;
          for (const std::int32_t n : tensor) sum += n;
          text += " " + name + to_string(tensor.shape()) + " " + std::to_string(sum);
        }
        for (const auto& [name, quantity] : result.quantities) {
          text += " " + name + to_string(quantity.shape());
        }
        if (result.scores.defined()) text += " scores" + to_string(result.scores.shape());
        if (result.log_sum_exp.defined()) text += " lse" + to_string(result.log_sum_exp.shape());
        if (result.part) text += " one part";
        if (result.mask.defined()) text += " mask";
        if (!result.leaks_future.empty()) text += " leaks future tokens";
        for (const std::string& remark : result.remarks) text += " " + remark;
        text += "\n";
      }
    }
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/attention/reports.txt"));
}

// Heads [first, first + count) of x. axis: the axis that counts heads.
Tensor slice_heads(const Tensor& x, std::size_t axis, Index heads, Index first, Index count) {
  Index leading_size = 1;
  for (std::size_t n = 0; n < axis; ++n) leading_size *= x.shape()[n];
  const Index head_size = x.size() / leading_size / heads;
  Shape shape = x.shape();
  shape[axis] = shape[axis] / heads * count;
  Tensor part(shape);
  for (Index n = 0; n < leading_size; ++n) {
    std::copy_n(x.data() + (n * heads + first) * head_size, count * head_size,
                part.data() + n * count * head_size);
  }
  return part;
}

// A head group computes the same results as the whole layer, including random numbers and values
// that depend on the index of a head.
TEST(HeadGroups, MatchHeadsOfWholeLayer) {
  int count = 0;
  for (const Variant& v : variants()) {
    for (const Choice& choice : all_choices(v)) {
      for (const bool draws_weights : {false, true}) {
        for (const bool causal : {false, true}) {
          testing::OperationSizes sizes;
          sizes.heads = sizes.kv_heads = 4;
          sizes.inner = 0;
          sizes.length = 12;
          Choice small_choice = choice;
          if (small_choice.values.has("height")) small_choice.values.set("height", Index{3});
          sizes = testing::compatible_sizes(sizes, small_choice, default_encoding(), causal);
          const Dimensions layer_sizes = testing::dimensions(sizes);
          if (!refusal(small_choice, default_encoding(), causal, layer_sizes, 12, 12).empty())
            continue;
          OperationInput layer =
              testing::random_operation(sizes, small_choice, default_encoding(), causal, 7);
          for (const WeightInfo& w : v.weights) {
            if (draws_weights && w.file.optional && !w.file.state && w.name != "comp.usage")
              layer.weights.erase(w.name);
          }
          OperationInput group = layer;
          group.heads = group.kv_heads = 2;
          group.first_head = 1;
          group.layer_heads = 4;
          for (Var* x : {&group.q, &group.k, &group.v}) *x = slice_heads(x->value(), 0, 4, 1, 2);
          Dimensions group_sizes = layer_sizes;
          group_sizes.heads = group_sizes.kv_heads = 2;
          for (const WeightInfo& w : v.weights) {
            const auto found = group.weights.find(w.name);
            if (found == group.weights.end()) continue;
            const Shape layer_shape = w.shape(layer_sizes, small_choice.values),
                        group_shape = w.shape(group_sizes, small_choice.values);
            if (layer_shape == group_shape) continue;
            std::size_t axis = 0;
            while (layer_shape[axis] == group_shape[axis]) ++axis;
            found->second = slice_heads(found->second.value(), axis, 4, 1, 2);
          }
          const ResultRequest wanted{.output = true, .attention = true};
          const OperationResult layer_result = evaluate(layer, cpu_backend(), wanted);
          const OperationResult group_result = evaluate(group, cpu_backend(), wanted);
          SCOPED_TRACE(testing::describe(layer) + (draws_weights ? ", drawn" : ""));
          EXPECT_TRUE(testing::close(group_result.output.value(),
                                     slice_heads(layer_result.output.value(), 0, 4, 1, 2), 1e-5));
          EXPECT_TRUE(testing::close(group_result.attention,
                                     slice_heads(layer_result.attention, 0, 4, 1, 2), 1e-5));
          ++count;
        }
      }
    }
  }
  EXPECT_GT(count, 150);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
