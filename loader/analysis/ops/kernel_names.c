// SPDX-License-Identifier: Apache-2.0
/* kernel_names.c: parses the launches of kernels, and recognises kernels on tensor cores; see
 * kernel_names.h.
 *
 * Forms of kernel_details:
 *   CUDA                          regs:32 static_shared:0 dynamic_shared:16384 grid:2,1,1
 *                                 block:32,1,1 occ_pct:100 (separated by newlines until 2022)
 *   CUDA, 2022 to 2023            regs:32 shm:16384 grid:2,1,1 block:32,1,1
 *   CUDA, until TensorFlow 2.3    registers_per_thread:32 \n static_shared_memory_usage:0 \n ...
 *                                 grid_x:2 \n block_x:32
 *   ROCm                          grid:2,1,1 block:32,1,1 private_mem:0 group_mem:16384 occ_pct:0
 *                                 (starts with a blank) */
#define _GNU_SOURCE
#include "kernel_names.h"

#include <locale.h>
#include <math.h>

/* ---- launches ---- */

/* Parses a uint32. Like absl::SimpleAtoi, it allows a sign and blanks around it. */
static bool parse_u32(Slice s, uint32_t *value)
{
    while (s.n && is_blank(s.text[0])) s.text++, s.n--;
    while (s.n && is_blank(s.text[s.n - 1])) s.n--;
    if (s.n && s.text[0] == '+') s.text++, s.n--;
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.text[i] < '0' || s.text[i] > '9' ||
            (v = v * 10 + (uint64_t)(s.text[i] - '0')) > UINT32_MAX)
            return false;
    }
    if (s.n) *value = (uint32_t)v;
    return s.n;
}

/* Parses a number with a decimal point, in any locale of the process. */
static bool parse_real(Slice s, double *value)
{
    char text[64], *end;
    while (s.n && is_blank(s.text[0])) s.text++, s.n--;
    if (!s.n || s.n >= sizeof text || memchr(s.text, 0, s.n)) return false;
    memcpy(text, s.text, s.n);
    text[s.n] = 0;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c) return false;
    double v = strtod_l(text, &end, c);
    freelocale(c);
    while (is_blank(*end)) end++;
    if (!*end) *value = v;
    return !*end;
}

static bool parse_float(Slice s, double *value)
{
    double v;
    if (!parse_real(s, &v)) return false;
    bool fits = fabs(v) <= 3.4028235677973366e38;
    *value = fits || isnan(v) ? (double)(float)v : copysign(INFINITY, v);
    return true;
}

static bool parse_three(Slice s, uint32_t out[3])
{
    uint32_t three[3];
    for (int i = 0; i < 3; i++) {
        const char *comma = s.n ? memchr(s.text, ',', s.n) : NULL;
        if (!comma != (i == 2)) return false;
        size_t n = comma ? (size_t)(comma - s.text) : s.n;
        if (!parse_u32((Slice){s.text, n}, &three[i])) return false;
        if (comma) s = (Slice){comma + 1, s.n - n - 1};
    }
    memcpy(out, three, sizeof three);
    return true;
}

static void read_as_xprof(KernelLaunch *l, Slice key, Slice value)
{
    if (slice_is(key, "regs"))
        l->known |= parse_u32(value, &l->registers) ? LAUNCH_REGISTERS : 0;
    else if (slice_is(key, "static_shared"))
        l->known |= parse_u32(value, &l->static_shared) ? LAUNCH_SHARED : 0;
    else if (slice_is(key, "dynamic_shared"))
        l->known |= parse_u32(value, &l->dynamic_shared) ? LAUNCH_SHARED : 0;
    else if (slice_is(key, "block"))
        l->known |= parse_three(value, l->block) ? LAUNCH_BLOCK : 0;
    else if (slice_is(key, "grid"))
        l->known |= parse_three(value, l->grid) ? LAUNCH_GRID : 0;
    else if (slice_is(key, "occ_pct"))
        l->known |= parse_float(value, &l->occupancy) ? LAUNCH_OCCUPANCY : 0;
}

