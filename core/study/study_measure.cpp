#include "core/study/study_measure.h"


#include "core/base/error.h"
#include "core/base/find_by_id.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/effective_model.h"
#include "core/experiment/partial_choice.h"

namespace attnscope {

std::shared_ptr<const Checkpoint> MeasureInput::checkpoint() const {
  auto stored = model_store()->checkpoint(session.run.model);
  RunSpec spec = session.run;
  fill_unset_parameters(spec, stored->model.config.context);
  auto changed = std::make_shared<Checkpoint>(*stored);
  changed->model = effective_model(stored->model, spec, stored->model.config.context);
  return changed;
}

const std::vector<StudyMeasure>& study_measures() {
  static const std::vector<StudyMeasure> list = [] {
    std::vector<StudyMeasure> all;
    for (const auto& subject :
         {training_measures(), evaluation_measures(), trace_measures(), cost_measures()}) {
      all.insert(all.end(), subject.begin(), subject.end());
    }
    return all;
  }();
  return list;
}

const StudyMeasure& study_measure(const Json& options, std::string_view path) {
  JsonObject object(options, path);
  return find_by_id(study_measures(), object.text("type"), object.path_of("type"));
}

MeasureFunction measure_function(const Json& options, std::string_view path) {
  const StudyMeasure& measure = study_measure(options, path);
  JsonObject object(options, path);
  object.ignore("type");
  MeasureFunction function = measure.make(object);
  object.finish();
  return function;
}

std::vector<std::string> file_names(JsonObject& options) {
  std::vector<std::string> names;
  for (const Json& name : options.array("files")) {
    if (!name.is_string()) options.fail("files", "a list of file names");
    names.push_back(name.text());
  }
  if (names.empty()) options.fail("files", "at least one file name");
  return names;
}

}  // namespace attnscope
