// Translates GGUF files of llama.cpp to the Hugging Face layouts: metadata to config.json, tensor
// names, and the changes that llama.cpp's converters make to tensors.
//
// The metadata are a flat object with the file's keys ("llama.block_count"), the tensors have the
// file's names ("blk.0.attn_q.weight") and row-major shapes. `place` (the file) begins the messages
// of InputErrors, which name keys, tensors and architectures that are invalid or not supported.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/checkpoint/source.h"

namespace attnscope {

// Hugging Face config.json, with "model_type".
//
// Activations are those of the released models. llama.cpp computes the exact GELU of BERT, GPT-NeoX
// and Falcon by its tanh approximation; this is not imitated. Not stored, so that defaults apply:
// sliding windows of Mistral, Qwen 2 and StarCoder 2 (none), T5's largest distance (128).
Json gguf_config(const Json& metadata, const StoredTensors& tensors, const std::string& place);

// Tensors under their Hugging Face names, in the order of rows that the Hugging Face layouts
// expect. Experts and parts of fused matrices are views; reordered matrices are copies. Stored
// norm gains of Gemma include the 1 that its layout adds: config member "norm_gain_offset" is 0.
StoredTensors gguf_tensors(const Json& metadata, const Json& config, StoredTensors tensors,
                           const std::string& place);

// Supported values of "general.architecture", sorted.
std::vector<std::string> gguf_architectures();

}  // namespace attnscope
