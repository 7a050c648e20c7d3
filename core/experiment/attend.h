// Attention operation of `attnscope attend` on the tensors of a file (spec.md, section 2).
#pragma once

#include <optional>
#include <string>

#include "core/attention/backend.h"
#include "core/tensor/safetensors.h"

namespace attnscope {

struct AttendResult {
  SafetensorsFile out;               // contents of the output file
  std::string note;                  // reason for not using `backend`; empty if it was used
  std::vector<std::string> remarks;  // remarks on `out` for the user
};

// The spec is `spec_json` or, if absent, the string "spec" in the metadata of `tensors`. Throws
// InputError that names the tensor or key, the expectation and the value found.
AttendResult attend(const SafetensorsFile& tensors, const std::optional<std::string>& spec_json,
                    bool include_score_terms, Backend& backend);

}  // namespace attnscope
