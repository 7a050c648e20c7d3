// Attention that another program computed, or queries and keys, as a trace to look at.
//
// A file (.npy, .npz, .safetensors; floats of 16, 32 or 64 bits) holds one of
//   attention       [L, L], [h, L_q, L_k] or [layers, h, L_q, L_k]; in a .npy file the only array
//   attention.N     a layer each (also attentions.N, layers.N.attention, arr_N as np.savez names
//                   arrays that come without one)
//   q, k and maybe v   [L, d_k], [h, L, d_k] or [layers, h, L, d_k]: their attention is computed
//                   with the experiment's variant, encoding and direction; k and v may have fewer
//                   heads. Weights of a variant or encoding are read by their names ("pos.bias").
// or a single floating array of another name, taken for attention. An axis of size 1 before the
// heads (a batch) is dropped. Optional lists of tokens are texts `tokens`, `key_tokens` in an .npz
// file, JSON lists of the same names in the metadata of a safetensors file, or files of their own:
// .json, else a token a line (or, on a single line, between spaces).
#pragma once

#include "core/attention/backend.h"
#include "core/experiment/experiment.h"
#include "core/trace/trace.h"

namespace attnscope {

// A picture (core/input/picture.h) stands for q, k and v that are made of its pixels:
// picture_tensors.h.
//
// Whether a file of this name holds tensors, by its ending.
bool is_tensor_file(const std::filesystem::path& path);

// What files.file holds, without what runs on a backend: attention is there already, of queries
// and keys the plain vectors. InputError names the tensor, what was expected and what was found.
struct OwnTensors {
  std::vector<Tensor> attention;  // per layer [h, L_q, L_k]; empty: q and k are given
  std::vector<Tensor> q, k, v;    // per layer [h, L, d]; v may be empty
  std::map<std::string, Tensor> weights;
  std::vector<std::string> tokens, key_tokens;  // empty: not given
  std::shared_ptr<const PixelGrid> pixels{};    // of a picture
  Index queries() const;
  Index keys() const;
};
OwnTensors read_own_tensors(const TensorFiles& files);

// The trace that the experiment's tensors give. `backend` computes what is to be computed.
Trace trace_of_tensors(const Experiment& experiment, Backend& backend, const Stop& stop);

}  // namespace attnscope
