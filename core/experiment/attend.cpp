#include "core/experiment/attend.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/terms.h"
#include "core/attention/variant.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/model/memory_need.h"
#include "core/position/positions.h"

namespace attnscope {
namespace {

struct Spec {
  Choice variant, encoding;
  bool causal = false;
  std::optional<float> scale;
  Index layer = 0;
  Index heads = 0;  // 0 if not given
};

Spec parse_spec(const SafetensorsFile& tensors, const std::optional<std::string>& spec_json) {
  const auto stored_spec = tensors.metadata.find("spec");
  if (!spec_json && stored_spec == tensors.metadata.end()) {
    throw InputError("spec: expected a spec as an option or in the file's metadata, found none");
  }
  const Json json = parse_json(spec_json ? *spec_json : stored_spec->second, "spec");
  JsonObject object(json, "spec");
  constexpr Index kMaxInteger = std::numeric_limits<std::int32_t>::max();
  Spec spec;
  spec.variant = variant_from_json(object.any("variant"), "variant");
  spec.encoding = object.has("position") ? encoding_from_json(object.any("position"), "position")
                                         : default_encoding();
  spec.causal = object.flag_or("causal", false);
  if (object.has("scale")) {
    constexpr double kMaxFloat = std::numeric_limits<float>::max();
    spec.scale = static_cast<float>(object.number("scale", -kMaxFloat, kMaxFloat));
  }
  spec.layer = object.integer_or("layer", 0, 0, kMaxInteger);
  if (object.has("heads")) spec.heads = object.integer("heads", 1, kMaxInteger);
  object.finish();
  return spec;
}

// Tensors of the input file, with checks of dtype, shape and values.
class InputTensors {
 public:
  explicit InputTensors(const SafetensorsFile& file) : file_(file) {}

  bool has(const std::string& name) const { return file_.tensors.contains(name); }

  const StoredTensor& stored(const std::string& name, DType dtype) const {
    const StoredTensor& array = stored(name);
    if (array.dtype != dtype) fail_dtype(name, dtype, array.dtype);
    return array;
  }

  Tensor floats(const std::string& name) const {
    const StoredTensor& array = stored(name);
    if (array.dtype != DType::F32 && array.dtype != DType::F64) {
      fail_dtype(name, DType::F32, array.dtype);
    }
    Tensor tensor = array.floats();
    for (Index i = 0; i < tensor.size(); ++i) {
      if (std::isfinite(tensor[i])) continue;
      const bool overflows = array.dtype == DType::F64 && std::isinf(tensor[i]);
      throw InputError(name + ": expected finite numbers" +
                       (overflows ? " within the range of float32" : "") + ", found " +
                       (overflows ? "a larger one" : std::to_string(tensor[i])) + " as number " +
                       std::to_string(i));
    }
    return tensor;
  }

  // Tensor of the expected shape; kAny allows any size above 0.
  Tensor floats(const std::string& name, const Shape& shape) const {
    Tensor tensor = floats(name);
    bool is_match = tensor.rank() == static_cast<Index>(shape.size());
    for (Index axis = 0; is_match && axis < tensor.rank(); ++axis) {
      const Index expected = shape[static_cast<std::size_t>(axis)];
      is_match = expected < 0 ? tensor.dim(axis) > 0 : tensor.dim(axis) == expected;
    }
    if (is_match) return tensor;
    throw InputError(name + ": expected shape " + to_text(shape) + ", found " +
                     to_string(tensor.shape()));
  }

  // Tensor of bytes (mask or graph) as floats 0 and 1.
  Tensor binary_floats(const std::string& name) const {
    const ByteTensor bytes = stored(name, DType::U8).byte_values();
    Tensor tensor(bytes.shape());
    for (Index i = 0; i < bytes.size(); ++i) tensor[i] = bytes[i] != 0 ? 1.0f : 0.0f;
    return tensor;
  }

 private:
  const StoredTensor& stored(const std::string& name) const {
    const auto entry = file_.tensors.find(name);
    if (entry == file_.tensors.end()) throw InputError(name + ": missing");
    return entry->second;
  }

  [[noreturn]] static void fail_dtype(const std::string& name, DType expected, DType found) {
    throw InputError(name + ": expected dtype " + std::string(to_string(expected)) + ", found " +
                     std::string(to_string(found)));
  }

