#include "core/checkpoint/decoder_layout.h"

#include "core/autodiff/operations_linear.h"
#include "core/checkpoint/hugging_face.h"
#include "core/checkpoint/split.h"
#include "core/checkpoint/weight_mover.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

// Tensor name prefixes of heads for tasks other than language modelling.
constexpr const char* kOtherHeads[] = {"score.", "classifier.", "qa_outputs.", "v_head.",
                                       "classification_head."};

class DecoderReader {
 public:
  DecoderReader(Model& model, const DecoderNames& names, const CheckpointSource& source)
      : names_(names),
        place_(source.place),
        tensors_(source.tensors),
        model_(model),
        c_(model.config),
        reader_(tensors_, place_, model.config),
        mover_(reader_, model) {}

  void read() {
    for (const std::string& prefix : names_.prefixes) {
      prefix_ = prefix;
      // Looks for layers first: a tied embedding may be stored under the head's name.
      if (!reader_.names_with_prefix(prefix + names_.layers).empty()) break;
      if (reader_.has(prefix + names_.embedding + ".weight")) break;
    }
    read_table();
    for (Index n = 0; n < c_.layers; ++n) {
      from_ = prefix_ + names_.layers + std::to_string(n) + ".";
      to_ = layer_prefix(n);
      read_layer();
    }
    if (c_.pre_norm) norm(prefix_ + names_.final_norm, "final_norm", c_.width);
    read_head();
    for (const char* buffer : {"rotary_emb.inv_freq", "masked_bias"}) {
      reader_.ignore(prefix_ + buffer);
    }
    for (const char* other : kOtherHeads) mover_.leave_out(other, "the head of another task");
    reader_.finish();
  }

 private:
  void norm(const std::string& theirs, const std::string& ours, Index size) {
    if (!names_.has_gains) {
      model_.weights.emplace(ours + ".weight", Var(Tensor::full({size}, 1)));
    } else if (names_.gain_offset != 0) {
      Tensor gain = reader_.take(theirs + ".weight", {size});
      for (float& x : gain) x += static_cast<float>(names_.gain_offset);
      model_.weights.emplace(ours + ".weight", Var(std::move(gain)));
    } else {
      mover_.norm(theirs, ours, size);
    }
  }

  void read_table() {
    const std::string table = prefix_ + names_.embedding + ".weight";
    if (!names_.projected_in.empty()) return read_narrow_table(table);
    const bool is_under_head_name =
        c_.tied_output && !reader_.has(table) && reader_.has(head_name());
    reader_.load(is_under_head_name ? head_name() : table, c_.vocabulary, c_.width, false, model_,
                 "embed.weight");
    if (!names_.positions.empty()) {
      mover_.positions(prefix_ + names_.positions + ".weight", "embed.pos.embedding", c_.context,
                       names_.skipped_positions, c_.width);
    }
    if (c_.embedding.norm) norm(prefix_ + names_.embedding_norm, "embed.norm", c_.width);
  }

  // Reads an embedding narrower than the model, and multiplies the embedding by its projections.
  void read_narrow_table(const std::string& table) {
    const std::string in = prefix_ + names_.projected_in + ".weight",
                      out = prefix_ + names_.projected_out + ".weight";
    const Index narrow = reader_.columns_of(table);
    const Var words(reader_.take(table, {c_.vocabulary, narrow}));
    const Var to_stream(reader_.take_transposed(in, narrow, c_.width));
    const Var from_stream(reader_.take_transposed(out, c_.width, narrow));
    model_.weights.emplace("embed.weight", Var(matmul(words, to_stream).value()));
    if (names_.tied_projection && !reader_.are_equal_or_missing(table, head_name())) {
      reader_.fail("tensor " + head_name() + ": expected the same numbers as " + table +
                   ", since config.json ties them (tie_word_embeddings), found other numbers");
    }
    if (c_.model_options.output_head) {
      const Var head =
          names_.tied_projection ? words : Var(reader_.take(head_name(), {c_.vocabulary, narrow}));
      model_.weights.emplace("output.weight", Var(matmul_transposed(from_stream, head).value()));
    }
    reader_.ignore(head_name());
    mover_.positions(prefix_ + names_.positions + ".weight", "embed.pos.embedding", c_.context,
                     names_.skipped_positions, c_.width);
  }

