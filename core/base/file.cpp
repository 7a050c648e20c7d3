#include "core/base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>

#include "core/base/error.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

// An open file that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int close() {
    const int result = ::close(fd_);
    fd_ = -1;
    return result;
  }

 private:
  int fd_;
};

// Text for `error` (errno) on `path`. Names the offending parent folder if there is one, since the
// system's message ("Not a directory") does not.
std::string reason(const std::filesystem::path& path, int error) {
  std::filesystem::path above;
  for (const std::filesystem::path& part : path.parent_path()) {
    above /= part;
    struct stat status {};
    if (::stat(above.c_str(), &status) != 0) {
      if (errno == ENOENT && error == ENOENT) return "there is no folder " + above.string();
      break;
    }
    if (!S_ISDIR(status.st_mode)) return above.string() + " is not a folder";
  }
  return std::strerror(error);
}

[[noreturn]] void fail_writing(const std::filesystem::path& path, int error) {
  throw WorkError(path.string() + ": cannot be written: " + reason(path, error));
}

// Returns 0 or errno.
int write_all(int fd, std::string_view bytes) {
  constexpr std::size_t kAtOnce = std::size_t{1} << 23;
  while (!bytes.empty()) {
    check_stop();
    const ssize_t n = ::write(fd, bytes.data(), std::min(kAtOnce, bytes.size()));
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

int write_pieces(int fd, const std::vector<std::string_view>& pieces) {
  for (const std::string_view piece : pieces) {
    if (const int error = write_all(fd, piece)) return error;
  }
  return 0;
}

// Permissions that open(2) would give to a new file.
mode_t new_file_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// ".loss.csv.attnscope-", followed by the process id and six random characters.
std::string temporary_prefix(const std::filesystem::path& path) {
  constexpr std::size_t kMaxName = 180;  // file names have at most 255 bytes
  return "." + path.filename().string().substr(0, kMaxName) + ".attnscope-";
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

// Removes temporary files that killed processes left behind while writing `path`.
void remove_leftovers(const std::filesystem::path& path) {
  const std::string prefix = temporary_prefix(path);
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder_of(path), failed), end;
       !failed && entry != end; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const long process = std::strtol(name.c_str() + prefix.size(), nullptr, 10);
    const bool runs =
        process > 0 && (::kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM);
    if (!runs) ::unlink(entry->path().c_str());
  }
}

// A temporary file being written; removed by the destructor unless finish() was called.
class Unfinished {
 public:
  explicit Unfinished(std::string path) {
    const std::scoped_lock lock(mutex());
    at_ = all().insert(all().end(), std::move(path));
  }
  ~Unfinished() {
    const std::scoped_lock lock(mutex());
    if (!finished_) ::unlink(at_->c_str());
    all().erase(at_);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  void finish() { finished_ = true; }

  static void remove_all() {
    const std::scoped_lock lock(mutex());
    for (const std::string& path : all()) ::unlink(path.c_str());
  }

 private:
  // Never destroyed: a thread may write while the process ends.
  static std::mutex& mutex() {
    static std::mutex& only = *new std::mutex;
    return only;
  }
  static std::list<std::string>& all() {
    static std::list<std::string>& only = *new std::list<std::string>;
    return only;
  }

  std::list<std::string>::iterator at_;
  bool finished_ = false;
};

void replace_file(const std::filesystem::path& path, mode_t mode,
                  const std::vector<std::string_view>& pieces) {
  remove_leftovers(path);
  std::string temporary =
      (folder_of(path) / (temporary_prefix(path) + std::to_string(::getpid()) + "-XXXXXX"))
          .string();
  Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) fail_writing(path, errno);
  Unfinished unfinished(temporary);
  int error = write_pieces(file.get(), pieces);
  if (!error && ::fchmod(file.get(), mode) != 0) error = errno;
  if (!error && ::fsync(file.get()) != 0) error = errno;
  if (file.close() != 0 && !error) error = errno;
  if (!error && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error) fail_writing(path, error);
  unfinished.finish();
}

}  // namespace

void remove_unfinished_files() noexcept {
  Unfinished::remove_all();
}

bool file_exists(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::is_directory(path, unknown);
}

void make_folder(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (!failed) return;
  struct stat status {};
  const bool is_file = ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
  throw WorkError(path.string() + ": cannot be created: " +
                  (is_file ? "it is a file" : reason(path, failed.value())));
}

std::string read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const std::string name = path.string();
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ENOENT) throw InputError(name + ": no such file");
    throw InputError(name + ": cannot be read: " + reason(path, errno));
  }
  struct stat status {};
  if (::fstat(file.get(), &status) == 0 && S_ISDIR(status.st_mode)) {
    throw InputError(name + ": is a folder");
  }
  // Pipes have no size, and a file may grow while it is read: read to the end, not to a size.
  std::string bytes;
  if (S_ISREG(status.st_mode)) {
    bytes.reserve(std::min(max_bytes, static_cast<std::size_t>(status.st_size)));
  }
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = ::read(file.get(), buffer, sizeof buffer);
    if (n < 0) {
      if (errno == EINTR) continue;
      throw InputError(name + ": cannot be read: " + std::strerror(errno));
    }
    if (n == 0) return bytes;
    if (static_cast<std::size_t>(n) > max_bytes - bytes.size()) {
      throw InputError(name + ": larger than " + std::to_string(max_bytes) + " bytes");
    }
    bytes.append(buffer, static_cast<std::size_t>(n));
  }
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  write_file(path, std::vector<std::string_view>{bytes});
}

void check_writable(const std::filesystem::path& path) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail_writing(path, EISDIR);
  if (exists && ::access(path.c_str(), W_OK) != 0) fail_writing(path, errno);
  if (exists && !S_ISREG(status.st_mode)) return;
  std::error_code unresolved;
  const std::filesystem::path target = exists ? std::filesystem::canonical(path, unresolved) : path;
  if (::access(folder_of(target).c_str(), W_OK | X_OK) != 0) fail_writing(path, errno);
}

void write_file(const std::filesystem::path& path, const std::vector<std::string_view>& pieces) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail_writing(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) fail_writing(path, errno);
    if (const int error = write_pieces(file.get(), pieces)) fail_writing(path, error);
    return;
  }
  if (exists && ::access(path.c_str(), W_OK) != 0) fail_writing(path, errno);
  std::error_code unresolved;
  const std::filesystem::path target = exists ? std::filesystem::canonical(path, unresolved) : path;
  replace_file(unresolved ? path : target, exists ? status.st_mode & 07777 : new_file_mode(),
               pieces);
}

}  // namespace attnscope
