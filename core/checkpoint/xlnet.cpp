// XLNet (Yang et al., 2019, arXiv:1906.08237) as the Hugging Face libraries store it: projections
// [in, heads, d_k], relative positions as in Transformer-XL, post norm. Of its two streams the
// content stream is supported; the query stream of permutation training (mask_emb) and segment
// embeddings (seg_embed) are omitted with a note.
#include "core/base/strict_json.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/hugging_face.h"
#include "core/checkpoint/weight_mover.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

ModelConfig read_xlnet_config(const Json& json, const std::string& path, bool has_head) {
  const Json non_null = without_nulls(json);
  JsonObject object(non_null, path);
  ModelConfig c;
  c.vocabulary = object.integer("vocab_size", 1, kMaxModelTokens);
  c.context = 512;  // training length; relative positions are unbounded
  c.width = object.integer("d_model", 1, kMaxModelWidth);
  c.layers = object.integer("n_layer", 1, 1024);
  c.heads = c.kv_heads = object.integer("n_head", 1, 1024);
  c.head_size =
      object.integer_or("d_head", std::max<Index>(c.width / c.heads, 1), 1, kMaxModelWidth);
  c.hidden = object.integer("d_inner", 1, 8 * kMaxModelWidth);
  c.activation = object.has("ff_activation") ? hugging_face_activation(object, "ff_activation")
                                             : Activation::Gelu;
  c.norm = Norm::LayerNorm;
  c.norm_epsilon = object.number_or("layer_norm_eps", 1e-12, 0, 1);
  c.pre_norm = c.gated = c.causal = false;
  c.feed_forward_biases = true;
  c.tied_output = object.flag_or("tie_word_embeddings", true) || !has_head;
  c.model_options.output_head = c.head.bias = has_head;
  if (object.text_or("attn_type", "bi") != "bi") {
    object.fail("attn_type", "\"bi\" (nothing else is supported)");
  }
  require_flag(object, "bi_data", false);
  refuse_quantisation(object);
  Choice relative{"transformer_xl", default_values(encoding("transformer_xl").parameters)};
  relative.values.set("style", std::string("half"));
  const Index clamp = object.integer_or("clamp_len", -1, -1, kMaxModelTokens);
  if (clamp > 0) relative.values.set("clamp", clamp);
  c.groups = uniform_groups(c, default_variant(), relative);
  check(c, path);
  return c;
}

void move_xlnet_layer(WeightMover& mover, const std::string& from, Index layer) {
  Model& model = mover.model();
  const ModelConfig& c = model.config;
  const Index rows = c.heads * c.head_size;
  const std::string to = layer_prefix(layer), positions = group_prefix(layer, 0) + "pos.";
  const auto projection = [&](const char* letter) {  // [d, h, d_k] -> [d, h d_k]
    const Tensor stored =
        mover.reader().take(from + "rel_attn." + letter, {c.width, c.heads, c.head_size});
    return stored.reshaped({c.width, rows});
  };
  for (const char* letter : {"q", "k", "v"}) {
    model.weights.emplace(to + "attn.w" + letter, Var(projection(letter)));
  }
  const Tensor out = projection("o");
  Tensor transposed({rows, c.width});
  for (Index r = 0; r < rows; ++r) {
    for (Index d = 0; d < c.width; ++d) transposed(r, d) = out(d, r);
  }
  model.weights.emplace(to + "attn.wo", Var(transposed));
  model.weights.emplace(positions + "wr", Var(projection("r")));
  mover.plain(from + "rel_attn.r_w_bias", positions + "u", {c.heads, c.head_size});
  mover.plain(from + "rel_attn.r_r_bias", positions + "v", {c.heads, c.head_size});
  mover.reader().ignore(from + "rel_attn.r_s_bias");
  mover.reader().ignore(from + "rel_attn.seg_embed");
  mover.norm(from + "rel_attn.layer_norm", to + "attn_norm", c.width);
  mover.feed_forward({from + "ff.layer_1", from + "ff.layer_2", from + "ff.layer_norm"}, to);
}

Model load_xlnet(const CheckpointSource& source) {
  Model model;
  const bool has_head = source.tensors.contains("lm_loss.bias");
  model.config = read_xlnet_config(source.config, source.config_place, has_head);
  const ModelConfig& c = model.config;
  TensorReader reader(source, c);
  WeightMover mover(reader, model);
  const std::string prefix = reader.has("word_embedding.weight") ? "" : "transformer.";
  const std::string table = prefix + "word_embedding.weight";
  reader.load(table, c.vocabulary, c.width, false, model, "embed.weight");
  for (Index n = 0; n < c.layers; ++n) {
    move_xlnet_layer(mover, prefix + "layer." + std::to_string(n) + ".", n);
  }
  mover.head("lm_loss.weight", table, {"lm_loss.bias"});
  model.notes.push_back("segment embeddings (seg_embed, r_s_bias) are left out");
  mover.leave_out(prefix + "mask_emb", "the query stream");
  mover.finish({"sequence_summary.", "logits_proj.", "classifier.", "qa_outputs."});
  return model;
}

}  // namespace

CheckpointFormat xlnet_format() {
  return {"xlnet", load_xlnet};
}

}  // namespace attnscope
