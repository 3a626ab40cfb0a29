// SPDX-License-Identifier: Apache-2.0
/* nodiscard.h: marks functions whose result a caller has to look at, because it alone says that
 * they failed. Functions that set a ProfErr need no mark: the error stays until it is looked at. */
#ifndef PROF_NODISCARD_H
#define PROF_NODISCARD_H

#define NODISCARD __attribute__((warn_unused_result))

#endif
