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
    sample.text = read_file(folder / object.text("file"), kMaxTextBytes);
  } else if (object.has("input")) {
    sample.input = (folder / object.text("input")).string();
  } else {
    sample.text = object.text("text");
  }
  sample.is_long = object.flag_or("long", false);
  sample.segment = object.integer_or("segment", sample.segment, 0, kMaxIndex);
  object.finish();
  return sample;
}

std::vector<Sample> read_samples() {
  const fs::path folder = home_folder() / "assets" / "samples", file = folder / "samples.json";
  std::vector<Sample> result;
  if (!file_exists(file)) return result;
  const Json list = parse_json(read_file(file, kMaxTextBytes), file.string());
  for (const Json& entry : list) {
    result.push_back(
        sample_from_json(entry, folder, file.string() + "[" + std::to_string(result.size()) + "]"));
  }
  return result;
}

// Characters that the models of a task read.
struct Alphabet {
  std::string_view task, characters;
};
constexpr std::array kAlphabets = {Alphabet{"brackets", "()[]{}<>"},
                                   Alphabet{"numbers", "0123456789"}};

// True for models with memory or long-range heads, because short texts hardly use them.
bool prefers_long_text(const ModelCard& card) {
  if (!card.config) return false;
  return card.config->segment > 0 ||
         card.config->groups.front().front().variant.id == "adaptive_span";
}

}  // namespace

const std::vector<Sample>& samples() {
  static const std::vector<Sample> list = read_samples();
  return list;
}

std::string reading_task(const ModelCard& card) {
  return card.task == "repeat" ? "text" : card.task;
}

std::vector<const Sample*> samples_for(const ModelCard& card) {
  const std::string task = reading_task(card);
  const bool prefers_long = prefers_long_text(card);
  std::vector<const Sample*> result;
  for (const Sample& sample : samples()) {
    if (sample.task == task) result.push_back(&sample);
  }
  std::ranges::stable_sort(result, {}, [&](const Sample* sample) {
    return std::pair(sample->id != card.sample, prefers_long && !sample->is_long);
  });
  return result;
}

const Sample* current_sample(const RunSpec& spec) {
  const auto match = std::ranges::find_if(samples(), [&](const Sample& sample) {
    return sample.text == spec.text && sample.input == spec.input;
  });
  const bool is_other_input = match == samples().end() || !spec.ids.empty();
  return is_other_input ? nullptr : &*match;
}

bool prefers_other_sample(const ModelCard& card, const Sample& current) {
  if (!card.sample.empty()) return card.sample != current.id;
  return prefers_long_text(card) && !current.is_long;
}

bool fits_task(std::string_view task, const std::string& text) {
  const auto alphabet = std::ranges::find(kAlphabets, task, &Alphabet::task);
  return alphabet != kAlphabets.end() && !text.empty() &&
         text.find_first_not_of(alphabet->characters) == std::string::npos;
}

void copy_input(RunSpec& spec, const RunSpec& other) {
  spec.text = other.text;
  spec.ids = other.ids;
  spec.target = other.target;
  spec.target_ids = other.target_ids;
  spec.input = other.input;
  spec.tensors = other.tensors;
}

void use_sample(RunSpec& spec, const Sample& sample) {
  RunSpec sample_spec;
  sample_spec.text = sample.text;
  sample_spec.input = sample.input;
  copy_input(spec, sample_spec);
}

}  // namespace attnscope
