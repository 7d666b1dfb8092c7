#!/bin/sh
# mutation_cli.sh - the sister of mutation.sh for the tool: defects in its figures, its files and its words,
# and in what of the library its tests are to notice.
#
#     tests/mutation_cli.sh [-a] [-k] [pattern]      as mutation.sh
#
# Results: docs/testing.md.
set -u
folders='include src cli tests bench'
options='-DTCGEMM_CUDA=OFF'
tests='^(cli/|unit/device|unit/host)'
not_tests='explain_p|explain_f|explain_sim|explain_width|bench_resume|plot|tangle|example|cli/gpu|verify'
below=
. "$(dirname "$0")/support/mutation.sh"

# What bench makes of its times.
defect "the median is the greatest" cli/measure/statistics.c \
    's/return 0.5 \* (sorted\[(count - 1) \/ 2\] + sorted\[count \/ 2\]);/return sorted[count - 1];/' \
    'cli/statistics|cli/bench_rows'
defect "the ratio to the peer is upside down" cli/measure/statistics.c \
    's/ratios\[i\] = theirs\[i\] \/ ours\[i\];/ratios[i] = ours[i] \/ theirs[i];/' \
    'cli/statistics|cli/bench_peer'
defect "the spread is not halved" cli/measure/statistics.c 's/s.spread = 0.5 \* /s.spread = 1.0 * /' \
    'cli/statistics|cli/bench_rows'
defect "the least time is the greatest" cli/measure/statistics.c 's/s.least = sorted\[0\];/s.least = sorted[count - 1];/' \
    'cli/statistics|cli/bench_rows'
defect "the fraction of the peak is upside down" cli/measure/statistics.c \
    's/return peak > 0 ? rate \/ peak : 0;/return peak > 0 ? peak \/ rate : 0;/' \
    'cli/statistics|cli/bench_rows'
defect "the bandwidth is doubled" cli/measure/statistics.c 's/return 3 \* (double)sizeof/return 6 * (double)sizeof/' \
    'cli/statistics|cli/stream'
defect "a kernel judged wrong is timed all the same" cli/bench/bench_case.c \
    's/if (report.num_wrong == 0) {/if (report.num_wrong >= 0) {/' \
    'cli/bench_judge|cli/bench_wrong_result'
defect "a wrong kernel leaves the exit status at 0" cli/bench/bench.c \
    's/return status == CLI_OK \&\& b->wrong > 0 ? CLI_WRONG : status;/return status;/' \
    'cli/bench_judge|cli/bench_wrong_result'
defect "a sample of many calls is not divided" cli/bench/interleave.c \
    's/\*value = elapsed \/ (double)c->inner;/*value = elapsed;/' \
    'cli/interleave|cli/bench_peer'
defect "an operation is counted once, not twice" cli/report/report.c 's/return 2.0 \* (double)p->m/return (double)p->m/' \
    'cli/report|cli/bench_rows'
defect "the batch is not counted" cli/report/report.c \
    's/(double)p->n \* (double)p->k \* (double)p->batch;/(double)p->n * (double)p->k;/' \
    'cli/bench_rows|cli/bench_peer'
defect "a sum of k products has k additions" cli/report/report.c 's/(2 \* k - 1) \* m \* n/(2 * k) * m * n/' \
    'cli/report|cli/arrays_shapes'
defect "the peer transposes A instead of B" cli/bench/peer.c 's/.op_b = p->op_b ==/.op_b = p->op_a ==/' \
    'cli/peer|cli/bench_peer'
defect "the peer is called by the wrong name" cli/bench/peer_table.c \
    's/"cblas_dgemm", "dgemm"/"cblas_dgemm", "sgemm"/' \
    'cli/bench|cli/peer|cli/bench_peer'
defect "the peer is given one item of the batch" cli/bench/peer.c \
    's/for (int64_t t = 0; t < p->batch \&\& good; ++t) {/for (int64_t t = 0; t < 1 \&\& good; ++t) {/' \
    'cli/peer|cli/bench_peer'
defect "the peak of one thread serves for all" cli/bench/bench_rows.c \
    's/rows->peaks\[i\].type == type \&\& rows->peaks\[i\].num_threads == num_threads/rows->peaks[i].type == type/' \
    'cli/bench_rows|cli/bench_peer'
defect "a peer that is wrong is timed" cli/bench/case_peers.c 's/^    if (wrong)$/    if (false)/' \
    'cli/bench_peer|cli/bench_suite|cli/peer'
defect "the slowest peer is the best" cli/bench/case_peers.c 's/(alike \&\& median < least)/(alike \&\& median > least)/' \
    'cli/bench_peer|cli/bench_suite'
defect "all of a steady turn is timed" cli/bench/interleave.c \
    's/while (clock_seconds() - start < seconds \/ 2)/while (false)/' 'cli/interleave'
defect "the first call of a block is timed" cli/bench/interleave.c \
    's/^        status = candidate_call(\&candidates\[i\]);$/        status = CLI_OK;/' \
    'cli/interleave|cli/bench_peer'
defect "a class has an arithmetic mean" cli/bench/class_summary.c \
    's/logs += log(ratio);/logs += ratio;/; s/exp(logs \/ (double)s.compared)/logs \/ (double)s.compared/' \
    'cli/class_summary|cli/bench_suite'
defect "the worst point is the best" cli/bench/class_summary.c 's/|| ratio < s.worst/|| ratio > s.worst/' \
    'cli/class_summary|cli/bench_suite'
defect "a goal just reached is missed" cli/bench/class_summary.c 's/value >= goal \* (1 - rounding)/value > goal * (1 + rounding)/' \
    'cli/class_summary|cli/bench_suite'
