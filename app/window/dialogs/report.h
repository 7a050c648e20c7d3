// Writes the window's contents to files, for tests: positions of widgets, facts and pixels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/figure/image.h"

namespace attnscope::window {

class Report {
 public:
  struct Box {
    double x, y, width, height;  // in pixels of the window
  };

  Report() = default;
  explicit Report(std::filesystem::path file) : file_(std::move(file)) {}
  bool is_on() const { return !file_.empty(); }
  bool keeps_boxes() const { return keeps_boxes_ || is_on(); }
  void keep_boxes() { keeps_boxes_ = true; }  // also without a report file
  const std::map<std::string, Box, std::less<>>& boxes() const { return boxes_; }

  void begin_frame() { boxes_.clear(); }
  void box(std::string_view id, const Box& box);
  void screenshot(Image image) { screenshot_ = std::move(image); }  // the frame just drawn
  // Writes `facts`, the boxes as {"widgets": {ID: [x, y, width, height]}}, and a checksum of the
  // pixels in box "picture". Writes the screenshot to the same path plus ".png".
  void write(Json facts) const;

 private:
  std::uint64_t checksum(const Box& box) const;

  std::filesystem::path file_;
  bool keeps_boxes_ = false;
  std::map<std::string, Box, std::less<>> boxes_;
  Image screenshot_;
};

}  // namespace attnscope::window
