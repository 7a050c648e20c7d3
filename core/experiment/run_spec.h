// Specification of one run: the input, the model and every choice that its result depends on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/attention/backend.h"
#include "core/attention/variant.h"
#include "core/model/retrieval.h"
#include "core/model/structure.h"
#include "core/trace/intervention.h"

namespace attnscope {

// Tokens to use if a text is longer than the model's context. All: up to 65,536 tokens, at
// positions that the model never saw in training; the encoding must support them.
enum class Overlong { First, Last, All };

// Choices for some heads of some layers, which override RunSpec::variant and RunSpec::encoding.
struct GroupChoice {
  std::vector<Index> layers;  // empty: all
  std::vector<Index> heads;   // numbers within the layer; empty: all
  // At least one of these is set; an empty one changes nothing.
  std::optional<Choice> variant;
  std::optional<Choice> encoding;
  bool operator==(const GroupChoice&) const = default;
};

// Contents of tensor files, stored in a picture (run_files.h).
struct EmbeddedFiles {
  std::string file, tokens, key_tokens;  // bytes; empty for files that TensorFiles does not name
  bool operator==(const EmbeddedFiles&) const = default;
};

// Input without a model (imported_tensors.h): attention, or queries and keys, that another program
// computed; or an image whose pixels attend to each other.
struct TensorFiles {
  std::string file;                // .npy, .npz, .safetensors or an image; empty: none
  std::string tokens, key_tokens;  // files with token lists; empty: as in `file`
  Index width = 0, height = 0;     // pixels of an image after resizing; 0: see image_grid()
  // Contents that replace the files, which may be missing; null: the files are read. Equal contents
  // are one object (share_contents()), so that comparing pointers suffices.
  std::shared_ptr<const EmbeddedFiles> embedded{};
  bool operator==(const TensorFiles&) const = default;
};

inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;

struct RunSpec {
  std::string text;               // any bytes, up to kMaxTextBytes
  std::string second;             // second sentence for an encoder, after the text
  std::vector<std::int32_t> ids;  // token ids; replace the text if not empty
  TensorFiles tensors;            // replace text and model if a file is set
  // Encoder-decoder: ids of the target so far. Masked model: target id of each position (-1: none).
  std::vector<std::int32_t> target_ids;
  std::string target;  // the target as a text
  std::string input;   // file with an image or trajectory that replaces the text: input_file.h
  std::string model = "default";  // a bundled name or a folder
  Structure structure;            // overrides architecture, residuals, exits and segments
  // Override the checkpoint in all layers and heads; empty: as in the checkpoint.
  std::optional<Choice> variant;
  std::optional<Choice> encoding;
  std::optional<bool> causal;
  std::vector<GroupChoice> groups;  // override the choices above; the last group wins
  BackendChoice backend = BackendChoice::Auto;
  Overlong overlong = Overlong::First;
  Index max_tokens = 0;                      // number of leading tokens to use; 0: all
  std::optional<double> exit;                // threshold of early exits: exits.h
  std::optional<RetrievalChoice> retrieval;  // retrieval augmentation: retrieval.h
  std::vector<Intervention> interventions;   // changes inside the model
  bool operator==(const RunSpec&) const = default;

  bool has_input() const {
    return !text.empty() || !ids.empty() || !tensors.file.empty() || !input.empty();
  }
};

}  // namespace attnscope
