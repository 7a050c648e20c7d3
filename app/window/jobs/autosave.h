// Keeps the session safe: what was being done is on disk within two seconds, so that a crash or a
// kill loses little; the next start offers it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/experiment/experiment.h"

namespace attnscope::window {

inline constexpr double kAutosaveSeconds = 1.5;

class Autosave {
 public:
  // Files lie in `folder`, one for each running program (named after its process).
  explicit Autosave(std::filesystem::path folder);

  // A file that a program which runs no longer has left behind.
  std::optional<std::filesystem::path> abandoned() const;
  // What was restored from it is to be kept here: it goes when that is written, or at a clean end.
  void replace(std::filesystem::path abandoned) { replaced_ = std::move(abandoned); }

  // Call when the experiment may have changed; writes when the last change is old enough. Returns
  // why it could not, once; else nothing.
  std::string keep(const Experiment& experiment, double seconds);
  // Writes at once, for a program that ends by a fault. Returns why it could not; else nothing.
  std::string leave(const Experiment& experiment);
  // When keep() wants to be called again; nothing when all is written.
  std::optional<double> due() const;
  void finish();  // a clean end: nothing to restore

 private:
  void write(const Experiment& experiment);

  std::filesystem::path folder_, file_, replaced_;
  Experiment seen_;
  std::optional<double> due_;
  bool started_ = false, failed_ = false;
};

}  // namespace attnscope::window
