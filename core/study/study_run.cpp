#include "core/study/study_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/folder_lock.h"
#include "core/base/limits.h"
#include "core/base/memory_error.h"
#include "core/base/stop.h"
#include "core/base/strict_json.h"
#include "core/figure/render.h"
#include "core/study/study_picture.h"
#include "core/study/study_point.h"
#include "core/tensor/storage.h"
#include "core/training/loss_log.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

constexpr double kTrainingShare = 0.9;  // of a point's progress, if it trains

using ReportFraction = std::function<void(double)>;

std::string label_of(const Study& study, const StudyPoint& point) {
  std::string label;
  for (std::size_t i = 0; i < point.values.size(); ++i) {
    label += (i == 0 ? "" : ", ") + study.parameters[i].values[point.values[i]].label;
  }
  return label;
}

// Contents of a result file that was written for `key`; null if there is none.
Json stored(const fs::path& file, const Json& key) {
  if (!file_exists(file)) return {};
  const Json all = Json::parse_or_null(read_file(file, limits::kMaxSmallFile));
  const Json* found = all.find("key");
  if (found == nullptr || *found != key || !all.contains("value")) return {};
  return all["value"];
}

void store(const fs::path& file, const Json& key, const Json& value) {
  make_folder(file.parent_path());
  write_file(file, Json(Json::Object{{"key", key}, {"value", value}}).dump(1) + "\n");
}

Json to_json(const StudyTraining& training) {
  StudyRow row{{{"loss", training.score.loss},
                {"bits_per_byte", training.score.bits_per_byte},
                {"accuracy", training.score.accuracy},
                {"training_loss", training.loss},
                {"seconds", training.seconds},
                {"peak_bytes", training.peak_bytes}},
               {}};
  return to_json(StudyRows{row});
}

StudyTraining training_from_json(const Json& value, std::string_view path) {
  const StudyRows rows = rows_from_json(value, path);
  if (rows.size() != 1) throw InputError(std::string(path) + ": expected one row");
  const auto number = [&](const char* name) {
    const auto found = rows.front().numbers.find(name);
    return found == rows.front().numbers.end() ? std::nan("") : found->second;
  };
  return {{number("loss"), number("bits_per_byte"), number("accuracy")},
          number("training_loss"),
          number("seconds"),
          number("peak_bytes")};
}

double mean_of_last_tenth(const std::vector<LossRow>& rows) {
  const std::size_t count = std::max<std::size_t>(1, rows.size() / 10);
  double sum = 0;
  for (std::size_t i = rows.size() - std::min(count, rows.size()); i < rows.size(); ++i) {
    sum += rows[i].loss;
  }
  return sum / static_cast<double>(count);
}

