// Runs an experiment. Files in its folder:
//
//   results.csv, figure.png, figure.svg, conclusion.txt   rewritten after each point
//   points/POINT.json                                     the rows of a finished point
//   models/MODEL/                                         trained models, each with its plan.json
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/study/study_result.h"

namespace attnscope {

struct StudyProgress {
  std::size_t point = 0, points = 0;    // the running point, counted from 0; all points
  std::string label;                    // of the running point: "RoPE, 64"
  double fraction = 0;                  // of the whole experiment, in [0, 1]
  const StudyResult* result = nullptr;  // of the finished points; valid during the call
};

// Runs the points that have no result in `folder`, and returns all results. A point whose training
// or measure fails is a problem of the result and runs again the next time. A point of another
// definition runs again, too. Throws Stopped if cancelled: finished points and the state of the
// running training are kept.
StudyResult run_study(const Study& study, const std::filesystem::path& folder,
                      const std::function<void(const StudyProgress&)>& progress = {});

// Rows of the points with a result in `folder`.
struct FinishedPoints {
  StudyRows rows;
  std::size_t count = 0, points = 0;  // finished points; all points
};
// Throws InputError if a result is broken.
FinishedPoints finished_points(const Study& study, const std::filesystem::path& folder);

}  // namespace attnscope
