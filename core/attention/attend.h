// `attnscope attend`: one attention operation on the tensors of a file. SPEC section 2.
#pragma once

#include <filesystem>
#include <optional>

#include "core/attention/backend.h"
#include "core/tensor/safetensors.h"

namespace attnscope {

// The spec is `spec_json` or, when absent, the string "spec" in the metadata of `tensors`.
// Returns what OUT holds. InputError names the tensor or key at fault.
SafetensorsFile attend(const SafetensorsFile& tensors, const std::optional<std::string>& spec_json,
                       bool terms, Backend& backend, const Stop& stop);

}  // namespace attnscope
