// Reformer (Kitaev et al., 2020, arXiv:2001.04451) as the Hugging Face libraries store it:
// reversible layers with LSH attention (shared queries and keys) or local attention, an output that
// reads both streams, and axial positions.
#include <algorithm>
#include <numeric>
#include <optional>

#include "core/base/strict_json.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/hugging_face.h"
#include "core/checkpoint/torch_random.h"
#include "core/checkpoint/weight_mover.h"
#include "core/model/residual_connection.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

constexpr Index kMaxChunk = Index{1} << 20, kMaxBuckets = Index{1} << 20;

struct ReformerAttention {
  std::vector<bool> is_lsh;  // by layer; false: local attention
  Index lsh_chunk = 0, local_chunk = 0;
  Choice lsh, local;
  std::optional<std::uint64_t> seed;
  bool has_buckets = false;
};

// Reads two positive numbers.
std::pair<Index, Index> read_pair(JsonObject& object, const char* key) {
  const Json& list = object.array(key);
  const bool valid = list.size() == 2 && list[0].is_number_integer() &&
                     list[1].is_number_integer() && list[0] >= 1 && list[1] >= 1 &&
                     list[0] <= kMaxModelTokens && list[1] <= kMaxModelTokens;
  if (!valid) object.fail(key, "two numbers of at least 1 (nothing else is supported)");
  return {list[0].get<Index>(), list[1].get<Index>()};
}

// Sets the libraries' default number of buckets for a text of maximum length.
void set_default_buckets(Values& lsh, Index context) {
  const Index chunk = lsh.integer("chunk");
  Index power = 0;
  while ((Index{2} << power) <= 2 * (context / chunk)) ++power;
  power = std::clamp<Index>(power, 1, 20);
  Index root = 0;
  while ((root + 1) * (root + 1) <= context / chunk) ++root;
  lsh.set("buckets", Index{1} << power);
  const bool factorised = (Index{1} << power) > 2 * std::max(root, chunk);
  if (factorised && power >= 2) lsh.set("factor", Index{1} << (power / 2));
}

void read_buckets(JsonObject& object, ReformerAttention& attention, Index context) {
  Values& lsh = attention.lsh.values;
  attention.has_buckets = object.has("num_buckets");
  if (!attention.has_buckets) return set_default_buckets(lsh, context);
  const Json& stored_buckets = object.any("num_buckets");
  if (stored_buckets.is_array() && stored_buckets.size() == 2) {
    const auto [first, second] = read_pair(object, "num_buckets");
    if (first > kMaxBuckets / second) object.fail("num_buckets", "fewer buckets");
    lsh.set("buckets", first * second);
    lsh.set("factor", first);
  } else if (stored_buckets.is_array()) {
    object.fail("num_buckets", "one number or two numbers (nothing else is supported)");
  } else {
    lsh.set("buckets", object.integer("num_buckets", 2, kMaxBuckets));
  }
}

void read_layers(JsonObject& object, ModelConfig& c, ReformerAttention& attention) {
  const Json& layers = object.array("attn_layers");
  if (layers.size() == 0 || layers.size() > 1024) {
    object.fail("attn_layers", "from 1 to 1024 entries, each \"lsh\" or \"local\"");
  }
  for (const Json& layer : layers) {
    if (layer != "lsh" && layer != "local") {
      object.fail("attn_layers", "\"lsh\" and \"local\" (nothing else is supported)");
    }
    attention.is_lsh.push_back(layer == "lsh");
  }
  c.layers = static_cast<Index>(attention.is_lsh.size());
}

ReformerAttention read_attention(JsonObject& object, ModelConfig& c) {
  ReformerAttention a;
  read_layers(object, c, a);
  a.lsh_chunk = object.integer_or("lsh_attn_chunk_length", 64, 1, kMaxChunk);
  a.local_chunk = object.integer_or("local_attn_chunk_length", 64, 1, kMaxChunk);
  const bool mixed = std::ranges::find(a.is_lsh, true) != a.is_lsh.end() &&
                     std::ranges::find(a.is_lsh, false) != a.is_lsh.end();
  const Index multiple = std::lcm(a.lsh_chunk, a.local_chunk);
  if (mixed && multiple > kMaxModelTokens) {
    object.fail("lsh_attn_chunk_length", "chunk lengths with a smaller common multiple");
  }
  a.lsh = {"lsh", default_values(variant("lsh").parameters)};
  Values& lsh = a.lsh.values;
  lsh.set("form", std::string("released"));
  lsh.set("chunk", a.lsh_chunk);
  lsh.set("fill", mixed ? multiple : a.lsh_chunk);
  lsh.set("rounds", object.integer_or("num_hashes", 1, 1, 4096));
  lsh.set("before", object.integer_or("lsh_num_chunks_before", 1, 0, 1024));
  lsh.set("after", object.integer_or("lsh_num_chunks_after", 0, 0, 1024));
  read_buckets(object, a, c.context);
  a.local = {"block_local", default_values(variant("block_local").parameters)};
  Values& local = a.local.values;
  local.set("block", a.local_chunk);
  local.set("fill", mixed ? multiple : a.local_chunk);
  local.set("before", object.integer_or("local_num_chunks_before", 1, 0, 1024));
  local.set("after", object.integer_or("local_num_chunks_after", 0, 0, 1024));
  local.set("circular", true);
  if (object.has("hash_seed")) {
    a.seed = static_cast<std::uint64_t>(object.integer("hash_seed", 0, Index{1} << 62));
  }
  return a;
}