  std::string head_name() const { return names_.head + ".weight"; }

  void read_head() {
    if (!c_.model_options.output_head || !names_.projected_in.empty()) return;
    mover_.output(head_name(), prefix_ + names_.embedding + ".weight");
    if (c_.head.bias) mover_.plain(names_.head + ".bias", "output.bias", {c_.vocabulary});
  }

  void read_layer() {
    const ModelOptions& options = c_.model_options;
    const auto in_layer = [&](const std::string& name) { return from_ + name; };
    if (options.output_norm != OutputNorm::Instead) {
      norm(in_layer(names_.attn_norm), to_ + "attn_norm", c_.width);
      if (!options.shared_norm) norm(in_layer(names_.ffn_norm), to_ + "ffn_norm", c_.width);
    }
    if (options.output_norm != OutputNorm::None) {
      norm(in_layer(names_.attn_output_norm), to_ + "attn_output_norm", c_.width);
      norm(in_layer(names_.ffn_output_norm), to_ + "ffn_output_norm", c_.width);
    }
    read_attention();
    if (has_experts(c_, to_)) {
      read_experts();
    } else {
      read_feed_forward(options.experts.count > 0 ? options.experts.dense_hidden : c_.hidden);
    }
    for (const std::string& name : names_.ignored) reader_.ignore(in_layer(name));
  }

  Index queries() const { return c_.heads * c_.head_size; }
  Index keys() const { return c_.kv_heads * c_.head_size; }

  void read_attention() {
    const std::string attn = to_ + "attn.";
    const auto linear = [&](const std::string& theirs, const char* letter, Index out) {
      mover_.linear(from_ + theirs, attn, letter, c_.width, out, c_.attention_biases);
    };
    if (!names_.qkv.empty()) split_attention();
    linear(names_.q, "q", queries());
    linear(names_.k, "k", keys());
    linear(names_.v, "v", keys());
    if (!names_.qkv.empty()) remove_views({names_.qkv, names_.q, names_.k, names_.v});
    mover_.linear(from_ + names_.o, attn, "o", queries(), c_.width, has_output_bias(c_));
    const QueryKeyNorm kind = c_.model_options.query_key_norm;
    if (kind != QueryKeyNorm::None) {
      const bool by_head = kind == QueryKeyNorm::Head;
      norm(from_ + names_.q_norm, attn + "q_norm", by_head ? c_.head_size : queries());
      norm(from_ + names_.k_norm, attn + "k_norm", by_head ? c_.head_size : keys());
    }
    if (c_.model_options.attention_sinks) {
      mover_.plain(from_ + names_.sinks, attn + "sinks", {c_.heads});
    }
  }

