// Reading zip archives (NumPy's .npz) with libzip: stored and deflated members, not encrypted.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace attnscope {

// Whether a member is wanted, by its name, its first bytes (64 kB of them, or all) and how many it
// has. What is not is left out, before memory is made for it. Empty: all are.
using MemberWanted =
    std::function<bool(const std::string& member, std::string_view begin, std::size_t bytes)>;

// The members' bytes by name, as the central directory lists them. InputError that begins with the
// file's name where it is no archive, is cut short or damaged (sizes, offsets and checksums are
// verified), names a member twice, or unpacks to more than `most_bytes`.
std::map<std::string, std::string> read_zip(const std::filesystem::path& path,
                                            std::size_t most_bytes = std::size_t{1} << 32,
                                            const MemberWanted& wanted = {});

// The same from an archive's bytes; `name` begins the messages.
std::map<std::string, std::string> parse_zip(const std::string& bytes, const std::string& name,
                                             std::size_t most_bytes,
                                             const MemberWanted& wanted = {});

}  // namespace attnscope
