// Fetching a published model with app/get-model.sh, on the user's request.
#pragma once

#include "app/window/state.h"
#include "core/checkpoint/published_model.h"

namespace attnscope::window {

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