  // Removes the current layer's views of fused matrices.
  void remove_views(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      for (const char* kind : {".weight", ".bias"}) tensors_.erase(from_ + name + kind);
    }
  }

  void add_view(const std::string& whole, const std::string& name, Index in, const RowRuns& runs,
                bool bias) {
    const Index rows = runs.repeats * runs.count;
    add_part(tensors_, from_ + whole + ".weight", from_ + name + ".weight", in, runs, {rows, in},
             place_);
    if (!bias) return;
    add_part(tensors_, from_ + whole + ".bias", from_ + name + ".bias", 1, runs, {rows}, place_);
  }

  void split_attention() {
    const Index size = c_.head_size, group_heads = c_.heads / c_.kv_heads,
                group_rows = (group_heads + 2) * size;
    reader_.expect_rows(from_ + names_.qkv + ".weight", queries() + 2 * keys());
    const auto add_rows = [&](const std::string& name, const RowRuns& runs) {
      add_view(names_.qkv, name, c_.width, runs, c_.attention_biases);
    };
    if (names_.qkv_by_head) {
      add_rows(names_.q, {0, group_heads * size, group_rows, c_.kv_heads});
      add_rows(names_.k, {group_heads * size, size, group_rows, c_.kv_heads});
      add_rows(names_.v, {(group_heads + 1) * size, size, group_rows, c_.kv_heads});
    } else {
      add_rows(names_.q, {0, queries()});
      add_rows(names_.k, {queries(), keys()});
      add_rows(names_.v, {queries() + keys(), keys()});
    }
  }

  void read_feed_forward(Index hidden) {
    const std::string ffn = to_ + "ffn.";
    const bool bias = c_.feed_forward_biases;
    if (!names_.gate_in.empty()) {
      reader_.expect_rows(from_ + names_.gate_in + ".weight", 2 * hidden);
      add_view(names_.gate_in, names_.gate, c_.width, {0, hidden}, bias);
      add_view(names_.gate_in, names_.in, c_.width, {hidden, hidden}, bias);
    }
    if (c_.gated) mover_.linear(from_ + names_.gate, ffn, "_gate", c_.width, hidden, bias);
    mover_.linear(from_ + names_.in, ffn, "_in", c_.width, hidden, bias);
    if (!names_.gate_in.empty()) remove_views({names_.gate_in, names_.gate, names_.in});
    mover_.linear(from_ + names_.out, ffn, "_out", hidden, c_.width, bias);
  }

  void read_experts() {
    const Experts& experts = c_.model_options.experts;
    const std::string ffn = to_ + "ffn.";
    mover_.reader().load(from_ + names_.router + ".weight", c_.width, experts.count, true, model_,
                         ffn + "router");
    if (experts.router_bias) {
      mover_.plain(from_ + names_.router + ".bias", ffn + "router_bias", {experts.count});
    }
    // GGUF files store the experts of gpt-oss separately.
    const std::string first = from_ + names_.experts + "0." + names_.expert_gate + ".weight";
    const bool fused = !names_.fused_experts.empty() && !reader_.has(first);
    for (Index e = 0; e < experts.count; ++e) {
      const std::string ours = ffn + "experts." + std::to_string(e) + ".";
      if (fused) {
        read_fused_expert(e, ours);
        continue;
      }
      read_expert(from_ + names_.experts + std::to_string(e) + ".", ours, c_.hidden);
    }
    if (experts.shared_hidden > 0) {
      reader_.load(from_ + names_.shared_gate + ".weight", c_.width, 1, true, model_,
                   ffn + "shared_gate");
      read_expert(from_ + names_.shared_expert, ffn + "shared.", experts.shared_hidden);
    }
    if (!fused) return;
    for (const char* name : {"gate_up_proj", "gate_up_proj_bias", "down_proj", "down_proj_bias"}) {
      reader_.ignore(from_ + names_.fused_experts + name);
    }
  }

  void read_expert(const std::string& theirs, const std::string& ours, Index hidden) {
    const bool bias = c_.feed_forward_biases;
    mover_.linear(theirs + names_.expert_gate, ours, "_gate", c_.width, hidden, bias);
    mover_.linear(theirs + names_.expert_in, ours, "_in", c_.width, hidden, bias);
    mover_.linear(theirs + names_.expert_out, ours, "_out", hidden, c_.width, bias);
  }

  // gate_up_proj [experts, d, 2 hidden] interleaves gate and in; down_proj is [experts, hidden, d].
  void read_fused_expert(Index e, const std::string& ours) {
    const std::string from = from_ + names_.fused_experts, view = from + "now.";
    const Index d = c_.width, hidden = c_.hidden, count = c_.model_options.experts.count;
    reader_.expect_shape(from + "gate_up_proj", {count, d, 2 * hidden});
    reader_.expect_shape(from + "down_proj", {count, hidden, d});
    for (const Index half : {0, 1}) {
      const std::string letter = half == 0 ? "_gate" : "_in";
      add_part(tensors_, from + "gate_up_proj", view + "w", 1,
               {2 * e * d * hidden + half, 1, 2, d * hidden}, {d, hidden}, place_);
      reader_.load(view + "w", d, hidden, false, model_, ours + "w" + letter);
      add_part(tensors_, from + "gate_up_proj_bias", view + "b", 1,
               {2 * e * hidden + half, 1, 2, hidden}, {hidden}, place_);
      mover_.plain(view + "b", ours + "b" + letter, {hidden});
    }
    add_part(tensors_, from + "down_proj", view + "w", 1, {e * hidden * d, hidden * d}, {hidden, d},
             place_);
    reader_.load(view + "w", hidden, d, false, model_, ours + "w_out");
    add_part(tensors_, from + "down_proj_bias", view + "b", 1, {e * d, d}, {d}, place_);
    mover_.plain(view + "b", ours + "b_out", {d});
    tensors_.erase(view + "w");
    tensors_.erase(view + "b");
  }

  const DecoderNames& names_;
  const std::string& place_;
  StoredTensors tensors_;  // copy with views of the current layer's fused matrices
  Model& model_;
  const ModelConfig& c_;
  TensorReader reader_;
  WeightMover mover_;
  std::string prefix_, from_, to_;
};

