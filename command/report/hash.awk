# SPDX-License-Identifier: Apache-2.0
# Converts the output of sha256sum to the base64 hash of a Content-Security-Policy.
{
    base = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    text = ""
    hex = $1 "00"
    for (i = 1; i <= 64; i += 3) {
        value = 0
        for (k = 0; k < 3; k++) value = value * 16 + index("0123456789abcdef", substr(hex, i + k, 1)) - 1
        text = text substr(base, int(value / 64) + 1, 1) substr(base, value % 64 + 1, 1)
    }
    printf "#define PAGE_JS_HASH \"%s=\"\n", substr(text, 1, 43)
}