  const SafetensorsFile& file_;
};

constexpr Index kAny = kFreeModel;

void load_weights(const InputTensors& tensors, const Info& info, const Values& values,
                  NamedVars& weights) {
  for (const WeightInfo& entry : info.weights) {
    if (!info.uses(entry, values) || !tensors.has(entry.name)) continue;
    weights.insert_or_assign(entry.name, entry.file.bytes ? tensors.binary_floats(entry.name)
                                                          : tensors.floats(entry.name));
  }
}

// Checks that the columns of wq, wk or wv (`name`) are divisible by the number of heads.
void check_heads(const std::string& name, const Tensor& projection, Index heads) {
  if (projection.dim(1) % heads == 0) return;
  throw InputError("heads: expected a divisor of the " + std::to_string(projection.dim(1)) +
                   " columns of " + name + ", found " + std::to_string(heads));
}

Var with_batch(const Tensor& x) {
  return x.reshaped({1, x.dim(0), x.dim(1)});  // [1, L, d]
}

// Builds one operation, either from q, k and v or from x and projections.
class OperationBuilder {
 public:
  OperationBuilder(const InputTensors& tensors, const Spec& spec)
      : tensors_(tensors),
        spec_(spec),
        variant_(variant(spec.variant.id)),
        encoding_(encoding(spec.encoding.id)),
        needs_(variant_.inputs.needs(spec.variant.values)) {}

  OperationInput build(bool include_score_terms) {
    input_.variant = spec_.variant;
    input_.encoding = spec_.encoding;
    input_.causal = spec_.causal;
    input_.scale = spec_.scale;
    input_.layer = spec_.layer;
    const bool has_input_form = is_input_form();
    if (tensors_.has("y") && !variant_.inputs.cross) {
      throw InputError("y: " + variant_.id + " supports self-attention only");
    }
    load_weights(tensors_, variant_, spec_.variant.values, input_.weights);
    load_weights(tensors_, encoding_, spec_.encoding.values, input_.weights);
    has_input_form ? read_input(include_score_terms) : read_heads();
    check();
    return std::move(input_);
  }

 private:
  // True if the file has x and projections instead of q, k, v.
  bool is_input_form() const {
    const auto find_first = [this](std::initializer_list<const char*> names) {
      const auto name_found = std::find_if(names.begin(), names.end(),
                                           [this](const char* name) { return tensors_.has(name); });
      return std::string(name_found == names.end() ? "" : *name_found);
    };
    const std::string head_name = find_first({"q", "k", "v"});
    const std::string input_name = find_first({"x", "y", "wq", "wk", "wv"});
    if (!head_name.empty() && !input_name.empty()) {
      throw InputError(input_name + ": expected either q, k, v or x, wq, wk, wv, found both " +
                       input_name + " and " + head_name);
    }
    return !input_name.empty();
  }

  // Heads of a tensor of keys or values for `heads` query heads: fewer ones if they divide these.
  Index shared_heads(const char* name, Index heads) const {
    const Tensor tensor = tensors_.floats(name);
    const bool are_shared =
        heads != kAny && tensor.rank() == 3 && tensor.dim(0) > 0 && heads % tensor.dim(0) == 0;
    return are_shared ? tensor.dim(0) : heads;
  }

  // Reads q [h, L_q, d_k], k [h_kv, L_k, d_k] and v [h_kv, L_k, d_v], where h_kv divides h.
  void read_heads() {
    if (needs_.input) throw InputError("x: missing, " + variant_.id + " uses the input itself");
    if (encoding_.embed) {
      throw InputError("x: missing, position.type " + encoding_.id + " is added to the input");
    }
    Index heads = kAny, keys = kAny;
    if (needs_.queries) {
      const Tensor q = tensors_.floats("q", {kAny, kAny, kAny});
      input_.q = q;
      heads = q.dim(0);
    }
    Index kv_heads = heads;
    if (needs_.keys) {
      const Index size = needs_.queries ? input_.q.dim(2) : kAny;
      kv_heads = shared_heads("k", heads);
      const Tensor k = tensors_.floats("k", {kv_heads, kAny, size});
      input_.k = k;
      keys = k.dim(1);
      kv_heads = k.dim(0);
    }
    input_.v = tensors_.floats("v", {kv_heads, keys, kAny});
    input_.kv_heads = input_.v.dim(0);
    input_.heads = heads == kAny ? input_.kv_heads : heads;
    if (spec_.heads != 0 && spec_.heads != input_.heads) {
      throw InputError("heads: expected the " + std::to_string(input_.heads) +
                       " heads of q, found " + std::to_string(spec_.heads));
    }
  }

