#include "core/attention/variant.h"

#include <algorithm>
#include <cmath>

#include "core/attention/causal_order.h"
#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/base/error.h"
#include "core/base/find_by_id.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/position/offsets.h"

namespace attnscope {

Choice default_variant() {
  return {"full", default_values(variant("full").parameters)};
}

Choice default_encoding() {
  return {"none", default_values(encoding("none").parameters)};
}

const std::vector<Variant>& variants() {
  static const std::vector<Variant> list = {
      // Dense.
      full_variant(),
      // Fixed patterns.
      local_variant(),
      block_local_variant(),
      strided_variant(),
      fixed_variant(),
      longformer_variant(),
      bigbird_variant(),
      etc_variant(),
      blockwise_variant(),
      image_1d_variant(),
      image_2d_variant(),
      swin_variant(),
      custom_variant(),
      graph_variant(),
      // Content-based patterns.
      lsh_variant(),
      routing_variant(),
      sinkhorn_variant(),
      capsules_variant(),
      // Low rank and kernels.
      linear_variant(),
      performer_variant(),
      rfa_variant(),
      linformer_variant(),
      memory_compressed_variant(),
      synthesizer_variant(),
      dynamic_convolution_variant(),
      gmlp_variant(),
      hopfield_variant(),
      // Adaptive span and memory.
      adaptive_span_variant(),
      segment_memory_variant(),
      compressive_variant(),
      memorizing_variant(),
      // Recurrences.
      rwkv_variant(),
      mamba_variant(),
  };
  return list;
}

const Variant& variant(std::string_view id) {
  return find_by_id(variants(), id, "variant.type");
}

bool always(const Values&) {
  return true;
}

bool never(const Values&) {
  return false;
}

bool is_pattern_only(const Variant& variant, const Values& values) {
  if (!variant.pattern) return false;
  return !variant.evaluate || !variant.requires_evaluate(values);
}

bool accepts_score_changes(const Variant& variant) {
  return variant.scores.caps_and_sinks || (variant.pattern && !variant.evaluate);
}

std::string causal_refusal(const Variant& variant, const Values& values) {
  const bool has_causal_form = values.has("decoder") && values.flag("decoder");
  return has_causal_form ? std::string() : variant.causality.refusal;
}

Choice variant_from_json(const Json& object, std::string_view path) {
  return choice_from_json(variant, object, path);
}

Choice encoding_from_json(const Json& object, std::string_view path) {
  return choice_from_json(encoding, object, path);
}

namespace {

bool is_input_encoding(const Encoding& encoding) {
  return static_cast<bool>(encoding.embed);
}

bool is_pair_encoding(const Encoding& encoding) {
  return static_cast<bool>(encoding.apply);
}

std::string combination_refusal(const Variant& variant, const Encoding& encoding,
                                const Values& values) {
  if (variant.encodings.relative_only && encoding.absolute) {
    return "position.type: expected a relative encoding or none, found " + encoding.id + " (" +
           encoding.label + " has absolute positions, unlike " + variant.label + ")";
  }
  if (encoding.sequence_position && variant.encodings.uses_distances) {
    return "position.type: expected an encoding that keeps distances in the sequence, found " +
           encoding.id + " (" + variant.label + " weighs keys by these distances)";
  }
  const bool accepts_rotation = variant.encodings.accepts_rotary && encoding.rotate;
  if (is_pair_encoding(encoding) && !variant.encodings.accepts_pairs(values) && !accepts_rotation) {
    return std::string("position.type: expected none, ") +
           (variant.encodings.accepts_rotary ? "an encoding that rotates queries and keys (rope), "
                                             : "") +
           "sinusoidal, learned or universal, found " + encoding.id + " (" + variant.label + " " +
           variant.encodings.pairs_refusal + ", so " +
           encoding.label.substr(0, encoding.label.find(',')) + " has nothing to " +
           (encoding.rotate ? "rotate" : "change") + ")";
  }
  return {};
}

}  // namespace

double Growth::at(double length) const {
  return std::pow(length, power) * (logarithm ? std::log2(std::max(2.0, length)) : 1);
}

std::string Growth::text() const {
  if (power == 2) return "L²";
  if (power == 1.5) return "L·√L";
  return logarithm ? "L·log L" : "L";
}

std::string refusal(const Choice& variant_choice, const Choice& encoding_choice, bool causal,
                    const Dimensions& dimensions, Index queries, Index keys) {
  const Variant& v = variant(variant_choice.id);
  const Encoding& e = encoding(encoding_choice.id);
  try {
    check_values(v, variant_choice.values, "variant");
    check_values(e, encoding_choice.values, "position");
  } catch (const InputError& error) {
    return error.what();
  }
  const std::string causal_reason = causal ? causal_refusal(v, variant_choice.values) : "";
  if (!causal_reason.empty()) {
    return "causal: expected false, found true (" + causal_reason + ")";
  }
  if (!v.inputs.cross && queries != keys && queries > 0 && keys > 0) {
    return "k: expected as many keys as queries for " + v.id + ", " + std::to_string(queries) +
           ", found " + std::to_string(keys);
  }
  const std::string conflict = combination_refusal(v, e, variant_choice.values);
  if (!conflict.empty()) return conflict;

  const Situation situation{.dimensions = dimensions,
                            .queries = queries,
                            .keys = keys,
                            .causal = causal || v.causality.by_definition};
  const auto objection = [&situation](const Info& info, const Values& values, const char* path) {
    const std::string message = info.objection ? info.objection(values, situation) : "";
    const std::string subject = message.substr(0, message.find(':'));
    const bool is_parameter =
        std::any_of(info.parameters.begin(), info.parameters.end(),
                    [&](const Parameter& parameter) { return parameter.key == subject; });
    return is_parameter ? path + message : message;  // the subject is a parameter or a tensor
  };
  const std::string problem = objection(v, variant_choice.values, "variant.");
  return problem.empty() ? objection(e, encoding_choice.values, "position.") : problem;
}

OperationResult evaluate(const OperationInput& input, Backend& backend,
                         const ResultRequest& wanted) {
  const Variant& v = variant(input.variant.id);
  const Encoding& e = encoding(input.encoding.id);
  const Dimensions dimensions = operation_dimensions(input);
  // Cached keys are not cross-attention: queries and keys belong to one sequence.
  const bool has_cached_keys = !input.positions.empty();
  const Index keys = key_count(input);
  const std::string reason = refusal(input.variant, input.encoding, input.causal, dimensions,
                                     has_cached_keys ? keys : query_count(input), keys);
  if (!reason.empty()) throw InputError(reason);
  if ((input.score_cap > 0 || input.sinks.defined()) && !accepts_score_changes(v)) {
    throw InputError(
        "variant.type: expected full or a fixed pattern for score caps and sinks, "
        "found " +
        v.id);
  }
  check_weights(v, input.variant.values, dimensions, input.weights);
  if (!is_input_encoding(e)) check_weights(e, input.encoding.values, dimensions, input.weights);
  const bool causal = input.causal || v.causality.by_definition;
  OperationResult result;
  if (!is_pattern_only(v, input.variant.values)) {
    result = v.evaluate(input, backend, wanted);
  } else {
    Part part = plain_part(input, ruled_pattern(input, v));
    apply_encoding(part, input, causal);
    result = run_part(std::move(part), backend, wanted);
  }
  if (causal && v.causality.leaks_future) {
    result.leaks_future = v.causality.leaks_future(input.variant.values, input.weights);
  }
  return result;
}

}  // namespace attnscope
