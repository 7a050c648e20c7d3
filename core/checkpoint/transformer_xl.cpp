// Transformer-XL (Dai et al., 2019, arXiv:1901.02860) as the Hugging Face libraries stored it up to
// transformers 4: queries, keys and values fused, post norm, segment memory, an adaptive
// vocabulary. The memory is empty at first, as in the paper; the libraries begin with rows of
// zeros.
#include <algorithm>
#include <cmath>

#include "core/autodiff/operations_linear.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/hugging_face.h"
#include "core/checkpoint/weight_mover.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

constexpr Index kDefaultSegment = 128;  // as in the released models

void read_vocabulary(JsonObject& object, ModelConfig& c) {
  c.vocabulary = object.integer("vocab_size", 1, kMaxModelTokens);
  c.width = object.integer_or("d_model", 1024, 1, kMaxModelWidth);
  // Without clusters, move_projected_table() widens the table to d_model.
  const Index narrow = object.integer_or("d_embed", c.width, 1, kMaxModelWidth);
  if (narrow != c.width && object.has("cutoffs") && object.array("cutoffs").size() > 0) {
    c.embedding.width = narrow;
  }
  AdaptiveVocabulary& adaptive = c.embedding.adaptive;
  if (object.has("cutoffs")) {
    for (const Json& cutoff : object.array("cutoffs")) {
      if (!cutoff.is_number_integer()) object.fail("cutoffs", "ids in rising order");
      adaptive.cutoffs.push_back(cutoff.get<Index>());
    }
  }
  const Index narrowing = object.integer_or("div_val", 1, 1, kMaxModelWidth);
  adaptive.narrowing = adaptive.cutoffs.empty() ? 1 : narrowing;
  if (adaptive.cutoffs.empty() && narrowing > 1) {
    object.fail("div_val", "1 without cutoffs (nothing else is supported)");
  }
  c.model_options.embedding_scale = std::sqrt(static_cast<double>(c.width));
}

ModelConfig read_transformer_xl_config(const Json& json, const std::string& path, bool has_head) {
  const Json non_null = without_nulls(json);
  JsonObject object(non_null, path);
  ModelConfig c;
  read_vocabulary(object, c);
  c.layers = object.integer("n_layer", 1, 1024);
  c.heads = c.kv_heads = object.integer("n_head", 1, 1024);
  c.head_size = object.integer("d_head", 1, kMaxModelWidth);
  c.hidden = object.integer("d_inner", 1, 8 * kMaxModelWidth);
  c.activation = Activation::Relu;
  c.norm = Norm::LayerNorm;
  c.norm_epsilon = object.number_or("layer_norm_epsilon", 1e-5, 0, 1);
  c.pre_norm = c.gated = false;
  c.feed_forward_biases = true;
  c.tied_output = object.flag_or("tie_word_embeddings", true);
  c.model_options.output_head = c.head.bias = has_head;
  require_flag(object, "pre_lnorm", false);
  if (object.integer_or("attn_type", 0, 0, 3) != 0) {
    object.fail("attn_type", "0 (nothing else is supported)");
  }
  refuse_quantisation(object);
  const Index memory = object.integer_or("mem_len", 1600, 0, kMaxModelTokens);
  const Index segment = object.integer_or("tgt_len", kDefaultSegment, 1, kMaxModelTokens);
  c.segment = segment;
  c.context = std::max(segment + memory, Index{1});
  Choice segment_memory{"segment_memory", default_values(variant("segment_memory").parameters)};
  segment_memory.values.set("memory", memory);
  if (object.flag_or("same_length", true) && memory > 0) segment_memory.values.set("reach", memory);
  Choice relative{"transformer_xl", default_values(encoding("transformer_xl").parameters)};
  relative.values.set("style", std::string("half"));
  const Index clamp = object.integer_or("clamp_len", 1000, -1, kMaxModelTokens);
  if (clamp > 0) relative.values.set("clamp", clamp);
  c.groups = uniform_groups(c, segment_memory, relative);
  check(c, path);
  return c;
}

// Transpose [columns, count] of rows [first, first + count) of a matrix [rows, columns].
Tensor projection_of_part(const Tensor& matrix, Index first, Index count) {
  const Index columns = matrix.dim(1);
  Tensor result({columns, count});
  for (Index r = 0; r < count; ++r) {
    for (Index c = 0; c < columns; ++c) result(c, r) = matrix(first + r, c);
  }
  return result;
}

