#include "core/experiment/own_tensors.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <sstream>
#include <variant>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/strict_json.h"
#include "core/base/zip.h"
#include "core/experiment/notes.h"
#include "core/tensor/npy.h"
#include "core/tensor/safetensors.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTokenBytes = std::size_t{64} << 20;
constexpr Index kMostKeptAttention = Index{1} << 27;  // numbers that are computed: 512 MiB
constexpr double kRowSlack = 0.02;  // half precision rounds rows of thousands of weights this far
const char* const kExpected =
    "expected a tensor \"attention\" of shape [L, L], [h, L_q, L_k] or [layers, h, L_q, L_k], or "
    "\"q\" and \"k\" of shape [h, L, d_k] or [layers, h, L, d_k]";

// A file of any of the formats: arrays and lists of texts by name.
struct Named {
  std::string file;  // begins the messages
  std::map<std::string, StoredTensor> arrays;
  std::map<std::string, std::vector<std::string>> texts;
  std::map<std::string, std::string> refused;  // why an array cannot be read
};

std::vector<std::string> texts_of_json(const nlohmann::json& list, const std::string& name) {
  std::vector<std::string> texts;
  if (!list.is_array()) {
    throw InputError(name + ": expected a list of texts, found " + shortened(list));
  }
  for (const nlohmann::json& text : list) {
    if (!text.is_string()) {
      throw InputError(name + ": expected a list of texts, found " + shortened(text) + " in it");
    }
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

Named read_npz(const fs::path& path) {
  Named named{path.string(), {}, {}, {}};
  for (auto& [member, bytes] : read_zip(path)) {
    std::string name = member;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    const std::string label = named.file + ": " + name;
    try {
      if (auto texts = parse_npy_texts(bytes, label)) {
        named.texts.emplace(name, std::move(*texts));
      } else {
        named.arrays.emplace(name, parse_npy(std::move(bytes), label));
      }
    } catch (const InputError& e) {  // matters only where this array is the one that is wanted
      named.refused.emplace(name, e.what());
    }
  }
  return named;
}

Named read_safetensors_file(const fs::path& path) {
  SafetensorsFile file = read_safetensors(path);
  Named named{path.string(), std::move(file.tensors), {}, {}};
  for (const char* key : {"tokens", "key_tokens"}) {
    const auto found = file.metadata.find(key);
    if (found == file.metadata.end()) continue;
    const std::string label = named.file + ": metadata \"" + key + "\"";
    named.texts.emplace(key, texts_of_json(parse_json(found->second, label), label));
  }
  return named;
}

std::string ending(const fs::path& path) {
  std::string text = path.extension().string();
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

Named read_named(const fs::path& path) {
  const std::string format = ending(path);
  if (format == ".npz") return read_npz(path);
  if (format == ".safetensors") return read_safetensors_file(path);
  if (format == ".npy") return {path.string(), {{"attention", read_npy(path)}}, {}, {}};
  throw InputError(path.string() + ": expected a file .npy, .npz or .safetensors");
}

bool is_floating(const StoredTensor& array) {
  return array.dtype == DType::F32 || array.dtype == DType::F16 || array.dtype == DType::BF16 ||
         array.dtype == DType::F64;
}

// "attention [12, 8, 8], ids [8]"
std::string contents(const Named& named) {
  constexpr std::size_t kMostNamed = 6;
  std::string text;
  std::size_t count = 0;
  for (const auto& [name, array] : named.arrays) {
    if (++count > kMostNamed) return text + ", ...";
    text += (text.empty() ? "" : ", ") + name + " " + to_string(array.shape) + " of " +
            std::string(to_string(array.dtype));
  }
  return text.empty() ? "no arrays" : text;
}

std::string place_of(const Tensor& numbers, Index at) {
  std::vector<Index> index(static_cast<std::size_t>(numbers.rank()));
  for (Index axis = numbers.rank(); axis-- > 0;) {
    index[static_cast<std::size_t>(axis)] = at % numbers.dim(axis);
    at /= numbers.dim(axis);
  }
  return to_string(index);
}

// As floats, none of them NaN or infinite.
Tensor finite_floats(const StoredTensor& array, const std::string& label) {
  if (!is_floating(array)) {
    throw InputError(label + ": expected floats (F16, BF16, F32 or F64), found " +
                     std::string(to_string(array.dtype)));
  }
  const Tensor numbers = array.floats();
  if (numbers.empty()) {
    throw InputError(label + ": expected no empty axis, found " + to_string(array.shape));
  }
  for (Index i = 0; i < numbers.size(); ++i) {
    if (std::isfinite(numbers[i])) continue;
    throw InputError(label + ": expected finite numbers, found " +
                     (std::isnan(numbers[i]) ? "NaN" : "infinity") + " at " + place_of(numbers, i));
  }
  return numbers;
}

// [layers, h, rows, columns] of 2 to 5 axes; the one before the heads may be a batch of one.
Tensor with_all_axes(const Tensor& numbers, const std::string& label) {
  Shape shape = numbers.shape();
  if (shape.size() == 5 && shape[1] == 1) shape.erase(shape.begin() + 1);
  if (shape.size() < 2 || shape.size() > 4) {
    throw InputError(label +
                     ": expected [L_q, L_k], [h, L_q, L_k] or [layers, h, L_q, L_k], found " +
                     to_string(numbers.shape()));
  }
  while (shape.size() < 4) shape.insert(shape.begin(), 1);
  return numbers.reshaped(shape);
}

void append_layers(const StoredTensor& array, const std::string& label,
                   std::vector<Tensor>& layers) {
  const Tensor all =
      with_all_axes(finite_floats(array, label), label);  // [layers, h, rows, columns]
  for (Index layer = 0; layer < all.dim(0); ++layer) {
    layers.push_back(all.slice(layer, 1).reshaped({all.dim(1), all.dim(2), all.dim(3)}));
  }
}

const StoredTensor* find(const Named& named, const std::string& name) {
  if (const auto why = named.refused.find(name); why != named.refused.end()) {
    throw InputError(why->second);
  }
  const auto found = named.arrays.find(name);
  return found != named.arrays.end() ? &found->second : nullptr;
}

std::optional<Index> number_between(std::string_view name, std::string_view before,
                                    std::string_view after) {
  if (!name.starts_with(before) || !name.ends_with(after) ||
      name.size() <= before.size() + after.size()) {
    return std::nullopt;
  }
  name = name.substr(before.size(), name.size() - before.size() - after.size());
  Index number = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  if (read.ec != std::errc() || read.ptr != name.data() + name.size() || number < 0) {
    return std::nullopt;
  }
  return number;
}

// An array for each layer, by number; empty where they are not named so.
std::map<Index, std::string> numbered_layers(const Named& named) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"attention.", ""}, {"attentions.", ""}, {"layers.", ".attention"}, {"arr_", ""}};
  for (const auto& [before, after] : kNames) {
    std::map<Index, std::string> layers;
    for (const auto& [name, array] : named.arrays) {
      if (const auto number = number_between(name, before, after)) layers.emplace(*number, name);
    }
    if (!layers.empty()) return layers;
  }
  return {};
}

