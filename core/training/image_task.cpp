// Predicts each pixel of an image, scaled to the model's size and grey levels, from earlier pixels.
#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/stop.h"
#include "core/training/pictures.h"
#include "core/training/tally.h"
#include "core/training/task.h"

namespace attnscope {
namespace {

using Picture = std::vector<std::int32_t>;

class ImageTask final : public Task {
 public:
  ImageTask(const TrainingPlan& plan, std::vector<Picture> training, std::vector<Picture> held_out)
      : config_(plan.model),
        seed_(plan.seed),
        sample_size_(static_cast<std::size_t>(plan.score_batches * plan.batch)),
        training_(std::move(training)),
        held_out_(std::move(held_out)) {}

  // Returns every image once per epoch, in a new order.
  Batch batch(std::uint64_t number, Index count) override {
    std::vector<const Picture*> batch_pictures;
    for (Index b = 0; b < count; ++b) {
      const std::uint64_t n = number + static_cast<std::uint64_t>(b);
      if (n / training_.size() != epoch_) begin_epoch(n / training_.size());
      batch_pictures.push_back(&training_[order_[n % training_.size()]]);
    }
    return picture_batch(batch_pictures, config_);
  }

  Score score(const Checkpoint& checkpoint, bool use_all) const override {
    constexpr std::size_t kBatch = 8;
    const std::size_t count = use_all ? held_out_.size() : std::min(held_out_.size(), sample_size_);
    Tally tally;
    for (std::size_t first = 0; first < count; first += kBatch) {
      std::vector<const Picture*> batch_pictures;
      for (std::size_t n = first; n < std::min(first + kBatch, count); ++n) {
        batch_pictures.push_back(&held_out_[n]);
      }
      const Batch batch = picture_batch(batch_pictures, config_);
      ForwardOptions options;
      tally.add(forward(checkpoint.model, batch.ids, options).value(), batch.targets);
      check_stop();
    }
    return tally.score();
  }

 private:
  void begin_epoch(std::uint64_t epoch) {
    epoch_ = epoch;
    Random random(derived_seed(seed_, epoch));
    order_.resize(training_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    for (std::size_t i = order_.size(); i > 1; --i) {  // Fisher and Yates
      std::swap(order_[i - 1], order_[random.below(i)]);
    }
  }

  ModelConfig config_;
  std::uint64_t seed_;
  std::size_t sample_size_;
  std::vector<Picture> training_, held_out_;
  std::uint64_t epoch_ = ~std::uint64_t{0};  // epoch of order_
  std::vector<std::size_t> order_;
};

Index pixel_count(const TrainingPlan& plan) {
  const Values& image = plan.model.input.values;
  return image.integer("width") * image.integer("height");
}

void check_image(const TrainingPlan& plan) {
  if (plan.model.context < pixel_count(plan)) {
    throw InputError("model.context: expected at least the " + std::to_string(pixel_count(plan)) +
                     " pixels of the image, found " + std::to_string(plan.model.context));
  }
}

std::unique_ptr<Task> make_image(const TrainingPlan& plan) {
  const auto read = [&](const std::vector<std::filesystem::path>& names) {
    std::vector<Picture> pictures;
    for (const auto& file : picture_files(names)) {
      for (Picture& picture : picture_ids(file, plan.model)) pictures.push_back(std::move(picture));
      check_stop();
    }
    return pictures;
  };
  std::vector<Picture> training = read(plan.text), held_out = read(plan.held_out);
  const auto training_count =
      training.size() -
      static_cast<std::size_t>(static_cast<double>(training.size()) * plan.held_out_share);
  held_out.insert(held_out.end(), training.begin() + static_cast<std::ptrdiff_t>(training_count),
                  training.end());
  training.resize(training_count);
  if (training.empty()) throw InputError("text: expected images to train on, found none");
  return std::make_unique<ImageTask>(plan, std::move(training), std::move(held_out));
}

}  // namespace

TaskInfo image_task() {
  return {.id = "image",
          .label = "Digits and images",
          .summary = "next-pixel prediction on images",
          .input = "image",
          .files = "images, folders of images, or tables (CSV),",
          .bundled_file = "data/digits.csv",
          .length = pixel_count,
          .check = check_image,
          .make = make_image};
}

}  // namespace attnscope
