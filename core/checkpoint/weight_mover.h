// Moves the weights of a layout, whose matrices are [out, in], to where the model has them.
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

  // A vector or table as it is.
  void plain(const std::string& theirs, const std::string& ours, const Shape& shape);
  // theirs.weight [out, in] and, with a bias, theirs.bias to `folder` + "w" + letter, "b" + letter.
  void linear(const std::string& theirs, const std::string& folder, const std::string& letter,
              Index in, Index out, bool bias);
  // The same with a bias for what a variant has, which stays no 16 bits.
  void variant_linear(const std::string& theirs, const std::string& folder,
                      const std::string& letter, Index in, Index out);
  // The same to ours.w, ours.b; a missing bias becomes zeros.
  void dense(const std::string& theirs, const std::string& ours, Index in, Index out);
  // theirs.weight and .bias; .gamma and .beta in older files. rms: the weight alone.
  void norm(const std::string& theirs, const std::string& ours, Index size);
  // Matrices [out, in] with biases to `layer` + "ffn.", and the norm to its "ffn_norm".
  struct FeedForwardNames {
    std::string in, out, norm;
  };
  void feed_forward(const FeedForwardNames& theirs, const std::string& layer);
  // A table of positions whose first `skipped` rows are those of no position.
  void positions(const std::string& theirs, const std::string& ours, Index rows, Index skipped,
                 Index width);
  // "output.weight" from `theirs`, where the model's output is not tied to "embed.weight", which
  // is `embedding` there: else the two must hold the same numbers.
  void output(const std::string& theirs, const std::string& embedding);
  // What a layer adds to the logits, from the first of these names that is there.
  void output_bias(const std::vector<std::string>& theirs, const Shape& shape);
  // Both, where the model has a head.
  void head(const std::string& theirs, const std::string& embedding,
            const std::vector<std::string>& biases);
  // Leaves out all whose names begin so, and says in the model's notes what they are.
  void leave_out(const std::string& prefix, const std::string& what);
  // The same for what classifies, and InputError where anything is left that nobody took.
  void finish(std::initializer_list<const char*> classifiers);

 private:
  TensorReader& reader_;
  Model& model_;
};

// Marks the model as one that predicts masked tokens, with the mask token of `source` if it has
// one.
void learns_to_fill_in(ModelConfig& config, const CheckpointSource& source);

}  // namespace attnscope
