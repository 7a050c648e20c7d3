// What a model is: sizes, blocks, per layer the head groups with their variant and encoding, and
// the choices that SPEC-MODELS adds: architecture, join, exits, input, segments.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/variant.h"
#include "core/base/json.h"
#include "core/model/ingredients.h"

namespace attnscope {

Choice default_architecture();  // decoder
Choice default_join();          // residual
Choice default_input();         // text

// Neighbouring heads of one layer that share a variant, an encoding and their parameters. Where
// heads share keys and values, a group has all heads of each key-value head or lies within one.
// Encodings of the
// input (sinusoidal, learned) act once, on the embeddings, and so on every head: a model that has
// one names it in all of its groups.
struct HeadGroup {
  Index heads = 0;
  Choice variant = default_variant();
  Choice encoding = default_encoding();
  bool operator==(const HeadGroup&) const = default;
};

enum class Norm { LayerNorm, RmsNorm };
// QuickGelu: x sigmoid(1.702 x), as in CLIP and gpt-oss.
enum class Activation { Relu, Gelu, GeluTanh, Silu, QuickGelu, SquaredRelu };

// Losses of Al-Rfou et al., 2018, arXiv:1808.04444, in training alone (SPEC-MODELS section 8).
struct Auxiliary {
  bool layers = false;  // every layer predicts
  Index future = 0;     // how many tokens beyond the next one are predicted, too
  bool operator==(const Auxiliary&) const = default;
};

// A vocabulary in clusters, ids of frequent tokens first: the tables of rarer ones are narrower and
// have a projection each (Baevski and Auli, 2018, arXiv:1809.10853), and the output chooses a
// cluster first, then one of its tokens (Grave et al., 2016, arXiv:1609.04309).
struct AdaptiveVocabulary {
  std::vector<Index> cutoffs;  // the first id of each cluster behind the first; empty: no clusters
  Index narrowing = 1;         // each table is this many times narrower than the one before
  bool operator==(const AdaptiveVocabulary&) const = default;
};

// What tokens' vectors become before the first layer, beside what encodings of the input add.
struct EmbeddingConfig {
  // Of the table of tokens where it is not as wide as the model: positions and kinds of tokens are
  // added and the norm is taken in that width, then all is projected. 0: the model's.
  // Lan et al., 2019, arXiv:1909.11942. Of an adaptive vocabulary the first cluster's.
  Index width = 0;
  // Kinds of tokens with a vector each: a first sentence, a second. 0: none.
  // Devlin et al., 2018, arXiv:1810.04805.
  Index types = 0;
  bool norm = false;  // a norm behind all that is added
  // That norm is the one before the attention of the first layer, too, which has none of its own.
  // Warner et al., 2024, ModernBERT, arXiv:2412.13663.
  bool first_norm = false;
  AdaptiveVocabulary adaptive;
  bool operator==(const EmbeddingConfig&) const = default;
};

// What makes logits of the final state.
struct HeadConfig {
  // norm(activation(x w + b)) before it meets the table of tokens, as wide as that (BERT).
  bool transform = false;
  Activation activation = Activation::Gelu;  // of the transform
  bool bias = false;                         // a number added to each token's logit
  bool operator==(const HeadConfig&) const = default;
};

// Beyond these a file is hostile or a mistake; they keep products of sizes far from overflow.
inline constexpr Index kMostModelTokens = Index{1} << 22;  // of a vocabulary, a context, a segment
inline constexpr Index kMostModelWidth = Index{1} << 16;

struct ModelConfig {
  Index vocabulary = 0, context = 0;  // tokens; the longest sequence it was trained on
  Index width = 0;                    // d
  Index layers = 0, heads = 0;
  Index kv_heads = 0;   // heads a multiple of it; query head a uses a / (heads / kv_heads)
  Index head_size = 0;  // d_k = d_v
  Index hidden = 0;     // of the feed-forward; 0: attention only
  Norm norm = Norm::RmsNorm;
  double norm_epsilon = 1e-5;
  bool pre_norm = true;  // else each norm comes after its residual sum, and none at the end
  Activation activation = Activation::Silu;
  bool gated = true;  // activation(x w_gate) * (x w_in): SwiGLU and the like
  bool attention_biases = false, feed_forward_biases = false;
  EmbeddingConfig embedding;
  HeadConfig head;
  // How many layers have projections, norms and a feed-forward of their own: layer n uses those of
  // number n * own / layers (ALBERT). 0: all have.
  Index own_layers = 0;
  bool tied_output = true;  // logits = x embed.weight^T
  bool causal = true;
  double dropout = 0;  // of embeddings and of what each block adds, in training
  std::vector<std::vector<HeadGroup>> groups;  // [layers][groups of the layer]
  Choice architecture = default_architecture();
  // Of an architecture with an encoder, whose layers each have one group; empty: as `groups`
  // where these are uniform, otherwise full attention without positions.
  std::optional<Choice> encoder_variant, encoder_encoding;
  Choice join = default_join();
  std::optional<Choice> exits;
  Choice input = default_input();
  Index segment = 0;  // a longer sequence is read in segments of so many tokens; 0: at once
  Auxiliary auxiliary;
  Ingredients ingredients;
  bool operator==(const ModelConfig&) const = default;
};

// One group of all heads in every layer.
std::vector<std::vector<HeadGroup>> uniform_groups(const ModelConfig& config, const Choice& variant,
                                                   const Choice& encoding);

// The clusters of an adaptive vocabulary: ids [first, first + count), the width of their vectors.
struct VocabularyCluster {
  Index first = 0, count = 0, width = 0;
};
std::vector<VocabularyCluster> vocabulary_clusters(const ModelConfig& config);

// The width of tokens' vectors where positions are added to them.
Index table_width(const ModelConfig& config);
// Whether the self-attention of a layer has a norm of its own before it.
bool has_attention_norm(const ModelConfig& config, Index layer);
// The layer whose projections, norms and feed-forward layer n uses.
Index weights_of_layer(const ModelConfig& config, Index layer);

// Where a head group stands in its layer.
struct HeadRange {
  Index first = 0, count = 0;               // heads
  Index first_key_head = 0, key_heads = 0;  // the key-value heads that they use
};
// Ranges of the groups of a layer.
std::vector<HeadRange> head_ranges(const ModelConfig& config,
                                   const std::vector<HeadGroup>& groups_of_layer);
std::vector<HeadRange> head_ranges(const ModelConfig& config, Index layer);
// The sizes that the Infos of a group see.
Dimensions group_dimensions(const ModelConfig& config, const HeadRange& range);

// Whether all heads of all layers are one group, the same in each.
bool is_uniform(const ModelConfig& config);
// The head groups of the encoder's layers; of an architecture without one, none.
std::vector<std::vector<HeadGroup>> encoder_groups(const ModelConfig& config);

// The encoding of the input that all groups name, or null. InputError when only some do.
const Choice* input_encoding(const std::vector<std::vector<HeadGroup>>& groups);
const Choice* input_encoding(const ModelConfig& config);

// How an encoding of the input is added: in every layer, to what values are made of, too, and,
// where both hold, once, to the embedding.
bool in_every_layer(const Choice& encoding);
bool adds_to_values(const Choice& encoding);
bool added_to_input(const Choice& encoding);

// Whether some heads see later tokens: attention that is causal neither by request nor by
// definition. Then the loss of the next token sees its targets.
bool looks_ahead(const ModelConfig& config);
// Whether it learns to fill in tokens that are masked instead.
bool fills_in(const ModelConfig& config);
// The id that hides a token of such a model; -1: it is no such model.
std::int32_t mask_id(const ModelConfig& config);

// InputError when sizes do not fit one another or a combination of variant and encoding cannot
// work; the message begins with `path`.
void check(const ModelConfig& config, std::string_view path);

// Strict: InputError "config.json: width: expected an integer from 1 to 65536, found \"x\"".
// Head groups are "variant" and "position" where all heads of all layers share them, otherwise
// "groups": per layer a list of {"heads": .., "variant": .., "position": ..}.
ModelConfig model_config_from_json(const Json& object, std::string_view path);
Json to_json(const ModelConfig& config);

}  // namespace attnscope
