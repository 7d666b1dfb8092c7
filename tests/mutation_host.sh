#!/bin/sh
# mutation_host.sh - the sister of mutation.sh for what is around the kernels: planner, models, the
# judge, conversions, structs of other versions, who hears of a call, and the process's threads.
#
#     tests/mutation_host.sh [-a] [-k] [pattern]      as mutation.sh
#
# Results: docs/testing.md.
set -u
folders='include src cli tests bench'
options='-DTCGEMM_CUDA=OFF -DTCGEMM_BUILD_EMULATOR=OFF'
tests='^(unit/(base|device|gpu|host|plan|ref)|api/|check/(fork|process|stats_threads)|cli/(explain$|verbose|arrays|files|info|bench_peer|team))'
not_tests='german|header|draw|files_numpy'
below=
. "$(dirname "$0")/support/mutation.sh"

# Planner and models.
defect "the planner takes the slowest GPU row" src/plan/planner.c \
    's/if (seconds < least || /if (seconds > least || least == HUGE_VAL || /' \
    'unit/device/known_gpus|cli/explain'
defect "the planner takes the slowest CPU row" src/plan/planner.c \
    's/rate_of(row, plan) >= rate_of(best->row, plan)/rate_of(row, plan) < rate_of(best->row, plan)/' \
    'unit/plan/planner|api/api'
defect "a last round that is not full costs nothing" src/gpu/model.c 's/^    if (rest > 0.0)$/    if (rest > 1e18)/' \
    'unit/device/known_gpus|unit/gpu/model'
defect "the memory is never in the way" src/gpu/model.c \
    's/max_f64(products, t.memory) +/products +/' \
    'unit/gpu/model|cli/explain'
defect "bytes and products hide all of one another" src/gpu/model.c 's/^    t.exposed = exposed_seconds(.*;/    t.exposed = 0.0;/' \
    'unit/gpu/model'
defect "the launch of a second packing is counted where there is none" src/gpu/expand.c \
    's/return joins ? tcgemm_gpu_copy_seconds(bytes, device) : /return /' 'unit/gpu/model'
defect "the parts of one tile are fewer, too" src/gpu/expand.c \
    's/ || tiles_of(r, t->g) \* (double)t->g->batch == 1.0)/)/' 'unit/plan/planner'
defect "parts of k are no fewer than fill all SMs" src/gpu/expand.c 's/worth_fewer_parts = 1.07/worth_fewer_parts = 0.5/' \
    'unit/plan/planner'
defect "all rows get C alike" src/gpu/model.c 's/^    if (!adds_c(q))$/    if (true)/' 'unit/plan/planner'
defect "what all blocks read leaves the L2 first, too" src/gpu/encode.c \
    's/return readers <= MOST_READERS \&\& /return /' 'unit/plan/planner'
defect "what all items read leaves the L2 first, too" src/gpu/encode.c 's/!b_is_shared \&\& //' 'unit/plan/planner'
defect "a B that two blocks have from the memory costs nothing more" src/gpu/model.c \
    's/apart_bytes = 1.3/apart_bytes = 1.0/' 'unit/plan/planner'
defect "blocks of a batch that the L2 holds go in pairs, too" src/gpu/model.c \
    's/apart_share = 0.8,/apart_share = 0.0,/' 'unit/plan/planner'
defect "narrow loads come as soon as others" src/gpu/model.c 's/late_for_narrow = 1300.0/late_for_narrow = 0.0/' \
    'unit/plan/planner'
defect "an odd last row of tiles has no pair" src/gpu/launch.c 's/step->in_pairs ? round_up(rows, 2) : rows/rows/' \
    'unit/plan/planner'
defect "parts of k add C each" src/gpu/expand.c 's/p.flags &= ~TCGEMM_FLAG_ADDS_C;/(void)0;/' 'unit/plan/planner'
defect "the one call says nothing of C" src/api/run.c 's/copy.flags |= TCGEMM_FLAG_ADDS_C;/(void)copy;/' 'fake_driver/places'
defect "the batch takes no time" src/cpu/model.c 's/^        (double)plan->g.batch \/ pow/        1.0 \/ pow/' \
    'unit/plan/planner|cli/explain'

# The judge and conversions.
defect "the judge takes four times the error" src/ref/judge.c \
    's/judge->growth \* ref->magnitude +$/4 * &/' \
    'api/api|unit/ref/verify'
defect "the judge takes any NaN for an overflow" src/ref/judge.c 's/^        if (sum_may_overflow(judge, ref))$/        if (isnan(got) || sum_may_overflow(judge, ref))/' \
    'api/api|unit/ref/verify'
defect "e4m3 saturates" src/base/dtype.c 's/return dtype == TCGEMM_DTYPE_E4M3 ? (double)NAN : copysign/return dtype == TCGEMM_DTYPE_E4M3 ? copysign(448.0, value) : copysign/' \
    'unit/base/dtype|cli/arrays_numpy'

# Structs, plans that are kept, and hooks.
defect "the size of a struct is not looked at" src/base/struct.c 's/TCGEMM_RETURN_IF(given < least,/TCGEMM_RETURN_IF(given < 1,/' \
    'unit/base/struct|api/versions'
defect "what follows a known struct is not looked at" src/base/struct.c 's/TCGEMM_RETURN_IF(set < given,/TCGEMM_RETURN_IF(set < 1,/' \
    'unit/base/struct|api/versions'
defect "a kept plan serves another batch" src/api/plan_cache.c \
    's/memcmp(&x->problem->m, &y->problem->m, sizeof \*x->problem - TAIL) == 0;/memcmp(\&x->problem->m, \&y->problem->m, 7 * sizeof(int64_t)) == 0;/' \
    'api/api|api/call_hook_threads'
defect "a call takes as long as the machine is up" src/api/call_log.c 's/.seconds = start > 0 ? now - start : 0,/.seconds = now,/' \
    'api/call_hook_threads|cli/verbose'
defect "a call of other sizes is told" src/api/call_log.c \
    's/^        .problem = &plan->problem,/        .problem = \&(tcgemm_problem_t){.type = plan->problem.type, .m = plan->problem.n, .batch = 1},/' \
    'api/call_hook_threads|cli/verbose'

# Threads, signals and the clock.
defect "workers block the signals of their own faults" src/host/thread_signals.c 's/(void)sigdelset(&mask, open\[i\]);/(void)open[i];/' \
    'unit/host/workers|check/process'
defect "workers take the application's signals" src/host/thread_signals.c 's/sigfillset(&mask)/sigemptyset(\&mask)/' \
    'unit/host/workers|check/process'
defect "a child counts on its parent's workers" src/host/pool.c '/^static void reset_in_child/,/^}/s/^    pool.num_workers = 0;$//' \
    'unit/host/workers|check/fork'
defect "the clock is four times too high" src/host/clock.c 's/2.0 \* ADDITIONS \/ seconds/8.0 * ADDITIONS \/ seconds/' \
    'unit/host/machine|check/stats_threads'
defect "the clock is four times too low" src/host/clock.c 's/2.0 \* ADDITIONS \/ seconds/0.5 * ADDITIONS \/ seconds/' \
    'unit/host/machine|check/stats_threads'

# shellcheck disable=SC2154
exit "$status"
