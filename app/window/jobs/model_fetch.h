// Fetching a published model with app/get-model.sh, on the user's request.
#pragma once

#include "app/window/state.h"

namespace attnscope::window {

// A model that get-model.sh knows.
struct PublishedModel {
  std::string id;       // "smollm2"
  std::string name;     // "SmolLM2-135M"
  std::string licence;  // "Apache-2.0"
  double megabytes = 0;
};
const PublishedModel& smollm2();

// Reason why nothing can be fetched: a fetch is running, or ATTNSCOPE_MODEL=none; empty: none.
std::string fetch_refusal(const State& state);
// Fetches the model in the background, unless it is already there, and selects it.
void fetch_model(State& state, const PublishedModel& model);

// Share of a download of `megabytes` that is in get-model.sh's temporary folders, at most 1.
double fetched_share(const std::filesystem::path& folder, double megabytes);

}  // namespace attnscope::window
