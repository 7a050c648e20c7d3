#include "app/window/dialogs/report.h"

#include <algorithm>

#include "core/base/file.h"
#include "core/figure/png.h"

namespace attnscope::window {

void Report::box(std::string_view id, const Box& box) {
  if (keeps_boxes()) boxes_.insert_or_assign(std::string(id), box);
}

// FNV-1a over the pixels of a box.
std::uint64_t Report::checksum(const Box& box) const {
  const auto clamped = [](double v, int max) { return std::clamp(static_cast<int>(v), 0, max); };
  const int left = clamped(box.x, screenshot_.width), top = clamped(box.y, screenshot_.height);
  const int right = clamped(box.x + box.width, screenshot_.width);
  const int bottom = clamped(box.y + box.height, screenshot_.height);
  std::uint64_t hash = 14695981039346656037U;
  for (int y = top; y < bottom; ++y) {
    const auto row = static_cast<std::size_t>(y) * static_cast<std::size_t>(screenshot_.width);
    for (std::size_t byte = 4 * (row + static_cast<std::size_t>(left));
         byte < 4 * (row + static_cast<std::size_t>(right)); ++byte) {
      hash = (hash ^ screenshot_.rgba[byte]) * 1099511628211U;
    }
  }
  return hash;
}

void Report::write(Json facts) const {
  Json widgets = Json::object();
  for (const auto& [id, b] : boxes_) widgets[id] = {b.x, b.y, b.width, b.height};
  facts["widgets"] = std::move(widgets);
  if (const auto picture = boxes_.find("picture"); picture != boxes_.end()) {
    facts["picture"] = std::to_string(checksum(picture->second));
  }
  if (screenshot_.width > 0) write_file(file_.string() + ".png", encode_png(screenshot_, {}));
  write_file(file_, facts.dump(1, Json::BadUtf8::Replace) + "\n");
}

}  // namespace attnscope::window
