#include "app/window/state.h"

#include <algorithm>

namespace attnscope::window {

namespace {
constexpr double kNoticeSeconds = 6;
constexpr std::size_t kMostNotices = 4;
}  // namespace

void State::say(std::string text) {
  notices.push_back({std::move(text), false, seconds + kNoticeSeconds});
  if (notices.size() > kMostNotices) notices.erase(notices.begin());
}

void State::complain(std::string text) {
  std::erase_if(notices, [&](const Notice& n) { return n.text == text; });
  notices.push_back({std::move(text), true, 0});
  if (notices.size() > kMostNotices) notices.erase(notices.begin());
}

const AttentionTap* State::tap(Index* head_in_group) const {
  Index ignored = 0;
  if (trace == nullptr) return nullptr;
  return trace->find(experiment.view.layer, experiment.view.head,
                     head_in_group != nullptr ? head_in_group : &ignored);
}

Index State::layers() const {
  return trace != nullptr ? trace->layer_count() : 0;
}

Index State::heads() const {
  return layers() > 0 ? trace->head_count(std::clamp<Index>(experiment.view.layer, 0, layers() - 1))
                      : 0;
}

void State::keep_view_inside() {
  // The trace of another run says nothing about what the next one will have.
  if (layers() == 0 || !same_run(shown, experiment)) return;
  experiment.view.layer = std::clamp<Index>(experiment.view.layer, 0, layers() - 1);
  experiment.view.head =
      std::clamp<Index>(experiment.view.head, 0, std::max<Index>(heads() - 1, 0));
}

}  // namespace attnscope::window
