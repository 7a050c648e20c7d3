// Metadata of a GGUF file under the keys of its architecture. A key that is never read is an error.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/source.h"

namespace attnscope {

// Keys omit the architecture: "block_count" for "llama.block_count".
class GgufMetadata {
 public:
  // `metadata` and `tensors` must outlive this. InputError without "general.architecture".
  GgufMetadata(const Json& metadata, const StoredTensors& tensors, const std::string& place);
  GgufMetadata(const GgufMetadata&) = delete;
  GgufMetadata& operator=(const GgufMetadata&) = delete;

  const std::string& architecture() const { return architecture_; }
  const std::string& place() const { return place_; }
  bool has(const std::string& key) const { return object_.has(full(key)); }
  Index integer(const std::string& key, Index min, Index max);
  Index integer_or(const std::string& key, Index fallback, Index min, Index max);
  // Reads a 32-bit number as its shortest decimal: 1e-6 as in the original config.json, instead of
  // 9.99999997e-7.
  double number(const std::string& key, double min, double max);
  double number_or(const std::string& key, double fallback, double min, double max);
  bool flag_or(const std::string& key, bool fallback);
  std::string text_or(const std::string& key, const std::string& fallback);
  // One flag per layer.
  std::vector<bool> flags(const std::string& key, Index layers);
  bool is_list(const std::string& key) const;
  // InputError if the key has a value other than `supported`.
  void require_number(const std::string& key, double supported);
  void require_flag(const std::string& key, bool supported);
  void ignore(const std::string& key) { read_.insert(full(key)); }
  // Throws InputError for a key that was never read, except for keys of an image tower.
  void finish() const;
  [[noreturn]] void fail(const std::string& key, const std::string& expected) const {
    object_.fail(full(key), expected);
  }

  bool has_tensor(const std::string& name) const { return tensors_.contains(name); }
  const StoredTensor& tensor(const std::string& name) const;  // InputError if missing
  // Numbers of a float vector, as shortest decimals.
  std::vector<double> vector(const std::string& name) const;
  // True if the output matrix is missing or equal to the embedding.
  bool ties_output() const;

 private:
  std::string full(const std::string& key) const { return architecture_ + "." + key; }
  // Returns full(key), and marks the key as read for finish().
  std::string read(const std::string& key);

  std::string place_, architecture_;
  const StoredTensors& tensors_;
  Json members_;  // metadata of the architecture
  JsonObject object_;
  std::set<std::string> read_;
};

// Sizes, read from keys that all architectures share.
struct GgufSizes {
  Index vocabulary = 0, context = 0, width = 0, layers = 0, heads = 0, kv_heads = 0, head_size = 0,
        hidden = 0;
};
GgufSizes gguf_sizes(GgufMetadata& metadata);

// Rules of an architecture for rotary encodings.
struct GgufRope {
  bool whole_head = false;  // throws InputError unless all components of a head rotate
  bool truncate = true;     // rounds the pair indices that bound YaRN's ramp
};
// Adds rope_theta, partial_rotary_factor and rope_scaling to `config`.
void add_rope(GgufMetadata& metadata, const GgufSizes& sizes, Json& config,
              const GgufRope& rules = {});

}  // namespace attnscope
