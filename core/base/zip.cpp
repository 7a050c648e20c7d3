#include "core/base/zip.h"

#include <zip.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "core/base/error.h"
#include "core/base/file.h"

namespace attnscope {
namespace {

constexpr zip_uint64_t kMaxExpansion = 1040;  // upper bound of deflate's compression ratio

struct Closer {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using Archive = std::unique_ptr<zip_t, Closer>;
using Member = std::unique_ptr<zip_file_t, Closer>;

Archive open_archive(const std::string& bytes, const std::string& name) {
  const std::string message = name + ": not a zip archive, or truncated or damaged";
  if (bytes.empty()) throw InputError(message);  // libzip would return an empty archive
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source == nullptr) throw WorkError(name + ": libzip: out of memory");
  zip_t* archive = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (archive == nullptr) {
    zip_source_free(source);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    throw InputError(message + ": " + reason);
  }
  return Archive(archive);
}

// Checks a member's directory entry for plausibility before memory is allocated for it.
void check_member(const zip_stat_t& stat, const std::string& label) {
  constexpr zip_uint64_t kNeeded =
      ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if ((stat.valid & kNeeded) != kNeeded) throw InputError(label + ": damaged: has no size");
  if (stat.encryption_method != ZIP_EM_NONE) throw InputError(label + ": encrypted");
  const bool is_stored = stat.comp_method == ZIP_CM_STORE && stat.comp_size == stat.size;
  const bool is_deflated =
      stat.comp_method == ZIP_CM_DEFLATE && stat.size / kMaxExpansion <= stat.comp_size;
  if (!is_stored && !is_deflated) {
    throw InputError(label + ": expected a stored or deflated member, found method " +
                     std::to_string(stat.comp_method) + " with " + std::to_string(stat.comp_size) +
                     " compressed and " + std::to_string(stat.size) + " uncompressed bytes");
  }
}

// Unpacks a member; nullopt if `is_wanted` rejects it. libzip verifies size and checksum.
std::optional<std::string> unpack(zip_t* archive, const zip_stat_t& stat, const std::string& label,
                                  const MemberFilter& is_wanted) {
  constexpr std::size_t kFilterBytes = std::size_t{64} << 10;
  const auto damaged = [&](const std::string& reason) {
    return InputError(label + ": damaged: expected " + std::to_string(stat.size) +
                      " unpacked bytes: " + reason);
  };
  const Member member(zip_fopen_index(archive, stat.index, 0));
  if (!member) throw damaged(zip_strerror(archive));
  std::string bytes;
  std::size_t unpacked = 0;
  const auto unpack_to = [&](std::size_t end) {
    bytes.resize(end);
    while (unpacked < end) {
      const zip_int64_t count = zip_fread(member.get(), bytes.data() + unpacked, end - unpacked);
      if (count < 0) throw damaged(zip_file_strerror(member.get()));
      if (count == 0) break;
      unpacked += static_cast<std::size_t>(count);
    }
  };
  const std::size_t limit = stat.size + 1;  // one byte more, to detect surplus data
  unpack_to(std::min(kFilterBytes, limit));
  const std::string_view prefix(bytes.data(), std::min<std::size_t>(unpacked, stat.size));
  if (is_wanted && !is_wanted(stat.name, prefix, stat.size)) return std::nullopt;
  unpack_to(limit);
  if (unpacked != stat.size) throw damaged("found " + std::to_string(unpacked) + " or more");
  bytes.resize(unpacked);
  return bytes;
}

}  // namespace

std::map<std::string, std::string> parse_zip(const std::string& bytes, const std::string& name,
                                             std::size_t max_bytes, const MemberFilter& is_wanted) {
  const Archive archive = open_archive(bytes, name);
  std::map<std::string, std::string> members;
  std::size_t total = 0;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    if (zip_stat_index(archive.get(), static_cast<zip_uint64_t>(i), 0, &stat) != 0) {
      throw InputError(name + ": damaged: " + zip_strerror(archive.get()));
    }
    const std::string member = stat.name, label = name + ": " + member;
    if (member.ends_with('/')) continue;  // a folder
    check_member(stat, label);
    if (stat.size > max_bytes - total) {
      throw InputError(label + ": the archive unpacks to more than " + std::to_string(max_bytes) +
                       " bytes");
    }
    std::optional<std::string> content = unpack(archive.get(), stat, label, is_wanted);
    if (!content) continue;
    total += stat.size;
    if (!members.emplace(member, std::move(*content)).second) {
      throw InputError(label + ": duplicate member");
    }
  }
  return members;
}

std::map<std::string, std::string> read_zip(const std::filesystem::path& path,
                                            std::size_t max_bytes, const MemberFilter& is_wanted) {
  return parse_zip(read_file(path), path.string(), max_bytes, is_wanted);
}

}  // namespace attnscope