defect "slower peers count in a class" cli/bench/class_summary.c \
    's/strcmp(cell(rows, row, "peer_is_best"), "no") != 0/true/' \
    'cli/class_summary|cli/bench_suite'

# Files.
defect "raw bytes are guessed" cli/files/npy.c 's/else if (hint->wanted != 0 \&\& may_be(code, hint->wanted)) {/else if (1) {/' \
    'cli/files|cli/arrays_numpy'
defect "four-bit values are packed the other way round" cli/files/element.c \
    's/(src\[i\] \& 15) | (src\[i + 1\] \& 15) << 4/(src[i + 1] \& 15) | (src[i] \& 15) << 4/' \
    'cli/files|cli/arrays_numpy'
defect "Fortran's order is not seen" cli/files/npy.c 's/is_fortran ? TCGEMM_COL_MAJOR/is_fortran ? TCGEMM_ROW_MAJOR/' \
    'cli/files|cli/arrays_numpy'
defect "big-endian elements are taken as they are" cli/files/npy.c \
    "s/view->big_endian = order == '>' \&\& bits > 8;/view->big_endian = false;/" \
    'cli/files|cli/files_numpy'
defect "a file in the other order is not transposed" cli/commands/job.c \
    's/(matrix->order != order) != transposed ?/transposed ?/' \
    'cli/arrays_numpy|cli/results_numpy'
defect "cells with a comma have no quotes" cli/tables/table_writer.c 's/} else if (strpbrk(text, ",.*$/} else if (strpbrk(text, "\\n")) {/' \
    'cli/table_writer|cli/bench_rows'
defect "bf16 is written as f16" cli/files/npy.c 's/"<V2", ELEMENT_PLAIN/"<f2", ELEMENT_PLAIN/' 'cli/files|cli/arrays_numpy'
defect "bf16 is written as F16" cli/files/safetensors.c 's/{"F16", 16, TCGEMM_DTYPE_F16}/{"F16", 16, TCGEMM_DTYPE_BF16}/' \
    'cli/files|cli/files_numpy'
defect "an array of objects is refused for another reason" cli/files/npy.c "s/strchr(descr, 'O') != NULL/false/" \
    'cli/files|cli/arrays_numpy'
defect "a refusal has the types the wrong way round" cli/files/npy.c \
    's/tcgemm_dtype_name(view->dtype), tcgemm_dtype_name(hint->said));/tcgemm_dtype_name(hint->said), tcgemm_dtype_name(view->dtype));/' \
    'cli/files|cli/arrays_numpy'
defect "a vector is a row of B, too" cli/commands/job.c 's/^    if (b->num_dims == 1)$/    if (b->num_dims == 9)/' \
    'cli/job|cli/arrays_shapes'
defect "a batch of one is not shared" cli/commands/job.c \
    's/p->stride_b = b->batch == p->batch ? b->stride : 0;/p->stride_b = b->stride;/' \
    'cli/job|cli/arrays_shapes'
defect "Fortran's order of a batch is not seen" cli/files/matrix.c \
    's/if (view->num_dims == 3 \&\& view->order == TCGEMM_COL_MAJOR)/if (view->num_dims == 9)/' \
    'cli/files|cli/arrays_shapes'
defect "a C for all items stays one in place" cli/commands/job.c \
    's/p->stride_c = single \&\& !job->settings->in_place ? 0/p->stride_c = single ? 0/' \
    'cli/job|cli/arrays_shapes'
defect "a symmetric matrix is not mirrored" cli/files/mtx.c 's/^            if (symmetry != GENERAL)$/            if (symmetry == SKEW)/' \
    'cli/texts|cli/texts_numpy'
defect "separators may change" cli/files/text_rows.c 's/^    if (found != r->separator)$/    if (found < 0)/' \
    'cli/texts|cli/texts_numpy'
defect "whole numbers of a text are rounded" cli/files/text_scan.c 's/ || (long long)\*value != number)/)/' \
    'cli/texts|cli/texts_numpy'
defect "a file is replaced without --force" cli/files/matrix_save.c \
    's/^    if (!overwrite)$/    if (false)/; s/(overwrite ? rename(temp_path, path) : rename_without_replacing(temp_path, path))/rename(temp_path, path)/' \
    'cli/files|cli/output'

# Words.
defect "--beta is taken for --alpha" cli/options/option_table.c 's/AT(beta), 0, 0}/AT(alpha), 0, 0}/' \
    'cli/exit_status|cli/results_numpy'
defect "--trans-b is taken for --trans-a" cli/options/option_table.c 's/AT(trans_b), 0, 0}/AT(trans_a), 0, 0}/' \
    'cli/options|cli/arrays_numpy'
defect "a range multiplies where it should add" cli/support/sizes.c "s/const bool multiply = take(r, '\\*');/const bool multiply = !take(r, '*');/" \
    'cli/sizes|cli/bench'
defect "the seed is not heard" cli/support/random.c 's/mix(mix(seed)/mix(mix(seed \& 0)/' \
    'cli/random|cli/output'

# What of the library only the tool's tests would see.
defect "an H200 has 100 SMs" src/device/known_gpus.def '/h200/s/132/100/' \
    'unit/device/known_gpus|cli/explain'
defect "OMP_NUM_THREADS is not heard" src/host/threads.c \
    's/wanted_by_environment = threads_of_variable("OMP_NUM_THREADS");/wanted_by_environment = 0;/' \
    'cli/environment|cli/team_sizes'

# shellcheck disable=SC2154
exit "$status"
