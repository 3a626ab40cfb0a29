// SPDX-License-Identifier: Apache-2.0
/* nodiscard.h: marks functions whose failure shows in their result alone, so that the caller has to
 * check it. Functions that set a ProfErr need no mark: the error stays until it is checked. */
#ifndef PROF_NODISCARD_H
#define PROF_NODISCARD_H

#define NODISCARD __attribute__((warn_unused_result))

#endif
