// attnscope's own layout: weights under the names of core/model/weights.h.
#include "core/base/json.h"
#include "core/checkpoint/format.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

Model load_native(const CheckpointSource& source) {
  Model model;
  model.config = model_config_from_json(source.config, source.config_place);
  TensorReader reader(source, model.config);
  for (const WeightSpec& spec : weight_specs(model.config)) {
    if (spec.optional && !reader.has(spec.name)) continue;
    if (spec.owner.empty() && spec.shape.size() == 2) {
      reader.load(spec.name, spec.shape[0], spec.shape[1], false, model, spec.name);
    } else {
      model.weights.emplace(spec.name, Var(reader.take(spec.name, spec.shape)));
    }
  }
  reader.finish();
  return model;
}

}  // namespace

CheckpointFormat native_format() {
  return {"attnscope", load_native};
}

}  // namespace attnscope
