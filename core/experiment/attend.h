// `attnscope attend`: one attention operation on the tensors of a file. SPEC section 2.
#pragma once

#include <optional>
#include <string>

#include "core/attention/backend.h"
#include "core/tensor/safetensors.h"

namespace attnscope {

struct Attended {
  SafetensorsFile out;               // what OUT holds
  std::string note;                  // why it did not run on the given backend; empty: it did
  std::vector<std::string> remarks;  // what else a reader of `out` must know
};

// The spec is `spec_json` or, when absent, the string "spec" in the metadata of `tensors`.
// InputError names the tensor or key at fault, what was expected and what was found.
Attended attend(const SafetensorsFile& tensors, const std::optional<std::string>& spec_json,
                bool terms, Backend& backend, const Stop& stop);

}  // namespace attnscope
