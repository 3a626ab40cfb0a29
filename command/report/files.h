// SPDX-License-Identifier: Apache-2.0
/* files.h: the files of a page, which the build makes texts of. */
#ifndef COMMAND_REPORT_FILES_H
#define COMMAND_REPORT_FILES_H

extern const char page_css[], page_js[];

#endif
