#include "core/base/file.h"

#include <fcntl.h>
#include <poll.h>
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
#include "core/base/memory_budget.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

// File descriptor, closed by the destructor.
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

// Returns a message for `error` (an errno value) at `path`. The message names a parent that is
// missing or is not a folder, because the system's message ("Not a directory") does not.
std::string describe_error(const std::filesystem::path& path, int error) {
  std::filesystem::path folder;
  for (const std::filesystem::path& part : path.parent_path()) {
    folder /= part;
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0) {
      if (errno == ENOENT && error == ENOENT) return "there is no folder " + folder.string();
      break;
    }
    if (!S_ISDIR(status.st_mode)) return folder.string() + " is not a folder";
  }
  return std::strerror(error);
}

[[noreturn]] void fail_writing(const std::filesystem::path& path, int error) {
  throw WorkError(path.string() + ": cannot be written: " + describe_error(path, error));
}

// Waits until a pipe or terminal can be read or written. Throws Stopped once this thread's work is
// cancelled.
void wait_for(int fd, short events) {
  constexpr int kMilliseconds = 20;
  pollfd stream{fd, events, 0};
  do {
    check_stop();
  } while (::poll(&stream, 1, kMilliseconds) == 0);
}

// Opens a pipe or device for writing. A pipe without a reader is waited for. Returns -1 and sets
// errno on failure.
int open_stream(const std::filesystem::path& path, bool is_pipe) {
  constexpr useconds_t kMicroseconds = 20'000;
  while (true) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 || errno != ENXIO || !is_pipe) return fd;
    check_stop();
    ::usleep(kMicroseconds);
  }
}

