// Constructors of all encodings, one per file. encodings() lists them in order.
#pragma once

#include "core/position/encoding.h"

namespace attnscope {

Encoding none_encoding();
Encoding sinusoidal_encoding();
Encoding learned_encoding();
Encoding universal_encoding();
Encoding shaw_encoding();
Encoding relative_bias_encoding();
Encoding relative_bias_2d_encoding();
Encoding t5_encoding();
Encoding relative_factor_encoding();
Encoding transformer_xl_encoding();
Encoding untied_encoding();
Encoding deberta_encoding();
Encoding global_local_encoding();
Encoding rope_encoding();
Encoding alibi_encoding();
Encoding distance_aware_encoding();

}  // namespace attnscope
