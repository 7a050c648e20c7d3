// The cases of tests/conformance, for the program's tests and for those of rooms that they judge.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/tensor/safetensors.h"

namespace attnscope::testing {

std::filesystem::path conformance_folder();
std::vector<std::string> conformance_names();  // sorted, without their endings

// That `got` holds every tensor of `expected`: floats within what the cases allow, others equal.
void expect_tensors(const SafetensorsFile& got, const SafetensorsFile& expected);

// Carries a case out on the CPU, without the program: its numbers, or that it is refused.
void expect_conformance(const std::string& name);

}  // namespace attnscope::testing