std::vector<Tensor> read_attention(const Named& named) {
  std::vector<Tensor> layers;
  for (const char* name : {"attention", "attentions"}) {
    if (const StoredTensor* array = find(named, name)) {
      append_layers(*array, named.file + ": " + name, layers);
      return layers;
    }
  }
  if (named.arrays.contains("q") || named.arrays.contains("k")) return {};
  for (const auto& [number, name] : numbered_layers(named)) {
    append_layers(named.arrays.at(name), named.file + ": " + name, layers);
  }
  if (!layers.empty()) return layers;
  std::vector<const std::string*> candidates;
  for (const auto& [name, array] : named.arrays) {
    if (is_floating(array) && array.shape.size() >= 2) candidates.push_back(&name);
  }
  if (candidates.size() != 1) {
    if (named.arrays.empty() && !named.refused.empty()) {
      throw InputError(named.refused.begin()->second);
    }
    throw InputError(named.file + ": " + kExpected + ", found " + contents(named));
  }
  append_layers(named.arrays.at(*candidates.front()), named.file + ": " + *candidates.front(),
                layers);
  return layers;
}

void check_alike(const std::vector<Tensor>& layers, const std::string& label) {
  for (std::size_t n = 1; n < layers.size(); ++n) {
    if (layers[n].dim(1) == layers[0].dim(1) && layers[n].dim(2) == layers[0].dim(2)) continue;
    throw InputError(label + ": layer " + std::to_string(n) + ": expected rows and columns as in " +
                     "layer 0, " + to_string({layers[0].dim(1), layers[0].dim(2)}) + ", found " +
                     to_string({layers[n].dim(1), layers[n].dim(2)}));
  }
}