static void read_actual(KernelLaunch *l, Slice key, Slice value)
{
    static const char axes[] = "xyz";
    read_as_xprof(l, key, value);
    if (slice_is(key, "occ_pct"))
        parse_real(value, &l->occupancy);
    else if (slice_is(key, "registers_per_thread"))
        l->known |= parse_u32(value, &l->registers) ? LAUNCH_REGISTERS : 0;
    else if (slice_is(key, "static_shared_memory_usage"))
        l->known |= parse_u32(value, &l->static_shared) ? LAUNCH_SHARED : 0;
    else if (slice_is(key, "dynamic_shared_memory_usage") || slice_is(key, "shm") ||
             slice_is(key, "group_mem"))
        l->known |= parse_u32(value, &l->dynamic_shared) ? LAUNCH_SHARED : 0;
    for (int i = 0; i < 3; i++) {
        const char block[] = {'b', 'l', 'o', 'c', 'k', '_', axes[i], 0},
                   grid[] = {'g', 'r', 'i', 'd', '_', axes[i], 0};
        if (slice_is(key, block)) l->known |= parse_u32(value, &l->block[i]) ? LAUNCH_BLOCK : 0;
        if (slice_is(key, grid)) l->known |= parse_u32(value, &l->grid[i]) ? LAUNCH_GRID : 0;
    }
}

static KernelLaunch parse_launch(Slice s, void (*take)(KernelLaunch *, Slice, Slice))
{
    KernelLaunch l = {.block = {1, 1, 1}, .grid = {1, 1, 1}};
    for (size_t at = 0, end; at < s.n; at = end + 1) {
        for (end = at; end < s.n && s.text[end] != ' ' && s.text[end] != '\n';) end++;
        const char *token = s.text + at, *colon = end > at ? memchr(token, ':', end - at) : NULL;
        if (!colon) continue;
        Slice key = {token, (size_t)(colon - token)}, value = {colon + 1, end - at - key.n - 1};
        if (value.n && !memchr(value.text, ':', value.n)) take(&l, key, value);
    }
    return l;
}

KernelLaunch kernel_launch_xprof(Slice details) { return parse_launch(details, read_as_xprof); }

static size_t digits(Slice s, size_t at)
{
    size_t n = at;
    while (n < s.n && s.text[n] >= '0' && s.text[n] <= '9') n++;
    return n - at;
}

/* Most registers of a thread on any GPU. Profilers for ROCm until 2024 wrote the halves of a
 * pointer instead of registers and static shared memory. */
enum { MOST_REGISTERS = 1024 };

KernelLaunch kernel_launch_actual(Slice details)
{
    KernelLaunch l = parse_launch(details, read_actual);
    if (!(l.occupancy > 0 && l.occupancy <= 100))
        l.occupancy = 0, l.known &= ~(unsigned)LAUNCH_OCCUPANCY;
    if (l.registers > MOST_REGISTERS) l.known &= ~(unsigned)(LAUNCH_REGISTERS | LAUNCH_SHARED);
    return l;
}

bool copy_bytes(Slice details, uint64_t *bytes)
{
    static const char *const keys[] = {"num_bytes:", "size:"};
    bool found = false;
    *bytes = 0;
    for (size_t k = 0; k < COUNT(keys); k++) {
        size_t n = strlen(keys[k]);
        for (size_t i = 0; i + n < details.n; i++) {
            if ((i && details.text[i - 1] != '\n' && details.text[i - 1] != ' ') ||
                memcmp(details.text + i, keys[k], n))
                continue;
            int64_t value;
            if (slice_integer((Slice){details.text + i + n, digits(details, i + n)}, &value))
                *bytes = (uint64_t)value, found = true;
        }
    }
    return found;
}

/* ---- tensor cores ---- */

static const char *const nvidia_patterns[] = {
    "16816",
    "c1688",
    "conv1x1",
    "conv2d_c1_k1",
    "dgrad_1x1_stride_2x2",
    "direct_group",
    "first_layer_wgrad_kernel",
    "h1688",
    "h884",
    "hmma",
    "i16832",
    "i8816",
    "s884",
    "s1688",
    "xmma_gemm",
    "xmma_implicit_gemm",
    "xmma_sparse_conv",
    "xmma_sparse_gemm",
    "xmma_warp_specialized_implicit_gemm",
};
/* Warp group MMA and its libraries (Hopper), tcgen05 (Blackwell), cuDNN's fused convolutions and
 * attention. */
static const char *const more_nvidia_patterns[] = {
    "wgmma",     "gmma",        "tensorop",    "nvjet",      "tcgen05",    "utcmma",
    "wmma",      "tensor16x8",  "xmma_fprop",  "xmma_dgrad", "xmma_wgrad", "flash_fwd",
    "flash_bwd", "flash_fprop", "flash_bprop", "fmha",
};
static const char *const amd_patterns[] = {
    "gemm_fusion", "Custom_Cijk_", "_xdl", "gtcx",  "miopenSp3AsmConvRage",
    "moe_gemm",    "moe_mxgemm",   "wmma", "aiter", "FMHA_FWD",
    "attn_fwd",    "bwd_kernel_",  "mfma"};
