/* setmaxnreg.cuh - the host model of src/gpu/ptx/setmaxnreg.cuh: registers are counted. */
#ifndef TCGEMM_PTX_SETMAXNREG_CUH
#define TCGEMM_PTX_SETMAXNREG_CUH

template <int COUNT> static __forceinline__ void tcgemm_registers_less(TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_setmaxnreg(COUNT, 0);
}

template <int COUNT> static __forceinline__ void tcgemm_registers_more(TCGEMM_EMULATE_CALLER) {
    TCGEMM_EMULATE_HERE();
    tcgemm_emulate_setmaxnreg(COUNT, 1);
}

#endif
