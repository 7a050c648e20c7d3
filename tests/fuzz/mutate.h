// Mutation of inputs. Lengths, checksums and syntax are usually repaired, so that mutations reach
// the code behind the format checks.
#pragma once

#include <functional>
#include <random>
#include <string>

#include "tests/fuzz/target.h"

namespace attnscope::fuzz {

using Random = std::mt19937_64;
// Mutates bytes without a known format: libFuzzer's mutator, or any_bytes().
using ChangeBytes = std::function<std::string(const std::string& bytes)>;

std::string any_bytes(const std::string& bytes, Random& random);
std::string changed(Format format, const std::string& input, const ChangeBytes& bytes,
                    Random& random);

}  // namespace attnscope::fuzz