  // Reads x [L, d], y [L_k, d] and the projections.
  void read_input(bool include_score_terms) {
    const Tensor x = tensors_.floats("x", {kAny, kAny});
    const Index d = x.dim(1);
    const bool projects = needs_.queries || needs_.keys || needs_.values;
    if (projects && spec_.heads == 0) {
      throw InputError("heads: missing, the x form needs the number of heads");
    }
    if (!projects && spec_.heads > 1) {
      throw InputError("heads: expected 1, " + variant_.id + " has one head, found " +
                       std::to_string(spec_.heads));
    }
    set_heads(std::max<Index>(1, spec_.heads));
    const Tensor y = tensors_.has("y") ? tensors_.floats("y", {kAny, d}) : x;
    check_input_encoding(d);
    input_.x = embed(with_batch(x));  // [1, L, d]
    if (tensors_.has("y")) input_.y = embed(with_batch(y));
    const Var source = input_.y.defined() ? input_.y : input_.x;

    Tensor wq, wk;
    if (needs_.queries) {
      wq = tensors_.floats("wq", {d, kAny});
      check_heads("wq", wq, input_.heads);
      input_.q = project(input_.x, wq);  // [h, L, d_k]
    }
    if (needs_.keys) {
      wk = tensors_.floats("wk", {d, needs_.queries ? wq.dim(1) : kAny});
      check_heads("wk", wk, input_.heads);
      input_.k = project(source, wk);  // [h, L_k, d_k]
    }
    if (needs_.values) {
      const Tensor wv = tensors_.floats("wv", {d, kAny});
      check_heads("wv", wv, input_.heads);
      input_.v = project(source, wv);  // [h, L_k, d_v]
      project_memory(d, wk, wv);
    }
    if (include_score_terms && encoding_.embed) {
      split_terms(with_batch(x), with_batch(y), wq, needs_.keys ? wk : wq);
    }
  }

  void set_heads(Index heads) { input_.heads = input_.kv_heads = heads; }

  Var project(const Var& x, const Tensor& projection) const {
    return split_heads(matmul(x, projection), input_.heads);  // [h, L, columns / h]
  }

  // Checks an encoding that is added to the input, before embed() uses it.
  void check_input_encoding(Index d) const {
    if (!encoding_.embed) return;
    Dimensions dimensions = free_dimensions(input_.heads, input_.heads, kAny, kAny);
    dimensions.model = d;
    const std::string reason =
        refusal(spec_.variant, spec_.encoding, spec_.causal, dimensions, 0, 0);
    if (!reason.empty()) throw InputError(reason);
    check_weights(encoding_, spec_.encoding.values, dimensions, input_.weights);
  }

  Var embed(const Var& x) const {
    if (!encoding_.embed) return x;
    return encoding_.embed(x, first_positions(x.dim(1)),
                           {.values = spec_.encoding.values,
                            .weights = input_.weights,
                            .dimensions = {},
                            .causal = spec_.causal,
                            .scale = spec_.scale});
  }

  // Computes mem.k and mem.v from mem.x [M, d] with wk and wv.
  void project_memory(Index d, const Tensor& wk, const Tensor& wv) {
    const Var* memory = find_weight(input_.weights, "mem.x");
    if (!memory) return;
    if (tensors_.has("mem.k") || tensors_.has("mem.v")) {
      throw InputError("mem.x: expected either mem.x or mem.k and mem.v, found both");
    }
    if (memory->rank() != 2 || memory->dim(1) != d) {
      throw InputError("mem.x: expected shape " + to_text(Shape{kFreeMemory, d}) + ", found " +
                       to_string(memory->shape()));
    }
    const Var rows = reshape(*memory, {1, memory->dim(0), d});  // [1, M, d]
    input_.weights.insert_or_assign("mem.k", project(rows, wk));
    input_.weights.insert_or_assign("mem.v", project(rows, wv));
    input_.weights.erase("mem.x");
  }

  // Computes the score terms of ((x_i + p_i) wq) . ((y_j + p_j) wk).
  void split_terms(const Var& x, const Var& y, const Tensor& wq, const Tensor& wk) {
    const Var positions_q = embed(Var(Tensor::zeros(x.shape())));
    const Var positions_k = embed(Var(Tensor::zeros(y.shape())));
    input_.split = split_products({project(x, wq), project(positions_q, wq)},
                                  {project(y, wk), project(positions_k, wk)});
  }

