#include "core/checkpoint/weight_mover.h"

#include "core/model/residual_connection.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

constexpr double kMaskedShare = 0.15;  // Devlin et al., 2018

// Rows of a table from `first` on.
Tensor rows_from(const Tensor& table, Index first) {
  return table.slice(first, table.dim(0) - first);
}

}  // namespace

void WeightMover::plain(const std::string& theirs, const std::string& ours, const Shape& shape) {
  model_.weights.emplace(ours, Var(reader_.take(theirs, shape)));
}

void WeightMover::linear(const std::string& theirs, const std::string& folder,
                         const std::string& letter, Index in, Index out, bool bias) {
  reader_.load(theirs + ".weight", in, out, true, model_, folder + "w" + letter);
  if (bias) plain(theirs + ".bias", folder + "b" + letter, {out});
}

void WeightMover::variant_linear(const std::string& theirs, const std::string& folder,
                                 const std::string& letter, Index in, Index out) {
  model_.weights.emplace(folder + "w" + letter,
                         Var(reader_.take_transposed(theirs + ".weight", in, out)));
  plain(theirs + ".bias", folder + "b" + letter, {out});
}

void WeightMover::dense(const std::string& theirs, const std::string& ours, Index in, Index out) {
  model_.weights.emplace(ours + ".w", Var(reader_.take_transposed(theirs + ".weight", in, out)));
  const bool bias = has(theirs + ".bias");
  model_.weights.emplace(ours + ".b",
                         Var(bias ? reader_.take(theirs + ".bias", {out}) : Tensor::zeros({out})));
}

void WeightMover::norm(const std::string& theirs, const std::string& ours, Index size) {
  const bool old_names = has(theirs + ".gamma");
  plain(theirs + (old_names ? ".gamma" : ".weight"), ours + ".weight", {size});
  const bool biases =
      model_.config.norm == Norm::LayerNorm && model_.config.model_options.norm_biases;
  if (biases) plain(theirs + (old_names ? ".beta" : ".bias"), ours + ".bias", {size});
}

void WeightMover::feed_forward(const FeedForwardNames& theirs, const std::string& layer) {
  const ModelConfig& c = model_.config;
  linear(theirs.in, layer + "ffn.", "_in", c.width, c.hidden, true);
  linear(theirs.out, layer + "ffn.", "_out", c.hidden, c.width, true);
  norm(theirs.norm, layer + "ffn_norm", c.width);
}

void WeightMover::positions(const std::string& theirs, const std::string& ours, Index rows,
                            Index skipped, Index width) {
  const Tensor table = reader_.take(theirs, {rows + skipped, width});
  model_.weights.emplace(ours, Var(skipped > 0 ? rows_from(table, skipped) : table));
}

void WeightMover::output(const std::string& theirs, const std::string& embedding) {
  const ModelConfig& c = model_.config;
  if (!c.tied_output) {
    const Index width = c.head.transform ? table_width(c) : state_width(c);
    reader_.load(theirs, width, c.vocabulary, true, model_, "output.weight");
    return;
  }
  if (!reader_.are_equal_or_missing(embedding, theirs)) {
    reader_.fail("tensor " + theirs + ": expected the same numbers as " + embedding +
                 ", since config.json ties them (tie_word_embeddings), found other numbers");
  }
  reader_.ignore(theirs);
}

void WeightMover::output_bias(const std::vector<std::string>& theirs, const Shape& shape) {
  std::string first;
  for (const std::string& name : theirs) {
    if (!has(name)) continue;
    if (!first.empty() && !reader_.are_equal_or_missing(first, name)) {
      reader_.fail("tensor " + name + ": expected the numbers of " + first +
                   ", found other numbers");
    }
    if (first.empty()) first = name;
    reader_.ignore(name);
  }
  if (first.empty()) first = theirs.front();
  const Index count = model_.config.vocabulary;
  model_.weights.emplace("output.bias", Var(reader_.take(first, shape).reshaped({count})));
}

void WeightMover::leave_out(const std::string& prefix, const std::string& what) {
  const std::vector<std::string> names = reader_.names_with_prefix(prefix);
  for (const std::string& name : names) reader_.ignore(name);
  if (!names.empty()) model_.notes.push_back(what + " (" + prefix + "*) is left out");
}

void WeightMover::head(const std::string& theirs, const std::string& embedding,
                       const std::vector<std::string>& biases) {
  if (!model_.config.model_options.output_head) return;
  output(theirs, embedding);
  output_bias(biases, {model_.config.vocabulary});
}

void WeightMover::finish(std::initializer_list<const char*> classifiers) {
  for (const char* name : classifiers) leave_out(name, "a classifier");
  reader_.finish();
}

void set_masked_prediction(ModelConfig& config, const CheckpointSource& source) {
  config.architecture.values.set("masked", kMaskedShare);
  const Index mask = source.find_mask_token ? source.find_mask_token(config.vocabulary) : -1;
  if (mask >= 0) config.architecture.values.set("mask", mask);
}

}  // namespace attnscope
