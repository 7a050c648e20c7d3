// Mutation of inputs. Lengths, checksums and syntax are usually repaired, so that mutations reach
// the code behind the format checks.
#pragma once

#include <functional>
#include <random>
#include <string>

#include "tests/fuzz/target.h"

namespace attnscope::fuzz {

using Random = std::mt19937_64;
// Mutates bytes without a known format: libFuzzer's mutator, or mutate_any_bytes().
using MutateBytes = std::function<std::string(const std::string& bytes)>;

std::string mutate_any_bytes(const std::string& bytes, Random& random);
// Mutates an input of this format; `mutate_bytes` mutates parts without a known format.
std::string mutate(Format format, const std::string& input, const MutateBytes& mutate_bytes,
                   Random& random);

}  // namespace attnscope::fuzz
