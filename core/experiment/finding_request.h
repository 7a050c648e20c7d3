// Requests for findings. A view derives them from its settings (ViewFinding, core/view/view.h), so
// that findings know neither views nor the parameters of views.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/base/index.h"
#include "core/trace/head_ref.h"

namespace attnscope {

// Finding "heads".
struct HeadTableSettings {
  std::string file;    // path of a file of texts
  bool words = false;  // merge word pieces into words
  bool operator==(const HeadTableSettings&) const = default;
};

// Finding "errors": the head to study.
struct ErrorStudySettings {
  Index layer = 0, head = 0;
  PartChoice part;
  bool operator==(const ErrorStudySettings&) const = default;
};

// Finding "replaced". position: the token to replace, by default near the middle. by: id of the
// replacement, by default the replaced id minus 1, or 1 for id 0.
struct ReplacementSettings {
  std::optional<Index> position{}, by{};
  bool operator==(const ReplacementSettings&) const = default;
};

// Finding "written".
struct TargetSettings {
  Index beams = 1;
  bool operator==(const TargetSettings&) const = default;
};

// Finding "completion".
struct CompletionSettings {
  Index rows = -1;     // number of given rows; -1: half
  bool draws = false;  // samples with `seed`; otherwise greedy
  std::uint64_t seed = 0;
  bool operator==(const CompletionSettings&) const = default;
};

// Finding "exit_work".
struct ExitSettings {
  double threshold = 0;
  std::optional<double> decay{};  // nullopt: decay of the model's rule
  bool operator==(const ExitSettings&) const = default;
};

// Finding "block_vectors": the layer to study; its kind is ignored.
struct BlockSettings {
  Index layer = 0;
  PartChoice part;
  bool operator==(const BlockSettings&) const = default;
};

// Finding "gradients". position: row of the output, by default the last.
struct GradientSettings {
  std::optional<Index> position{};
  bool operator==(const GradientSettings&) const = default;
};

// Settings of a finding; monostate if it has none.
using FindingSettings =
    std::variant<std::monostate, HeadTableSettings, ErrorStudySettings, ReplacementSettings,
                 TargetSettings, CompletionSettings, ExitSettings, BlockSettings, GradientSettings>;

struct FindingRequest {
  std::string id;  // Finding::id
  FindingSettings settings{};
  bool operator==(const FindingRequest&) const = default;
};

}  // namespace attnscope
