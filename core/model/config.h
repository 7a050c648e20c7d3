// Model configuration: sizes, block types, the head groups of each layer with their variant and
// encoding, and architecture, residual connection, exits, input and segments (spec-models.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/variant.h"
#include "core/base/json.h"
#include "core/model/activation.h"
#include "core/model/model_options.h"

namespace attnscope {

Choice default_architecture();         // decoder
Choice default_residual_connection();  // residual
Choice default_softmax();              // plain
Choice default_input();                // text

// Neighbouring heads of a layer that share a variant, a position encoding and their parameters.
// With shared key-value heads, a group contains all query heads of its key-value heads, or some
// query heads of one key-value head. Input encodings (sinusoidal, learned) are added to the
// embeddings and so affect every head: all groups of a model must have the same input encoding.
struct HeadGroup {
  Index heads = 0;
  Choice variant = default_variant();
  Choice encoding = default_encoding();
  bool operator==(const HeadGroup&) const = default;
};

enum class Norm { LayerNorm, RmsNorm, None };
const std::string& norm_name(Norm norm);  // "layer", "rms", "none": as in config.json

// Auxiliary training losses of Al-Rfou et al., 2018, arXiv:1808.04444 (spec-models.md, section 8).
struct Auxiliary {
  bool layers = false;  // every layer predicts the next token
  Index future = 0;     // number of tokens predicted beyond the next token
  bool operator==(const Auxiliary&) const = default;
};

// Adaptive softmax and adaptive input: the vocabulary is divided into clusters by falling token
// frequency. Embeddings of rarer clusters are narrower and projected (Baevski and Auli, 2018,
// arXiv:1809.10853); the output predicts a cluster, then a token in it (Grave et al., 2016,
// arXiv:1609.04309).
struct AdaptiveVocabulary {
  std::vector<Index> cutoffs;  // first id of each cluster after the first; empty: no clusters
  Index narrowing = 1;         // width of a cluster / width of the next cluster
  bool operator==(const AdaptiveVocabulary&) const = default;
};

// Token embedding, without positions.
struct EmbeddingConfig {
  // Width of the token table; 0: the model width. Positions, token types and the norm apply in this
  // width; a projection to the model width follows (Lan et al., 2019, arXiv:1909.11942). With an
  // adaptive vocabulary: width of the first cluster.
  Index width = 0;
  // Number of token types (sentence A, sentence B), each with a vector; 0: none.
  // Devlin et al., 2018, arXiv:1810.04805.
  Index types = 0;
  bool norm = false;  // norm after all additions
  // True if `norm` also replaces the norm before the first layer's attention. Warner et al., 2024,
  // ModernBERT, arXiv:2412.13663.
  bool first_norm = false;
  AdaptiveVocabulary adaptive;
  bool operator==(const EmbeddingConfig&) const = default;
};

// Output head: logits from the final state.
struct HeadConfig {
  // Applies norm(activation(x w + b)) before the product with the token table (BERT).
  bool transform = false;
  Activation activation = Activation::Gelu;  // activation of the transform
  bool bias = false;                         // the logits have a bias
  bool operator==(const HeadConfig&) const = default;
};

// Upper limits: larger sizes mean a broken or hostile file, and might overflow.
inline constexpr Index kMaxModelTokens = Index{1} << 22;  // vocabulary, context, segment
inline constexpr Index kMaxModelWidth = Index{1} << 16;

struct ModelConfig {
  Index vocabulary = 0, context = 0;  // in tokens; context: longest training sequence
  Index width = 0;                    // d
  Index layers = 0, heads = 0;
  Index kv_heads = 0;   // divides `heads`; query head a uses key-value head a / (heads / kv_heads)
  Index head_size = 0;  // d_k = d_v
  Index hidden = 0;     // width of the feed-forward; 0: attention only
  Norm norm = Norm::RmsNorm;
  double norm_epsilon = 1e-5;
  bool pre_norm = true;  // false: norms after each residual sum, no final norm
  Activation activation = Activation::Silu;
  bool gated = true;  // activation(x w_gate) * (x w_in), as in SwiGLU
  bool attention_biases = false, feed_forward_biases = false;
  EmbeddingConfig embedding;
  HeadConfig head;
  // Number of distinct sets of layer weights; layer n uses set n * own_layers / layers (ALBERT).
  // 0: one set per layer.
  Index own_layers = 0;
  bool tied_output = true;  // logits = x embed.weight^T
  bool causal = true;
  double dropout = 0;  // probability, for embeddings and block outputs in training
  std::vector<std::vector<HeadGroup>> groups;  // [layers][groups of the layer]
  Choice architecture = default_architecture();
  // Variant and encoding of all heads of the encoder. Empty: variant and encoding of `groups` if
  // uniform, else full attention without positions.
  std::optional<Choice> encoder_variant, encoder_encoding;
  Choice residual_connection = default_residual_connection();
  Choice softmax = default_softmax();
  std::optional<Choice> exits;
  Choice input = default_input();
  Index segment = 0;  // tokens per segment for longer sequences; 0: no segments
  Auxiliary auxiliary;
  ModelOptions model_options;
  bool operator==(const ModelConfig&) const = default;
};

// One group with all heads in every layer.
std::vector<std::vector<HeadGroup>> uniform_groups(const ModelConfig& config, const Choice& variant,
                                                   const Choice& encoding);

// Cluster of an adaptive vocabulary: ids [first, first + count), width of their vectors.
struct VocabularyCluster {
  Index first = 0, count = 0, width = 0;
};
std::vector<VocabularyCluster> vocabulary_clusters(Index vocabulary, Index first_width,
                                                   const AdaptiveVocabulary& adaptive);
// Clusters of embedding.cutoffs; also those of the output.
std::vector<VocabularyCluster> vocabulary_clusters(const ModelConfig& config);

// Width of the token vectors when positions are added.
Index table_width(const ModelConfig& config);
// True if a norm precedes the self-attention of the layer.
bool has_attention_norm(const ModelConfig& config, Index layer);
// Layer whose weights `layer` uses (ModelConfig::own_layers).
Index weights_of_layer(const ModelConfig& config, Index layer);

// Heads of a head group within its layer.
struct HeadRange {
  Index first = 0, count = 0;               // query heads
  Index first_key_head = 0, key_heads = 0;  // key-value heads that the query heads use
};
std::vector<HeadRange> head_ranges(const ModelConfig& config,
                                   const std::vector<HeadGroup>& groups_of_layer);
std::vector<HeadRange> head_ranges(const ModelConfig& config, Index layer);
// Dimensions that determine the weight shapes of a group.
Dimensions group_dimensions(const ModelConfig& config, const HeadRange& range);

// True if all layers have a single, identical group.
bool is_uniform(const ModelConfig& config);
// Head groups of the encoder's layers; empty without an encoder.
std::vector<std::vector<HeadGroup>> encoder_groups(const ModelConfig& config);

// Input encoding that all groups share, or null. Throws InputError if only some groups have one.
const Choice* input_encoding(const std::vector<std::vector<HeadGroup>>& groups);
const Choice* input_encoding(const ModelConfig& config);

// Placement of an input encoding.
bool is_added_per_layer(const Choice& encoding);  // added in every layer instead of once
bool is_added_to_values(const Choice& encoding);  // added to values, too, not only queries and keys
bool is_added_to_input(const Choice& encoding);   // added once, to the embedding

// True if some heads attend to later tokens because neither the model nor their variant is causal.
// Next-token losses are then meaningless.
bool leaks_future(const ModelConfig& config);
// True for models trained to predict masked tokens.
bool is_masked_model(const ModelConfig& config);
// Id of the mask token; -1 if the model has none.
std::int32_t mask_id(const ModelConfig& config);

// Throws InputError, prefixed with `path`, for inconsistent sizes and incompatible settings.
void check(const ModelConfig& config, std::string_view path);

// Strict parser: InputError "config.json: width: expected an integer from 1 to 65536, found \"x\"".
// A uniform model has "variant" and "position"; other models have "groups", for each layer a list
// of {"heads": .., "variant": .., "position": ..}.
ModelConfig model_config_from_json(const Json& object, std::string_view path);
Json to_json(const ModelConfig& config);

}  // namespace attnscope
