// Translates GGUF files of llama.cpp to the Hugging Face layouts: metadata to config.json, tensor
// names, and the changes that llama.cpp's converters make to tensors.
//
// `metadata` is a flat object with the file's keys ("llama.block_count"). `tensors` have the file's
// names ("blk.0.attn_q.weight") and row-major shapes. `place` (the file) begins the messages of
// InputErrors. Each names the key, tensor or architecture that is invalid or not supported.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/checkpoint/source.h"

namespace attnscope {

// Hugging Face config.json, with "model_type".
//
// BERT, GPT-NeoX and Falcon get the exact GELU of the released models; llama.cpp approximates it by
// tanh. Files do not store T5's `relative_attention_max_distance`: 128 is assumed. Files of
// Mistral, Qwen 2 and StarCoder 2 often lack the sliding window: these models are read without
// windows.
Json gguf_config(const Json& metadata, const StoredTensors& tensors, const std::string& place);

// Tensors with the names and the row order of the Hugging Face layouts. Experts, parts of fused
// matrices and the queries and keys of Llama are views; QKV matrices that Hugging Face interleaves
// by head are copied. Gemma's stored norm gains include the 1 that its Hugging Face layout adds;
// gguf_config() therefore sets "norm_gain_offset" to 0.
StoredTensors gguf_tensors(const Json& metadata, const Json& config, StoredTensors tensors,
                           const std::string& place);

// Supported values of "general.architecture", sorted.
std::vector<std::string> gguf_architectures();

}  // namespace attnscope