Choice read_positions(JsonObject& object, const ModelConfig& c) {
  Choice positions{"learned", default_values(encoding("learned").parameters)};
  if (!object.flag_or("axial_pos_embds", true)) return positions;
  const auto [rows, columns] = read_pair(object, "axial_pos_shape");
  const auto [row_width, column_width] = read_pair(object, "axial_pos_embds_dim");
  if (row_width + column_width != c.width) {
    object.fail("axial_pos_embds_dim", "two numbers whose sum is hidden_size");
  }
  if (rows * columns < c.context) {
    object.fail("axial_pos_shape", "two numbers with a product of max_position_embeddings");
  }
  positions.values.set("columns", columns);
  positions.values.set("row_width", row_width);
  return positions;
}

ReformerAttention read_reformer_config(const Json& json, const std::string& path, bool has_head,
                                       ModelConfig& c) {
  const Json non_null = without_nulls(json);
  JsonObject object(non_null, path);
  c.vocabulary = object.integer("vocab_size", 1, kMaxModelTokens);
  c.context = object.integer_or("max_position_embeddings", 4096, 1, kMaxModelTokens);
  c.width = object.integer_or("hidden_size", 256, 1, kMaxModelWidth);
  c.heads = c.kv_heads = object.integer_or("num_attention_heads", 12, 1, 1024);
  c.head_size = object.integer_or("attention_head_size", 64, 1, kMaxModelWidth);
  c.hidden = object.integer_or("feed_forward_size", 512, 1, 8 * kMaxModelWidth);
  c.activation =
      object.has("hidden_act") ? hugging_face_activation(object, "hidden_act") : Activation::Relu;
  c.norm = Norm::LayerNorm;
  c.norm_epsilon = object.number_or("layer_norm_eps", 1e-12, 0, 1);
  c.gated = c.tied_output = false;
  c.feed_forward_biases = true;
  c.causal = object.flag_or("is_decoder", false);
  c.model_options.output_head = c.head.bias = has_head;
  require_flag(object, "tie_word_embeddings", false);
  refuse_quantisation(object);
  c.residual_connection = default_choice(residual_connection("reversible"));
  c.residual_connection.values.set("end", std::string("both"));
  const ReformerAttention attention = read_attention(object, c);
  const Choice positions = read_positions(object, c);
  for (const bool is_lsh : attention.is_lsh) {
    c.groups.push_back({{c.heads, is_lsh ? attention.lsh : attention.local, positions}});
  }
  return attention;
}

void move_positions(WeightMover& mover, const std::string& at) {
  Model& model = mover.model();
  const ModelConfig& c = model.config;
  const Values& positions = c.groups[0][0].encoding.values;
  const Index columns = positions.integer("columns"), row_width = positions.integer("row_width");
  if (columns == 0) {
    return mover.plain(at + "embedding.weight", "embed.pos.embedding", {c.context, c.width});
  }
  TensorReader& reader = mover.reader();
  const std::string first = at + "weights.0", second = at + "weights.1";
  const Index min_rows = (c.context + columns - 1) / columns;
  const Index rows = reader.rows_of(first);
  if (rows < min_rows) reader.expect_shape(first, {min_rows, 1, row_width});
  const Tensor table = reader.take(first, {rows, 1, row_width}).reshaped({rows, row_width});
  model.weights.emplace("embed.pos.row", Var(table.slice(0, min_rows)));
  model.weights.emplace("embed.pos.column",
                        Var(reader.take(second, {1, columns, c.width - row_width})
                                .reshaped({columns, c.width - row_width})));
}

