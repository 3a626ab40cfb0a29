# SPDX-License-Identifier: Apache-2.0
# The output of protoc-c for the schema of HLO programs (package xla), without what only protobuf-c's own reader and writer need: the head of 24 bytes in each message (a program has a
# million of them), and their functions. The descriptions of the fields stay; loader/format/message.c reads along them.
FILENAME ~ /\.c$/ && (/^size_t xla__/ || /^void +xla__.*__free_unpacked$/ || /^Xla__[A-Za-z0-9_]* \*$/) { dropping = 1 }
/Xla__/ { compact = 1 }
!dropping {
    if (compact) sub(/ProtobufCMessage base;/, "struct { } base;")
    if (compact) sub(/PROTOBUF_C_MESSAGE_INIT \(&[a-z0-9_]*\)/, "{ }")
    print
}
/^}/ { dropping = 0 }
