// Trace: an immutable record of a run.
//
// A trace consists of taps: tensors recorded at an address in the model. Views only read it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/attention/variant.h"
#include "core/tensor/lazy_tensor.h"
#include "core/text/tokenizer.h"
#include "core/trace/attention_vectors.h"
#include "core/trace/head_ref.h"

namespace attnscope {

struct ModelConfig;  // core/model/config.h

// Tokens that belong to a map's rows, or to its token columns.
struct StreamRows {
  std::string stream{};  // id in Trace::streams; empty: Trace::tokens
  Index first = -1;      // index of the first token in the stream; -1: the stream's last tokens
  std::vector<std::int32_t> indices{};  // token indices, if they are not consecutive
};

// The attention of one head group.
struct AttentionTap : AttentionMethod {
  Address address;
  StreamRows query_rows{}, key_rows{};
  std::vector<Index> heads;   // the group's heads, numbered within the layer
  OperationRecord result;     // batch 1
  RecordedVectors vectors{};  // queries, keys, values, outputs; read them with the members below
  // Maps the layer's concatenated head outputs [n, h d_v] to [n, d] by the output projection and
  // its bias. Shared with the model; empty if not available.
  std::function<Tensor(const Tensor&)> combine_heads{};
  NamedVars encoding_weights;  // weights of the encoding: "pos.bias"; shared with the model
  // Text rows in the memory columns, in order. Memory columns precede the segment's columns.
  std::vector<RowSource> remembered{};

  // Sets `result` and `vectors`. input: the operation's vectors before rotation.
  void record(HeadTensors<Tensor> input, OperationResult operation);
  // Vectors of the operation; computed again if the run did not keep them.
  HeadTensors<Tensor> input() const { return vectors.get()->input; }
  std::shared_ptr<const Part> part() const;  // null for operations of several parts
  Tensor output() const { return vectors.get()->output; }
  // Part without vectors, never computed again; null for operations of several parts.
  const PartSettings* settings() const { return vectors.settings().get(); }
  const RecordedVectors::Shapes& shapes() const { return vectors.shapes(); }

  Index queries() const { return result.pattern->queries(); }
  Index keys() const { return result.pattern->keys(); }
  // True if the whole map is stored; otherwise it is recomputed from q, k and the log-sum-exp.
  bool stores_map() const { return result.attention.defined() || result.device != nullptr; }
  // Map of a head, [L_q, L_k]. Throws InputError if the map is neither stored nor recomputable, or
  // too large to materialise; use tiles then.
  Tensor attention(Index head_in_group) const;
  // Rows [first, first + count) of the map: [count, L_k].
  Tensor rows(Index head_in_group, Index first, Index count) const;
};

struct TraceToken {
  std::int32_t id = 0;
  std::string bytes;               // text of the token
  std::string label;               // display text, see visible()
  std::size_t begin = 0, end = 0;  // byte range in the run's text, or in the second sentence
  bool special = false;
  int sentence = 0;          // number within the sentence pair that an encoder reads: 0 or 1
  std::int32_t segment = 0;  // index into the segment embedding
};

// Stream of the tokens that an encoder reads.
inline constexpr const char* kSourceStream = "source";

// Tokens that attention reads, in addition to Trace::tokens.
struct Stream {
  std::string id;  // kSourceStream, or "keys" for imported tensors
  std::vector<TraceToken> tokens;
};

// Pixel grid of image tokens, row by row.
struct PixelGrid {
  Index width = 0, height = 0;
  Tensor colours;  // [height, width, 3], from 0 to 1
  // Key c is pixel c - key_shift. Models that predict pixels read each pixel one step later; pixel
  // -1 is the start token.
  Index key_shift = 0;
  // Number of tokens before the first patch of an image that is read as patches; each patch is then
  // one pixel of this grid.
  Index before = 0;
  // Image read as patches of side x side pixels; undefined if each cell of the grid is one pixel.
  Tensor picture;  // [height side, width side, 3], from 0 to 1
  bool contains(Index pixel) const { return pixel >= 0 && pixel < width * height; }
};

// Rows of Trace::logits to read at a time: a vocabulary has up to 250,000 tokens.
inline constexpr Index kLogitsRows = 128;

struct Trace {
  std::string model;  // name
  // The checkpoint's configuration, before the user's choices; not null after a run.
  std::shared_ptr<const ModelConfig> trained;
  // `trained` with the user's changes of structure, but not of attention; not null after a run.
  std::shared_ptr<const ModelConfig> config;
  std::shared_ptr<const Tokenizer> tokenizer;  // null: only token ids are known
  std::vector<TraceToken> tokens;              // target tokens in an encoder-decoder
  std::vector<Stream> streams;                 // other streams, if L_q != L_k
  std::vector<AttentionTap> attention;         // one per address
  LazyTensor logits;                           // [L, vocabulary]
  Tensor token_bits;  // [L] -log2 p(token | earlier tokens); NaN for the first; undefined without
                      // logits, or if they predict masked tokens
  std::map<std::string, LazyTensor> taps;   // "embed", "layers.0.residual", "loss.total", ...
  std::map<std::string, IntTensor> counts;  // "halting.steps", "exit.layer", "retrieval.index"
  // Tensors of a layer, or of a head group: "gate.attention" [L, d], "state" [h, ..].
  std::vector<Located<Tensor>> located;
  std::shared_ptr<const PixelGrid> pixels;  // null: tokens are not pixels
  AddressParts parts;                       // address components that take several values
  std::string backend;                      // "CPU (2 threads, AVX-512)"
  double milliseconds = 0;                  // time of the forward pass; median of warm runs
  Index warm_runs = 0;                      // number of warm runs; 0: one cold run
  std::vector<std::string> untrained;       // weights that the checkpoint lacks (initial values)
  bool is_imported = false;                 // the attention was read from a file, not computed
  std::vector<std::string> notes;           // for the user: untrained weights, truncated text,
                                            // fully masked rows, a GPU that could not be used
  // Tap of a head; nullptr if the trace lacks the head.
  const AttentionTap* find(const HeadRef& ref, Index* head_in_group = nullptr) const;
  // Completes `choice`. Keeps the selected components, even if the run has no such part.
  TracePart part(const PartChoice& choice) const;
  bool has(const TracePart& part) const;
  PartAlternatives alternatives(const TracePart& part) const;
  Index layer_count(const TracePart& part) const;
  Index head_count(const TracePart& part, Index layer) const;
  std::vector<HeadRef> heads(const TracePart& part) const;  // sorted by layer and head
  // Head 0 of each layer, in the order of computation over all steps.
  std::vector<HeadRef> layer_sequence(const TracePart& part) const;

  // Tokens of the text: the encoder's input if there is an encoder.
  const std::vector<TraceToken>& text_tokens() const;
  // All tokens of the stream. Throws std::logic_error if there is no such stream.
  const std::vector<TraceToken>& tokens_of(const StreamRows& rows) const;
  // Stream index of the token in row `row` of a map with `count` rows; -1: no token, or unknown.
  Index token_index(const StreamRows& rows, Index count, Index row) const;
};

}  // namespace attnscope
