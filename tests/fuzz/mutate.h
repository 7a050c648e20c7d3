// Changed inputs. What a format guards itself with (lengths, checksums, syntax) is put right again
// most of the time, so that the changes reach what lies behind it.
#pragma once

#include <functional>
#include <random>
#include <string>

#include "tests/fuzz/target.h"

namespace attnscope::fuzz {

using Random = std::mt19937_64;
// Changes bytes of which nothing is known: libFuzzer's, or any_bytes().
using ChangeBytes = std::function<std::string(const std::string& bytes)>;

std::string any_bytes(const std::string& bytes, Random& random);
std::string changed(Format format, const std::string& input, const ChangeBytes& bytes,
                    Random& random);

}  // namespace attnscope::fuzz
