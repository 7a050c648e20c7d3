// Exclusive lock on a folder.
#pragma once

#include <filesystem>

namespace attnscope {

// Held until destroyed or until the process ends, even by a crash: flock(2) leaves no lock file.
// Creates a missing folder, and removes a created one that is still empty at the end.
class FolderLock {
 public:
  // InputError "FOLDER: in use by another OWNER" if another lock holds the folder, in this process
  // or another. WorkError if the folder cannot be created or opened.
  FolderLock(const std::filesystem::path& folder, const char* owner);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  std::filesystem::path folder_;
  bool made_ = false;
  int descriptor_ = -1;
};

}  // namespace attnscope
