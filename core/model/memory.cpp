#include "core/model/memory.h"

#include <algorithm>

#include "core/model/pass.h"

namespace attnscope {

void record_memory(Pass& pass, const State& state) {
  Recorder& recorder = pass.recorder();
  if (!recorder.on()) return;
  const auto unbatched = [](const Tensor& rows) {  // batch size 1
    return rows.reshaped({rows.dim(1), rows.dim(2)});
  };
  for (const auto& [address, remembered] : state.groups) {
    const std::size_t groups = pass.config().groups[static_cast<std::size_t>(address.layer)].size();
    const std::string suffix = ".layer=" + std::to_string(address.layer) +
                               (groups > 1 ? ".group=" + std::to_string(address.group) : "");
    if (remembered.row_count() > 0) recorder.values("memory" + suffix, unbatched(remembered.rows));
    if (remembered.compressed_count() > 0) {
      recorder.values("compressed" + suffix, unbatched(remembered.compressed));
    }
    if (remembered.stored_count() > 0) {
      recorder.values("memory" + suffix + ".keys", remembered.keys);
      recorder.values("memory" + suffix + ".values", remembered.values);
    }
  }
}

Index max_keys(const ModelConfig& config, Index length) {
  if (config.segment == 0) return length;
  Index max_remembered = 0;
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) {
      Index remembered = 0;
      if (variant(group.variant.id).memory.remember) {
        for (const char* key : {"memory", "compressed"}) {
          const Values& values = group.variant.values;
          remembered += values.has(key) ? values.integer(key) : config.segment;
        }
      }
      max_remembered = std::max(max_remembered, remembered);
    }
  }
  return std::min(length, config.segment + max_remembered);
}

}  // namespace attnscope
