#include "core/training/train.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <sstream>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/random.h"
#include "core/checkpoint/checkpoint.h"
#include "core/text/bpe.h"
#include "core/training/evaluate.h"
#include "core/training/optimiser.h"
#include "core/training/state.h"
#include "core/training/stream.h"

namespace attnscope {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// Of each held-out text, in evaluations on the way.
constexpr std::size_t kSampledBytes = std::size_t{1} << 16;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Texts {
  std::vector<std::string> training, held_out;
};

Texts read_texts(const TrainingPlan& plan) {
  Texts texts;
  for (const fs::path& path : plan.text) {
    std::string text = read_file(path);
    const auto kept = text.size() - static_cast<std::size_t>(static_cast<double>(text.size()) *
                                                             plan.held_out_share);
    if (kept < text.size()) texts.held_out.push_back(text.substr(kept));
    text.resize(kept);
    texts.training.push_back(std::move(text));
  }
  for (const fs::path& path : plan.held_out) texts.held_out.push_back(read_file(path));
  for (const std::string& text : texts.held_out) {
    if (text.empty()) throw InputError("held_out: an empty text");
  }
  return texts;
}

// The folder's own where a training is resumed, otherwise learned from the training text.
std::shared_ptr<const Tokenizer> make_tokenizer(const TrainingPlan& plan, const Texts& texts,
                                                const Stop& stop) {
  if (fs::exists(plan.folder / "training.safetensors")) return load_tokenizer(plan.folder);
  std::string all;
  for (const std::string& text : texts.training) all += text;
  return train_bpe(all, static_cast<std::int32_t>(plan.model.vocabulary),
                   [&](double) { stop.check(); });
}

std::vector<std::int32_t> tokens_of(const Texts& texts, const Tokenizer& tokenizer,
                                    const Stop& stop) {
  std::vector<std::int32_t> ids;
  for (const std::string& text : texts.training) {
    for (const Token& token : tokenizer.encode(text)) ids.push_back(token.id);
    stop.check();
  }
  return ids;
}

// loss.csv, kept whole in memory and written anew at every save.
class LossLog {
 public:
  explicit LossLog(fs::path path) : path_(std::move(path)) {}

  // Keeps what an earlier run wrote about the first `steps` steps.
  void keep(Index steps) {
    if (!fs::exists(path_)) return;
    std::istringstream lines(read_file(path_));
    std::string line;
    std::getline(lines, line);
    for (Index step = 1; step <= steps && std::getline(lines, line); ++step) rows_ += line + "\n";
  }
  void add(Index step, double loss, double rate, double tokens_per_second, double bits_per_byte) {
    std::ostringstream row;
    row.precision(6);
    row << step << ',' << loss << ',' << rate << ',' << tokens_per_second << ',';
    if (!std::isnan(bits_per_byte)) row << bits_per_byte;
    rows_ += row.str() + "\n";
  }
  void save() const {
    write_file(path_, "step,loss,rate,tokens_per_second,held_out_bits_per_byte\n" + rows_);
  }

 private:
  fs::path path_;
  std::string rows_;
};

// A training under way.
class Training {
 public:
  Training(const TrainingPlan& plan, const Stop& stop)
      : plan_(plan),
        stop_(stop),
        texts_(read_texts(plan)),
        optimiser_({plan.beta1, plan.beta2, 1e-8, plan.weight_decay, plan.clip}),
        log_(plan.folder / "loss.csv") {
    const std::optional<TrainingState> state = load_state(plan);
    checkpoint_.name = plan.folder.filename().string();
    checkpoint_.tokenizer = make_tokenizer(plan, texts_, stop);
    ModelConfig config = plan.model;
    config.vocabulary = checkpoint_.tokenizer->vocabulary_size();
    checkpoint_.model = make_model(config, plan.seed);
    if (state) resume(*state);
    const Index sequence = plan.sequence > 0 ? plan.sequence : config.context;
    stream_.emplace(tokens_of(texts_, *checkpoint_.tokenizer, stop), sequence, plan.seed);
    for (const auto& [name, weight] : checkpoint_.model.weights) {
      parameters_.emplace(name, Var::parameter(weight.value()));
    }
    tokens_per_step_ = plan.batch * sequence;
  }

