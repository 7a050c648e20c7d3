#include "core/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace attnscope {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const std::string name = path.string();
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) throw InputError(name + ": no such file");
    throw InputError(name + ": cannot be read: " + std::strerror(errno));
  }
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd);
    throw InputError(name +
                     (S_ISDIR(status.st_mode) ? ": is a folder" : ": is not a regular file"));
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ > 0) bytes_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
  const int error = errno;
  ::close(fd);
  if (bytes_ == MAP_FAILED) throw InputError(name + ": cannot be read: " + std::strerror(error));
}

MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(bytes_, size_);
}

void release_mapped_pages(const std::uint8_t* bytes, std::size_t count) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes);
  const std::uintptr_t first = (begin + page - 1) / page * page,
                       last = (begin + count) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace attnscope