// Returns 0 on success, else errno.
int write_all(int fd, std::string_view bytes) {
  constexpr std::size_t kMaxWrite = std::size_t{1} << 23;
  while (!bytes.empty()) {
    check_stop();
    const ssize_t n = ::write(fd, bytes.data(), std::min(kMaxWrite, bytes.size()));
    if (n < 0) {
      if (errno != EINTR && errno != EAGAIN) return errno;
      if (errno == EAGAIN) wait_for(fd, POLLOUT);
      continue;
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

int write_pieces(int fd, const NextPiece& next_piece) {
  while (const std::optional<std::string_view> piece = next_piece()) {
    if (const int error = write_all(fd, *piece)) return error;
  }
  return 0;
}

// Permissions that open(2) would give to a new file.
mode_t new_file_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// Returns ".loss.csv.attnscope-" for "loss.csv". Process id and six random characters are appended.
std::string temporary_prefix(const std::filesystem::path& path) {
  constexpr std::size_t kMaxName = 180;  // file names have at most 255 bytes
  return "." + path.filename().string().substr(0, kMaxName) + ".attnscope-";
}

std::filesystem::path parent_folder(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

// Removes temporary files that killed processes left behind while writing `path`.
void remove_leftovers(const std::filesystem::path& path) {
  const std::string prefix = temporary_prefix(path);
  std::error_code error;
  for (std::filesystem::directory_iterator entry(parent_folder(path), error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const long pid = std::strtol(name.c_str() + prefix.size(), nullptr, 10);
    const bool is_running = pid > 0 && (::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
    if (!is_running) ::unlink(entry->path().c_str());
  }
}

// A temporary file being written. The destructor removes the file unless finish() was called.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) {
    const std::scoped_lock lock(mutex());
    entry_ = paths().insert(paths().end(), std::move(path));
  }
  ~TemporaryFile() {
    const std::scoped_lock lock(mutex());
    if (!is_finished_) ::unlink(entry_->c_str());
    paths().erase(entry_);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void finish() { is_finished_ = true; }

  static void remove_all() {
    const std::scoped_lock lock(mutex());
    for (const std::string& path : paths()) ::unlink(path.c_str());
  }

 private:
  // The mutex is never destroyed: a thread may write while the process ends.
  static std::mutex& mutex() {
    static std::mutex& instance = *new std::mutex;
    return instance;
  }
  static std::list<std::string>& paths() {
    static std::list<std::string>& instance = *new std::list<std::string>;
    return instance;
  }

  std::list<std::string>::iterator entry_;
  bool is_finished_ = false;
};

void replace_file(const std::filesystem::path& path, mode_t mode, const NextPiece& next_piece) {
  remove_leftovers(path);
  std::string temporary_path =
      (parent_folder(path) / (temporary_prefix(path) + std::to_string(::getpid()) + "-XXXXXX"))
          .string();
  Descriptor file(::mkostemp(temporary_path.data(), O_CLOEXEC));
  if (file.get() < 0) fail_writing(path, errno);
  TemporaryFile temporary_file(temporary_path);
  int error = write_pieces(file.get(), next_piece);
  if (!error && ::fchmod(file.get(), mode) != 0) error = errno;
  if (!error && ::fsync(file.get()) != 0) error = errno;
  if (file.close() != 0 && !error) error = errno;
  if (!error && ::rename(temporary_path.c_str(), path.c_str()) != 0) error = errno;
  if (error) fail_writing(path, error);
  temporary_file.finish();
}

// True for devices that are neither a terminal nor /dev/null: reading /dev/zero never ends.
bool is_endless_device(int fd, const struct stat& status) {
  if (S_ISBLK(status.st_mode)) return true;
  if (!S_ISCHR(status.st_mode) || ::isatty(fd) != 0) return false;
  struct stat null {};
  return ::stat("/dev/null", &null) != 0 || null.st_rdev != status.st_rdev;
}

}  // namespace

void remove_unfinished_files() noexcept {
  TemporaryFile::remove_all();
}

bool file_exists(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return;
  struct stat status {};
  const bool is_file = ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
  throw WorkError(path.string() + ": cannot be created: " +
                  (is_file ? "it is a file" : describe_error(path, error.value())));
}

std::string read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const std::string name = path.string();
  // Without O_NONBLOCK, opening a pipe would wait for its writer, and could not be cancelled.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) {
    if (errno == ENOENT) throw InputError(name + ": no such file");
    throw InputError(name + ": cannot be read: " + describe_error(path, errno));
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    throw InputError(name + ": cannot be read: " + std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) throw InputError(name + ": is a folder");
  if (is_endless_device(file.get(), status)) throw InputError(name + ": is a device");
  // Reads until end of file, because pipes have no size and a file may grow during reading.
  std::string bytes;
  const bool is_regular = S_ISREG(status.st_mode);
  if (is_regular) {
    bytes.reserve(std::min(max_bytes, static_cast<std::size_t>(status.st_size)));
  } else {
    max_bytes = std::min(max_bytes, memory_budget() / 2);
  }
  char buffer[1 << 16];
  while (true) {
    check_stop();
    if (!is_regular) wait_for(file.get(), POLLIN);
    const ssize_t n = ::read(file.get(), buffer, sizeof buffer);
    if (n < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
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
  std::error_code error;
  const std::filesystem::path target = exists ? std::filesystem::canonical(path, error) : path;
  if (::access(parent_folder(target).c_str(), W_OK | X_OK) != 0) fail_writing(path, errno);
}

void write_file(const std::filesystem::path& path, const std::vector<std::string_view>& pieces) {
  std::size_t index = 0;
  write_file(path, [&]() -> std::optional<std::string_view> {
    if (index == pieces.size()) return std::nullopt;
    return pieces[index++];
  });
}

void write_file(const std::filesystem::path& path, const NextPiece& next_piece) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail_writing(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    Descriptor file(open_stream(path, S_ISFIFO(status.st_mode)));
    if (file.get() < 0) fail_writing(path, errno);
    if (const int error = write_pieces(file.get(), next_piece)) fail_writing(path, error);
    return;
  }
  if (exists && ::access(path.c_str(), W_OK) != 0) fail_writing(path, errno);
  std::error_code error;
  const std::filesystem::path target = exists ? std::filesystem::canonical(path, error) : path;
  replace_file(error ? path : target, exists ? status.st_mode & 07777 : new_file_mode(),
               next_piece);
}

}  // namespace attnscope
