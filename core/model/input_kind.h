// What the tokens of a decoder are: pieces of text, the pixels of an image (SPEC-MODELS section 7),
// or pieces of one. One function each; input_kinds() is their ordered list.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/batch.h"
#include "core/model/config.h"

namespace attnscope {

class Pass;

struct InputKind : Info {
  bool is_text = false;
  // An image that is there as a whole, in pieces, and not predicted pixel by pixel.
  bool is_whole = false;
  // Of such a one: the pixels of its pieces, [1, n, e], of colours [height, width, 3] from 0 to 1.
  std::function<Tensor(const Tensor& colours, const Values& input)> pieces;
  // ... and the ids that stand for them and for the tokens before them.
  std::function<std::vector<std::int32_t>(const Values& input)> piece_ids;
  // Why a model cannot have it: "input: ..."; empty: it can.
  std::function<std::string(const ModelConfig&)> refusal;
  // What the model reads and is to predict, of the ids of one input: [L].
  std::function<Batch(const std::vector<std::int32_t>& ids, const ModelConfig&)> batch;
  // What the model has read when it goes on with these ids.
  std::function<std::vector<std::int32_t>(const std::vector<std::int32_t>& ids, const ModelConfig&)>
      begun;
  // How many ids an input has at most, and below which number they are; 0: any number, all ids.
  std::function<Index(const Values&input)> most, levels;
  // Ids of an input stand in rows of so many; 0: in one.
  std::function<Index(const Values& input)> columns;
  // Adds to the tokens' vectors x [n, d], of which the first of each sequence stands at `first`.
  // Empty: nothing.
  std::function<Var(Pass&, const Var& x, Index first)> embed;
  // Parameters of patterns that speak of pixels take their values from the image: by key; -1 where
  // it says nothing of it.
  std::function<Index(const Values& input, std::string_view variant_parameter)> size_of;
};

const std::vector<InputKind>& input_kinds();       // "text" first
const InputKind& input_kind(std::string_view id);  // InputError "input.type: ..."

InputKind text_input();
InputKind image_input();
InputKind patches_input();

}  // namespace attnscope
