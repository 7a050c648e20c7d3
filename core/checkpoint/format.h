// Checkpoint layouts, one file each; checkpoint_formats() is their ordered list.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/checkpoint/source.h"
#include "core/model/model.h"

namespace attnscope {

struct CheckpointFormat {
  std::string model_type;  // "model_type" in config.json
  // Translates configuration and tensors. InputError begins with the source's place and names the
  // key or tensor that is missing, invalid or not supported.
  std::function<Model(const CheckpointSource& source)> load;
  std::string task{};  // ModelCard::task of the models: "image"; empty: "text"
};

const std::vector<CheckpointFormat>& checkpoint_formats();

// CheckpointFormat::model_type of a config. `tower` selects a tower of a CLIP model: "vision_model"
// or "text_model"; empty: the whole model. Throws InputError if the model lacks the tower.
std::string format_type(const Json& config, const std::string& path, const std::string& tower);

CheckpointFormat native_format();
std::vector<CheckpointFormat> decoder_formats();
CheckpointFormat gpt2_format();
std::vector<CheckpointFormat> encoder_formats();
std::vector<CheckpointFormat> t5_formats();
std::vector<CheckpointFormat> bart_formats();
std::vector<CheckpointFormat> vision_formats();
std::vector<CheckpointFormat> text_tower_formats();
CheckpointFormat modernbert_format();
CheckpointFormat nomic_bert_format();
CheckpointFormat xlnet_format();
CheckpointFormat reformer_format();
CheckpointFormat transformer_xl_format();
CheckpointFormat decision_transformer_format();

// Models with at least this many weights keep 16-bit matrices (Model::narrow), which need half the
// memory of floats; smaller models convert them to floats for speed. Quantised ones stay quantised.
inline constexpr Index kMinNarrowWeights = Index{1} << 22;

// True if two stored tensors are bitwise equal, or if one is missing.
bool are_equal_or_missing(const StoredTensors& tensors, const std::string& a, const std::string& b);

// Reads tensors of a checkpoint by name, converts them to float and checks them. finish() reports
// tensors that were never read.
class TensorReader {
 public:
  // `place` begins the messages of InputErrors.
  TensorReader(const StoredTensors& tensors, std::string place, const ModelConfig& config);
  TensorReader(const CheckpointSource& source, const ModelConfig& config)
      : TensorReader(source.tensors, source.place, config) {}

  bool has(const std::string& name) const { return tensors_.contains(name); }
  Tensor take(const std::string& name, const Shape& shape);  // InputError for another shape
  Tensor take_transposed(const std::string& name, Index in, Index out);  // stored as [out, in]
  // Reads a matrix stored as [in, out], or as [out, in] if `transposed`, into model.narrow[weight]
  // if take_narrow() returns it, else into model.weights[weight].
  void load(const std::string& name, Index in, Index out, bool transposed, Model& model,
            const std::string& weight);
  // A stored quantised or 16-bit [rows, columns] matrix; nullopt if the model needs floats.
  std::optional<NarrowMatrix> take_narrow(const std::string& name, Index rows, Index columns);
  bool are_equal_or_missing(const std::string& a, const std::string& b) const {
    return attnscope::are_equal_or_missing(tensors_, a, b);
  }
  // Check a tensor that is read in parts. Throw InputError if it is missing or has another shape.
  void expect_shape(const std::string& name, const Shape& shape) const;
  void expect_rows(const std::string& name, Index rows) const;
  Index rows_of(const std::string& name) const;     // first dimension of an array
  Index columns_of(const std::string& name) const;  // second dimension of a matrix
  // Names of stored tensors with this prefix.
  std::vector<std::string> names_with_prefix(const std::string& prefix) const;
  void ignore(const std::string& name) { read_names_.push_back(name); }
  void finish() const;
  [[noreturn]] void fail(const std::string& message) const;  // "PLACE: ..."

 private:
  const StoredTensor& find(const std::string& name, const Shape& shape);
  const StoredTensor& stored(const std::string& name) const;
  Tensor checked(const StoredTensor& stored, const std::string& name) const;
  void check_finite(const float* values, Index count, const std::string& name) const;
  [[noreturn]] void fail_not_finite(const std::string& name) const;

  const StoredTensors& tensors_;
  std::string place_;
  bool keeps_narrow_;
  std::vector<std::string> read_names_;
};

}  // namespace attnscope