  TrainingResult run(const std::function<void(const TrainingProgress&)>& report) {
    const auto start = Clock::now();
    const Index first_step = step_;
    auto saved = start;
    TrainingProgress progress;
    progress.steps = plan_.steps;
    progress.loss = progress.held_out_bits_per_byte = kNaN;
    double evaluating = 0;  // seconds, not counted as training
    try {
      while (step_ < plan_.steps) {
        const auto step_start = Clock::now();
        const double rate =
            learning_rate(step_, plan_.steps, plan_.warm_up, plan_.rate, plan_.least_rate);
        progress.loss = one_step(rate);
        progress.step = ++step_;
        const double step_seconds = seconds_since(step_start);
        double bits = kNaN;
        if (plan_.evaluate_every > 0 && step_ % plan_.evaluate_every == 0 && step_ < plan_.steps) {
          const auto evaluation_start = Clock::now();
          bits = progress.held_out_bits_per_byte = held_out_bits(kSampledBytes);
          evaluating += seconds_since(evaluation_start);
        }
        progress.tokens_per_second = static_cast<double>(tokens_per_step_) / step_seconds;
        const double per_step =
            (seconds_since(start) - evaluating) / static_cast<double>(step_ - first_step);
        progress.seconds_left = per_step * static_cast<double>(plan_.steps - step_);
        log_.add(step_, progress.loss, rate, progress.tokens_per_second, bits);
        if (report) report(progress);
        if (seconds_since(saved) >= plan_.save_every_seconds) {
          save();
          saved = Clock::now();
        }
      }
    } catch (const Stopped&) {
      save();
      throw;
    }
    save();
    return {progress.loss, held_out_bits(std::string::npos)};
  }

 private:
  void resume(const TrainingState& state) {
    for (auto& [name, weight] : checkpoint_.model.weights) {
      weight = weight_of(state, name, weight.shape());
    }
    optimiser_.moments() = state.moments;
    optimiser_.set_steps(state.optimiser_steps);
    step_ = state.step;
    log_.keep(step_);
  }

  Var weight_of(const TrainingState& state, const std::string& name, const Shape& shape) const {
    const auto found = state.weights.find(name);
    if (found == state.weights.end() || found->second.shape() != shape) {
      throw InputError(
          (plan_.folder / "training.safetensors").string() + ": weight " + name + ": expected " +
          to_string(shape) + ", found " +
          (found == state.weights.end() ? "nothing" : to_string(found->second.shape())));
    }
    return found->second;
  }

  // Gradients of a batch, in parts; then one move of the weights. Returns the loss.
  double one_step(double rate) {
    const Index part = plan_.micro_batch > 0 ? plan_.micro_batch : plan_.batch;
    const Index parts = plan_.batch / part;
    Model model = checkpoint_.model;
    model.weights = parameters_;
    double loss_sum = 0;
    for (Index p = 0; p < parts; ++p) {
      const auto sequence_number = static_cast<std::uint64_t>(step_ * plan_.batch + p * part);
      IntTensor inputs, targets;  // [part, L]
      stream_->batch(sequence_number, part, inputs, targets);
      ForwardOptions options;
      options.stop = stop_;
      options.training = true;
      options.dropout_seed = mixed_seed(plan_.seed, sequence_number);
      try {
        const Var loss = cross_entropy(forward(model, inputs, options), targets);
        loss_sum += static_cast<double>(loss.value()[0]);
        stop_.check();
        backward(scale(loss, 1.0f / static_cast<float>(parts)));
      } catch (const Stopped&) {
        for (auto& [name, parameter] : parameters_) parameter.clear_gradient();
        throw;
      }
    }
    const double loss = loss_sum / static_cast<double>(parts);
    const double length = std::isfinite(loss) ? optimiser_.step(parameters_, rate) : kNaN;
    if (!std::isfinite(length)) {
      throw WorkError("step " + std::to_string(step_ + 1) +
                      ": the loss or its gradient is no finite number; " +
                      (saved_step_ < 0 ? std::string("nothing was saved before")
                                       : plan_.folder.string() + " keeps the model of step " +
                                             std::to_string(saved_step_)) +
                      " (a lower rate may help)");
    }
    return loss;
  }

  double held_out_bits(std::size_t most_bytes) {
    if (texts_.held_out.empty()) return kNaN;
    refresh_checkpoint();
    double bits = 0, bytes = 0;
    for (const std::string& text : texts_.held_out) {
      const std::string_view part = std::string_view(text).substr(0, most_bytes);
      bits += bits_per_byte(checkpoint_, part, stop_) * static_cast<double>(part.size());
      bytes += static_cast<double>(part.size());
    }
    return bits / bytes;
  }

  // The checkpoint's weights share the parameters' numbers.
  void refresh_checkpoint() {
    for (auto& [name, weight] : checkpoint_.model.weights) {
      weight = Var(parameters_.find(name)->second.value());
    }
  }

  void save() {
    refresh_checkpoint();
    fs::create_directories(plan_.folder);
    save_checkpoint(plan_.folder, checkpoint_, plan_.half);
    log_.save();
    save_state(plan_, {step_, checkpoint_.model.weights, optimiser_.moments(), optimiser_.steps()});
    saved_step_ = step_;
  }

  const TrainingPlan& plan_;
  Stop stop_;
  Texts texts_;
  AdamW optimiser_;
  LossLog log_;
  Checkpoint checkpoint_;
  std::optional<TokenStream> stream_;
  NamedVars parameters_;
  Index step_ = 0, saved_step_ = -1, tokens_per_step_ = 0;
};

}  // namespace

TrainingResult train(const TrainingPlan& plan,
                     const std::function<void(const TrainingProgress&)>& progress,
                     const Stop& stop) {
  check(plan);
  return Training(plan, stop).run(progress);
}

}  // namespace attnscope
