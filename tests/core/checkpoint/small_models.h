// Models for tests: layouts with a changed config, and small models with random weights.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "core/autodiff/operations_reduce.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/checkpoint.h"
#include "tests/core/checkpoint/files.h"
#include "tests/support/gradient.h"
#include "tests/support/places.h"

namespace attnscope::testing {

// Copies a folder of tests/layouts. `members` replace members of its config; a null member counts
// as missing.
inline void copy_layout(const std::string& layout, const std::filesystem::path& to,
                        const std::string& members) {
  const std::filesystem::path from = source_folder() / "tests" / "layouts" / layout;
  for (const auto& entry : std::filesystem::directory_iterator(from)) {
    std::filesystem::copy(entry.path(), to / entry.path().filename());
  }
  Json config = parse_json(read_file(to / "config.json", 1 << 20), "config.json");
  const Json other = parse_json(members, "members");
  for (const auto& [key, value] : other.items()) config[key] = value;
  write_file(to / "config.json", config.dump(2));
}

inline Checkpoint changed_layout(const std::string& layout, const std::string& members) {
  const TemporaryFolder folder;
  copy_layout(layout, folder.path(), members);
  return load_checkpoint(folder.path().string());
}

// Expects an InputError whose message contains `named`.
inline void expect_input_error(const std::string& layout, const std::string& members,
                               const std::string& named) {
  const std::string error = message_of<InputError>([&] { changed_layout(layout, members); });
  EXPECT_NE(error.find(named), std::string::npos) << error;
}

// Returns a model with trainable random weights far from the default initialisation.
inline Model make_random_model(const ModelConfig& config) {
  Model model = make_model(config, 3);
  std::uint64_t seed = 40;
  for (auto& [name, weight] : model.weights) {
    Tensor values = random_tensor(weight.shape(), ++seed, 0.5);
    if (name.ends_with("norm.weight")) {
      for (float& x : values) x += 1;
    }
    weight = Var::parameter(values);
  }
  return model;
}

// Compares the gradients of the cross-entropy loss with finite differences, for each weight that
// `unused` does not accept.
inline void expect_gradients(Model& model, const IntTensor& ids, const IntTensor& targets,
                             const std::function<bool(const std::string&)>& unused = {}) {
  const auto loss = [&] { return cross_entropy(forward(model, ids), targets); };
  backward(loss());
  const auto loss_now = [&] { return static_cast<double>(loss().value()[0]); };
  for (auto& [name, weight] : model.weights) {
    if (unused && unused(name)) continue;
    EXPECT_TRUE(
        is_gradient(weight.gradient(), weight.value(), loss_now, {{1e-2f, 3e-3f, 1e-3f}, 2e-2, 4}))
        << name;
  }
}

}  // namespace attnscope::testing
