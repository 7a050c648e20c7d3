// One point of an experiment: the base with one value of each parameter.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/experiment/session.h"
#include "core/study/study.h"
#include "core/study/study_measure.h"
#include "core/training/train.h"

namespace attnscope {

struct StudyPoint {
  std::vector<std::size_t> values;  // index of the value of each parameter
  std::string id;                   // file name: "2-alibi"
  std::string model_id;             // of the trained model, which several points may share
  Json spec;                        // the base with the values set

  // Columns of the parameters in the results.
  StudyRow row(const Study& study) const;
};

// All points; the last parameter varies fastest.
std::vector<StudyPoint> study_points(const Study& study);

// A point as it is run.
struct StudyWork {
  std::vector<TrainingPlan> stages;  // folders within `models`; empty: no training
  bool trains = false;               // false: no measure needs the trained model
  Session session;                   // its model is the trained one
  std::vector<MeasureFunction> measures;
};

// models: folder of trained models. InputErrors name the point's invalid member.
StudyWork work_of(const StudyPoint& point, const std::filesystem::path& models);

// Throws InputError if a point is invalid, beginning with `path` and the point's labels.
void check_points(const Study& study, std::string_view path);

}  // namespace attnscope
