#include "core/base/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/base/file.h"

namespace attnscope {

FolderLock::FolderLock(const std::filesystem::path& folder, const char* owner)
    : folder_(folder), is_new_folder_(!file_exists(folder)) {
  make_folder(folder_);
  descriptor_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) {
    throw WorkError(folder_.string() + ": cannot be opened: " + std::strerror(errno));
  }
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  const int error = errno;
  ::close(descriptor_);
  if (error == EWOULDBLOCK) throw InputError(folder_.string() + ": in use by another " + owner);
  throw WorkError(folder_.string() + ": cannot be locked: " + std::strerror(error));
}

FolderLock::~FolderLock() {
  if (is_new_folder_) ::rmdir(folder_.c_str());  // fails if the folder is not empty
  ::close(descriptor_);
}

}  // namespace attnscope