// Draws the LSH rotations [rounds, h, d_k, b/2], in the libraries' order [h, d_k, rounds, b/2].
Tensor draw_rotations(const ModelConfig& c, const Values& lsh, std::uint64_t seed) {
  const Index rounds = lsh.integer("rounds"), factor = lsh.integer("factor");
  const Index buckets = lsh.integer("buckets");
  const Index half = factor > 0 ? (factor + buckets / factor) / 2 : buckets / 2;
  const Index size = c.head_size, count = c.heads * size * rounds * half;
  const Tensor drawn = torch_normal(std::max<Index>(count, 16), seed);
  Tensor rotations({rounds, c.heads, size, half});
  for (Index n = 0; n < count; ++n) {
    const Index b = n % half, round = n / half % rounds, rest = n / half / rounds;  // in [h, d_k]
    rotations[(round * c.heads * size + rest) * half + b] = drawn[n];
  }
  return rotations;
}

void share_keys(Model& model, const std::string& attn) {
  const auto narrow = model.narrow.find(attn + "wq");
  if (narrow != model.narrow.end()) {
    model.narrow.emplace(attn + "wk", narrow->second);
  } else {
    model.weights.emplace(attn + "wk", model.weights.at(attn + "wq"));
  }
}

void move_reformer_layer(WeightMover& mover, const std::string& from, Index layer, bool is_lsh) {
  const ModelConfig& c = mover.model().config;
  const Index inner = c.heads * c.head_size;
  const std::string to = layer_prefix(layer), attn = to + "attn.";
  const std::string self = from + "attention.self_attention.";
  mover.norm(from + "attention.layer_norm", to + "attn_norm", c.width);
  mover.linear(self + (is_lsh ? "query_key" : "query"), attn, "q", c.width, inner, false);
  if (is_lsh) {
    share_keys(mover.model(), attn);
  } else {
    mover.linear(self + "key", attn, "k", c.width, inner, false);
  }
  mover.linear(self + "value", attn, "v", c.width, inner, false);
  mover.linear(from + "attention.output.dense", attn, "o", inner, c.width, false);
  // Tensors of older versions.
  for (const std::string& name : mover.reader().names_with_prefix(self)) {
    if (name.find("mask_value") != std::string::npos) mover.reader().ignore(name);
  }
  const std::string ffn = from + "feed_forward.";
  mover.feed_forward({ffn + "dense.dense", ffn + "output.dense", ffn + "layer_norm"}, to);
}

// The libraries add the decoder's bias; lm_head.bias alone is stored by older versions.
void move_head(WeightMover& mover) {
  const char *used = "lm_head.decoder.bias", *older = "lm_head.bias";
  mover.head("lm_head.decoder.weight", "", {mover.has(used) ? used : older});
  mover.reader().ignore(older);
}

void note_hashes(Model& model, const ReformerAttention& attention) {
  if (std::ranges::find(attention.is_lsh, true) == attention.is_lsh.end()) return;
  if (!attention.has_buckets) {
    model.notes.push_back(
        "the checkpoint does not store the number of buckets (num_buckets): the libraries' default "
        "for the longest text is used");
  }
  model.notes.push_back(
      attention.seed ? "the LSH rotations are those that torch draws with hash_seed"
                     : "the LSH rotations are drawn again: the checkpoint does not store them "
                       "(hash_seed)");
}

Model load_reformer(const CheckpointSource& source) {
  Model model;
  const std::string& path = source.config_place;
  ModelConfig& c = model.config;
  const bool has_head = source.tensors.contains("lm_head.decoder.weight");
  const ReformerAttention attention = read_reformer_config(source.config, path, has_head, c);
  if (has_head && !c.causal) set_masked_prediction(c, source);
  check(c, path);
  TensorReader reader(source, c);
  WeightMover mover(reader, model);
  const std::string prefix = reader.has("embeddings.word_embeddings.weight") ? "" : "reformer.";
  reader.load(prefix + "embeddings.word_embeddings.weight", c.vocabulary, c.width, false, model,
              "embed.weight");
  move_positions(mover, prefix + "embeddings.position_embeddings.");
  std::optional<Var> rotations;
  if (attention.seed && attention.has_buckets) {
    rotations = Var(draw_rotations(c, attention.lsh.values, *attention.seed));
  }
  for (Index n = 0; n < c.layers; ++n) {
    const bool is_lsh = attention.is_lsh[static_cast<std::size_t>(n)];
    move_reformer_layer(mover, prefix + "encoder.layers." + std::to_string(n) + ".", n, is_lsh);
    if (is_lsh && rotations) {
      model.weights.emplace(group_prefix(n, 0) + "lsh.rotation", *rotations);
    }
  }
  mover.norm(prefix + "encoder.layer_norm", "final_norm", state_width(c));
  move_head(mover);
  note_hashes(model, attention);
  mover.finish({"classifier.", "qa_outputs."});
  return model;
}

}  // namespace

CheckpointFormat reformer_format() {
  return {"reformer", load_reformer};
}

}  // namespace attnscope
