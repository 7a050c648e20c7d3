#include "core/input/input_file.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/tensor/safetensors.h"

namespace attnscope {
namespace {

class Reader {
 public:
  Reader(const SafetensorsFile& file, std::string name) : file_(file), name_(std::move(name)) {}

  bool has(const char* tensor) const { return file_.tensors.contains(tensor); }
  bool has_rank(const char* tensor, std::size_t rank) const {
    const auto stored = file_.tensors.find(tensor);
    return stored != file_.tensors.end() && stored->second.shape.size() == rank;
  }

  IntTensor integers(const char* tensor, std::size_t rank) const {
    const StoredTensor& stored = find(tensor, rank);
    if (stored.dtype != DType::I32) fail(tensor, "I32", std::string(to_string(stored.dtype)));
    return stored.integers();
  }

  Tensor floats(const char* tensor, std::size_t rank) const {
    const StoredTensor& stored = find(tensor, rank);
    const Tensor values = stored.floats();
    if (!std::ranges::all_of(values, [](float x) { return std::isfinite(x); })) {
      fail(tensor, "finite numbers", "infinite or NaN");
    }
    return values;
  }

  [[noreturn]] void fail(const char* tensor, const std::string& expected,
                         const std::string& found) const {
    throw InputError(name_ + ": " + tensor + ": expected " + expected + ", found " + found);
  }

 private:
  const StoredTensor& find(const char* tensor, std::size_t rank) const {
    const auto stored = file_.tensors.find(tensor);
    if (stored == file_.tensors.end()) fail(tensor, "a tensor", "nothing");
    if (stored->second.shape.size() != rank || element_count(stored->second.shape) == 0) {
      fail(tensor, std::to_string(rank) + " non-empty axes", to_string(stored->second.shape));
    }
    return stored->second;
  }

  const SafetensorsFile& file_;
  std::string name_;
};

// Truncates after the first step whose action is not yet taken.
TrajectoryInput truncate_at_open_step(const TrajectoryInput& in) {
  const auto first_open = std::ranges::find(in.actions, -1);
  if (first_open == in.actions.end()) return in;
  const Index steps = first_open - in.actions.begin() + 1;
  return {in.returns.slice(0, steps), in.states.slice(0, steps), in.actions.slice(0, steps)};
}

// Continuous actions of `steps` steps; those of the last step may be missing.  [steps, a]
Tensor read_moves(const Reader& reader, Index steps) {
  const Tensor taken = reader.floats("actions", 2);
  if (taken.dim(0) != steps && taken.dim(0) + 1 != steps) {
    reader.fail("actions", std::to_string(steps) + " rows, as many as returns, or one less",
                to_string(taken.shape()));
  }
  Tensor moves = Tensor::full({steps, taken.dim(1)}, std::numeric_limits<float>::quiet_NaN());
  std::ranges::copy(taken, moves.begin());
  return moves;
}

TrajectoryInput read_trajectory(const Reader& reader) {
  TrajectoryInput input{reader.floats("returns", 1), reader.floats("states", 2), {}};
  const Index steps = input.returns.dim(0);
  if (input.states.dim(0) != steps) {
    reader.fail("states", std::to_string(steps) + " rows, as many as returns",
                to_string(input.states.shape()));
  }
  if (reader.has_rank("actions", 2)) {
    input.moves = read_moves(reader, steps);
    return input;
  }
  input.actions = reader.integers("actions", 1);
  if (input.actions.dim(0) != steps) {
    reader.fail("actions", std::to_string(steps) + " numbers, as many as returns",
                to_string(input.actions.shape()));
  }
  for (const std::int32_t action : input.actions) {
    if (action < -1) reader.fail("actions", "numbers of at least -1", std::to_string(action));
  }
  return truncate_at_open_step(input);
}

}  // namespace

InputFile read_input_file(const std::filesystem::path& path) {
  const SafetensorsFile file = read_safetensors(path);
  const Reader reader(file, path.string());
  InputFile input;
  if (reader.has("pixels")) {
    input.pixels = reader.integers("pixels", 2);
  } else if (reader.has("returns") || reader.has("states") || reader.has("actions")) {
    input.trajectory = read_trajectory(reader);
  } else {
    throw InputError(path.string() +
                     ": expected pixels, or returns, states and actions, found neither");
  }
  return input;
}

}  // namespace attnscope
