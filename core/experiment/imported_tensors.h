// Traces of imported tensors: attention, or queries and keys, computed by another program.
//
// A file (.npy, .npz, .safetensors; floats of 16, 32 or 64 bits) contains one of
//   attention       [L, L], [h, L_q, L_k] or [layers, h, L_q, L_k]; in a .npy file the only array
//   attention.N     one per layer (also attentions.N, layers.N.attention, and arr_N, the name that
//                   np.savez gives to unnamed arrays)
//   q, k, optional v   [L, d_k], [h, L, d_k] or [layers, h, L, d_k]: attention is computed with the
//                   run's variant, encoding and direction; k and v may have fewer heads.
//                   Weights of a variant or encoding are read by name ("pos.bias").
// or a single floating-point array of another name, read as attention. A batch axis of size 1 is
// dropped. The token lists `tokens` and `key_tokens` are optional: arrays of texts in an .npz file,
// JSON lists in the metadata of a safetensors file, or separate files. A separate file is a .json
// list, or text with one token per line (or with spaces between tokens on a single line).
#pragma once

#include "core/attention/backend.h"
#include "core/experiment/run_spec.h"
#include "core/trace/trace.h"

namespace attnscope {

// True for .npy, .npz and .safetensors. Images are converted to q, k and v (image_tensors.h).
bool is_tensor_file(const std::filesystem::path& path);

// Contents of a file: attention, or unrotated queries and keys from which a backend computes it.
// Errors name the tensor, the expectation and the value found.
struct ImportedTensors {
  std::vector<Tensor> attention;  // per layer [h, L_q, L_k]; empty if the file has q and k
  std::vector<Tensor> q, k, v;    // per layer [h, L, d]; v may be empty
  std::map<std::string, Tensor> weights;
  std::vector<std::string> tokens, key_tokens;  // empty without a list
  std::shared_ptr<const PixelGrid> pixels{};    // pixels of an image; null for tensors
  Index queries() const;
  Index keys() const;
};
ImportedTensors read_imported_tensors(const TensorFiles& files);

// Trace of the run's tensors; attention of q and k is computed on `backend`. Throws InputError for
// invalid tensors, interventions and head groups.
Trace trace_of_tensors(const RunSpec& spec, Backend& backend);

}  // namespace attnscope
