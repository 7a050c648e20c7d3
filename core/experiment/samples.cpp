#include "core/experiment/samples.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/strict_json.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

Sample sample_from_json(const Json& json, const fs::path& folder, const std::string& path) {
  JsonObject object(json, path);
  Sample sample;
  sample.id = object.text("id");
  sample.task = object.text("task");
  sample.title = object.text("title");
  sample.shows = object.text("shows");
  if (object.has("file")) {
    sample.text = read_file(folder / object.text("file"), kMostTextBytes);
  } else if (object.has("input")) {
    sample.input = (folder / object.text("input")).string();
  } else {
    sample.text = object.text("text");
  }
  sample.is_long = object.flag_or("long", false);
  sample.segment = object.integer_or("segment", sample.segment, 0, kMostIndex);
  object.finish();
  return sample;
}

std::vector<Sample> read_samples() {
  const fs::path folder = home_folder() / "assets" / "samples", file = folder / "samples.json";
  std::vector<Sample> found;
  if (!file_exists(file)) return found;
  const Json list = parse_json(read_file(file, kMostTextBytes), file.string());
  for (const Json& entry : list) {
    found.push_back(
        sample_from_json(entry, folder, file.string() + "[" + std::to_string(found.size()) + "]"));
  }
  return found;
}

// What texts of a task are made of, where nothing else means anything to its models.
struct Letters {
  std::string_view task, all;
};
constexpr std::array kLetters = {Letters{"brackets", "()[]{}<>"}, Letters{"numbers", "0123456789"}};

// Short texts show nothing of memory, nor of heads that look far.
bool wants_long(const ModelCard& card) {
  if (!card.config) return false;
  return card.config->segment > 0 ||
         card.config->groups.front().front().variant.id == "adaptive_span";
}

}  // namespace

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = read_samples();
  return all;
}

std::string reading_task(const ModelCard& card) {
  return card.task == "repeat" ? "text" : card.task;
}

std::vector<const Sample*> samples_for(const ModelCard& card) {
  const std::string task = reading_task(card);
  const bool far = wants_long(card);
  std::vector<const Sample*> found;
  for (const Sample& sample : samples()) {
    if (sample.task == task) found.push_back(&sample);
  }
  std::ranges::stable_sort(found, {}, [&](const Sample* sample) {
    return std::pair(sample->id != card.sample, far && !sample->is_long);
  });
  return found;
}

const Sample* sample_read(const Experiment& experiment) {
  const auto found = std::ranges::find_if(samples(), [&](const Sample& sample) {
    return sample.text == experiment.text && sample.input == experiment.input;
  });
  const bool other = found == samples().end() || !experiment.ids.empty();
  return other ? nullptr : &*found;
}

bool wants_another(const ModelCard& card, const Sample& read) {
  if (!card.sample.empty()) return card.sample != read.id;
  return wants_long(card) && !read.is_long;
}

bool suits(std::string_view task, const std::string& text) {
  const auto letters = std::ranges::find(kLetters, task, &Letters::task);
  return letters != kLetters.end() && !text.empty() &&
         text.find_first_not_of(letters->all) == std::string::npos;
}

void read_as(Experiment& experiment, const Experiment& other) {
  experiment.text = other.text;
  experiment.ids = other.ids;
  experiment.target = other.target;
  experiment.target_ids = other.target_ids;
  experiment.input = other.input;
  experiment.tensors = other.tensors;
}

void read_sample(Experiment& experiment, const Sample& sample) {
  Experiment alone;
  alone.text = sample.text;
  alone.input = sample.input;
  read_as(experiment, alone);
}

}  // namespace attnscope