void move_transformer_xl_layer(WeightMover& mover, const std::string& prefix, Index layer) {
  Model& model = mover.model();
  const ModelConfig& c = model.config;
  const Index rows = c.heads * c.head_size;
  const std::string from = prefix + "layers." + std::to_string(layer) + ".";
  const std::string to = layer_prefix(layer), positions = group_prefix(layer, 0) + "pos.";
  {
    const Tensor all = mover.reader().take(from + "dec_attn.qkv_net.weight", {3 * rows, c.width});
    for (const char* letter : {"q", "k", "v"}) {
      const Index part = letter[0] == 'q' ? 0 : letter[0] == 'k' ? 1 : 2;
      model.weights.emplace(to + "attn.w" + letter,
                            Var(projection_of_part(all, part * rows, rows)));
    }
  }
  mover.linear(from + "dec_attn.o_net", to + "attn.", "o", rows, c.width, false);
  model.weights.emplace(positions + "wr", Var(mover.reader().take_transposed(
                                              from + "dec_attn.r_net.weight", c.width, rows)));
  for (const auto& [theirs, ours] : {std::pair{"r_w_bias", "u"}, {"r_r_bias", "v"}}) {
    // A bias without a layer in its name is shared by all layers.
    const std::string layer_name = from + "dec_attn." + theirs, shared_name = prefix + theirs;
    const Shape shape{c.heads, c.head_size};
    mover.plain(mover.has(layer_name) ? layer_name : shared_name, positions + ours, shape);
    if (mover.has(shared_name)) mover.reader().ignore(shared_name);
  }
  mover.norm(from + "dec_attn.layer_norm", to + "attn_norm", c.width);
  const std::string ffn = from + "pos_ff.";
  mover.feed_forward({ffn + "CoreNet.0", ffn + "CoreNet.3", ffn + "layer_norm"}, to);
}

Tensor identity(Index size) {
  Tensor one = Tensor::zeros({size, size});
  for (Index n = 0; n < size; ++n) one(n, n) = 1;
  return one;
}

// Moves the projections of the clusters and, if `with_tables`, their tables. `layers` is
// "word_emb.emb_layers." for the input, "crit.out_layers." for the output. Tables of equal width
// are stored as one table.
void move_clusters(WeightMover& mover, const std::string& layers, const std::string& projections,
                   const std::string& ours, bool with_tables) {
  Model& model = mover.model();
  const ModelConfig& c = model.config;
  const auto clusters = vocabulary_clusters(c);
  const bool one_table = c.embedding.adaptive.narrowing == 1;
  const bool out = ours == "output.";
  Tensor all;
  if (one_table && with_tables) {
    all = mover.reader().take(layers + "0.weight", {c.vocabulary, clusters[0].width});
  }
  for (std::size_t n = 0; n < clusters.size(); ++n) {
    const std::string number = std::to_string(n), to = ours + "cluster." + number + ".";
    const VocabularyCluster& cluster = clusters[n];
    if (with_tables && one_table) {
      model.weights.emplace(to + "table", Var(all.slice(cluster.first, cluster.count)));
    } else if (with_tables) {
      mover.reader().load(layers + number + ".weight", cluster.count, cluster.width, false, model,
                          to + "table");
    }
    if (one_table && cluster.width == c.width) {
      model.weights.emplace(to + "project", Var(identity(c.width)));
      continue;
    }
    // Tied projections are stored under the input's names. Input clusters that share a table share
    // a projection.
    const std::string theirs = projections + (one_table && !out ? "0" : number);
    const std::string input_projection =
        "transformer.word_emb.emb_projs." + (one_table ? std::string("0") : number);
    const std::string from = mover.has(theirs) ? theirs : input_projection;
    model.weights.emplace(to + "project",
                          Var(out ? mover.reader().take(from, {c.width, cluster.width})
                                  : mover.reader().take_transposed(from, cluster.width, c.width)));
  }
}

// Ignores an output tensor tied to an input tensor. Throws InputError if the two differ.
void ignore_tied(TensorReader& reader, const std::string& words, const std::string& output) {
  if (!reader.has(output)) return;
  if (!reader.are_equal_or_missing(words, output)) {
    reader.fail("tensor " + output + ": expected the same numbers as " + words +
                ", since config.json ties them, found other numbers");
  }
  reader.ignore(output);
}

