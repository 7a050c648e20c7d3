// Exclusive lock on a folder.
#pragma once

#include <filesystem>

namespace attnscope {

// Locks a folder with flock(2) until the object is destroyed or the process ends, even by a crash.
// The constructor creates a missing folder. The destructor removes this new folder if it is empty.
class FolderLock {
 public:
  // `owner` is the kind of work: "training". InputError "FOLDER: in use by another OWNER" if any
  // process, including this one, has locked the folder. WorkError if the folder cannot be opened.
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