Model load_decoder(DecoderLayout layout, const CheckpointSource& source) {
  Model model;
  model.config = std::move(layout.config);
  find_output_head(source, layout.names.head + ".weight", model);
  for (const std::string& key : layout.ignored_keys) {
    model.notes.push_back(key + " of config.json is ignored, as by the Hugging Face libraries");
  }
  check(model.config, source.config_place);
  DecoderReader(model, layout.names, source).read();
  return model;
}

// True if config.json asks for rotating a part of each head, and the layout rotates all of it.
bool ignores_rotary_share(JsonObject& object, const ModelConfig& config) {
  const auto is_partial = [](const Json& settings) {
    if (!settings.is_object() || !settings.contains("partial_rotary_factor")) return false;
    const Json& share = settings["partial_rotary_factor"];
    return share.is_number() && share.get<double>() != 1;
  };
  bool asks = object.has("partial_rotary_factor") && object.any("partial_rotary_factor") != 1;
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    asks = asks || (object.has(key) && is_partial(object.any(key)));
  }
  const Choice& encoding = config.groups[0][0].encoding;
  return asks && encoding.id == "rope" && encoding.values.integer("dims") == config.head_size;
}

}  // namespace

CheckpointFormat decoder_format(std::string model_type, DecoderLayout (*read)(JsonObject&)) {
  return {std::move(model_type), [read](const CheckpointSource& source) {
            const Json non_null = without_nulls(source.config);
            JsonObject object(non_null, source.config_place);
            DecoderLayout layout = read(object);
            if (ignores_rotary_share(object, layout.config)) {
              layout.ignored_keys.emplace_back("partial_rotary_factor");
            }
            return load_decoder(std::move(layout), source);
          }};
}

std::vector<CheckpointFormat> decoder_formats() {
  return {llama_format(),       mistral_format(),  mixtral_format(),   qwen2_format(),
          qwen2_moe_format(),   qwen3_format(),    qwen3_moe_format(), smollm3_format(),
          olmo_format(),        olmo2_format(),    olmo3_format(),     gemma_format(),
          gemma2_format(),      gemma3_format(),   phi_format(),       phi3_format(),
          gpt_neox_format(),    gptj_format(),     gpt_neo_format(),   opt_format(),
          bloom_format(),       falcon_format(),   gpt_oss_format(),   starcoder2_format(),
          gpt_bigcode_format(), stablelm_format(), cohere_format(),    granite_format(),
          mpt_format()};
}

}  // namespace attnscope
