// Cases in tests/conformance, for tests of the program and of the rooms that they cover.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/tensor/safetensors.h"

namespace attnscope::testing {

std::filesystem::path conformance_folder();
std::vector<std::string> conformance_names();  // sorted, without extensions

// Expects all tensors of `expected` in `got`: floats within the tolerance of the cases, other types
// equal.
void expect_tensors(const SafetensorsFile& got, const SafetensorsFile& expected);

// Executes a case in this process on the CPU and checks its numbers or its rejection.
void expect_conformance(const std::string& name);

}  // namespace attnscope::testing