/* Attention and matrix products of Composable Kernel; its other kernels convert and sum. */
static const char *const more_amd_patterns[] = {"FmhaFwdKernel", "FmhaFwdSplitKVKernel",
                                                "FmhaFwdPagedKVKernel", "FmhaBwdDQDKDVKernel",
                                                "ck_tile::GemmKernel"};
/* Kernels of these libraries that multiply on ordinary cores, such as cuDNN's for depthwise
 * convolutions. */
static const char *const plain_patterns[] = {"ffma", "simt", "conv2d_c1_k1"};

/* PyTorch's attention by cutlass multiplies on tensor cores from Ampere on, and 16-bit floats from
 * Volta on: "fmha_cutlassF_f32_aligned_64x64_rf_sm80". */
static bool is_plain_attention(Slice s)
{
    return slice_contains(s, "fmha_cutlass") &&
           (slice_contains(s, "_sm50") ||
            (!slice_contains(s, "_f16_") && !slice_contains(s, "_sm80")));
}

/* _MI<digits>x<digits>x<digits>: a matrix instruction in the name of a Tensile kernel. */
static bool has_matrix_instruction(Slice s)
{
    for (size_t i = 0; i + 3 <= s.n; i++) {
        if (memcmp(s.text + i, "_MI", 3)) continue;
        size_t at = i + 3, n = 0, part = 0;
        while ((n = digits(s, at)) && ++part < 3 && at + n < s.n && s.text[at + n] == 'x')
            at += n + 1;
        if (part == 3) return true;
    }
    return false;
}

static bool uses_amd(Slice name)
{
    return slice_contains_any(name, amd_patterns, COUNT(amd_patterns)) ||
           has_matrix_instruction(name);
}

bool kernel_uses_tensorcore_xprof(Slice name, enum KernelVendor vendor)
{
    if (vendor == VENDOR_NVIDIA)
        return slice_contains_any(name, nvidia_patterns, COUNT(nvidia_patterns));
    return vendor == VENDOR_AMD && uses_amd(name);
}

bool kernel_uses_tensorcore_actual(Slice name, enum KernelVendor vendor)
{
    bool nvidia = slice_contains_any(name, nvidia_patterns, COUNT(nvidia_patterns)) ||
                  slice_contains_any(name, more_nvidia_patterns, COUNT(more_nvidia_patterns));
    if (vendor != VENDOR_AMD && nvidia &&
        !slice_contains_any(name, plain_patterns, COUNT(plain_patterns)) &&
        !is_plain_attention(name))
        return true;
    return vendor != VENDOR_NVIDIA &&
           (uses_amd(name) ||
            slice_contains_any(name, more_amd_patterns, COUNT(more_amd_patterns)));
}

bool op_is_tensorcore_eligible(Slice op_name)
{
    static const char *const ends[] = {"Conv2D",
                                       "Conv2DBackpropFilter",
                                       "Conv2DBackpropInput",
                                       "Conv3D",
                                       "DepthwiseConv2dNative",
                                       "DepthwiseConv2dNativeBackpropFilter",
                                       "DepthwiseConv2dNativeBackpropInput",
                                       "/MatMul",
                                       "FusedMatMul",
                                       "/CudnnRNN",
                                       "XlaDot",
                                       "XlaDotV2"};
    static const char *const parts[] = {"BatchMatMul",      "CudnnRNNV",   "CudnnRNNForward",
                                        "CudnnRNNBackprop", "dot_general", "conv_general_dilated"};
    for (size_t i = 0; i < COUNT(ends); i++)
        if (slice_ends(op_name, ends[i])) return true;
    return slice_contains_any(op_name, parts, COUNT(parts));
}

static size_t count_parts(Slice s, const char *separator)
{
    size_t n = 1, k = strlen(separator);
    for (const char *at; s.n && (at = memmem(s.text, s.n, separator, k)); n++)
        s.n -= (size_t)(at - s.text) + k, s.text = at + k;
    return n;
}

bool equation_is_tensorcore_eligible(Slice equation)
{
    const char *arrow = equation.n ? memmem(equation.text, equation.n, "->", 2) : NULL;
    return arrow && count_parts(equation, "->") == 2 &&
           count_parts((Slice){equation.text, (size_t)(arrow - equation.text)}, ",") == 2;
}
