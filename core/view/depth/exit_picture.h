// Depth of a model with exits: where its tokens really leave, and what that saves.
#pragma once

#include "core/experiment/exit_study.h"
#include "core/view/view.h"

namespace attnscope {

// Whether the settings and the run ask for this picture, in place of what layers would say.
bool shows_exits(const ViewSettings& settings, const Trace& trace);

ViewLayout lay_out_exits(const ViewInput& input);
// "exits", a row for each token; "confidence" and "distribution" by token and layer; "work".
ViewData exits_data(const ViewInput& input);

// What the view is set to: the experiment's threshold, else the view's; the view's decay, else the
// model's.
struct ExitSetting {
  double threshold = 0, decay = 0;
};
ExitSetting exit_setting(const ViewInput& input, const ExitStudy& study);
// Where tokens leave: measured where that is known for this setting, else by what was recorded.
struct TokenExits {
  std::vector<Index> layers;               // [L] from 0
  std::shared_ptr<const ExitWork> work{};  // null: not measured (yet)
};
TokenExits token_exits(const ViewInput& input, const ExitStudy& study);

// Shares of the layers, [2, N]: what the rule gives them and what it is to give them: q and q*, of
// a token (-1: the mean over all that have a next token); without q how sure it is, and whether its
// guess is the last layer's.
Tensor exit_shares(const ExitStudy& study, Index token);

}  // namespace attnscope
