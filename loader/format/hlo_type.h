// SPDX-License-Identifier: Apache-2.0
/* hlo_type.h: names for the numbers of xla.PrimitiveType. The protos store element types as plain
 * numbers, because a file may use types that are newer than this list. */
#ifndef PROF_HLO_TYPE_H
#define PROF_HLO_TYPE_H

enum HloType {
    XLA_INVALID,
    XLA_PRED,
    XLA_S8,
    XLA_S16,
    XLA_S32,
    XLA_S64,
    XLA_U8,
    XLA_U16,
    XLA_U32,
    XLA_U64,
    XLA_F16,
    XLA_F32,
    XLA_F64,
    XLA_TUPLE,
    XLA_OPAQUE,
    XLA_C64,
    XLA_BF16,
    XLA_TOKEN,
    XLA_C128,
    XLA_F8E5M2,
    XLA_F8E4M3FN,
    XLA_S4,
    XLA_U4,
    XLA_F8E4M3B11FNUZ,
    XLA_F8E5M2FNUZ,
    XLA_F8E4M3FNUZ,
    XLA_S2,
    XLA_U2,
    XLA_F8E4M3,
    XLA_F8E3M4,
    XLA_S1,
    XLA_U1,
    XLA_F4E2M1FN,
    XLA_F8E8M0FNU,
    XLA_BUFFER,
    XLA_F6E3M2FN,
    XLA_F6E2M3FN,
    N_HLO_TYPES
};

#endif