  // Checks parameters and weights against the sizes of q, k and v.
  void check() {
    const Index queries = input_.q.defined()   ? input_.q.dim(1)
                          : input_.x.defined() ? input_.x.dim(1)
                                               : input_.v.dim(1);
    const Index keys = input_.v.defined() ? input_.v.dim(1) : queries;
    Dimensions dimensions =
        free_dimensions(input_.heads, input_.kv_heads, input_.q.defined() ? input_.q.dim(2) : kAny,
                        input_.v.defined() ? input_.v.dim(2) : kAny);
    if (input_.x.defined()) dimensions.model = input_.x.dim(2);
    dimensions.queries = queries;
    dimensions.keys = keys;
    const Var* memory = find_weight(input_.weights, "mem.k");
    if (memory && memory->rank() == 3) {
      dimensions.memory = memory->dim(1);
      dimensions.is_memory_final = true;
    }
    const std::string reason =
        refusal(spec_.variant, spec_.encoding, spec_.causal, dimensions, queries, keys);
    if (!reason.empty()) throw InputError(reason);
    check_weights(variant_, spec_.variant.values, dimensions, input_.weights, true);
    check_weights(encoding_, spec_.encoding.values, dimensions, input_.weights, true);
  }

  const InputTensors& tensors_;
  const Spec& spec_;
  const Variant& variant_;
  const Encoding& encoding_;
  const Needs needs_;
  OperationInput input_;
};

// Adds a tensor. Throws InputError if an element is not finite (products of inputs overflow).
void add_floats(SafetensorsFile& out, const std::string& name, const Tensor& tensor) {
  for (const float x : tensor) {
    if (std::isfinite(x)) continue;
    throw InputError(name +
                     ": exceeds the range of float32; expected smaller numbers in the input");
  }
  out.tensors.emplace(name, stored(tensor));
}

void refuse_model_choices(const Parameter& parameter, const Values& values,
                          const std::string& path) {
  if (parameter.kind != Parameter::Kind::Choice) return;
  const std::string& selected = values.choice(parameter.key);
  bool is_refused = false;
  std::string allowed;
  for (const ParameterChoice& choice : parameter.choices) {
    if (choice.models) {
      is_refused |= choice.id == selected;
    } else {
      allowed += (allowed.empty() ? "" : ", ") + choice.id;
    }
  }
  if (!is_refused) return;
  throw InputError(path + parameter.key + ": expected one of " + allowed + ", found \"" + selected +
                   "\", which applies to whole models only");
}

// Rejects parameters that only apply to whole models, such as those for segments or layers.
void refuse_model_parameters(const Info& info, const Values& values, const std::string& path) {
  for (const Parameter& parameter : info.parameters) {
    if (!values.has(parameter.key)) continue;
    refuse_model_choices(parameter, values, path);
    if (!parameter.scope.models) continue;
    if (!parameter.optional && values.all().find(parameter.key)->second == parameter.initial) {
      continue;
    }
    throw InputError(path + parameter.key +
                     ": expected no value, since it applies to whole models only");
  }
}

}  // namespace

AttendResult attend(const SafetensorsFile& tensors, const std::optional<std::string>& spec_json,
                    bool include_score_terms, Backend& backend) {
  Spec spec = parse_spec(tensors, spec_json);
  refuse_model_parameters(variant(spec.variant.id), spec.variant.values, "variant.");
  refuse_model_parameters(encoding(spec.encoding.id), spec.encoding.values, "position.");
  const Variant& v = variant(spec.variant.id);
  const InputTensors inputs(tensors);
  if (v.defaults.from_weights) {
    v.defaults.from_weights(spec.variant.values,
                            [&inputs](const std::string& name) { return inputs.has(name); });
  }
  if (include_score_terms && !v.scores.has_terms(spec.variant.values)) {
    throw InputError("terms: " + v.id + " has no separate score terms");
  }
  const OperationInput input = OperationBuilder(inputs, spec).build(include_score_terms);
  const bool has_scores = v.scores.has_softmax(spec.variant.values);
  check_memory(input, true);
  const OperationResult result =
      evaluate(input, backend, {.output = true, .attention = true, .scores = has_scores});

  AttendResult attended{.out = {}, .note = result.note, .remarks = result.remarks};
  SafetensorsFile& out = attended.out;
  add_floats(out, "output", result.output.value());
  add_floats(out, "attention", result.attention);
  if (has_scores) add_floats(out, "scores", result.scores);
  const ByteTensor mask =
      result.mask.defined() ? result.mask : result.pattern->mask(result.attention.dim(0));
  out.tensors.emplace("mask", stored(mask));
  for (const auto& [name, tensor] : result.extra) add_floats(out, name, tensor);
  for (const auto& [name, counts] : result.extra_counts) out.tensors.emplace(name, stored(counts));
  if (include_score_terms) {
    for (const auto& [term, tensor] : score_terms(*result.part)) {
      add_floats(out, "term." + std::string(to_string(term)), tensor);
    }
  }
  return attended;
}

}  // namespace attnscope
