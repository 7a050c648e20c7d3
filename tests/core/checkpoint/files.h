// Synthetic checkpoints.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/base/file.h"
#include "core/tensor/safetensors.h"
#include "tests/support/compare.h"

namespace attnscope::testing {

using Tensors = std::map<std::string, Tensor>;

inline void write_tensors(const std::filesystem::path& path, const Tensors& tensors) {
  SafetensorsFile file;
  for (const auto& [name, tensor] : tensors) file.tensors.emplace(name, stored(tensor));
  write_safetensors(path, file);
}

inline void write_checkpoint(const std::filesystem::path& folder, const std::string& config,
                             const Tensors& tensors) {
  write_file(folder / "config.json", config);
  write_tensors(folder / "model.safetensors", tensors);
}

// Message of the error that `action` throws.
template <class Error, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace attnscope::testing
