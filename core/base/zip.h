// Reading zip archives (NumPy's .npz) with libzip: stored and deflated members, not encrypted.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace attnscope {

// The members' bytes by name, as the central directory lists them. InputError that begins with the
// file's name where it is no archive, is cut short or damaged (sizes, offsets and checksums are
// verified), names a member twice, or unpacks to more than `most_bytes`.
std::map<std::string, std::string> read_zip(const std::filesystem::path& path,
                                            std::size_t most_bytes = std::size_t{1} << 32);

// The same from an archive's bytes; `name` begins the messages.
std::map<std::string, std::string> parse_zip(const std::string& bytes, const std::string& name,
                                             std::size_t most_bytes);

}  // namespace attnscope
