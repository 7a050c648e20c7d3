// Architectures of GGUF files: config and tensor names of the Hugging Face layout, and the changes
// that llama.cpp's converter makes to the tensors. One function per architecture;
// gguf_architecture_list() is their table.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/checkpoint/gguf_metadata.h"
#include "core/model/config.h"

namespace attnscope {

// Pairs of the name in the file and the name in the Hugging Face layout. Both omit ".weight" and
// ".bias", unless only one of the two names has such an ending.
using GgufNames = std::vector<std::pair<std::string, std::string>>;

// Names of layers: "blk.3.attn_q" becomes "model.layers.3.self_attn.q_proj".
struct GgufStack {
  std::string stored, prefix;
  GgufNames names;
};

// Names of a layer's experts. The file has a tensor [experts, out, in] for each of gate, in and
// out; the gate of expert 0 becomes PREFIX + "0." + gate.
struct GgufExperts {
  std::string prefix, gate, in, out;
};

struct GgufLayout {
  Json config;
  GgufSizes sizes;
  GgufNames names;  // names of tensors outside layers
  std::vector<GgufStack> stacks;
  GgufExperts experts;
  // Rows of q and k are interleaved (stored_row()), for llama.cpp's rotation of neighbours.
  bool rotates_neighbours = false;
  // The layout fuses q, k and v by key-value head; the file has all q, all k, all v.
  bool fuses_by_head = false;
  // The layout's matrices in layers are [in, out]; the file has [out, in].
  bool transposes = false;
};

struct GgufArchitecture {
  std::string name;
  GgufLayout (*read)(GgufMetadata& metadata);
};
const std::vector<GgufArchitecture>& gguf_architecture_list();

// Llama's config members and names, which other architectures extend. `norm` selects the config key
// of the norm's epsilon.
GgufLayout llama_like(GgufMetadata& metadata, const std::string& model_type,
                      Norm norm = Norm::RmsNorm);
// Adds the pairs of `other`, replacing pairs with equal names in the file.
void set_names(GgufNames& names, const GgufNames& other);
// True if the first layer has the tensor `name`.
bool has_in_layer(const GgufMetadata& metadata, const std::string& name);

// Families, one file each.
std::vector<GgufArchitecture> gguf_llama_architectures();
std::vector<GgufArchitecture> gguf_gpt_architectures();
std::vector<GgufArchitecture> gguf_encoder_architectures();

}  // namespace attnscope
