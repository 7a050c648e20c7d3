#include "app/command/gallery_methods.h"

#include "app/command/backends.h"
#include "app/command/interrupt.h"
#include "core/checkpoint/card.h"
#include "core/checkpoint/checkpoint.h"
#include "core/experiment/compatible_choice.h"
#include "core/experiment/run.h"

namespace attnscope::command {
namespace {

// Bundled models that differ from the default model in one variant or encoding, by the id of that
// choice. Excludes models with memory or halting, which have other views and need longer texts.
std::map<std::string, std::string, std::less<>> bundled_twins() {
  auto models = bundled_models_by_choice();
  std::erase_if(models, [](const auto& entry) { return model_card(entry.second).group != kTwins; });
  return models;
}

class Methods {
 public:
  explicit Methods(const RunView& base) : base_(base) {
    if (base.run.model == RunSpec().model) trained_models_ = bundled_twins();
    const std::shared_ptr<const Trace> trace = ExperimentRun(cpu_only()).run(base_.run);
    config_ = trace->trained;
    tokens_ = static_cast<Index>(trace->tokens.size());
  }

  MethodPicture picture_of(const Variant& variant) const {
    return make(variant, "variant-", "mechanism",
                [&] { return select_variant(base_, for_all_heads(), variant, *config_, tokens_); });
  }

  MethodPicture picture_of(const Encoding& encoding) const {
    return make(encoding, "position-", "position", [&] {
      return select_encoding(base_, for_all_heads(), encoding, *config_, tokens_);
    });
  }

 private:
  MethodPicture make(const Info& info, const char* prefix, const char* view,
                     const std::function<CompatibleChoice()>& select) const {
    MethodPicture picture{prefix + info.id, info.label, info.group, info.summary,
                          info.source,      base_,      {}};
    if (const auto model = trained_models_.find(info.id); model != trained_models_.end()) {
      picture.viewed.run.model = model->second;
    } else {
      const CompatibleChoice selected = select();
      picture.viewed = selected.viewed;
      picture.refusal = selected.refusal;
    }
    picture.viewed.view.id = view;
    return picture;
  }

  const RunView& base_;
  std::map<std::string, std::string, std::less<>> trained_models_;
  std::shared_ptr<const ModelConfig> config_;
  Index tokens_ = 0;
};

}  // namespace

std::vector<MethodPicture> method_pictures(const RunView& base) {
  const Methods methods(base);
  std::vector<MethodPicture> pictures;
  for (const Variant& v : variants()) pictures.push_back(methods.picture_of(v));
  for (const Encoding& e : encodings()) pictures.push_back(methods.picture_of(e));
  return pictures;
}

}  // namespace attnscope::command
