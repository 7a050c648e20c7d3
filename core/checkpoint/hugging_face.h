// What the layouts of the Hugging Face libraries have in common.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/format.h"
#include "core/model/config.h"

namespace attnscope {

// Members that are null mean the same as absent ones there.
Json without_nulls(const Json& config);

// "hidden_act" and the like. InputError names those that are not known.
Activation hugging_face_activation(JsonObject& config, std::string_view key);
// The same where the config may leave it out.
Activation hugging_face_activation(JsonObject& config, std::string_view key,
                                   std::string_view otherwise);

// "embed.weight" from the tensor `name`, or from "lm_head.weight" where the two are tied and only
// that is stored.
void read_embedding(TensorReader& reader, Model& model, const std::string& name);

// "output.weight" from "lm_head.weight", unless it is tied to the tensor `embedding`: then it must
// hold the same numbers, where it is stored.
void read_output_head(TensorReader& reader, Model& model, const std::string& embedding);

// Whether a checkpoint has a head that predicts tokens: by the class in "architectures", where it
// names one, and by the tensor `head` where that is not tied to the embedding.
bool predicts_tokens(const Json& config, const StoredTensors& tensors, bool tied,
                     const std::string& head);

// Refuses weights that are stored quantised.
void refuse_quantisation(JsonObject& config);

// Refuses a setting that would change the computation, unless it has the value supported here.
void require_flag(JsonObject& config, std::string_view key, bool supported);

}  // namespace attnscope
