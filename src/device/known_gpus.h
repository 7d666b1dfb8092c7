/* known_gpus.h - GPUs that can be planned for without being here. */
#ifndef TCGEMM_PLAN_KNOWN_GPUS_H
#define TCGEMM_PLAN_KNOWN_GPUS_H

#include "device/facts.h"

/* Number `index` of known_gpus.def (tcgemm_known_gpu_key: its key); NULL beyond the last. */
const tcgemm_device_t *tcgemm_known_gpu(int index);

/* The one with that key, or NULL. */
const tcgemm_device_t *tcgemm_known_gpu_find(const char *key);

#endif
