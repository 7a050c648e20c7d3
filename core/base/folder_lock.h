// A folder for one program at a time.
#pragma once

#include <filesystem>

namespace attnscope {

// Held until it goes, or the program ends, however it does: the lock is the system's (flock), no
// file is left. A folder that is not there is made, and goes again where nothing came into it.
class FolderLock {
 public:
  // InputError "FOLDER: in use by another WHAT" where another program holds it, or another lock of
  // this one. WorkError where the folder cannot be made or opened.
  FolderLock(const std::filesystem::path& folder, const char* what);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  std::filesystem::path folder_;
  bool made_ = false;
  int descriptor_ = -1;
};

}  // namespace attnscope
