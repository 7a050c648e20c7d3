// List of all targets. Every reader of external bytes needs a target (readers_test.cpp).
#include "tests/fuzz/target.h"

namespace attnscope::fuzz {

const std::vector<Target>& targets() {
  static const std::vector<Target> list{json_target(),
                                        safetensors_target(),
                                        gguf_target(),
                                        npy_target(),
                                        zip_target(),
                                        png_target(),
                                        image_target(),
                                        picture_table_target(),
                                        tokenizer_target(),
                                        text_target(),
                                        expression_target(),
                                        checkpoint_target(),
                                        config_target(),
                                        card_target(),
                                        store_target(),
                                        session_target(),
                                        settings_target(),
                                        plan_target(),
                                        training_state_target(),
                                        lesson_target(),
                                        expected_pairs_target(),
                                        study_target(),
                                        study_rows_target(),
                                        attend_target(),
                                        own_tensors_target(),
                                        input_file_target(),
                                        drawn_target(),
                                        options_target()};
  return list;
}

}  // namespace attnscope::fuzz
