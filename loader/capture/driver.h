// SPDX-License-Identifier: Apache-2.0
/* driver.h: what the program's CUDA driver says of its devices. It is never linked, nor loaded by
 * us. */
#ifndef PROF_CAPTURE_DRIVER_H
#define PROF_CAPTURE_DRIVER_H

#include "record.h"

void *driver_function(const char *name); /* NULL: the program has no driver, or an older one */
uint32_t driver_devices(void); /* how many; 0: the driver is not initialized, or does not say */
/* The facts of a device as a REC_DEVICE record; 0 where the driver does not say. name is
 * NUL-terminated. False: no such device. */
bool driver_device(uint32_t device, Record *record, char *name, size_t n_name);

#endif
