// Memory-mapped files, read-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace attnscope {

class MappedFile {
 public:
  // Throws InputError if the file is missing, unreadable or not a regular file.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::size_t size() const { return size_; }
  const std::uint8_t* bytes() const { return static_cast<const std::uint8_t*>(bytes_); }

 private:
  void* bytes_ = nullptr;
  std::size_t size_ = 0;
};

// Releases the memory of mapped pages that lie entirely within these bytes. Reading the bytes again
// loads them from the file.
void release_mapped_pages(const std::uint8_t* bytes, std::size_t count);

}  // namespace attnscope
