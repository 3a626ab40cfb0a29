// SPDX-License-Identifier: Apache-2.0
/* driver.h: asks the program's CUDA driver about its devices. The driver is neither linked nor
 * loaded by us. */
#ifndef PROF_CAPTURE_DRIVER_H
#define PROF_CAPTURE_DRIVER_H

#include "record.h"

void *driver_function(const char *name); /* NULL: the program has no driver, or an older one */
/* number of devices; 0: the driver is not initialized or does not answer */
uint32_t driver_devices(void);
/* Reads the facts of a device into a REC_DEVICE record; 0 if the driver does not have them. `name`
 * is NUL-terminated. False if there is no such device. */
bool driver_device(uint32_t device, Record *record, char *name, size_t n_name);

#endif
