/* wmma_shared_f16_f16.cu - wmma-shared: half in and out; summed in single, or in half on request.
 */
#define TCGEMM_STAMP_f16_f16 1
#include "gpu/families/wmma_shared/stamp.cuh"
