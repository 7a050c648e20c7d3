"""Decoders: one function per layout."""

import torch
import transformers as t

from layout_tools import SDPA, VOCABULARY, layout

SIZES = dict(
    vocab_size=VOCABULARY,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=24,
    max_position_embeddings=128,
    bos_token_id=1,
    eos_token_id=2,
    pad_token_id=0,
)
SHARED = dict(SIZES, num_key_value_heads=2)
OLD = dict(vocab_size=VOCABULARY, bos_token_id=1, eos_token_id=2)  # GPT-2 and models of its time


def rope(kind, theta=10000.0, **more):
    return dict(rope_type=kind, rope_theta=theta, **more)


@layout("llama", "Llama 1 and 2, TinyLlama, Vicuna, SmolLM 1 and 2", shards=True)
def llama():
    return t.LlamaForCausalLM(t.LlamaConfig(**SHARED))


@layout("llama-llama3", "Llama 3.1, 3.2, 3.3", torch.bfloat16)
def llama_llama3():
    scaling = rope("llama3", 100.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                   original_max_position_embeddings=32)
    return t.LlamaForCausalLM(
        t.LlamaConfig(**SHARED, head_dim=16, rope_parameters=scaling, tie_word_embeddings=True))


@layout("llama-linear", "Llama layouts with linear rope_scaling", torch.float32)
def llama_linear():
    return t.LlamaForCausalLM(
        t.LlamaConfig(**SHARED, rope_parameters=rope("linear", factor=4.0), tie_word_embeddings=True,
                      attention_bias=True, mlp_bias=True))


@layout("llama-dynamic", "Llama layouts with dynamic rope_scaling")
def llama_dynamic():
    sizes = dict(SHARED, max_position_embeddings=32)
    return t.LlamaForCausalLM(
        t.LlamaConfig(**sizes, rope_parameters=rope("dynamic", factor=4.0)))


@layout("llama-yarn", "Llama layouts with YaRN: Yarn-Llama, DeepSeek distillations")
def llama_yarn():
    return t.LlamaForCausalLM(
        t.LlamaConfig(**SHARED, rope_parameters=rope(
            "yarn", 100.0, factor=8.0, original_max_position_embeddings=32)))


@layout("mistral", "Mistral 7B, Ministral, Zephyr", torch.bfloat16)
def mistral():
    return t.MistralForCausalLM(t.MistralConfig(**SHARED, sliding_window=9))


@layout("qwen2", "Qwen 2 and 2.5, DeepSeek-R1-Distill-Qwen")
def qwen2():
    return t.Qwen2ForCausalLM(
        t.Qwen2Config(**SHARED, use_sliding_window=True, sliding_window=9, max_window_layers=1))


@layout("qwen2_moe", "Qwen 1.5 A2.7B, Qwen 2 A14B")
def qwen2_moe():
    return t.Qwen2MoeForCausalLM(
        t.Qwen2MoeConfig(**SHARED, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=12,
                         shared_expert_intermediate_size=20, norm_topk_prob=False))


@layout("qwen2_moe-sparse", "Qwen layouts with experts in some layers, windows in others")
def qwen2_moe_sparse():
    sizes = dict(SHARED, num_hidden_layers=4)
    return t.Qwen2MoeForCausalLM(
        t.Qwen2MoeConfig(**sizes, num_experts=3, num_experts_per_tok=2, moe_intermediate_size=12,
                         shared_expert_intermediate_size=20, norm_topk_prob=True, qkv_bias=False,
                         decoder_sparse_step=2, mlp_only_layers=[3], use_sliding_window=True,
                         sliding_window=9, max_window_layers=3))


@layout("qwen3", "Qwen 3", torch.bfloat16)
def qwen3():
    return t.Qwen3ForCausalLM(t.Qwen3Config(**SHARED, head_dim=10, tie_word_embeddings=True))


@layout("qwen3_moe", "Qwen 3 A3B and A22B")
def qwen3_moe():
    return t.Qwen3MoeForCausalLM(
        t.Qwen3MoeConfig(**SHARED, head_dim=8, num_experts=4, num_experts_per_tok=2,
                         moe_intermediate_size=12, norm_topk_prob=True))


