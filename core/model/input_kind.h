// Input kinds of decoders: text tokens, pixels of an image (spec-models.md, section 7), or image
// patches.
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
  bool uses_patches = false;  // reads a whole image as patches and predicts no pixels
  // If uses_patches: pixels [1, n, e] of n patches, from colours [height, width, 3] in [0, 1].
  std::function<Tensor(const Tensor& colours, const Values& input)> patch_pixels;
  // If uses_patches: ids of the extra tokens, then ids of the patches.
  std::function<std::vector<std::int32_t>(const Values& input)> patch_ids;
  // Reason why a model cannot have this input ("input: ..."); empty if it can.
  std::function<std::string(const ModelConfig&)> refusal;
  // Input and targets of one sequence of ids.  [1, L]
  std::function<Batch(const std::vector<std::int32_t>& ids, const ModelConfig&)> batch;
  // Ids that the model reads before it generates the continuation of `ids`.
  std::function<std::vector<std::int32_t>(const std::vector<std::int32_t>& ids, const ModelConfig&)>
      generation_prefix;
  // max_ids: maximum number of ids; levels: exclusive upper bound of an id. 0: no limit.
  std::function<Index(const Values&input)> max_ids, levels;
  // Row length for displaying the ids of an input; 0: a single row.
  std::function<Index(const Values& input)> columns;
  // Adds learned vectors to token vectors x [n, d]; the first token of each sequence has position
  // `first`. Empty: adds nothing.
  std::function<Var(Pass&, const Var& x, Index first)> embed;
  // Value of a pattern parameter of a variant if the image size determines it, else -1.
  std::function<Index(const Values& input, std::string_view variant_parameter)> pattern_size;
};

const std::vector<InputKind>& input_kinds();       // "text" first
const InputKind& input_kind(std::string_view id);  // InputError "input.type: ..."

InputKind text_input();
InputKind image_input();
InputKind patches_input();

}  // namespace attnscope
