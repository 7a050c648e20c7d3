// Constructors of all variants, one per file. variants() lists them in order.
#pragma once

#include "core/attention/variant.h"

namespace attnscope {

Variant full_variant();
Variant local_variant();
Variant block_local_variant();
Variant image_1d_variant();
Variant image_2d_variant();
Variant swin_variant();
Variant strided_variant();
Variant fixed_variant();
Variant blockwise_variant();
Variant longformer_variant();
Variant bigbird_variant();
Variant etc_variant();
Variant custom_variant();
Variant graph_variant();
Variant lsh_variant();
Variant routing_variant();
Variant sinkhorn_variant();
Variant capsules_variant();
Variant memory_compressed_variant();
Variant linformer_variant();
Variant linear_variant();
Variant rfa_variant();
Variant performer_variant();
Variant synthesizer_variant();
Variant dynamic_convolution_variant();
Variant gmlp_variant();
Variant hopfield_variant();
Variant adaptive_span_variant();
Variant segment_memory_variant();
Variant compressive_variant();
Variant memorizing_variant();
Variant rwkv_variant();
Variant mamba_variant();

}  // namespace attnscope