// Moves an embedding whose width differs from the model's, multiplied by its projections.
void move_projected_table(WeightMover& mover, const std::string& prefix, bool has_head) {
  TensorReader& reader = mover.reader();
  Model& model = mover.model();
  const ModelConfig& c = model.config;
  const std::string table = prefix + "word_emb.emb_layers.0.weight";
  const std::string in = prefix + "word_emb.emb_projs.0", out = "crit.out_projs.0";
  const Index narrow = reader.columns_of(table);
  const Var words(reader.take(table, {c.vocabulary, narrow}));
  const Var to_stream(reader.take_transposed(in, narrow, c.width));
  model.weights.emplace("embed.weight", Var(matmul(words, to_stream).value()));
  if (!has_head) return;
  const bool tied = c.tied_output;  // ties the tables; a tied projection is stored once
  const std::string head = "crit.out_layers.0.weight";
  if (tied) ignore_tied(reader, table, head);
  if (tied && !reader.has(out)) return;
  const Var from_stream(reader.take(reader.has(out) ? out : in, {c.width, narrow}));
  const Var output_words = tied ? words : Var(reader.take(head, {c.vocabulary, narrow}));
  model.config.tied_output = false;
  model.weights.emplace("output.weight", Var(matmul_transposed(from_stream, output_words).value()));
}

void move_adaptive_output(WeightMover& mover, const std::string& words) {
  Model& model = mover.model();
  const ModelConfig& c = model.config;
  const auto clusters = vocabulary_clusters(c);
  TensorReader& reader = mover.reader();
  const bool one_table = c.embedding.adaptive.narrowing == 1;
  move_clusters(mover, "crit.out_layers.", "crit.out_projs.", "output.", !c.tied_output);
  std::vector<float> bias;
  for (std::size_t n = 0; n < (one_table ? 1 : clusters.size()); ++n) {
    const std::string number = std::to_string(n), at = "crit.out_layers." + number;
    if (c.tied_output) ignore_tied(reader, words + number + ".weight", at + ".weight");
    const Tensor part = reader.take(at + ".bias", {one_table ? c.vocabulary : clusters[n].count});
    bias.insert(bias.end(), part.begin(), part.end());
  }
  Tensor all({c.vocabulary});
  std::ranges::copy(bias, all.begin());
  model.weights.emplace("output.bias", Var(all));
  const auto tails = static_cast<Index>(clusters.size()) - 1;
  model.weights.emplace("output.choice.w", Var(reader.take_transposed("crit.cluster_weight",
                                                                      clusters[0].width, tails)));
  model.weights.emplace("output.choice.b", Var(reader.take("crit.cluster_bias", {tails})));
}

Model load_transformer_xl(const CheckpointSource& source) {
  Model model;
  const bool has_head = source.tensors.contains("crit.out_layers.0.bias");
  model.config = read_transformer_xl_config(source.config, source.config_place, has_head);
  const ModelConfig& c = model.config;
  TensorReader reader(source, c);
  WeightMover mover(reader, model);
  const std::string prefix = reader.has("word_emb.emb_layers.0.weight") ? "" : "transformer.";
  const std::string words = prefix + "word_emb.emb_layers.";
  const bool adaptive = !c.embedding.adaptive.cutoffs.empty();
  const bool projected = !adaptive && reader.has(prefix + "word_emb.emb_projs.0");
  if (adaptive) {
    move_clusters(mover, words, prefix + "word_emb.emb_projs.", "embed.", true);
  } else if (projected) {
    move_projected_table(mover, prefix, has_head);
  } else {
    reader.load(words + "0.weight", c.vocabulary, c.width, false, model, "embed.weight");
  }
  for (Index n = 0; n < c.layers; ++n) move_transformer_xl_layer(mover, prefix, n);
  if (has_head && adaptive) move_adaptive_output(mover, words);
  if (!adaptive && !projected) {
    mover.head("crit.out_layers.0.weight", words + "0.weight", {"crit.out_layers.0.bias"});
  } else if (has_head && projected) {
    mover.output_bias({"crit.out_layers.0.bias"}, {c.vocabulary});
  }
  reader.ignore(prefix + "pos_emb.inv_freq");
  model.notes.push_back(
      "the memory is empty at first, as in the paper; the libraries begin with mem_len rows of "
      "zeros");
  mover.finish({"score."});
  return model;
}

}  // namespace

CheckpointFormat transformer_xl_format() {
  return {"transfo-xl", load_transformer_xl};
}

}  // namespace attnscope