@layout("smollm3", "SmolLM 3")
def smollm3():
    return t.SmolLM3ForCausalLM(
        t.SmolLM3Config(**SHARED, no_rope_layers=[1, 0], tie_word_embeddings=True))


@layout("olmo", "OLMo 1")
def olmo():
    return t.OlmoForCausalLM(t.OlmoConfig(**SIZES, clip_qkv=None))


@layout("olmo2", "OLMo 2", torch.bfloat16)
def olmo2():
    return t.Olmo2ForCausalLM(t.Olmo2Config(**SHARED))


@layout("olmo3", "OLMo 3")
def olmo3():
    return t.Olmo3ForCausalLM(
        t.Olmo3Config(**SHARED, sliding_window=9,
                      layer_types=["sliding_attention", "full_attention"],
                      rope_parameters=rope("yarn", factor=4.0, original_max_position_embeddings=32,
                                           attention_factor=1.2)))


@layout("gemma", "Gemma 1, CodeGemma", torch.bfloat16)
def gemma():
    return t.GemmaForCausalLM(t.GemmaConfig(**SHARED, head_dim=16))


@layout("gemma2", "Gemma 2")
def gemma2():
    return t.Gemma2ForCausalLM(
        t.Gemma2Config(**SHARED, head_dim=8, sliding_window=9, query_pre_attn_scalar=20,
                       attn_logit_softcapping=2.0, final_logit_softcapping=3.0))


@layout("gemma3_text", "Gemma 3 1B and 270M")
def gemma3():
    return t.Gemma3ForCausalLM(
        t.Gemma3TextConfig(
            **SHARED, head_dim=8, sliding_window=9, query_pre_attn_scalar=12,
            layer_types=["sliding_attention", "full_attention"],
            rope_parameters={
                "sliding_attention": rope("default", 10000.0),
                "full_attention": rope("linear", 1000000.0, factor=8.0)}))


@layout("phi", "Phi 1, 1.5 and 2")
def phi():
    return t.PhiForCausalLM(
        t.PhiConfig(**dict(SIZES, intermediate_size=28), partial_rotary_factor=0.5,
                    qk_layernorm=True))


@layout("phi3", "Phi 3, 3.5 and 4")
def phi3():
    sizes = dict(SHARED, max_position_embeddings=128)
    return t.Phi3ForCausalLM(
        t.Phi3Config(**sizes, original_max_position_embeddings=32, sliding_window=None,
                     rope_parameters=rope(
                         "longrope", short_factor=[1.0, 1.1, 1.3, 1.7],
                         long_factor=[1.2, 2.0, 4.0, 7.0],
                         original_max_position_embeddings=32)))


@layout("gpt2", "GPT-2, DistilGPT-2, DialoGPT")
def gpt2():
    return t.GPT2LMHeadModel(
        t.GPT2Config(**OLD, n_positions=64, n_embd=32, n_layer=2, n_head=4, n_inner=28))


@layout("gpt_neox", "GPT-NeoX, Pythia, Dolly")
def gpt_neox():
    return t.GPTNeoXForCausalLM(
        t.GPTNeoXConfig(**dict(SIZES, intermediate_size=28, num_attention_heads=2),
                        rotary_pct=0.25))


@layout("gptj", "GPT-J, GPT4All-J")
def gptj():
    return t.GPTJForCausalLM(
        t.GPTJConfig(**OLD, n_positions=64, n_embd=32, n_layer=2, n_head=4, n_inner=28,
                     rotary_dim=4, tie_word_embeddings=False))


@layout("gpt_neo", "GPT-Neo, TinyStories")
def gpt_neo():
    return t.GPTNeoForCausalLM(
        t.GPTNeoConfig(**OLD, hidden_size=32, num_layers=2, num_heads=4, intermediate_size=28,
                       max_position_embeddings=64, attention_types=[[["global", "local"], 1]],
                       window_size=9))


@layout("opt", "OPT, Galactica")
def opt():
    return t.OPTForCausalLM(
        t.OPTConfig(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, ffn_dim=28,
                    num_attention_heads=4, max_position_embeddings=64, word_embed_proj_dim=32))


