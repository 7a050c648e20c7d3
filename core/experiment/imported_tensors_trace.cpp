// Trace of imported tensors. Derives the tokens, patterns and notes that a model would provide.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/experiment/effective_model.h"
#include "core/experiment/image_tensors.h"
#include "core/experiment/imported_tensors.h"
#include "core/experiment/notes.h"
#include "core/figure/plain_text.h"
#include "core/model/memory_need.h"
#include "core/text/byte_alphabet.h"

namespace attnscope {
namespace {

constexpr Index kMaxStoredWeights = Index{1} << 27;  // 512 MiB of floats
constexpr double kRowSumTolerance = 0.02;            // rounding error of row sums in half precision

// Byte of a SentencePiece token such as "<0xE4>"; -1 for other tokens.
int parse_byte_token(const std::string& token) {
  constexpr std::size_t kLength = 6;
  if (token.size() != kLength || !token.starts_with("<0x") || token.back() != '>') return -1;
  int byte = 0;
  const char* digits = token.data() + 3;
  const auto [end, error] = std::from_chars(digits, digits + 2, byte, 16);
  return error == std::errc() && end == digits + 2 ? byte : -1;
}

bool contains(const std::vector<std::string>& tokens, std::string_view substring) {
  return std::ranges::any_of(
      tokens, [&](const std::string& t) { return t.find(substring) != std::string::npos; });
}

// Decodes token lists in the notation of vocabularies: byte-level BPE ("Ġthe", "Ã©") and
// SentencePiece spaces and bytes ("▁the", "<0xE4>"). Special tokens are unchanged.
std::vector<std::string> decode(std::vector<std::string> tokens) {
  if (contains(tokens, "Ġ") || contains(tokens, "Ċ")) {
    for (std::string& token : tokens) {
      if (const auto bytes = from_byte_alphabet(token)) token = *bytes;
    }
    return tokens;
  }
  const bool has_spaces = contains(tokens, "▁");
  for (std::string& token : tokens) {
    if (const int byte = parse_byte_token(token); byte >= 0) {
      token = std::string(1, static_cast<char>(byte));
    } else if (has_spaces) {
      constexpr std::string_view kSpace = "▁";
      for (std::size_t n = 0; (n = token.find(kSpace, n)) != std::string::npos; ++n) {
        token.replace(n, kSpace.size(), " ");
      }
    }
  }
  return tokens;
}

// Equal texts receive equal ids; without texts, tokens are unknown (-1) and labelled by number.
std::vector<TraceToken> trace_tokens(const std::vector<std::string>& notation, Index count) {
  const std::vector<std::string> texts = decode(notation);
  std::vector<TraceToken> tokens;
  std::map<std::string, std::int32_t> ids;
  for (Index i = 0; i < count; ++i) {
    TraceToken token;
    if (texts.empty()) {
      token.id = -1;
      token.bytes = token.label = std::to_string(i);
    } else {
      token.bytes = texts[static_cast<std::size_t>(i)];
      token.label = visible(token.bytes);
      token.id = ids.emplace(token.bytes, static_cast<std::int32_t>(ids.size())).first->second;
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// Pattern of imported attention: the pairs with non-zero weights. The pattern is full if every head
// has all pairs, and causal if every head has all causal pairs and no other pairs.
Pattern derive_pattern(const Tensor& attention) {
  const Index heads = attention.dim(0), queries = attention.dim(1), keys = attention.dim(2);
  bool is_non_causal = false, lacks_causal = false, has_zero = false;
  const Index offset = keys - queries;  // column of the first query's own token
  for (Index row = 0; row < heads * queries; ++row) {
    const Index i = row % queries;
    const float* weights = attention.data() + row * keys;
    for (Index j = 0; j < keys; ++j) {
      const bool is_later = j > i + offset;
      is_non_causal |= is_later && weights[j] != 0;
      lacks_causal |= !is_later && weights[j] == 0;
      has_zero |= weights[j] == 0;
    }
  }
  if (!has_zero) return Pattern::all(queries, keys);
  if (offset >= 0 && !is_non_causal && !lacks_causal) return Pattern::causal(queries, keys, offset);
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
  bool has_negative = false, has_bad_sums = false;
  for (const Tensor& layer : layers) {
    const Index keys = layer.dim(2);
    for (Index row = 0; row < layer.size() / keys; ++row) {
      const float* weights = layer.data() + row * keys;
      const double sum = std::accumulate(weights, weights + keys, 0.0);
      has_negative |= std::any_of(weights, weights + keys, [](float w) { return w < 0; });
      has_bad_sums |= sum != 0 && !(std::abs(sum - 1) <= kRowSumTolerance);
    }
  }
  if (has_negative) notes.push_back("some weights are negative");
  if (has_bad_sums) notes.push_back("rows do not sum to 1; they are shown without normalisation");
}

AttentionTap make_tap(Index layer, Index heads) {
  AttentionTap tap;
  tap.address.layer = layer;
  tap.heads.resize(static_cast<std::size_t>(heads));
  std::iota(tap.heads.begin(), tap.heads.end(), 0);
  tap.variant = default_variant();
  tap.encoding = default_encoding();
  return tap;
}

void add_imported_attention(const ImportedTensors& tensors, Trace& trace) {
  trace.is_imported = true;
  for (const Tensor& attention : tensors.attention) {
    AttentionTap tap = make_tap(static_cast<Index>(trace.attention.size()), attention.dim(0));
    tap.result.attention = attention;
    tap.result.pattern = std::make_shared<const Pattern>(derive_pattern(attention));
    trace.attention.push_back(std::move(tap));
  }
  note_rows(tensors.attention, trace.notes);
}

// Throws InputError if v is missing, except for full attention with default parameters and for
// variants with a pattern function.
void check_values(const ImportedTensors& tensors, const OperationInput& input) {
  if (!tensors.v.empty()) return;
  const Variant& v = variant(input.variant.id);
  if (v.pattern || input.variant == default_variant()) return;
  throw InputError("v: expected values for " + v.id +
                   ", found none; only full attention and patterns are computed without values");
}

// Adds weights of the variant and the encoding, because an image contains none: illustrative
// weights, or else random initial ones.
void add_missing_weights(OperationInput& input, Trace& trace) {
  const Variant& v = variant(input.variant.id);
  if (v.inputs.needs(input.variant.values).input) {
    throw InputError("variant.type: " + v.id +
                     " computes its weights from a model's input, which an image lacks");
  }
  Dimensions sizes = free_dimensions(input.heads, input.kv_heads, input.q.dim(2), input.v.dim(2));
  sizes.queries = sizes.keys = sizes.context = input.q.dim(1);
  sizes.model = input.q.dim(2);
  sizes.inner = 0;
  const auto add = [&](const Info& info, const Values& values) {
    for (const WeightInfo& w : info.weights) {
      const bool is_needed = info.uses(w, values) && w.scope != WeightScope::Operation &&
                             w.scope != WeightScope::Model && !w.file.state;
      if (!is_needed || w.file.optional || input.weights.contains(w.name)) continue;
      if (!w.illustrative && !w.initial) continue;  // evaluate() reports it as missing
      const Shape shape = w.shape(sizes, values);
      input.weights.emplace(
          w.name,
          w.illustrative
              ? w.illustrative(shape, {sizes, sizes.queries, sizes.keys, input.causal}, values)
              : w.initial(shape, sizes, values, 0));
      trace.untrained.push_back(w.name);
    }
  };
  add(v, input.variant.values);
  add(encoding(input.encoding.id), input.encoding.values);
}

void add_computed_attention(const ImportedTensors& tensors, const RunSpec& spec, Backend& backend,
                            Trace& trace) {
  Index cells = 0;
  for (const Tensor& q : tensors.q) cells += q.dim(0) * tensors.queries() * tensors.keys();
  for (std::size_t layer = 0; layer < tensors.q.size(); ++layer) {
    OperationInput input;
    input.heads = tensors.q[layer].dim(0);
    input.kv_heads = tensors.k[layer].dim(0);
    input.q = tensors.q[layer];
    input.k = tensors.k[layer];
    if (!tensors.v.empty()) input.v = tensors.v[layer];
    for (const auto& [name, tensor] : tensors.weights) input.weights.emplace(name, tensor);
    input.variant = spec.variant.value_or(default_variant());
    input.encoding = spec.encoding.value_or(default_encoding());
    input.causal = spec.causal.value_or(false);
    input.layer = static_cast<Index>(layer);
    check_values(tensors, input);
    if (tensors.pixels) add_missing_weights(input, trace);
    ResultRequest wanted;
    wanted.output = !tensors.v.empty();
    wanted.attention = cells <= kMaxStoredWeights;
    wanted.log_sum_exp = true;
    check_memory(input, wanted.attention);
    AttentionTap tap = make_tap(static_cast<Index>(layer), input.heads);
    tap.variant = input.variant;
    tap.encoding = input.encoding;
    tap.record(values_of(input), evaluate(input, backend, wanted));
    trace.attention.push_back(std::move(tap));
  }
  trace.backend = backend.name();
}

// Configuration with the sizes that panels display.
ModelConfig make_config(const ImportedTensors& tensors, bool causal) {
  ModelConfig config;
  const std::vector<Tensor>& layers = tensors.attention.empty() ? tensors.q : tensors.attention;
  config.layers = static_cast<Index>(layers.size());
  for (const Tensor& layer : layers) config.heads = std::max(config.heads, layer.dim(0));
  config.kv_heads = tensors.k.empty() ? config.heads : tensors.k.front().dim(0);
  config.head_size = tensors.q.empty() ? 0 : tensors.q.front().dim(2);
  config.width = config.heads * config.head_size;
  config.context = std::max(tensors.queries(), tensors.keys());
  config.causal = causal;
  config.groups = uniform_groups(config, default_variant(), default_encoding());
  return config;
}

}  // namespace

Trace trace_of_tensors(const RunSpec& spec, Backend& backend) {
  Trace trace;
  const ImportedTensors tensors = read_imported_tensors(spec.tensors);
  check_stop();
  trace.model = std::filesystem::path(spec.tensors.file).filename().string();
  trace.tokens = trace_tokens(tensors.tokens, tensors.queries());
  if (tensors.queries() != tensors.keys() || !tensors.key_tokens.empty()) {
    trace.streams.push_back({"keys", trace_tokens(tensors.key_tokens, tensors.keys())});
  }
  if (tensors.queries() != tensors.keys() && tensors.key_tokens.empty() && !tensors.pixels) {
    trace.notes.push_back(
        count_text(tensors.queries(), "query", "queries") + " and " +
        count_text(tensors.keys(), "key") +
        " without key_tokens: columns are labelled 0, 1, ... in storage order; their positions "
        "relative to the queries are unknown");
  }
  const auto start = std::chrono::steady_clock::now();
  if (!spec.interventions.empty()) {
    throw InputError("interventions: expected no interventions with imported tensors, found " +
                     std::to_string(spec.interventions.size()));
  }
  if (!spec.groups.empty()) {
    throw InputError("groups: expected no groups with imported tensors, found " +
                     std::to_string(spec.groups.size()));
  }
  if (tensors.attention.empty()) {
    add_computed_attention(tensors, with_text_parameters(spec, trace.tokens), backend, trace);
  } else {
    add_imported_attention(tensors, trace);
  }
  if (tensors.pixels) {
    trace.pixels = tensors.pixels;
    trace.notes.push_back(image_note());
    std::string untrained;
    for (const std::string& name : trace.untrained) {
      untrained += (untrained.empty() ? "" : ", ") + name;
    }
    if (!untrained.empty()) trace.notes.push_back("untrained: " + untrained);
  }
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  for (AttentionTap& tap : trace.attention) {
    if (!trace.streams.empty()) tap.key_rows.stream = trace.streams.front().id;
  }
  if (!trace.is_imported) trace.milliseconds = time.count();
  trace.config =
      std::make_shared<const ModelConfig>(make_config(tensors, spec.causal.value_or(false)));
  trace.trained = trace.config;
  for (std::string& note : notes_on_attention(trace)) trace.notes.push_back(std::move(note));
  for (std::string& note : notes_on_patterns(trace)) trace.notes.push_back(std::move(note));
  return trace;
}

}  // namespace attnscope
