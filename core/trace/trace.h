// What happened in a run: an immutable record, made of taps with addresses. Views only read it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/attention/variant.h"
#include "core/text/tokenizer.h"
#include "core/trace/head_ref.h"

namespace attnscope {

struct ModelConfig;  // core/model/config.h

// Which tokens the rows of a map are, or those of its columns that are tokens.
struct StreamRows {
  std::string stream{};                // Trace::streams; empty: Trace::tokens
  Index first = -1;                    // of the stream's tokens; -1: they are the last ones
  std::vector<std::int32_t> chosen{};  // which, where they do not follow each other
};

// The attention of one head group.
struct AttentionTap {
  Address address;
  StreamRows query_rows{}, key_rows{};
  std::vector<Index> heads;  // the group's heads, numbered within the layer
  Choice variant, encoding;
  OperationResult result;   // batch 1; `part` holds q, k, v
  Tensor q_plain, k_plain;  // before rotation: [h, L, d_k], [h_kv, L, d_k]
  Tensor v_plain;           // as they entered the operation: [h_kv, L, d_v]; may be undefined
  // How the model puts its heads together: all heads of the layer, one after the other, times the
  // output projection, with its bias. Shared with the model.  [n, h d_v] -> [n, d]; empty: not so
  std::function<Tensor(const Tensor&)> joined{};
  NamedVars encoding_weights;  // what the encoding used: "pos.bias"; shared with the model
  bool causal = false;         // by request or by definition
  // What the columns before the segment's own hold of the text that was read before, in order.
  std::vector<RowSource> remembered{};

  Index queries() const { return result.pattern->queries(); }
  Index keys() const { return result.pattern->keys(); }
  // Whether the whole map was kept: what was not is derived from q, k and the log-sum-exp.
  bool kept() const { return result.attention.defined() || result.device != nullptr; }
  // [L_q, L_k] of the head with this index within the group. InputError where it cannot be derived
  // or is too large to be made whole; then there are tiles.
  Tensor attention(Index head_in_group) const;
  // Rows [first, first + count) of it.  [count, L_k]
  Tensor rows(Index head_in_group, Index first, Index count) const;
};

struct TraceToken {
  std::int32_t id = 0;
  std::string bytes;               // what it stands for
  std::string label;               // how to show it, see visible()
  std::size_t begin = 0, end = 0;  // bytes of the run's text; of a second sentence its own
  bool special = false;
  int sentence = 0;          // of the two that an encoder reads: 0 the first, 1 the second
  std::int32_t segment = 0;  // what its embedding of segments is looked up by
};

// What an encoder reads.
inline constexpr const char* kSourceStream = "source";

// Tokens that attention runs over beside those that a model predicts.
struct Stream {
  std::string id;  // kSourceStream, or "keys" of tensors of one's own
  std::vector<TraceToken> tokens;
};

// Where tokens are the pixels of an image, row by row.
struct PixelGrid {
  Index width = 0, height = 0;
  Tensor colours;  // [height, width, 3], from 0 to 1
  // Key c is pixel c - keys_late: models that predict pixels see each one step late, and pixel -1
  // is where an image begins.
  Index keys_late = 0;
  // Tokens before the first pixel that belong to none, of an image that is seen as a whole, in
  // pieces: these are the pixels of the grid.
  Index before = 0;
  // Of such an image: the pixels of all pieces, as many in each; undefined: a square is one pixel.
  Tensor picture;  // [height side, width side, 3], from 0 to 1
  bool contains(Index pixel) const { return pixel >= 0 && pixel < width * height; }
};

struct Trace {
  std::string model;  // its name
  // The checkpoint's, before a person's choices; never null once a run has filled it in ...
  std::shared_ptr<const ModelConfig> trained;
  // ... and with the structure, but not the attention, that a person chose.
  std::shared_ptr<const ModelConfig> config;
  std::shared_ptr<const Tokenizer> tokenizer;  // null: there are only token ids
  std::vector<TraceToken> tokens;              // of an encoder-decoder those of the target
  std::vector<Stream> streams;                 // others: L_q != L_k
  std::vector<AttentionTap> attention;         // by address
  Tensor logits;                               // [L, vocabulary]
  Tensor token_bits;  // [L] -log2 of the probability that the tokens before it gave each token; NaN
                      // for the first; undefined without logits, or where these fill in tokens
  std::map<std::string, Tensor> taps;       // "embed", "layers.0.residual", "loss.total", ...
  std::map<std::string, IntTensor> counts;  // "halting.steps", "exit.layer", "retrieval.index"
  // What belongs to a layer and maybe a head group: "gate.attention" [L, d], "state" [h, ..].
  std::vector<Located<Tensor>> located;
  std::shared_ptr<const PixelGrid> pixels;  // null: the tokens are no pixels
  AddressParts parts;                       // of its addresses that have a meaning
  std::string backend;                      // what ran where: "CPU (2 threads, AVX-512)"
  double milliseconds = 0;                  // of the forward pass, or ...
  Index warm_runs = 0;                      // ... their median over so many; 0: of the one that was
  std::vector<std::string> untrained;       // weights that the checkpoint lacks: initial values
  bool given = false;                       // the attention comes from a file: nothing computed it
  std::vector<std::string> notes;           // what a viewer must know: untrained weights, cut text,
                                            // fully masked rows, a GPU that could not be used

  // The tap of a head; null when there is none.
  const AttentionTap* find(const HeadRef& at, Index* head_in_group = nullptr) const;
  // What is left open filled in. What is named stays so, also where there is no such part.
  TracePart part(const PartChoice& choice) const;
  bool has(const TracePart& part) const;
  PartOffer offer(const TracePart& part) const;
  // Of one part.
  Index layer_count(const TracePart& part) const;
  Index head_count(const TracePart& part, Index layer) const;
  std::vector<HeadRef> heads(const TracePart& part) const;  // by layer and head
  // Head 0 of each layer that states pass, one after the other: those of all steps.
  std::vector<HeadRef> layers_passed(const TracePart& part) const;

  // What the text became: what an encoder reads where there is one.
  const std::vector<TraceToken>& text_tokens() const;
  // All tokens of the stream. std::logic_error where there is no such stream.
  const std::vector<TraceToken>& tokens_of(const StreamRows& rows) const;
  // Which of them row `row` of `count` is; -1: none, they are not known.
  Index token_index(const StreamRows& rows, Index count, Index row) const;
};

}  // namespace attnscope
