// Cases in tests/conformance, for tests of the program and of its parts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/tensor/safetensors.h"

namespace attnscope::testing {

std::filesystem::path conformance_folder();
std::vector<std::string> conformance_names();  // sorted, without extensions

// Expects that `got` contains all tensors of `expected`: floats within a tolerance, equal elements
// of other types.
void expect_tensors(const SafetensorsFile& got, const SafetensorsFile& expected);

// Executes a case in this process on the CPU and checks its numbers or its rejection.
void expect_conformance(const std::string& name);

}  // namespace attnscope::testing
