// Snapshots of a training: its model after earlier steps. Each is a complete model folder,
// TRAINING/snapshots/step-N, and opens like any other model.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

std::filesystem::path snapshot_folder(const std::filesystem::path& training, Index step);

// Steps of the complete snapshots in a training folder, in ascending order.
std::vector<Index> snapshot_steps(const std::filesystem::path& training);

// Training folder of a model, a name or a folder: the model's folder, or the one whose snapshot it
// is. Returns `model` if there is no such model.
std::filesystem::path training_folder(const std::string& model);
// Step of a snapshot; nullopt for other models.
std::optional<Index> snapshot_step(const std::filesystem::path& model);

// The snapshots to keep: at most `count`, which become sparser with age. Contains the first and the
// last step. `steps` ascend; `count` is at least 2.
std::vector<Index> thinned_steps(std::vector<Index> steps, std::size_t count);

inline constexpr std::size_t kMaxSnapshots = 100;

// Writes a snapshot and removes those that thinned_steps(.., kMaxSnapshots) drops. An interrupted
// call leaves no incomplete snapshot.
void save_snapshot(const std::filesystem::path& training, Index step, const Checkpoint& checkpoint,
                   const std::string& task, bool half);
// Removes the snapshots of later steps, which an earlier training left behind.
void remove_snapshots_after(const std::filesystem::path& training, Index step);

}  // namespace attnscope