StudyTraining train_stages(const std::vector<TrainingPlan>& stages, const ReportFraction& report) {
  StudyTraining result;
  reset_peak_storage();
  const auto start = std::chrono::steady_clock::now();
  Index all_steps = 0, done = 0;
  for (const TrainingPlan& plan : stages) all_steps += plan.steps;
  for (const TrainingPlan& plan : stages) {
    const TrainingResult trained = train(plan, [&](const TrainingProgress& progress) {
      report(static_cast<double>(done + progress.step) / static_cast<double>(all_steps));
      if (progress.step == progress.steps) result.loss = mean_of_last_tenth(progress.log->rows());
    });
    done += plan.steps;
    result.score = trained.held_out;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  result.seconds = seconds.count();
  result.peak_bytes = static_cast<double>(storage_statistics().peak_bytes);
  return result;
}

// The finished or continued training of a point. A folder that holds the training of another plan
// is emptied first; its plan.json tells that it belongs to an experiment.
StudyTraining trained(const std::vector<TrainingPlan>& stages, const fs::path& folder,
                      const ReportFraction& report) {
  Json plans = Json::array();
  for (const TrainingPlan& plan : stages) plans.push_back(attnscope::to_json(plan));
  const fs::path plan_file = folder / "plan.json", result_file = folder / "result.json";
  if (const Json value = stored(result_file, plans); !value.is_null()) {
    return training_from_json(value, result_file.string());
  }
  if (stored(plan_file, plans).is_null()) {
    if (file_exists(plan_file)) fs::remove_all(folder);
    store(plan_file, plans, true);
  }
  const StudyTraining result = train_stages(stages, report);
  store(result_file, plans, to_json(result));
  return result;
}

fs::path file_of(const StudyPoint& point, const fs::path& folder) {
  return folder / "points" / (point.id + ".json");
}

// Adds the columns of the parameters.
StudyRows with_labels(StudyRows rows, const StudyRow& labels) {
  for (StudyRow& row : rows) {
    for (const auto& [column, number] : labels.numbers) row.numbers.emplace(column, number);
    for (const auto& [column, word] : labels.words) row.words.emplace(column, word);
  }
  return rows;
}

bool shares_a_column(const StudyRow& a, const StudyRow& b) {
  const auto is_in_b = [&](const auto& item) {
    return b.numbers.contains(item.first) || b.words.contains(item.first);
  };
  return std::ranges::any_of(a.numbers, is_in_b) || std::ranges::any_of(a.words, is_in_b);
}

// Rows of the measures of a point. Single rows with different columns become one, so that a figure
// can draw a value of one measure over that of another.
class PointRows {
 public:
  void add(const StudyRows& measured) {
    const bool is_single = measured.size() == 1;
    if (is_single && single_ && !shares_a_column(measured[0], rows_[*single_])) {
      rows_[*single_].numbers.insert(measured[0].numbers.begin(), measured[0].numbers.end());
      rows_[*single_].words.insert(measured[0].words.begin(), measured[0].words.end());
      return;
    }
    if (is_single && !single_) single_ = rows_.size();
    rows_.insert(rows_.end(), measured.begin(), measured.end());
  }
  const StudyRows& rows() const { return rows_; }

 private:
  StudyRows rows_;
  std::optional<std::size_t> single_;
};

StudyRows run_point(const Study& study, const StudyPoint& point, const fs::path& folder,
                    const ReportFraction& report) {
  const fs::path models = folder / "models", file = file_of(point, folder);
  StudyRows rows;
  if (const Json value = stored(file, point.spec); !value.is_null()) {
    rows = rows_from_json(value, file.string());
  } else {
    const StudyWork work = work_of(point, models);
    const double share = work.trains ? kTrainingShare : 0;
    StudyTraining training;
    if (work.trains) {
      training = trained(work.stages, models / point.model_id,
                         [&](double fraction) { report(share * fraction); });
    }
    MeasureInput input;
    input.plan = work.stages.empty() ? nullptr : &work.stages.back();
    input.training = work.trains ? &training : nullptr;
    input.session = work.session;
    const auto count = static_cast<double>(work.measures.size());
    PointRows measured;
    for (std::size_t n = 0; n < work.measures.size(); ++n) {
      input.report = [&](double fraction) {
        report(share + (1 - share) * (static_cast<double>(n) + fraction) / count);
      };
      measured.add(work.measures[n](input));
    }
    rows = measured.rows();
    for (StudyRow& row : rows) {  // NaN: not measured
      std::erase_if(row.numbers, [](const auto& item) { return std::isnan(item.second); });
    }
    store(file, point.spec, to_json(rows));
  }
  return with_labels(std::move(rows), point.row(study));
}

void write_results(const Study& study, const StudyResult& result, const fs::path& folder) {
  const UninterruptedScope writing;
  write_file(folder / "results.csv", to_csv(study, result.rows));
  write_file(folder / "conclusion.txt", conclusion(study, result.rows) + "\n");
  const DisplayList picture =
      study_picture(study, result.rows, 760, 460, Theme::light(), file_text_measure());
  write_picture(folder / "figure.png", picture, 2, {{"Title", study.title}});
  write_picture(folder / "figure.svg", picture, 1, {{"Title", study.title}});
}

}  // namespace

FinishedPoints finished_points(const Study& study, const fs::path& folder) {
  FinishedPoints finished;
  for (const StudyPoint& point : study_points(study)) {
    ++finished.points;
    const fs::path file = file_of(point, folder);
    const Json value = stored(file, point.spec);
    if (value.is_null()) continue;
    ++finished.count;
    const StudyRows rows = with_labels(rows_from_json(value, file.string()), point.row(study));
    finished.rows.insert(finished.rows.end(), rows.begin(), rows.end());
  }
  return finished;
}

StudyResult run_study(const Study& study, const fs::path& folder,
                      const std::function<void(const StudyProgress&)>& progress) {
  make_folder(folder);
  const FolderLock lock(folder, "experiment");
  StudyResult result;
  StudyProgress now;
  now.result = &result;
  const std::vector<StudyPoint> points = study_points(study);
  now.points = points.size();
  const auto report = [&](double fraction) {
    now.fraction = (static_cast<double>(now.point) + std::clamp(fraction, 0.0, 1.0)) /
                   static_cast<double>(now.points);
    if (progress) progress(now);
  };
  for (; now.point < points.size(); ++now.point) {
    check_stop();
    const StudyPoint& point = points[now.point];
    now.label = label_of(study, point);
    report(0);
    try {
      const StudyRows rows = run_point(study, point, folder, report);
      result.rows.insert(result.rows.end(), rows.begin(), rows.end());
    } catch (const Stopped&) {
      throw;
    } catch (const InputError& e) {
      result.problems.push_back(now.label + ": " + e.what());
    } catch (const WorkError& e) {
      result.problems.push_back(now.label + ": " + e.what());
    }
    write_results(study, result, folder);
  }
  now.label.clear();
  now.fraction = 1;
  if (progress) progress(now);
  return result;
}

}  // namespace attnscope
