#include "core/base/zip.h"

#include <zip.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "core/base/error.h"
#include "core/base/file.h"

namespace attnscope {
namespace {

constexpr zip_uint64_t kMostExpansion = 1040;  // deflate's best, rounded up

struct Closing {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using Archive = std::unique_ptr<zip_t, Closing>;
using Member = std::unique_ptr<zip_file_t, Closing>;

Archive opened(const std::string& bytes, const std::string& name) {
  const std::string refusal = name + ": no zip archive, or one that was cut short or damaged";
  if (bytes.empty()) throw InputError(refusal);  // an archive without members to libzip
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (source == nullptr) throw WorkError(name + ": libzip has no memory");
  zip_t* archive = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (archive == nullptr) {
    zip_source_free(source);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    throw InputError(refusal + ": " + reason);
  }
  return Archive(archive);
}

// What the directory says of a member must be possible before memory is made for it.
void check(const zip_stat_t& stat, const std::string& label) {
  constexpr zip_uint64_t kNeeded =
      ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if ((stat.valid & kNeeded) != kNeeded) throw InputError(label + ": damaged: has no size");
  if (stat.encryption_method != ZIP_EM_NONE) throw InputError(label + ": encrypted");
  const bool stored = stat.comp_method == ZIP_CM_STORE && stat.comp_size == stat.size;
  const bool deflated =
      stat.comp_method == ZIP_CM_DEFLATE && stat.size / kMostExpansion <= stat.comp_size;
  if (!stored && !deflated) {
    throw InputError(label + ": expected a stored or deflated member, found method " +
                     std::to_string(stat.comp_method) + " of " + std::to_string(stat.comp_size) +
                     " bytes for " + std::to_string(stat.size));
  }
}

// libzip compares size and checksum with the directory's where it meets the end. Nothing where the
// member is not wanted.
std::optional<std::string> unpacked(zip_t* archive, const zip_stat_t& stat,
                                    const std::string& label, const MemberWanted& wanted) {
  constexpr std::size_t kBegin = std::size_t{64} << 10;
  const auto damaged = [&](const std::string& reason) {
    return InputError(label + ": damaged: does not unpack to the " + std::to_string(stat.size) +
                      " bytes that it says: " + reason);
  };
  const Member member(zip_fopen_index(archive, stat.index, 0));
  if (!member) throw damaged(zip_strerror(archive));
  std::string bytes;
  std::size_t made = 0;
  const auto unpack_to = [&](std::size_t end) {
    bytes.resize(end);
    while (made < end) {
      const zip_int64_t count = zip_fread(member.get(), bytes.data() + made, end - made);
      if (count < 0) throw damaged(zip_file_strerror(member.get()));
      if (count == 0) break;
      made += static_cast<std::size_t>(count);
    }
  };
  const std::size_t all = stat.size + 1;  // one more, to see where there is more than it says
  unpack_to(std::min(kBegin, all));
  const std::string_view begin(bytes.data(), std::min<std::size_t>(made, stat.size));
  if (wanted && !wanted(stat.name, begin, stat.size)) return std::nullopt;
  unpack_to(all);
  if (made != stat.size) throw damaged("found " + std::to_string(made) + " or more");
  bytes.resize(made);
  return bytes;
}

}  // namespace

std::map<std::string, std::string> parse_zip(const std::string& bytes, const std::string& name,
                                             std::size_t most_bytes, const MemberWanted& wanted) {
  const Archive archive = opened(bytes, name);
  std::map<std::string, std::string> members;
  std::size_t all = 0;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    if (zip_stat_index(archive.get(), static_cast<zip_uint64_t>(i), 0, &stat) != 0) {
      throw InputError(name + ": damaged: " + zip_strerror(archive.get()));
    }
    const std::string member = stat.name, label = name + ": " + member;
    if (member.ends_with('/')) continue;  // a folder
    check(stat, label);
    if (stat.size > most_bytes - all) {
      throw InputError(label + ": the archive unpacks to more than " + std::to_string(most_bytes) +
                       " bytes");
    }
    std::optional<std::string> content = unpacked(archive.get(), stat, label, wanted);
    if (!content) continue;
    all += stat.size;
    if (!members.emplace(member, std::move(*content)).second) {
      throw InputError(label + ": there twice");
    }
  }
  return members;
}

std::map<std::string, std::string> read_zip(const std::filesystem::path& path,
                                            std::size_t most_bytes, const MemberWanted& wanted) {
  return parse_zip(read_file(path), path.string(), most_bytes, wanted);
}

}  // namespace attnscope
