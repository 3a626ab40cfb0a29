// SPDX-License-Identifier: Apache-2.0
/* fingerprint.c: TensorFlow's own two cases, and HLO instructions with the fingerprints that
 * XProf's Events DB has of them: every length of text that has a formula of its own, and both sides
 * of its borders. */
#include "../../loader/base/fingerprint.h"
#include "check.h"

int main(void)
{
    static const struct {
        const char *text;
        uint64_t fingerprint;
    } cases[] = {
        {"Hello", 15404698994557526151u},
        {"World", 18308117990299812472u},
        {"f32[64]{0} convert(f32[64]{0})", 6053492001385437484u},
        {"f32[1,8]{1,0} abs(f32[1,8]{1,0})", 13837602008126144453u},
        {"s8[32]{0} or(s8[32]{0}, s8[32]{0})", 898497172394055612u},
        {"f32[256,128]{1,0} exponential(f32[256,128]{1,0})", 12642778891834951410u},
        {"c128[100,32]{1,0} multiply(c128[100,32]{1,0}, c128[100,32]{1,0})", 8336301452055887881u},
        {"c64[8,64]{1,0} fft(c64[8,64]{1,0}), fft_type=FFT, fft_length={64}",
         14726027076566721525u},
        {"f32[2048,128]{1,0:T(8,128)} all-reduce-done(f32[2048,128]{1,0:T(8,128)})",
         12118945900971673220u},
        {"f16[256,256]{1,0} dynamic-update-slice(f16[256,256]{1,0}, f16[128,64]{1,0}, s32[], "
         "s32[])",
         7189756720182092249u},
        {"f32[4096]{0} collective-permute(f32[4096]{0}), channel_id=1, "
         "source_target_pairs={{0,1},{1,0}}",
         2960219047047710924u},
        {"f32[512,1024,3]{2,1,0:T(8,128)} convolution(bf16[3,1,256]{2,1,0:T(1,128)(2,1)}, "
         "f32[1024,1]{1,0:T(8,128)}), dim_labels=bf_io->bf",
         4200387275352727474u},
        {"f8e4m3fn[128,128,1024]{2,1,0:T(8,128)(4,1)} "
         "custom-call(f8e4m3fn[200,4096]{1,0:T(8,128)(4,1)S(1)}), custom_call_target=\"Sharding\"",
         7869170934777589036u},
        {"f32[4,28,28,8]{3,2,1,0} convolution(f32[4,28,28,4]{3,2,1,0}, f32[1,1,4,8]{3,2,1,0}), "
         "window={size=1x1}, dim_labels=b01f_01io->b01f",
         12119611051187232131u},
        {"f8e4m3fn[3,4096,1]{2,1,0:T(8,128)(4,1)} convolution(s8[100,200]{1,0:T(8,128)(4,1)}, "
         "s8[100,8]{1,0:T(8,128)(4,1)}), dim_labels=bf_io->bf",
         9726996884898250871u},
        {"bf16[2048]{0} all-gather(bf16[1024]{0}), channel_id=1, "
         "replica_groups={{0,1},{2,3},{4,5},{6,7}}, dimensions={0}, use_global_device_ids=true",
         7655382093719377083u},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check(fingerprint64(cases[i].text, strlen(cases[i].text)) == cases[i].fingerprint,
              cases[i].text);
    check(fingerprint64("", 0) == 0x9ae16a3b2f90404fu, "no text");
    return finish();
}
