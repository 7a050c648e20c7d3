#include "core/checkpoint/snapshots.h"

#include <algorithm>
#include <charconv>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/card.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSnapshots = "snapshots", kStepPrefix = "step-";

// N of the folder name "step-N"; nullopt for other names, such as "step-07".
std::optional<Index> step_of(const std::string& name) {
  if (!name.starts_with(kStepPrefix)) return std::nullopt;
  Index step = 0;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + kStepPrefix.size(), end, step);
  const bool is_exact = parsed.ec == std::errc() && parsed.ptr == end && step >= 0 &&
                        name == std::string(kStepPrefix) + std::to_string(step);
  return is_exact ? std::optional(step) : std::nullopt;
}

// Absolute path without a trailing separator.
fs::path clean(const fs::path& path) {
  std::error_code ignored;
  const fs::path absolute = fs::absolute(path, ignored).lexically_normal();
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

}  // namespace

fs::path snapshot_folder(const fs::path& training, Index step) {
  return training / kSnapshots / (std::string(kStepPrefix) + std::to_string(step));
}

std::vector<Index> snapshot_steps(const fs::path& training) {
  std::vector<Index> steps;
  std::error_code error;
  for (fs::directory_iterator entry(training / kSnapshots, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto step = step_of(entry->path().filename().string());
    if (step && file_exists(entry->path() / "config.json")) steps.push_back(*step);
  }
  std::ranges::sort(steps);
  return steps;
}

std::optional<Index> snapshot_step(const fs::path& model) {
  const fs::path path = clean(model);
  if (path.parent_path().filename() != kSnapshots) return std::nullopt;
  return step_of(path.filename().string());
}

fs::path training_folder(const std::string& model) {
  const fs::path path(model);
  if (snapshot_step(path)) {
    const fs::path folder = path.has_filename() ? path : path.parent_path();
    return folder.parent_path().parent_path();
  }
  try {
    return model_path(model);
  } catch (const InputError&) {
    return path;
  }
}

std::vector<Index> thinned_steps(std::vector<Index> steps, std::size_t count) {
  while (steps.size() > std::max<std::size_t>(count, 2)) {
    // Drops the step whose gap, relative to its age, is smallest.
    const auto relative_gap = [&](std::size_t i) {
      return static_cast<double>(steps[i + 1] - steps[i - 1]) /
             static_cast<double>(steps.back() - steps[i]);
    };
    std::size_t dropped = 1;
    for (std::size_t i = 2; i + 1 < steps.size(); ++i) {
      if (relative_gap(i) < relative_gap(dropped)) dropped = i;
    }
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(dropped));
  }
  return steps;
}

void save_snapshot(const fs::path& training, Index step, const Checkpoint& checkpoint,
                   const std::string& task, bool half) {
  const fs::path target = snapshot_folder(training, step);
  const fs::path unfinished = training / kSnapshots / ".unfinished";
  std::error_code ignored;
  fs::remove_all(unfinished, ignored);
  save_checkpoint(unfinished, checkpoint, half);
  save_card(unfinished, task, checkpoint.model.config);
  fs::remove_all(target, ignored);
  std::error_code error;
  fs::rename(unfinished, target, error);
  if (error) throw WorkError(target.string() + ": cannot be created: " + error.message());
  const std::vector<Index> steps = snapshot_steps(training);
  const std::vector<Index> kept = thinned_steps(steps, kMaxSnapshots);
  for (const Index old : steps) {
    if (!std::ranges::binary_search(kept, old)) {
      fs::remove_all(snapshot_folder(training, old), ignored);
    }
  }
}

void remove_snapshots_after(const fs::path& training, Index step) {
  std::error_code ignored;
  for (const Index later : snapshot_steps(training)) {
    if (later > step) fs::remove_all(snapshot_folder(training, later), ignored);
  }
}

}  // namespace attnscope
