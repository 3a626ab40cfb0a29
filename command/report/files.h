// SPDX-License-Identifier: Apache-2.0
/* files.h: the style and the script of a page, which the build converts to texts. */
#ifndef COMMAND_REPORT_FILES_H
#define COMMAND_REPORT_FILES_H

extern const char page_css[], page_js[];

#endif
