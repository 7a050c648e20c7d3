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
  std::string file;    // of texts
  bool words = false;  // merge word pieces into words
  bool operator==(const HeadTableSettings&) const = default;
};

// Finding "errors": the selected head.
struct ErrorStudySettings {
  Index layer = 0, head = 0;
  PartChoice part;
  bool operator==(const ErrorStudySettings&) const = default;
};

// Finding "replaced". Default position: the middle of the text; default token: the preceding one in
// the vocabulary.
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
  Index rows = -1;     // given rows; -1: half
  bool draws = false;  // sample with the seed; otherwise greedy
  std::uint64_t seed = 0;
  bool operator==(const CompletionSettings&) const = default;
};

// Finding "exit_work".
struct ExitSettings {
  double threshold = 0;
  std::optional<double> decay{};  // nullopt: the model's
  bool operator==(const ExitSettings&) const = default;
};

// Settings of a finding; monostate if it has none.
using FindingSettings =
    std::variant<std::monostate, HeadTableSettings, ErrorStudySettings, ReplacementSettings,
                 TargetSettings, CompletionSettings, ExitSettings>;

struct FindingRequest {
  std::string id;  // Finding::id
  FindingSettings settings{};
  bool operator==(const FindingRequest&) const = default;
};

}  // namespace attnscope
