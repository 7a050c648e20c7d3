// Lists of lengths in options.
#pragma once

#include <string>
#include <vector>

#include "core/base/index.h"

namespace attnscope::command {

// Parses a list of lengths, "100,300,900", or a range in powers of two: "128..8192" is 128, 256,
// ..., 8192. Throws InputError "--lengths: ...".
std::vector<Index> lengths_from_text(const std::string& text);

}  // namespace attnscope::command
