// Fetching a published model with app/get-model.sh, on the user's request.
#pragma once

#include "app/window/state.h"

namespace attnscope::window {

// A model that get-model.sh knows.
struct PublishedModel {
  std::string id;       // "smollm2"
  std::string name;     // "SmolLM2-135M"
  std::string file;     // in the user's models folder: "SmolLM2-135M-Instruct.Q4_1.gguf"
  std::string licence;  // "Apache-2.0"
  double megabytes = 0;
};
const PublishedModel& smollm2();

// Run of the first start: SmolLM2 on the first sample if the model is installed, else the default
// model on a sample whose most salient pair is known to be correct.
RunSpec start_run();

// Reason why no model can be fetched: a fetch is running, or ATTNSCOPE_MODEL=none. Empty: possible.
std::string fetch_refusal(const State& state);
// Fetches the model in the background unless it is installed, and then selects it.
void fetch_model(State& state, const PublishedModel& model);

// Completed share of a download, in [0, 1]: size of get-model.sh's temporary files / `megabytes`.
double fetched_share(const std::filesystem::path& folder, double megabytes);

}  // namespace attnscope::window
