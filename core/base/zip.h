// Reads zip archives (NumPy's .npz) with libzip: stored and deflated members, no encryption.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace attnscope {

// Selects members by name, prefix (the first 64 KiB, or all bytes) and unpacked size. Rejected
// members are skipped before memory is allocated for them. An empty function selects all.
using MemberFilter =
    std::function<bool(const std::string& member, std::string_view prefix, std::size_t size)>;

// Unpacked members by name, as listed in the central directory. InputError, beginning with the
// file's name, if the file is not an archive, is truncated or damaged (sizes, offsets and checksums
// are verified), has a duplicate member, or unpacks to more than `max_bytes`.
std::map<std::string, std::string> read_zip(const std::filesystem::path& path,
                                            std::size_t max_bytes = std::size_t{1} << 32,
                                            const MemberFilter& is_wanted = {});

// Like read_zip() for an archive in memory; `name` begins the messages.
std::map<std::string, std::string> parse_zip(const std::string& bytes, const std::string& name,
                                             std::size_t max_bytes,
                                             const MemberFilter& is_wanted = {});

}  // namespace attnscope
