// What the memory of an operation is counted from, before it begins.
#pragma once

#include "core/attention/variant.h"

namespace attnscope {

struct MemoryInput {
  const Values& values;
  Index batch = 1, heads = 1;
  Index queries = 0, keys = 0;  // L_q, L_k
  Index key_size = 0;           // d_k
  bool maps = false;            // weights of all pairs are wanted
};

// How many numbers of 4 bytes an operation of this variant has in memory at most beside its input,
// its output, the weights of pairs where these are wanted, and a pattern of a few runs a row:
// features, logits, drawn matrices. Without gradients.
double operation_numbers(const Variant& variant, const MemoryInput& input);
// Whether that grows with its parameters.
bool has_operation_numbers(const Variant& variant);

}  // namespace attnscope
