// Reads zip archives (NumPy's .npz) with libzip: stored and deflated members, no encryption.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace attnscope {

// Returns true for members to unpack. `prefix`: the member's first 64 KiB or whole contents;
// `size`: unpacked bytes. Rejected members are not unpacked further. An empty function selects all.
using MemberFilter =
    std::function<bool(const std::string& member, std::string_view prefix, std::size_t size)>;

// Returns the unpacked members by their name in the central directory. Verifies sizes, offsets and
// checksums. InputError if the file is not an archive, is truncated or damaged, has a duplicate
// member, or unpacks to more than `max_bytes`; the file's name begins the message.
std::map<std::string, std::string> read_zip(const std::filesystem::path& path,
                                            std::size_t max_bytes = std::size_t{1} << 32,
                                            const MemberFilter& is_wanted = {});

// Like read_zip() for an archive in memory; `name` begins the messages.
std::map<std::string, std::string> parse_zip(const std::string& bytes, const std::string& name,
                                             std::size_t max_bytes,
                                             const MemberFilter& is_wanted = {});

}  // namespace attnscope
