#!/usr/bin/env python3
"""Writes tests/gguf/NAME.gguf: the tiny checkpoints of tests/layouts, converted by the rules of
llama.cpp's converters (tests/core/checkpoint/gguf_layouts_test.cpp compares the two).

    tests/core/checkpoint/references/make_gguf.py [NAME...]

Needs numpy and gguf (0.19, which names tensors and keys); building and testing does not.
"""

import json
import math
import os
import re
import struct
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Q

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))
LAYOUTS = os.path.join(ROOT, "tests", "layouts")
OUT = os.path.join(ROOT, "tests", "gguf")


def read_safetensors(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        raw = data[begin:end]
        if entry["dtype"] == "BF16":
            numbers = (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)
        else:
            kinds = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I64": "<i8"}
            numbers = np.frombuffer(raw, kinds[entry["dtype"]])
        tensors[name] = numbers.astype(np.float32).reshape(entry["shape"])
    return tensors


def read_layout(name):
    folder = os.path.join(LAYOUTS, name)
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    tensors = {}
    for file in sorted(os.listdir(folder)):
        if file.endswith(".safetensors"):
            tensors.update(read_safetensors(os.path.join(folder, file)))
    return config, tensors


def permute(weights, heads):
    """The rows of q and k, for a rotation of neighbouring components."""
    rows = weights.shape[0]
    split = weights.reshape(heads, 2, rows // heads // 2, *weights.shape[1:])
    return split.swapaxes(1, 2).reshape(weights.shape)


def separate(weights, heads, kv_heads, size):
    """All q, all k, all v of a matrix fused by key-value head."""
    groups = weights.reshape(kv_heads, heads // kv_heads + 2, size, -1)
    parts = [groups[:, :-2], groups[:, -2], groups[:, -1]]
    return np.concatenate([p.reshape(-1, groups.shape[-1]) for p in parts]).reshape(weights.shape)


class Conversion:
    """One file: metadata by the writer's functions, tensors by their gguf names."""

    def __init__(self, arch, config, tensors, layers):
        self.arch, self.config, self.tensors = arch, config, dict(tensors)
        self.names = gguf.get_tensor_name_map(arch, layers)
        self.layers = layers
        self.keys = []  # name of the writer's function, value
        self.stored = {}  # by gguf name

    def key(self, name, value):
        self.keys.append((name, value))

    def sizes(self, context, width, heads, kv_heads, hidden, head=None):
        self.key("context_length", context)
        self.key("embedding_length", width)
        self.key("block_count", self.layers)
        self.key("feed_forward_length", hidden)
        self.key("head_count", heads)
        if kv_heads:
            self.key("head_count_kv", kv_heads)
        if head:
            self.key("key_length", head)
            self.key("value_length", head)

    def rename(self, name):
        found = self.names.get_name(name, try_suffixes=(".weight", ".bias"))
        if found is None:
            raise ValueError(f"no gguf name for {name}")
        return found

    def store_all(self, change=lambda name, tensor: tensor):
        for name, tensor in self.tensors.items():
            tensor = change(name, tensor)
            if tensor is not None:
                self.stored[self.rename(name)] = tensor

    def store_experts(self, prefix, merged, parts):
        """Stacks PREFIX.E.part.weight of each layer into one tensor per part."""
        for layer in range(self.layers):
            for part in parts:
                found = []
                while True:
                    name = prefix.format(layer) + f"{len(found)}.{part}.weight"
                    if name not in self.tensors:
                        break
                    found.append(self.tensors.pop(name))
                self.stored[self.rename(merged.format(layer) + f"{part}.weight")] = np.stack(found)

    def write(self, path, kind):
        writer = gguf.GGUFWriter(path, gguf.MODEL_ARCH_NAMES[self.arch])
        for name, value in self.keys:
            getattr(writer, "add_" + name)(value)
        writer.add_vocab_size(self.config["vocab_size"])
        writer.add_tokenizer_model("none")
        if isinstance(self.config.get("eos_token_id"), int):
            writer.add_eos_token_id(self.config["eos_token_id"])
        for name, tensor in sorted(self.stored.items()):
            chosen = kind
            exempt = tensor.ndim == 1 or name.endswith((".bias", "norm.weight", "rel_b.weight"))
            if exempt or "rope_f" in name or "ffn_gate_inp" in name:
                chosen = Q.F32
            if chosen not in (Q.F32, Q.F16, Q.BF16):
                block, _ = gguf.GGML_QUANT_SIZES[chosen]
                if tensor.shape[-1] % block != 0 or (chosen == Q.MXFP4 and tensor.ndim != 3):
                    chosen = Q.F16
            if chosen == Q.F16 and not np.array_equal(tensor.astype(np.float16), tensor):
                chosen = Q.F32 if kind == Q.F16 else Q.F16
            data = np.ascontiguousarray(tensor, np.float32)
            if chosen != Q.F32:
                data = gguf.quants.quantize(data, chosen)
            writer.add_tensor(name, data, raw_dtype=chosen)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


def rope_parameters(config):
    parameters = config.get("rope_parameters") or {}
    return parameters.get("full_attention", parameters)


def add_rope(out, config, head, rotary_share=1.0, base=True):
    parameters = rope_parameters(config)
    share = parameters.get("partial_rotary_factor", rotary_share)
    out.key("rope_dimension_count", int(share * head))
    if base and "rope_theta" in parameters:
        out.key("rope_freq_base", parameters["rope_theta"])
    kind = parameters.get("rope_type", "default")
    if kind == "linear":
        out.key("rope_scaling_type", gguf.RopeScalingType.LINEAR)
        out.key("rope_scaling_factor", parameters["factor"])
    elif kind == "yarn":
        out.key("rope_scaling_type", gguf.RopeScalingType.YARN)
        out.key("rope_scaling_factor", parameters["factor"])
        out.key("rope_scaling_orig_ctx_len", parameters["original_max_position_embeddings"])
        for name in ("beta_fast", "beta_slow"):
            if name in parameters:
                out.key("rope_scaling_yarn_" + name, parameters[name])
    elif kind == "longrope":
        out.key("rope_scaling_type", gguf.RopeScalingType.LONGROPE)


def llama3_factors(parameters, dims):
    """Slowdown of each pair of components."""
    base, factor = parameters["rope_theta"], parameters["factor"]
    low, high = parameters["low_freq_factor"], parameters["high_freq_factor"]
    original = parameters["original_max_position_embeddings"]
    factors = []
    for frequency in 1.0 / base ** (np.arange(0, dims, 2, dtype=np.float32) / dims):
        length = 2 * math.pi / frequency
        if length < original / high:
            factors.append(1)
        elif length > original / low:
            factors.append(factor)
        else:
            smooth = (original / length - low) / (high - low)
            factors.append(1 / ((1 - smooth) / factor + smooth))
    return np.array(factors, np.float32)


def llama_like(arch, config, tensors, norm="rms"):
    out = Conversion(arch, config, tensors, config["num_hidden_layers"])
    heads, width = config["num_attention_heads"], config["hidden_size"]
    out.heads, out.kv_heads = heads, config.get("num_key_value_heads") or heads
    out.head = config.get("head_dim") or width // heads
    out.sizes(config["max_position_embeddings"], width, heads, out.kv_heads,
              config["intermediate_size"], config.get("head_dim"))
    if norm == "rms":
        out.key("layer_norm_rms_eps", config["rms_norm_eps"])
    else:
        out.key("layer_norm_eps", config.get("layer_norm_eps", config.get("norm_epsilon", 1e-5)))
    return out


def permuted(out):
    def change(name, tensor):
        if name.endswith(("q_proj.weight", "q_proj.bias")):
            return permute(tensor, out.heads)
        if name.endswith(("k_proj.weight", "k_proj.bias")):
            return permute(tensor, out.kv_heads)
        return tensor
    out.store_all(change)
    return out


def llama(config, tensors, arch=gguf.MODEL_ARCH.LLAMA):
    out = llama_like(arch, config, tensors)
    add_rope(out, config, out.head)
    parameters = rope_parameters(config)
    if parameters.get("rope_type") == "llama3":
        out.stored["rope_freqs.weight"] = llama3_factors(parameters, out.head)
    if "num_local_experts" in config:
        out.key("expert_count", config["num_local_experts"])
        out.key("expert_used_count", config["num_experts_per_tok"])
        out.store_experts("model.layers.{}.block_sparse_moe.experts.",
                          "layers.{}.feed_forward.experts.", ("w1", "w2", "w3"))
    return permuted(out)


def granite(config, tensors):
    out = llama(config, tensors, gguf.MODEL_ARCH.GRANITE)
    out.key("attention_scale", config["attention_multiplier"])
    out.key("embedding_scale", config["embedding_multiplier"])
    out.key("residual_scale", config["residual_multiplier"])
    out.key("logit_scale", config["logits_scaling"])
    return out


def smollm3(config, tensors):
    return llama(config, tensors, gguf.MODEL_ARCH.SMOLLM3)


def plain(arch, norm="rms"):
    def convert(config, tensors):
        out = llama_like(arch, config, tensors, norm)
        add_rope(out, config, out.head)
        out.store_all()
        return out
    return convert


def olmo(config, tensors):
    out = llama_like(gguf.MODEL_ARCH.OLMO, config, tensors, "layer")
    add_rope(out, config, out.head)
    return permuted(out)


def olmo3(config, tensors):
    out = plain(gguf.MODEL_ARCH.OLMO2)(config, tensors)
    out.key("sliding_window", config["sliding_window"])
    out.key("sliding_window_pattern", [t == "sliding_attention" for t in config["layer_types"]])
    return out


def qwen_moe(arch):
    def convert(config, tensors):
        out = llama_like(arch, config, tensors)
        add_rope(out, config, out.head)
        out.key("expert_count", config.get("num_local_experts", config.get("num_experts")))
        out.key("expert_used_count", config["num_experts_per_tok"])
        out.key("expert_feed_forward_length", config["moe_intermediate_size"])
        if "shared_expert_intermediate_size" in config:
            out.key("expert_shared_feed_forward_length", config["shared_expert_intermediate_size"])
        out.store_experts("model.layers.{}.mlp.experts.", "model.layers.{}.mlp.experts.",
                          ("gate_proj", "up_proj", "down_proj"))
        # The converter drops dimensions of 1.
        out.store_all(lambda name, tensor: tensor[0] if "shared_expert_gate" in name else tensor)
        return out
    return convert


def gemma(arch):
    def convert(config, tensors):
        out = llama_like(arch, config, tensors)
        if arch == gguf.MODEL_ARCH.GEMMA2:
            out.key("attn_logit_softcapping", config["attn_logit_softcapping"])
            out.key("final_logit_softcapping", config["final_logit_softcapping"])
            out.key("sliding_window", config["sliding_window"])
        if arch == gguf.MODEL_ARCH.GEMMA3:
            add_rope(out, config, out.head)
            out.key("sliding_window", config["sliding_window"])
            out.key("sliding_window_pattern",
                    [t == "sliding_attention" for t in config["layer_types"]])

        def change(name, tensor):
            if name == "lm_head.weight":
                return None
            return tensor + np.float32(1) if name.endswith("norm.weight") else tensor
        out.store_all(change)
        return out
    return convert


def phi2(config, tensors):
    tensors = {name: t for name, t in tensors.items() if "layernorm." not in name
               or "self_attn" not in name}
    out = llama_like(gguf.MODEL_ARCH.PHI2, config, tensors, "layer")
    add_rope(out, config, out.head, 0.5, base=False)
    out.store_all()
    return out


def phi3(config, tensors):
    out = llama_like(gguf.MODEL_ARCH.PHI3, config, tensors)
    parameters = rope_parameters(config)
    add_rope(out, config, out.head)
    original = parameters["original_max_position_embeddings"]
    out.key("rope_scaling_orig_ctx_len", original)
    scale = config["max_position_embeddings"] / original
    out.key("rope_scaling_attn_factors", math.sqrt(1 + math.log(scale) / math.log(original)))
    out.key("sliding_window", config["sliding_window"] or 0)
    for kind in ("long", "short"):
        out.stored[f"rope_factors_{kind}.weight"] = np.array(parameters[kind + "_factor"],
                                                             np.float32)
    out.store_all()
    return out


def stablelm(config, tensors):
    out = plain(gguf.MODEL_ARCH.STABLELM, "layer")(config, tensors)
    out.key("parallel_residual", config["use_parallel_residual"])
    return out


def cohere(config, tensors):
    out = plain(gguf.MODEL_ARCH.COMMAND_R, "layer")(config, tensors)
    out.key("logit_scale", config["logit_scale"])
    out.key("rope_scaling_type", gguf.RopeScalingType.NONE)
    return out


def gpt_oss(config, tensors):
    out = llama_like(gguf.MODEL_ARCH.GPT_OSS, config, tensors)
    add_rope(out, config, out.head)
    out.key("sliding_window", config["sliding_window"])
    out.key("expert_feed_forward_length", config["intermediate_size"])
    out.key("expert_count", config["num_local_experts"])
    out.key("expert_used_count", config["num_experts_per_tok"])
    for name in list(out.tensors):
        if "mlp.experts." not in name and "sinks" not in name:
            continue
        tensor = out.tensors.pop(name)
        if "sinks" in name:
            out.stored[out.rename(name + ".weight")] = tensor
        elif "down_proj" in name:
            bias = name.endswith("_bias")
            stem = name.replace("down_proj_bias", "down_proj.bias") if bias else name + ".weight"
            out.stored[out.rename(stem)] = tensor if bias else tensor.swapaxes(-1, -2)
        else:
            bias = name.endswith("_bias")
            whole = tensor if bias else tensor.swapaxes(-1, -2)
            stem = name.replace("gate_up_proj_bias" if bias else "gate_up_proj", "{}_proj")
            suffix = ".bias" if bias else ".weight"
            for first, half in ((0, "gate"), (1, "up")):
                part = whole[:, first::2]
                out.stored[out.rename(stem.format(half) + suffix)] = part
    out.store_all()
    return out


def gpt2(arch):
    def convert(config, tensors):
        out = Conversion(arch, config, tensors, config["n_layer"])
        multi_query = config.get("multi_query", False)
        out.sizes(config["n_positions"], config["n_embd"], config["n_head"],
                  1 if multi_query else None, config["n_inner"])
        out.key("layer_norm_eps", config["layer_norm_epsilon"])

        def change(name, tensor):
            if name.endswith((".attn.bias", ".attn.masked_bias")) or name == "lm_head.weight":
                return None
            matrices = (".c_attn.weight", ".c_proj.weight", ".c_fc.weight")
            if arch == gguf.MODEL_ARCH.GPT2 and name.endswith(matrices):
                return tensor.T
            return tensor
        out.store_all(change)
        return out
    return convert


def gpt_neox(config, tensors):
    out = llama_like(gguf.MODEL_ARCH.GPTNEOX, config, tensors, "layer")
    add_rope(out, config, out.head, base=False)
    out.key("parallel_residual", config["use_parallel_residual"])
    fused(out)
    return out


def fused(out, drop="^$"):
    def change(name, tensor):
        if "query_key_value" in name:
            return separate(tensor, out.heads, out.kv_heads, out.head)
        return None if "rotary_emb" in name or name == "lm_head.weight" else tensor
    out.tensors = {re.sub(drop, "", name): t for name, t in out.tensors.items()}
    out.store_all(change)


def falcon(config, tensors):
    out = Conversion(gguf.MODEL_ARCH.FALCON, config, tensors, config["num_hidden_layers"])
    width, out.heads = config["hidden_size"], config["num_attention_heads"]
    out.kv_heads = config["num_kv_heads"] if config["new_decoder_architecture"] else 1
    out.head = width // out.heads
    out.key("tensor_data_layout", "jploski")
    out.sizes(2048, width, out.heads, out.kv_heads, config["ffn_hidden_size"])
    out.key("layer_norm_eps", config["layer_norm_epsilon"])
    fused(out)
    return out


def bloom(config, tensors):
    out = Conversion(gguf.MODEL_ARCH.BLOOM, config, tensors, config["n_layer"])
    width, out.heads = config["hidden_size"], config["n_head"]
    out.kv_heads, out.head = out.heads, width // out.heads
    out.sizes(2048, width, out.heads, out.heads, 4 * width)
    out.key("layer_norm_eps", config["layer_norm_epsilon"])
    fused(out, "^transformer\\.")
    return out


def mpt(config, tensors):
    out = Conversion(gguf.MODEL_ARCH.MPT, config, tensors, config["n_layers"])
    width = config["d_model"]
    out.sizes(config["max_seq_len"], width, config["n_heads"], None,
              config["expansion_ratio"] * width)
    out.key("layer_norm_eps", 1e-5)
    out.key("max_alibi_bias", config["attn_config"]["alibi_bias_max"])
    out.store_all(lambda name, tensor: None if name == "lm_head.weight" else tensor)
    return out


def bert(prefix, heads=()):
    def convert(config, tensors):
        layers = config.get("num_hidden_layers", config.get("n_layers"))
        out = Conversion(gguf.MODEL_ARCH.BERT, config, tensors, layers)
        skipped = 1 + config["pad_token_id"] if prefix == "roberta." else 0
        out.sizes(config["max_position_embeddings"] - skipped,
                  config.get("hidden_size", config.get("dim")),
                  config.get("num_attention_heads", config.get("n_heads")), None,
                  config.get("intermediate_size", config.get("hidden_dim")))
        out.key("layer_norm_eps", config.get("layer_norm_eps", 1e-12))
        out.key("causal_attention", False)
        out.key("pooling_type", gguf.PoolingType.MEAN)
        out.key("token_type_count", config.get("type_vocab_size", 1))
        for name, tensor in out.tensors.items():
            short = name.removeprefix(prefix)
            if short.startswith(("pooler.",) + heads) or "position_ids" in short:
                continue
            if short == "embeddings.position_embeddings.weight":
                tensor = tensor[skipped:]
            out.stored[out.rename(short)] = tensor
        return out
    return convert


def nomic_bert(config, tensors):
    """As stored by the released models: q, k and v fused."""
    out = Conversion(gguf.MODEL_ARCH.NOMIC_BERT, config, tensors, config["num_hidden_layers"])
    out.sizes(config["max_position_embeddings"], config["hidden_size"],
              config["num_attention_heads"], None, config["intermediate_size"])
    out.key("layer_norm_eps", config["layer_norm_eps"])
    out.key("causal_attention", False)
    out.key("pooling_type", gguf.PoolingType.MEAN)
    out.key("token_type_count", config["type_vocab_size"])
    out.key("rope_freq_base", config["rope_parameters"]["rope_theta"])
    for name, tensor in out.tensors.items():
        short = name.removeprefix("nomic_bert.")
        if not short.startswith(("pooler.", "cls.")):
            out.stored[out.rename(short)] = tensor
    return out


def t5(arch):
    def convert(config, tensors):
        out = Conversion(arch, config, tensors, config["num_layers"])
        out.sizes(512, config["d_model"], config["num_heads"], None, config["d_ff"],
                  config["d_kv"])
        out.key("decoder_block_count", config["num_decoder_layers"])
        out.key("layer_norm_eps", config["layer_norm_epsilon"])
        out.key("layer_norm_rms_eps", config["layer_norm_epsilon"])
        out.key("relative_attn_buckets_count", config["relative_attention_num_buckets"])
        out.key("decoder_start_token_id", config["decoder_start_token_id"])
        seen = False
        for name, tensor in out.tensors.items():
            if name in ("decoder.embed_tokens.weight", "encoder.embed_tokens.weight",
                        "shared.weight"):
                if seen:
                    continue
                name, seen = "shared.weight", True
            if name == "lm_head.weight" and np.array_equal(tensor, tensors.get("shared.weight")):
                continue
            out.stored[out.rename(name)] = tensor
        return out
    return convert


ARCH = gguf.MODEL_ARCH
CONVERSIONS = {  # layout: function, number format of matrices
    "llama": (llama, Q.F32),
    "llama-linear": (llama, Q.F16),
    "llama-yarn": (llama, Q.F16),
    "llama-llama3": (llama, Q.F16),
    "mistral": (llama, Q.F16),
    "mixtral": (llama, Q.BF16),
    "qwen2": (plain(ARCH.QWEN2), Q.F16),
    "qwen3": (plain(ARCH.QWEN3), Q.F16),
    "qwen2_moe": (qwen_moe(ARCH.QWEN2MOE), Q.F16),
    "qwen3_moe": (qwen_moe(ARCH.QWEN3MOE), Q.F16),
    "gemma": (gemma(ARCH.GEMMA), Q.F16),
    "gemma2": (gemma(ARCH.GEMMA2), Q.F16),
    "gemma3_text": (gemma(ARCH.GEMMA3), Q.F16),
    "phi": (phi2, Q.F16),
    "phi3": (phi3, Q.F16),
    "gpt2": (gpt2(ARCH.GPT2), Q.F16),
    "gpt_bigcode": (gpt2(ARCH.STARCODER), Q.F16),
    "gpt_neox": (gpt_neox, Q.F16),
    "falcon": (falcon, Q.F16),
    "falcon-40b": (falcon, Q.F16),
    "bloom": (bloom, Q.F16),
    "mpt": (mpt, Q.F16),
    "starcoder2": (plain(ARCH.STARCODER2, "layer"), Q.F16),
    "stablelm": (stablelm, Q.F16),
    "olmo": (olmo, Q.F16),
    "olmo2": (plain(ARCH.OLMO2), Q.F16),
    "olmo3": (olmo3, Q.F16),
    "granite": (granite, Q.F16),
    "cohere": (cohere, Q.F16),
    "smollm3": (smollm3, Q.F16),
    "gpt_oss": (gpt_oss, Q.F16),
    "bert": (bert("bert.", ("cls.",)), Q.F16),
    "roberta": (bert("roberta.", ("lm_head.",)), Q.F16),
    "distilbert": (bert("distilbert.", ("vocab_",)), Q.F16),
    "nomic_bert": (nomic_bert, Q.F16),
    "t5": (t5(ARCH.T5), Q.F16),
    "t5-gated": (t5(ARCH.T5), Q.F16),
    "t5-encoder": (t5(ARCH.T5ENCODER), Q.F16),
    # Quantised: row permutations, transposes and experts of blocks.
    "llama.q8_0": (llama, Q.Q8_0),
    "llama.q4_0": (llama, Q.Q4_0),
    "mixtral.q8_0": (llama, Q.Q8_0),
    "gpt2.q8_0": (gpt2(ARCH.GPT2), Q.Q8_0),
    "gpt_neox.q4_0": (gpt_neox, Q.Q4_0),
    "gpt_oss.mxfp4": (gpt_oss, Q.MXFP4),
}

if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    for name in sys.argv[1:] or CONVERSIONS:
        function, kind = CONVERSIONS[name]
        path = os.path.join(OUT, name + ".gguf")
        function(*read_layout(name.split(".")[0])).write(path, kind)
        print(f"{name}: {os.path.getsize(path)} bytes")