@layout("opt-350m", "OPT 350M: norms after the sum, a narrower table")
def opt_350m():
    return t.OPTForCausalLM(
        t.OPTConfig(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, ffn_dim=28,
                    num_attention_heads=4, max_position_embeddings=64, word_embed_proj_dim=20,
                    do_layer_norm_before=False))


@layout("bloom", "BLOOM, BLOOMZ")
def bloom():
    return t.BloomForCausalLM(t.BloomConfig(**OLD, hidden_size=24, n_layer=2, n_head=3))


@layout("mpt", "MPT 7B and 30B")
def mpt():
    return t.MptForCausalLM(
        t.MptConfig(d_model=24, n_heads=3, n_layers=2, max_seq_len=128,
                    vocab_size=VOCABULARY))


@layout("falcon", "Falcon 7B")
def falcon():
    return t.FalconForCausalLM(
        t.FalconConfig(**OLD, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                       multi_query=True, parallel_attn=True, bias=False, alibi=False,
                       new_decoder_architecture=False, ffn_hidden_size=28))


@layout("falcon-40b", "Falcon 40B, 180B and 11B")
def falcon_40b():
    return t.FalconForCausalLM(
        t.FalconConfig(**OLD, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                       num_kv_heads=2, new_decoder_architecture=True, bias=False, alibi=False,
                       ffn_hidden_size=28))


@layout("falcon-rw", "Falcon RW 1B", way=SDPA)
def falcon_rw():
    return t.FalconForCausalLM(
        t.FalconConfig(**OLD, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                       multi_query=False, parallel_attn=False, bias=True, alibi=True,
                       new_decoder_architecture=False, ffn_hidden_size=28))


@layout("mixtral", "Mixtral 8x7B and 8x22B", torch.bfloat16)
def mixtral():
    return t.MixtralForCausalLM(
        t.MixtralConfig(**dict(SHARED, intermediate_size=12), num_local_experts=4,
                        num_experts_per_tok=2))


@layout("gpt_oss", "gpt-oss in 16 bits")
def gpt_oss():
    return t.GptOssForCausalLM(
        t.GptOssConfig(**dict(SHARED, intermediate_size=12), head_dim=8, num_local_experts=4,
                       num_experts_per_tok=2, sliding_window=9,
                       layer_types=["sliding_attention", "full_attention"],
                       rope_parameters=rope("yarn", 150000.0, factor=32.0, beta_fast=32.0,
                                            beta_slow=1.0, truncate=False,
                                            original_max_position_embeddings=32)))


@layout("starcoder2", "StarCoder 2")
def starcoder2():
    return t.Starcoder2ForCausalLM(t.Starcoder2Config(**SHARED, sliding_window=9))


@layout("stablelm", "StableLM 2 and 3B")
def stablelm():
    return t.StableLmForCausalLM(
        t.StableLmConfig(**SHARED, use_qkv_bias=True, partial_rotary_factor=0.5,
                         layer_norm_eps=1e-5))


@layout("gpt_bigcode", "StarCoder 1, SantaCoder")
def gpt_bigcode():
    return t.GPTBigCodeForCausalLM(
        t.GPTBigCodeConfig(**OLD, n_positions=64, n_embd=32, n_layer=2, n_head=4, n_inner=28,
                           multi_query=True))


@layout("cohere", "Command R")
def cohere():
    return t.CohereForCausalLM(t.CohereConfig(**SHARED, logit_scale=0.25))


@layout("granite", "Granite 3")
def granite():
    return t.GraniteForCausalLM(
        t.GraniteConfig(**SHARED, embedding_multiplier=3.0, logits_scaling=2.0,
                        residual_multiplier=0.4, attention_multiplier=0.5))


@layout("llama-headless", "Llama layouts without a head", torch.float32)
def llama_headless():
    return t.LlamaModel(t.LlamaConfig(**dict(SHARED, num_hidden_layers=1)))


@layout("gemma2-classifier", "decoders with a classifier (score.* is omitted)")
def gemma2_classifier():
    return t.Gemma2ForSequenceClassification(
        t.Gemma2Config(**SHARED, head_dim=8, sliding_window=9, num_labels=3))
