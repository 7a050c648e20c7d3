// What to do and what to look at: one plain value, edited by the window, stored by a session
// file, read by the command line, embedded in exported pictures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/backend.h"
#include "core/attention/variant.h"
#include "core/experiment/intervention.h"

namespace attnscope {

// Which part of a text that is longer than the model's context is used. All: at positions that the
// model never saw in training, too, where its encoding has any (up to 65,536 tokens).
enum class Overlong { First, Last, All };

struct ViewSettings {
  std::string id = "map";  // see core/view/view.h
  Index layer = 0, head = 0;
  std::string colour_map = "viridis";
  bool normalise = false;  // colour range from what is visible instead of 0..1
  // The visible part of a map, in cells; empty width: all of it.
  double row = 0, column = 0, height = 0, width = 0;
  Index pinned_query = -1, pinned_key = -1;  // stay highlighted when the pointer leaves; -1: none
  // A file of texts over which heads are measured (head_table.h); empty: the experiment's own text.
  std::string statistics_file;
  // By view id, what its parameters (View::parameters) are set to; a view that is not named here
  // has its defaults. See view_values().
  std::map<std::string, Values, std::less<>> options;
  bool operator==(const ViewSettings&) const = default;
};

// A choice for some heads of some layers, in place of what holds for all.
struct GroupChoice {
  std::vector<Index> layers;  // empty: all
  std::vector<Index> heads;   // numbered within the layer; empty: all
  // At least one of the two; the other stays.
  std::optional<Choice> variant;
  std::optional<Choice> encoding;
  bool operator==(const GroupChoice&) const = default;
};

// Attention, or queries and keys, that another program wrote: see own_tensors.h.
struct TensorFiles {
  std::string file;                // .npy, .npz or .safetensors; empty: there are none
  std::string tokens, key_tokens;  // lists of tokens; empty: what `file` holds
  bool operator==(const TensorFiles&) const = default;
};

struct Experiment {
  std::string text;               // any bytes
  std::vector<std::int32_t> ids;  // token numbers in place of the text, where there are any
  TensorFiles tensors;            // in place of text and model, where there is a file
  std::string model = "default";  // a bundled name or a folder
  // In place of what the checkpoint says, for all layers and heads; empty: as the checkpoint says.
  std::optional<Choice> variant;
  std::optional<Choice> encoding;
  std::optional<bool> causal;
  std::vector<GroupChoice> groups;  // beyond that, in this order: later ones win
  BackendChoice backend = BackendChoice::Auto;
  Overlong overlong = Overlong::First;
  std::vector<Intervention> interventions;  // in the model, see there
  ViewSettings view;
  // What to compare with: none or one. Of its own `view` only layer and head count, and its
  // `others` are empty.
  std::vector<Experiment> others;
  bool operator==(const Experiment&) const = default;

  bool has_input() const { return !text.empty() || !ids.empty() || !tensors.file.empty(); }
};

// JSON: {"attnscope": 1, "text": ..., "model": ..., "variant": {"type": ..}, "position": {..}, ...}
// ("text_hex" in place of "text" where that is no UTF-8). Choices for some heads are "groups":
// [{"layers": [0, 2], "heads": [0, 1], "variant": {"type": ..}, "position": {..}}]. Strict: unknown
// keys and wrong types are InputErrors that name the key and begin with `path`.
Experiment experiment_from_json(const nlohmann::json& object, std::string_view path = "session");
nlohmann::json to_json(const Experiment& experiment);
// A session file, or a picture (PNG) that carries the experiment that made it.
Experiment load_session(const std::filesystem::path& path);
void save_session(const std::filesystem::path& path, const Experiment& experiment);

// Whether two experiments give the same trace (they may differ in what is looked at).
bool same_run(const Experiment& a, const Experiment& b);

// The run that stands beside this one: what it is compared with, else, where a person intervenes,
// the same run without that.
std::optional<Experiment> reference_of(const Experiment& experiment);

}  // namespace attnscope
