// What to do and what to look at: one plain value, edited by the window, stored by a session
// file, read by the command line, embedded in exported pictures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/attention/backend.h"
#include "core/attention/variant.h"
#include "core/experiment/view_settings.h"
#include "core/model/retrieval.h"
#include "core/model/structure.h"
#include "core/trace/intervention.h"

namespace attnscope {

// Which part of a text that is longer than the model's context is used. All: at positions that the
// model never saw in training, too, where its encoding has any (up to 65,536 tokens).
enum class Overlong { First, Last, All };

// A choice for some heads of some layers, in place of what holds for all.
struct GroupChoice {
  std::vector<Index> layers;  // empty: all
  std::vector<Index> heads;   // numbered within the layer; empty: all
  // At least one of the two; the other stays.
  std::optional<Choice> variant;
  std::optional<Choice> encoding;
  bool operator==(const GroupChoice&) const = default;
};

// Attention, or queries and keys, that another program wrote, or a picture whose pixels attend to
// each other: see own_tensors.h.
struct TensorFiles {
  std::string file;                // .npy, .npz, .safetensors or a picture; empty: there is none
  std::string tokens, key_tokens;  // lists of tokens; empty: what `file` holds
  Index width = 0, height = 0;  // of a picture: the pixels it is resized to; 0: see picture_grid()
  bool operator==(const TensorFiles&) const = default;
};

// What the text of an experiment may have.
inline constexpr std::size_t kMostTextBytes = std::size_t{1} << 20;

struct Experiment {
  std::string text;               // any bytes, up to kMostTextBytes
  std::string second;             // another sentence, which an encoder reads behind the text
  std::vector<std::int32_t> ids;  // token numbers in place of the text, where there are any
  TensorFiles tensors;            // in place of text and model, where there is a file
  // Of an encoder-decoder the target so far, of a masked model what each position is to be (-1:
  // nothing).
  std::vector<std::int32_t> target_ids;
  std::string target;  // the target as a text
  std::string input;   // a file with pixels or a trajectory in place of the text: input_file.h
  std::string model = "default";  // a bundled name or a folder
  Structure structure;            // in place of the checkpoint's architecture, join, exits
  // In place of what the checkpoint says, for all layers and heads; empty: as the checkpoint says.
  std::optional<Choice> variant;
  std::optional<Choice> encoding;
  std::optional<bool> causal;
  std::vector<GroupChoice> groups;  // beyond that, in this order: later ones win
  BackendChoice backend = BackendChoice::Auto;
  Overlong overlong = Overlong::First;
  Index most_tokens = 0;                     // the first so many of the text are read; 0: all
  std::optional<double> exit;                // the threshold at which tokens leave: exits.h
  std::optional<RetrievalChoice> retrieval;  // what helps to predict: retrieval.h
  std::vector<Intervention> interventions;   // in the model, see there
  ViewSettings view;
  // What to compare with: none or one. Of its own `view` only layer, head and part count, and its
  // `others` are empty.
  std::vector<Experiment> others;
  bool operator==(const Experiment&) const = default;

  bool has_input() const {
    return !text.empty() || !ids.empty() || !tensors.file.empty() || !input.empty();
  }
};

// Whether two experiments give the same trace (they may differ in what is looked at).
bool same_run(const Experiment& a, const Experiment& b);

// The run that stands beside this one: what it is compared with, else, where a person intervenes,
// the same run without that.
std::optional<Experiment> reference_of(const Experiment& experiment);

}  // namespace attnscope
