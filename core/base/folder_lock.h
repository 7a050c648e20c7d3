// Exclusive lock on a folder.
#pragma once

#include <filesystem>

namespace attnscope {

// Locks a folder until the object is destroyed or the process ends; flock(2) leaves no lock file
// after a crash. Creates a missing folder; the destructor removes it again if it is empty.
class FolderLock {
 public:
  // `owner` is the kind of work: "training". InputError "FOLDER: in use by another OWNER" if the
  // folder is locked, also by this process. WorkError if it cannot be created or opened.
  FolderLock(const std::filesystem::path& folder, const char* owner);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  std::filesystem::path folder_;
  bool is_new_folder_ = false;
  int descriptor_ = -1;
};

}  // namespace attnscope
