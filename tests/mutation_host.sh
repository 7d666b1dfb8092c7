#!/bin/sh
# mutation_host.sh - the sister of mutation.sh for what is around the kernels: planner, models, the
# judge, conversions, structs of other versions, and who hears of a call.
#
#     tests/mutation_host.sh [-k] [pattern]
#
# Takes some ten minutes. Results: docs/testing.md.
set -u
folders='include src cli tests bench'
options='-DTCGEMM_CUDA=OFF -DTCGEMM_BUILD_EMULATOR=OFF'
targets=
tests='^(unit/(base|device|gpu|host|plan|ref)|api/|cli/(explain$|verbose|arrays|files|info|bench_peer|team))'
not_tests='german|header|draw|files_numpy'
below=
. "$(dirname "$0")/support/mutation.sh"

# Planner and models.
defect "the planner takes the slowest GPU row" src/plan/planner.c 's/? seconds < best->seconds/? seconds > best->seconds/'
defect "the planner takes the slowest CPU row" src/plan/planner.c \
    's/: rate_of(row) >= rate_of(best->row);/: rate_of(row) < rate_of(best->row);/'
defect "a last round that is not full costs nothing" src/gpu/model.c 's/^    if (rest > 0.0)$/    if (rest > 1e18)/'
defect "the memory is never in the way" src/gpu/model.c \
    's/fmax(t.start + t.wait + t.multiply + t.finish, t.memory);/(t.start + t.wait + t.multiply + t.finish);/'
defect "the batch takes no time" src/cpu/model.c 's/^        (double)plan->g.batch \/ pow/        1.0 \/ pow/'

# The judge and conversions.
defect "the judge takes four times the error" src/ref/judge.c \
    's/judge->growth \* ref->magnitude + ldexp/4 * judge->growth * ref->magnitude + ldexp/'
defect "the judge takes any NaN for an overflow" src/ref/judge.c 's/^        if (sum_may_overflow(judge, ref))$/        if (isnan(got) || sum_may_overflow(judge, ref))/'
defect "e4m3 saturates" src/base/dtype.c 's/return dtype == TCGEMM_DTYPE_E4M3 ? (double)NAN : copysign/return dtype == TCGEMM_DTYPE_E4M3 ? copysign(448.0, value) : copysign/'

# Structs, plans that are kept, and hooks.
defect "the size of a struct is not looked at" src/base/struct.c 's/TCGEMM_RETURN_IF(given < least,/TCGEMM_RETURN_IF(given < 1,/'
defect "what follows a known struct is not looked at" src/base/struct.c 's/TCGEMM_RETURN_IF(set < given,/TCGEMM_RETURN_IF(set < 1,/'
defect "a kept plan serves another batch" src/api/plan_cache.c \
    's/memcmp(&x->problem.m, &y->problem.m, sizeof x->problem - TAIL) == 0;/memcmp(\&x->problem.m, \&y->problem.m, 7 * sizeof(int64_t)) == 0;/'
defect "a call takes as long as the machine is up" src/api/call_log.c 's/.seconds = start > 0 ? now - start : 0,/.seconds = now,/'
defect "a call of other sizes is told" src/api/call_log.c \
    's/^        .problem = &plan->problem,/        .problem = \&(tcgemm_problem_t){.type = plan->problem.type, .m = plan->problem.n, .batch = 1},/'

# shellcheck disable=SC2154
exit "$status"
