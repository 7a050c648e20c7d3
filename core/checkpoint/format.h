// Layouts of checkpoints: one file each; checkpoint_formats() is their ordered list.
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
  std::string model_type;  // what config.json says
  // Translates configuration and tensors. InputError begins with the source's place and names the
  // key or tensor that is missing, misshapen or not supported.
  std::function<Model(const CheckpointSource& source)> load;
  std::string task{};  // of those that read no text: "image" (ModelCard::task)
};

const std::vector<CheckpointFormat>& checkpoint_formats();

// "model_type", or, of a model with several towers of which `tower` is wanted, that tower's.
// InputError where the model has no such tower.
std::string format_type(const Json& config, const std::string& path, const std::string& tower);

CheckpointFormat own_format();
std::vector<CheckpointFormat> decoder_formats();
CheckpointFormat gpt2_format();
std::vector<CheckpointFormat> encoder_formats();
std::vector<CheckpointFormat> t5_formats();
std::vector<CheckpointFormat> bart_formats();
std::vector<CheckpointFormat> vision_formats();
CheckpointFormat modernbert_format();
CheckpointFormat xlnet_format();
CheckpointFormat reformer_format();
CheckpointFormat transformer_xl_format();
CheckpointFormat decision_transformer_format();

// Models with at least so many weights keep matrices of 16 bits as they are (Model::narrow). As
// floats they would take twice the memory, which smaller ones can spare for speed.
inline constexpr Index kWorthNarrow = Index{1} << 22;

// Whether two stored tensors are bit for bit the same; also where one is missing.
bool same_numbers(const StoredTensors& tensors, const std::string& a, const std::string& b);

// Takes tensors out of a checkpoint by name, converted to float and checked; finish() refuses
// those that nobody took.
class TensorReader {
 public:
  // `place` begins the messages of InputErrors.
  TensorReader(const StoredTensors& tensors, std::string place, const ModelConfig& config);
  TensorReader(const CheckpointSource& source, const ModelConfig& config)
      : TensorReader(source.tensors, source.place, config) {}

  bool has(const std::string& name) const { return tensors_.contains(name); }
  Tensor take(const std::string& name, const Shape& shape);
  // The transpose of a stored [out, in] matrix.  [in, out]
  Tensor take_transposed(const std::string& name, Index in, Index out);
  // A matrix of a model, stored as [in, out], or as [out, in] where `transposed`: into the model's
  // weights under the name `ours`, or into those that stay narrow.
  void move(const std::string& name, Index in, Index out, bool transposed, Model& model,
            const std::string& ours);
  // A stored [rows, columns] matrix in its 16 bits; nothing where the model is to have it as
  // floats.
  std::optional<NarrowMatrix> take_narrow(const std::string& name, Index rows, Index columns);
  bool holds_the_same(const std::string& a, const std::string& b) const {
    return same_numbers(tensors_, a, b);
  }
  // InputErrors where a tensor that is read in parts is not there or has another shape.
  void expect_shape(const std::string& name, const Shape& shape) const;
  void expect_rows(const std::string& name, Index rows) const;
  Index rows_of(const std::string& name) const;     // its first size
  Index columns_of(const std::string& name) const;  // of a matrix
  // Names of stored tensors that begin so.
  std::vector<std::string> names_below(const std::string& prefix) const;
  void ignore(const std::string& name) { taken_.push_back(name); }
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
  std::vector<std::string> taken_;
};

}  // namespace attnscope