// k and v must go with q: as many layers, rows, columns and heads as they can have.
void check_vectors(const OwnTensors& own, const std::string& file) {
  const auto fail = [&](const char* name, std::size_t layer, const std::string& expected,
                        const Tensor& found) {
    throw InputError(file + ": " + name + ": layer " + std::to_string(layer) + ": expected " +
                     expected + ", found " + to_string(found.shape()));
  };
  const auto check_layers = [&](const char* name, const std::vector<Tensor>& layers) {
    if (layers.size() == own.q.size()) return;
    throw InputError(file + ": " + name + ": expected as many layers as q, " +
                     std::to_string(own.q.size()) + ", found " + std::to_string(layers.size()));
  };
  check_layers("k", own.k);
  if (!own.v.empty()) check_layers("v", own.v);
  for (std::size_t n = 0; n < own.q.size(); ++n) {
    const Tensor &q = own.q[n], &k = own.k[n];
    if (k.dim(2) != q.dim(2)) fail("k", n, "d_k = " + std::to_string(q.dim(2)), k);
    if (q.dim(0) % k.dim(0) != 0) {
      fail("k", n, "a number of heads that divides q's " + std::to_string(q.dim(0)), k);
    }
    if (own.v.empty()) continue;
    const Tensor& v = own.v[n];
    if (v.dim(0) != k.dim(0) || v.dim(1) != k.dim(1)) {
      fail("v", n, "heads and rows as k has them, " + to_string({k.dim(0), k.dim(1)}), v);
    }
  }
}

void read_vectors(const Named& named, OwnTensors& own) {
  for (const auto& [name, layers] :
       {std::pair{"q", &own.q}, std::pair{"k", &own.k}, std::pair{"v", &own.v}}) {
    const StoredTensor* array = find(named, name);
    if (array != nullptr) {
      append_layers(*array, named.file + ": " + name, *layers);
      check_alike(*layers, named.file + ": " + name);
    } else if (layers != &own.v) {
      throw InputError(named.file + ": " + name + ": missing; " + kExpected);
    }
  }
  check_vectors(own, named.file);
  for (const auto& [name, array] : named.arrays) {
    if (name == "q" || name == "k" || name == "v" || !is_floating(array)) continue;
    own.weights.emplace(name, finite_floats(array, named.file + ": " + name));
  }
}

