// Pictures of the view Block: how the parts of a transformer block work, on the user's text.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/view/parts/page.h"
#include "core/view/parts/refusal.h"

namespace attnscope {

// The run and the selected token.
struct BlockInput {
  const ViewInput& input;
  TracePart part;
  Index layer = 0;
  const std::vector<TraceToken>& tokens;  // of the selected stack
  Index token = 0;           // the view's parameter, else the pinned one, else the last
  std::string word() const;  // "“␣boat”"
};

// Result of drawing a picture.
struct BlockLayout {
  double bottom = 0;
  bool is_too_small = false;  // nothing was drawn
  // Token at a point, or -1. May outlive the input. Empty function: no hit test.
  std::function<Index(Point)> token_at{};
};

struct BlockPicture {
  std::string id, label;  // "stream": value of the view's parameter "picture"
  std::string content;    // for captions: "size of the residual stream after each block"
  // Reason why the picture has nothing to show for the run and the selected layer.
  std::function<Refusal(const BlockInput&)> refusal;
  std::function<BlockLayout(Page&, const Box&, const BlockInput&)> draw;
  std::function<std::vector<ViewData::Matrix>(const BlockInput&)> data;
  std::vector<std::string> parameters{};  // keys of the view's parameters that affect the picture
  bool has_colours = false;               // numbers are drawn in the selected colours
  // Finding that the picture reads, requested while the picture is selected.
  std::optional<ViewFinding> finding{};
};

const std::vector<BlockPicture>& block_pictures();  // default first

BlockPicture shapes_picture();
BlockPicture norm_picture();
BlockPicture stream_picture();
BlockPicture feed_forward_picture();
BlockPicture gradient_picture();
BlockPicture inverse_picture();
BlockPicture chunks_picture();
BlockPicture storage_picture();

// Headline while the picture's finding is being computed.
inline constexpr const char* kComputing = "Computing …";

// Refusal while a finding is missing or has a problem. title: "No inverse".
template <class Study>
Refusal study_refusal(const std::shared_ptr<const Study>& study, const std::string& title) {
  if (study == nullptr) return {kComputing, "The model runs again to record this picture."};
  return study->problem.empty() ? Refusal{} : Refusal{title, study->problem};
}

// Settings and object of the finding "block_vectors" for the view's layer.
std::optional<FindingSettings> block_settings(const RunView& viewed);
std::shared_ptr<const BlockStudy> block_study(const BlockInput& in);

// Value of the view's choice `key`.
std::string block_choice(const BlockInput& in, std::string_view key);

// Row of [L, n] as [n].
Tensor row_of(const Tensor& rows, Index row);

// "1.5 MB", "640 bytes": decimal units.
std::string bytes_text(double bytes);

}  // namespace attnscope
