#include "core/training/texts.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stop.h"
#include "core/checkpoint/model_store.h"
#include "core/text/bpe.h"

namespace attnscope {

namespace fs = std::filesystem;

Texts read_texts(const TrainingPlan& plan) {
  Texts texts;
  for (const fs::path& path : plan.text) {
    std::string text = read_file(path);
    const auto train_end = text.size() - static_cast<std::size_t>(static_cast<double>(text.size()) *
                                                                  plan.held_out_share);
    if (train_end < text.size()) texts.held_out.push_back(text.substr(train_end));
    text.resize(train_end);
    texts.training.push_back(std::move(text));
  }
  for (const fs::path& path : plan.held_out) texts.held_out.push_back(read_file(path));
  for (const std::string& text : texts.held_out) {
    if (text.empty()) throw InputError("held_out: expected texts, found an empty one");
  }
  return texts;
}

std::shared_ptr<const Tokenizer> make_tokenizer(const TrainingPlan& plan, const Texts& texts,
                                                Index reserved) {
  if (file_exists(plan.folder / "training.safetensors")) return load_tokenizer(plan.folder);
  if (!plan.from.empty()) {
    const auto start = model_store()->checkpoint(plan.from);
    if (start->tokenizer) return start->tokenizer;
    throw InputError("from: expected a model with a tokenizer, found " + start->name + ": " +
                     start->tokenizer_problem);
  }
  std::string training_text;
  for (const std::string& text : texts.training) training_text += text;
  return train_bpe(training_text, static_cast<std::int32_t>(plan.model.vocabulary - reserved),
                   [&](double) { check_stop(); });
}

std::vector<std::int32_t> encode_texts(const std::vector<std::string>& texts,
                                       const Tokenizer& tokenizer) {
  std::vector<std::int32_t> ids;
  for (const std::string& text : texts) {
    for (const Token& token : tokenizer.encode(text)) ids.push_back(token.id);
    check_stop();
  }
  return ids;
}

}  // namespace attnscope