std::vector<std::string> lines_of(const std::string& bytes) {
  std::vector<std::string> lines;
  std::istringstream text(bytes);
  for (std::string line; std::getline(text, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  if (lines.size() != 1) return lines;
  std::istringstream words(lines.front());
  lines.clear();
  for (std::string word; words >> word;) lines.push_back(word);
  return lines;
}

// From a file of their own, else what the tensors' file holds, else none.
std::vector<std::string> read_tokens(const std::string& path, const Named& named,
                                     const std::string& key, Index expected) {
  std::vector<std::string> tokens;
  std::string label = named.file + ": " + key;
  if (!path.empty()) {
    const std::string bytes = read_file(path, kMostTokenBytes);
    label = path;
    tokens =
        ending(path) == ".json" ? texts_of_json(parse_json(bytes, path), path) : lines_of(bytes);
  } else if (const auto found = named.texts.find(key); found != named.texts.end()) {
    tokens = found->second;
  } else {
    if (const auto why = named.refused.find(key); why != named.refused.end()) {
      throw InputError(why->second);
    }
    return {};
  }
  if (static_cast<Index>(tokens.size()) == expected) return tokens;
  throw InputError(label + ": expected " + std::to_string(expected) + " tokens, found " +
                   std::to_string(tokens.size()));
}

// Tokens of byte-level BPE and SentencePiece mark a space before them in ways of their own.
std::string label_of(const std::string& token) {
  for (const char* space : {"Ġ", "▁"}) {
    const std::string mark(space);
    if (token.starts_with(mark)) return visible(" " + token.substr(mark.size()));
  }
  return visible(token);
}

// Equal texts get equal ids; without texts, tokens are unknown (-1) and called by their number.
std::vector<TraceToken> trace_tokens(const std::vector<std::string>& texts, Index count) {
  std::vector<TraceToken> tokens;
  std::map<std::string, std::int32_t> ids;
  for (Index i = 0; i < count; ++i) {
    TraceToken token;
    if (texts.empty()) {
      token.id = -1;
      token.bytes = token.label = std::to_string(i);
    } else {
      token.bytes = texts[static_cast<std::size_t>(i)];
      token.label = label_of(token.bytes);
      token.id = ids.emplace(token.bytes, static_cast<std::int32_t>(ids.size())).first->second;
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// The pattern of attention whose rules nobody knows: the pairs that have a weight, or, where these
// are all that a causal mask allows, that mask.
Pattern pattern_of(const Tensor& attention) {
  const Index heads = attention.dim(0), queries = attention.dim(1), keys = attention.dim(2);
  bool above = false, below_missing = false, hole = false;
  const Index before = keys - queries;  // columns that the first query sees beside its own
  for (Index row = 0; row < heads * queries; ++row) {
    const Index i = row % queries;
    const float* weights = attention.data() + row * keys;
    for (Index j = 0; j < keys; ++j) {
      const bool later = j > i + before;
      above |= later && weights[j] != 0;
      below_missing |= !later && weights[j] == 0;
      hole |= weights[j] == 0;
    }
  }
  if (!hole) return Pattern::all(queries, keys);
  if (before >= 0 && !above && !below_missing) return Pattern::causal(queries, keys, before);
  PatternBuilder builder(heads, queries, keys, {"has a weight"});
  for (Index row = 0; row < heads * queries; ++row) {
    const float* weights = attention.data() + row * keys;
    for (Index j = 0; j < keys;) {
      Index end = j;
      while (end < keys && weights[end] != 0) ++end;
      if (end > j) builder.add(0, j, end);
      j = end + 1;
    }
    builder.next_row();
  }
  return builder.finish();
}

void note_rows(const std::vector<Tensor>& layers, std::vector<std::string>& notes) {
  bool negative = false, other_sums = false;
  for (const Tensor& layer : layers) {
    const Index keys = layer.dim(2);
    for (Index row = 0; row < layer.size() / keys; ++row) {
      const float* weights = layer.data() + row * keys;
      const double sum = std::accumulate(weights, weights + keys, 0.0);
      negative |= std::any_of(weights, weights + keys, [](float w) { return w < 0; });
      other_sums |= sum != 0 && !(std::abs(sum - 1) <= kRowSlack);
    }
  }
  if (negative) notes.push_back("some weights are negative");
  if (other_sums) notes.push_back("rows do not add up to 1; they are shown as they are");
}

AttentionTap tap_of(Index layer, Index heads) {
  AttentionTap tap;
  tap.address.layer = layer;
  tap.heads.resize(static_cast<std::size_t>(heads));
  std::iota(tap.heads.begin(), tap.heads.end(), 0);
  tap.variant = default_variant();
  tap.encoding = default_encoding();
  return tap;
}

void add_given(const OwnTensors& own, Trace& trace) {
  trace.given = true;
  for (const Tensor& attention : own.attention) {
    AttentionTap tap = tap_of(static_cast<Index>(trace.attention.size()), attention.dim(0));
    tap.result.attention = attention;
    tap.result.pattern = std::make_shared<const Pattern>(pattern_of(attention));
    trace.attention.push_back(std::move(tap));
  }
  note_rows(own.attention, trace.notes);
}

// Without v nothing but the attention can be computed.
void check_values(const OwnTensors& own, const OperationInput& input) {
  if (!own.v.empty()) return;
  const Variant& v = variant(input.variant.id);
  if (v.pattern || input.variant == default_variant()) return;
  throw InputError("v: missing: " + v.id + " needs values beside queries and keys");
}

void add_computed(const OwnTensors& own, const Experiment& experiment, Backend& backend,
                  const Stop& stop, Trace& trace) {
  Index cells = 0;
  for (const Tensor& q : own.q) cells += q.dim(0) * own.queries() * own.keys();
  for (std::size_t layer = 0; layer < own.q.size(); ++layer) {
    OperationInput input;
    input.heads = own.q[layer].dim(0);
    input.kv_heads = own.k[layer].dim(0);
    input.q = own.q[layer];
    input.k = own.k[layer];
    if (!own.v.empty()) input.v = own.v[layer];
    for (const auto& [name, tensor] : own.weights) input.weights.emplace(name, tensor);
    input.variant = experiment.variant.value_or(default_variant());
    input.encoding = experiment.encoding.value_or(default_encoding());
    input.causal = experiment.causal.value_or(false);
    input.layer = static_cast<Index>(layer);
    check_values(own, input);
    Wanted wanted;
    wanted.output = !own.v.empty();
    wanted.attention = cells <= kMostKeptAttention;
    wanted.log_sum_exp = true;
    AttentionTap tap = tap_of(static_cast<Index>(layer), input.heads);
    tap.variant = input.variant;
    tap.encoding = input.encoding;
    tap.q_plain = own.q[layer];
    tap.k_plain = own.k[layer];
    tap.result = evaluate(input, backend, wanted, stop);
    trace.attention.push_back(std::move(tap));
  }
  trace.backend = backend.name();
}

// The sizes that panels ask for.
ModelConfig config_of(const OwnTensors& own, bool causal) {
  ModelConfig config;
  const std::vector<Tensor>& layers = own.attention.empty() ? own.q : own.attention;
  config.layers = static_cast<Index>(layers.size());
  for (const Tensor& layer : layers) config.heads = std::max(config.heads, layer.dim(0));
  config.kv_heads = own.k.empty() ? config.heads : own.k.front().dim(0);
  config.head_size = own.q.empty() ? 0 : own.q.front().dim(2);
  config.width = config.heads * config.head_size;
  config.context = std::max(own.queries(), own.keys());
  config.causal = causal;
  config.groups = uniform_groups(config, default_variant(), default_encoding());
  return config;
}

}  // namespace

bool is_tensor_file(const fs::path& path) {
  const std::string format = ending(path);
  return format == ".npy" || format == ".npz" || format == ".safetensors";
}

Index OwnTensors::queries() const {
  return attention.empty() ? q.front().dim(1) : attention.front().dim(1);
}

Index OwnTensors::keys() const {
  return attention.empty() ? k.front().dim(1) : attention.front().dim(2);
}

OwnTensors read_own_tensors(const TensorFiles& files) {
  const Named named = read_named(files.file);
  OwnTensors own;
  own.attention = read_attention(named);
  check_alike(own.attention, named.file + ": attention");
  if (own.attention.empty()) read_vectors(named, own);
  own.tokens = read_tokens(files.tokens, named, "tokens", own.queries());
  own.key_tokens = read_tokens(files.key_tokens, named, "key_tokens", own.keys());
  return own;
}

Trace trace_of_tensors(const Experiment& experiment, Backend& backend, const Stop& stop) {
  Trace trace;
  const OwnTensors own = read_own_tensors(experiment.tensors);
  stop.check();
  trace.model = fs::path(experiment.tensors.file).filename().string();
  trace.tokens = trace_tokens(own.tokens, own.queries());
  if (own.queries() != own.keys() || !own.key_tokens.empty()) {
    trace.key_tokens = trace_tokens(own.key_tokens, own.keys());
  }
  const auto start = std::chrono::steady_clock::now();
  if (!experiment.interventions.empty()) {
    throw InputError("interventions: expected none in tensors of one's own, found " +
                     std::to_string(experiment.interventions.size()));
  }
  if (!experiment.groups.empty()) {
    throw InputError("groups: expected none with tensors of one's own, found " +
                     std::to_string(experiment.groups.size()));
  }
  if (own.attention.empty()) {
    add_computed(own, experiment, backend, stop, trace);
  } else {
    add_given(own, trace);
  }
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  if (!trace.given) trace.milliseconds = time.count();
  trace.config = config_of(own, experiment.causal.value_or(false));
  for (std::string& note : notes_on_patterns(trace)) trace.notes.push_back(std::move(note));
  return trace;
}

}  // namespace attnscope
