// Common parts of the Hugging Face layouts.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/format.h"
#include "core/model/config.h"

namespace attnscope {

// Removes null members, which mean the same as absent ones.
Json without_nulls(const Json& config);

// Reads "hidden_act" and similar keys. InputError lists the known activations.
Activation hugging_face_activation(JsonObject& config, std::string_view key);
Activation hugging_face_activation(JsonObject& config, std::string_view key,
                                   std::string_view fallback);

// Reads "embed.weight" from the tensor `name`, or from "lm_head.weight" if the config ties the two
// and only "lm_head.weight" is stored.
void read_embedding(TensorReader& reader, Model& model, const std::string& name);

// Reads "output.weight" from "lm_head.weight", unless the config ties it to the tensor
// `embedding`. A tied "lm_head.weight" may be stored, too, but must be equal.
void read_output_head(TensorReader& reader, Model& model, const std::string& embedding);

// True if a checkpoint has a language model head: the output is untied and the tensor `head`
// exists, "architectures" contains a class with a head, or the config lacks "architectures".
bool predicts_tokens(const Json& config, const StoredTensors& tensors, bool tied,
                     const std::string& head);

// Removes the output head from the configuration of a model that has none, with a note.
void find_output_head(const CheckpointSource& source, const std::string& head, Model& model);

// Throws InputError if the weights are stored quantised.
void refuse_quantisation(JsonObject& config);

// Throws InputError if a setting that changes the computation differs from the supported value.
void require_flag(JsonObject& config, std::string_view key, bool supported);

}  // namespace attnscope
