// Moves weights of a layout with [out, in] matrices to the model's names and layout. `theirs` are
// names in the checkpoint, `ours` names in the model (core/model/weights.h).
#pragma once

#include <string>

#include "core/checkpoint/format.h"

namespace attnscope {

class WeightMover {
 public:
  WeightMover(TensorReader& reader, Model& model) : reader_(reader), model_(model) {}

  TensorReader& reader() { return reader_; }
  Model& model() { return model_; }
  bool has(const std::string& name) const { return reader_.has(name); }

  // Moves a vector or table unchanged.
  void plain(const std::string& theirs, const std::string& ours, const Shape& shape);
  // Moves theirs.weight [out, in] to folder + "w" + letter. If `bias`, also moves theirs.bias to
  // folder + "b" + letter.
  void linear(const std::string& theirs, const std::string& folder, const std::string& letter,
              Index in, Index out, bool bias);
  // As linear() with a bias, for weights of a variant, which are always stored as floats.
  void variant_linear(const std::string& theirs, const std::string& folder,
                      const std::string& letter, Index in, Index out);
  // Moves theirs.weight and .bias to ours.w and ours.b; a missing bias becomes zeros.
  void dense(const std::string& theirs, const std::string& ours, Index in, Index out);
  // Moves theirs.weight and .bias, named .gamma and .beta in older files. RMS norms have no bias.
  void norm(const std::string& theirs, const std::string& ours, Index size);
  // Moves matrices [out, in] with biases to layer + "ffn." and the norm to layer + "ffn_norm".
  struct FeedForwardNames {
    std::string in, out, norm;
  };
  void feed_forward(const FeedForwardNames& theirs, const std::string& layer);
  // Moves a position table without its first `skipped` rows.
  void positions(const std::string& theirs, const std::string& ours, Index rows, Index skipped,
                 Index width);
  // Moves `theirs` to "output.weight" if the output is untied. If the output is tied, throws
  // InputError unless `theirs` is missing or equal to `embedding`.
  void output(const std::string& theirs, const std::string& embedding);
  // Moves the bias of the logits from the first of these names that exists.
  void output_bias(const std::vector<std::string>& theirs, const Shape& shape);
  // Calls output() and output_bias() if the model has a head.
  void head(const std::string& theirs, const std::string& embedding,
            const std::vector<std::string>& biases);
  // Ignores all tensors with this prefix; a note in the model describes them as `what`.
  void leave_out(const std::string& prefix, const std::string& what);
  // Leaves out classifiers with these prefixes. Throws InputError if a tensor remains unread.
  void finish(std::initializer_list<const char*> classifiers);

 private:
  TensorReader& reader_;
  Model& model_;
};

// Marks the model as a masked language model if `source` has a mask token.
void set_masked_prediction(ModelConfig& config, const CheckpointSource& source);

}  // namespace attnscope
