// Compares every layout with results of the Hugging Face libraries, which
// tests/layouts/make_references.py stores. If the environment variable ATTNSCOPE_LAYOUT_TABLE names
// a file, appends the rows of the README's table to it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <set>

#include "core/base/file.h"
#include "core/base/zip.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/format.h"
#include "core/model/generate.h"
#include "core/model/input_kind.h"
#include "core/tensor/npy.h"
#include "core/trace/trace.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr double kTolerance = 1e-4;

// Stored results of a layout. Names begin with the text length: "7/ids", "7/tap/layers.0.residual",
// "7/attention/self.0" [heads, rows, keys] (or "encoder.0", "cross.0"), "7/logits", and "7/source"
// for encoder-decoders. Taps, attention and logits contain only the positions listed in "7/rows",
// or in "7/source_rows" for the encoder.
struct Reference {
  std::map<std::string, StoredTensor> arrays;

  explicit Reference(const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / "reference.npz";
    for (auto& [name, bytes] : read_zip(file)) {
      const std::string key = name.substr(0, name.rfind(".npy"));
      arrays.emplace(key, parse_npy(bytes, file.string() + ": " + name));
    }
  }
  bool has(const std::string& key) const { return arrays.contains(key); }
  Tensor floats(const std::string& key) const { return arrays.at(key).floats(); }
  std::vector<std::int32_t> integers(const std::string& key) const {
    const IntTensor all = arrays.at(key).integers();
    return {all.begin(), all.end()};
  }
  std::vector<std::string> lengths() const {
    std::vector<std::string> found;
    for (const auto& [key, array] : arrays) {
      if (key.ends_with("/ids")) found.push_back(key.substr(0, key.find('/')));
    }
    return found;
  }
};

// Largest differences, relative to the largest expected number if that exceeds 1. NaN propagates.
struct Differences {
  double attention = 0, states = 0, logits = 0;
  bool has_attention = false;
  std::string excess;  // first difference that exceeds kTolerance
};

// Raises `largest` to the relative difference between `got` and `expected` if this difference is
// larger. Records the first difference above kTolerance in all.excess.
void add_difference(double& largest, const Tensor& got, const Tensor& expected,
                    const std::string& what, Differences& all) {
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  double scale = 1, difference = 0;
  for (const float x : expected) scale = std::max(scale, std::abs(static_cast<double>(x)));
  for (Index n = 0; n < got.size(); ++n) {
    const double error = std::abs(static_cast<double>(got[n]) - static_cast<double>(expected[n]));
    if (!(error <= difference)) difference = error;
  }
  difference /= scale;
  if (!(difference <= largest)) largest = difference;
  if (!(difference <= kTolerance) && all.excess.empty()) {
    all.excess = what + " differs by " + std::to_string(difference);
  }
}

// Selects rows of a tensor [.., L, n].
Tensor select_rows(const Tensor& all, const std::vector<std::int32_t>& rows) {
  const Index width = all.dim(-1), length = all.dim(-2), groups = all.size() / width / length;
  const auto count = static_cast<Index>(rows.size());
  Tensor selected(all.rank() == 3 ? Shape{groups, count, width} : Shape{count, width});
  for (Index g = 0; g < groups; ++g) {
    for (Index r = 0; r < count; ++r) {
      std::copy_n(all.data() + (g * length + rows[static_cast<std::size_t>(r)]) * width, width,
                  selected.data() + (g * count + r) * width);
    }
  }
  return selected;
}

IntTensor one_row(const std::vector<std::int32_t>& ids) {
  return IntTensor::from({1, static_cast<Index>(ids.size())}, ids);
}

Batch batch_of(const Reference& reference, const std::string& length, const ModelConfig& config) {
  Batch batch;
  if (reference.has(length + "/returns")) {
    const Index steps = std::stol(length);
    batch.returns = reference.floats(length + "/returns").reshaped({1, steps});
    batch.states = reference.floats(length + "/states");
    batch.states = batch.states.reshaped({1, steps, batch.states.dim(-1)});
    batch.actions = one_row(reference.integers(length + "/ids"));
    return batch;
  }
  batch.ids = one_row(reference.integers(length + "/ids"));
  if (reference.has(length + "/source")) {
    batch.source = one_row(reference.integers(length + "/source"));
  }
  if (reference.has(length + "/types")) {
    batch.types = one_row(reference.integers(length + "/types"));
  }
  if (reference.has(length + "/colours")) {
    const InputKind& kind = input_kind(config.input.id);
    batch.patches = kind.patch_pixels(reference.floats(length + "/colours"), config.input.values);
  }
  return batch;
}

// Attention [h, L_q, L_k] of all heads of a layer, across its head groups.
Tensor attention_of(const Trace& trace, Stack stack, AttentionKind kind, Index layer) {
  std::vector<Tensor> heads;
  for (const AttentionTap& tap : trace.attention) {
    const Address& at = tap.address;
    if (at.stack != stack || at.kind != kind || at.layer != layer) continue;
    for (std::size_t a = 0; a < tap.heads.size(); ++a) {
      heads.push_back(tap.attention(static_cast<Index>(a)));
    }
  }
  if (heads.empty()) return Tensor();
  Tensor all({static_cast<Index>(heads.size()), heads[0].dim(0), heads[0].dim(1)});
  for (std::size_t a = 0; a < heads.size(); ++a) {
    std::copy_n(heads[a].data(), heads[a].size(),
                all.data() + static_cast<Index>(a) * heads[a].size());
  }
  return all;
}

