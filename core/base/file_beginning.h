// Beginning of a file, for recognising its format.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace attnscope {

// First `count` bytes of a regular file, or fewer; empty if it cannot be read, and for pipes and
// devices.
std::string read_beginning(const std::filesystem::path& path, std::size_t count);

}  // namespace attnscope