void compare_length(const Model& model, const Reference& reference, const std::string& length,
                    Differences& differences) {
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  run(model, batch_of(reference, length, model.config), options);
  const std::vector<std::int32_t> rows = reference.integers(length + "/rows");
  const std::vector<std::int32_t> source_rows =
      reference.has(length + "/source_rows") ? reference.integers(length + "/source_rows") : rows;
  for (const auto& [key, array] : reference.arrays) {
    if (!key.starts_with(length + "/")) continue;
    const std::string what = key.substr(length.size() + 1);
    if (what.starts_with("tap/")) {
      const std::string name = what.substr(4);
      ASSERT_TRUE(trace.taps.contains(name)) << name;
      const auto& expected_rows = name.starts_with("encoder.") ? source_rows : rows;
      add_difference(differences.states, select_rows(trace.taps.at(name), expected_rows),
                     array.floats(), key, differences);
    } else if (what.starts_with("attention/")) {
      const std::string name = what.substr(10);
      const Index layer = std::stol(name.substr(name.rfind('.') + 1));
      const bool encoder = name.starts_with("encoder.");
      const Tensor got = attention_of(
          trace, encoder ? Stack::Encoder : Stack::Decoder,
          name.starts_with("cross.") ? AttentionKind::Cross : AttentionKind::Self, layer);
      ASSERT_TRUE(got.defined()) << key;
      differences.has_attention = true;
      add_difference(differences.attention, select_rows(got, encoder ? source_rows : rows),
                     array.floats(), key, differences);
    } else if (what == "logits") {
      ASSERT_TRUE(trace.logits.defined()) << key;
      const bool acts = reference.has(length + "/returns");  // one action per step
      add_difference(differences.logits,
                     acts ? trace.logits.value() : select_rows(trace.logits, rows), array.floats(),
                     key, differences);
    }
  }
  if (!reference.has(length + "/logits")) {
    EXPECT_EQ(trace.logits.defined(), model.config.model_options.output_head) << length;
  }
}

// Expects that incremental runs with a KV cache yield the logits of the last position of a full
// run.
void compare_cached(const Model& model, const Reference& reference, const std::string& length) {
  const std::vector<std::int32_t> ids = reference.integers(length + "/ids");
  if (reference.has(length + "/returns")) return;
  const bool in_context = static_cast<Index>(ids.size()) <= model.config.context;
  if (ids.size() < 2 || !in_context || reference.has(length + "/source")) return;
  if (!cache_refusal(model.config).empty() || !model.config.model_options.output_head) return;
  Generator generator(model, {});
  Tensor logits = generator.step({ids.begin(), ids.begin() + 2});
  for (std::size_t n = 2; n < ids.size(); ++n) logits = generator.step({ids[n]});
  const Tensor whole = forward(model, one_row(ids)).value();  // [1, L, vocabulary]
  const Index vocabulary = whole.dim(2);
  const Tensor last = whole.reshaped({whole.dim(1), vocabulary}).slice(whole.dim(1) - 1, 1);
  EXPECT_TRUE(testing::close(logits, last.reshaped({vocabulary}), 1e-4)) << length;
}

// Formats a difference with one digit: "5e-07".
std::string brief(double difference) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0e", difference);
  return text;
}

std::filesystem::path layouts_folder() {
  return testing::source_folder() / "tests" / "layouts";
}

std::vector<std::string> layouts() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(layouts_folder())) {
    if (std::filesystem::exists(entry.path() / "reference.npz")) {
      names.push_back(entry.path().filename());
    }
  }
  std::ranges::sort(names);
  return names;
}

void write_row(const std::string& name, const Differences& differences, bool logits) {
  const char* file = std::getenv("ATTNSCOPE_LAYOUT_TABLE");
  if (file == nullptr) return;
  std::string models = read_file(layouts_folder() / name / "models.txt", 4096);
  while (models.ends_with('\n')) models.pop_back();
  std::ofstream(file, std::ios::app)
      << "| `" << name << "` | " << models << " | "
      << (differences.has_attention ? brief(differences.attention) : "none") << " | "
      << brief(differences.states) << " | " << (logits ? brief(differences.logits) : "none")
      << " |\n";
}

class CheckpointLayouts : public ::testing::TestWithParam<std::string> {};

TEST_P(CheckpointLayouts, MatchReference) {
  const std::filesystem::path folder = layouts_folder() / GetParam();
  const Checkpoint checkpoint = load_checkpoint(folder.string());
  const Reference reference(folder);
  Differences differences;
  ASSERT_FALSE(reference.lengths().empty());
  bool logits = false;
  for (const std::string& length : reference.lengths()) {
    compare_length(checkpoint.model, reference, length, differences);
    compare_cached(checkpoint.model, reference, length);
    logits |= reference.has(length + "/logits");
  }
  EXPECT_EQ(differences.excess, "");
  write_row(GetParam(), differences, logits);
}

TEST_P(CheckpointLayouts, RoundTripThroughOwnLayout) {
  const Checkpoint checkpoint = load_checkpoint((layouts_folder() / GetParam()).string());
  const testing::TemporaryFolder folder;
  save_checkpoint(folder.path(), checkpoint, false);
  const Checkpoint again = load_checkpoint(folder.path().string());
  EXPECT_EQ(again.model.config, checkpoint.model.config);
  EXPECT_EQ(again.model.weights.size(), checkpoint.model.weights.size());
}

INSTANTIATE_TEST_SUITE_P(All, CheckpointLayouts, ::testing::ValuesIn(layouts()),
                         [](const auto& at) {
                           std::string name = at.param;
                           std::ranges::replace_if(
                               name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
