#!/bin/sh
# mutation.sh - plants defects in a copy of the library, one at a time, and says which tests see them.
#
#     tests/mutation.sh [-a] [-k] [pattern]      all defects, or those whose name matches the pattern
#
# The suite is only worth something if a broken library does not pass it. Each defect is one sed edit
# of one file (an edit that changes nothing is an error), built in Release and run through the tests that
# it names, at the small level: through all of them with -a, or if fewer than two have seen it. Exit status
# 1 if fewer than two of all see it. Not part of CTest. -k keeps the build folder. Results: docs/testing.md.
set -u
folders='include src tests'
options='-DTCGEMM_BUILD_CLI=OFF -DTCGEMM_BUILD_EMULATOR=OFF'
tests='^(check/|amx/|unit/|api/api$)'
not_tests='fork|unit/ref|amx_code'
below=src/
. "$(dirname "$0")/support/mutation.sh"

defect "the last step of k is dropped" cpu/kernels/tile_tmpl.h \
    's/for (int64_t p = t->steps; p > 0; --p)/for (int64_t p = t->steps; p > 1; --p)/' \
    'unit/cpu/tile|api/api'
defect "one product is dropped, in one row, if k is long" cpu/kernels/tile_tmpl.h \
    's/^\( *\)sum\[i\]\[v\] = TILE_MAC/\1if (i != 1 || v != 0 || p != 7 || t->steps < 100)\n\1    sum[i][v] = TILE_MAC/' \
    'check/threads|check/precision'
defect "ld and number of rows are swapped for a transposed matrix" problem/check.c \
    's/\.col_stride = rows_are_lines ? 1 : s->ld,/.col_stride = rows_are_lines ? 1 : op == TCGEMM_OP_T ? s->lines : s->ld,/' \
    'unit/problem/check|check/semantics'
defect "C is read though beta = 0" problem/check.c \
    's/call->c = call->beta == 0.0 ? NULL : c;/call->c = c;/' \
    'unit/problem/check|api/api'
defect "C is read though alpha and beta are 0" problem/check.c \
    's/call->c = call->beta == 0.0 ? NULL : c;/call->c = call->beta == 0.0 \&\& call->alpha != 0.0 ? NULL : c;/' \
    'unit/problem/check|check/semantics'
defect "the last vector of B read in place is not masked" cpu/kernels/tile_tmpl.h \
    's/bv\[v\] = packed || way == WHOLE || v + 1 < nv/bv[v] = true/' \
    'unit/cpu/tile|check/memory'
defect "an edge of B read in place is taken for whole vectors" cpu/kernels/tile_tmpl.h \
    's/nv == TILE_NV && t->n == nv \* TILE_LANES/nv == TILE_NV/' \
    'unit/cpu/tile|check/memory'
defect "signs of s8 are not flipped in the last rows of an A that stays" cpu/kernels/tile_tmpl.h \
    's/TILE_PART_CASES(false, true)/TILE_PART_CASES(false, false)/' 'check/kernels|check/ways'
defect "signs of s8 are not flipped in small items that stay" cpu/gemm.c \
    's/x->tile.a_flip = stays ? /x->tile.a_flip = false ? /' 'check/kernels|check/ways'
defect "tiles below one another add the first rows of C" cpu/kernels/tile_tmpl.h \
    's/tile\.c = (const TILE_SCALAR \*)tile\.c + TILE_MR \* tile\.ldc/tile.c = tile.c/' \
    'unit/cpu/tile|check/kernels|check/semantics'
defect "the last element of a row that is stored in parts is not" cpu/kernels/avx2.c \
    's/^        memcpy(p, &last, sizeof last);/        (void)p;/' \
    'unit/cpu/tile|check/kernels'
defect "the last tile along the columns is as wide as the one before" cpu/gemm.c \
    's/is_last ? last.n\[is_second\] : x->u->nr/is_last ? last.n[0] : x->u->nr/' \
    'check/kernels|check/memory|check/semantics'
defect "a share of several panels lacks the last one" cpu/gemm.c \
    's/pack_groups(x, p, share \* p->share, min_i64((share + 1) \* p->share, num_groups(p)))/pack_groups(x, p, share * p->share, min_i64((share + 1) * p->share - (p->share > 1), num_groups(p)))/' \
    'check/threads|check/kernels'
defect "a unit whose B alone has a bf16 subnormal is taken for one without" cpu/gemm.c \
    's/is_special |= b->special\[(j - b->first)/is_special |= false \&\& b->special[(j - b->first)/' \
    'check/levels|amx/check_levels'
defect "the copy of B's panel lacks its last vector" cpu/kernels/tile_tmpl.h \
    's/way == COPYING && v < nv; ++v/way == COPYING \&\& v + 1 < nv; ++v/' \
    'unit/cpu/tile|check/threads'
defect "the panel that is copied has the columns of the one before" cpu/gemm.c \
    's/first.b = column_of_b(x, step, j, k);/first.b = column_of_b(x, step, j > 0 ? j - 1 : 0, k);/' \
    'check/threads|check/kernels'
defect "a unit's first tiles copy B's first rows again and again" cpu/gemm.c \
    's/first.b = column_of_b(x, step, j, k);/first.b = column_of_b(x, step, j, k > 0);/' \
    'check/caches'
defect "only the first panel of a unit is left by its tile" cpu/gemm.c \
    's/if (copies \&\& i == 0)/if (copies \&\& i == 0 \&\& j == own->j0)/' \
    'check/caches'
defect "of panels packed at once the second one is the first one again" cpu/kernels/pack_tmpl.h \
    's/source + (int64_t)i \* bytes + at, piece/source + at, piece/' \
    'unit/cpu/pack|check/threads'
defect "short vectors take the last bytes of a line one too early" cpu/kernels/avx2_dots.c \
    's/places + BYTES_AT_ONCE - (steps - p)/places + BYTES_AT_ONCE - 1 - (steps - p)/' \
    'unit/cpu/dots|check/kernels'
defect "short vectors do not undo the flip of u8" cpu/kernels/avx2_dots.c \
    's/lines, t->term\[row + i\])/lines, 0)/' \
    'unit/cpu/dots|check/kernels'
defect "short vectors across k begin anew after sixteen steps" cpu/kernels/avx2_dots.c \
    's/sum\[v\] = t->resumes ?/sum[v] = t->resumes \&\& t->width > 16 ?/' \
    'unit/cpu/lanes|check/kernels'
defect "short vectors take the first lines of a short piece for all of it" cpu/kernels/avx2_dots.c \
    's/some_bytes(one + l, left - l)/some_bytes(one, left - l)/' \
    'unit/cpu/lanes|check/kernels'
defect "odd k: A is padded with zero, B with what was there" cpu/kernels/pack_tmpl.h \
    's/if (count & 1)$/if ((count \& 1) \&\& width <= 8)/' \
    'unit/cpu/pack|check/kernels'
defect "a panel of A that lacks lines lacks one more" cpu/kernels/pack_tmpl.h \
    's/~(__mmask32)0 >> (32 - count)/~(__mmask32)0 >> (32 - count + (count % 8 > 1))/' \
    'unit/cpu/pack|check/levels'
defect "a panel of B that lacks columns lacks one more" cpu/kernels/pack_tmpl.h \
    's/_mm256_maskz_loadu_epi16(TCGEMM_SOME_OF_16(count), source)/_mm256_maskz_loadu_epi16(TCGEMM_SOME_OF_16(count - 1), source)/' \
    'unit/cpu/pack|check/levels'
defect "missing lines of a panel are not cleared" cpu/kernels/pack_tmpl.h \
    's/^    if (lines == width)$/    if (lines > 0)/' \
    'unit/cpu/pack|amx/unit_cpu_pack|check/semantics'
defect "one vector too many is read at the end of C" cpu/kernels/tile_tmpl.h \
    's/TILE_GET(c, mask), result/TILE_GET(c, TILE_TAIL(TILE_LANES)), result/' \
    'unit/cpu/tile|check/memory|amx/unit_cpu_tile'
defect "one vector too many is written at the end of D" cpu/kernels/tile_tmpl.h \
    's/TILE_PUT(d, mask, result)/TILE_PUT(d, TILE_TAIL(TILE_LANES), result)/' \
    'unit/cpu/tile|api/api'
defect "f32 inputs are rounded to tf32" cpu/packing.c \
    's/\.round_to_tf32 = g->type->type == TCGEMM_TF32_F32/.round_to_tf32 = g->type->type == TCGEMM_TF32_F32 || g->type->type == TCGEMM_F32_F32/' \
    'check/memory|check/precision'
defect "offsets are cut to 32 bits" cpu/panel.h \
    's/return (char \*)(uintptr_t)base + index \* bytes;/return (char *)(uintptr_t)base + (int32_t)(index * bytes);/' \
    'api/api|check/memory'
defect "bf16 results are truncated" base/dtype.h \
    's/const uint32_t rounded = bits + 0x7FFFu + ((bits >> 16) & 1u);/const uint32_t rounded = bits;/' \
    'unit/base/dtype|check/semantics'
defect "f16 results are truncated" cpu/kernels/finish_tmpl.h \
    's/_MM_FROUND_TO_NEAREST_INT/_MM_FROUND_TO_ZERO/' \
    'check/semantics|check/precision|check/memory|check/kernels'
defect "beta is taken for 1" cpu/gemm.c \
    's/const double beta = step->block.first ? step->item.beta : 1.0;/const double beta = 1.0;/' \
    'check/semantics|check/memory|check/precision'
defect "beta is applied at each step of k" cpu/gemm.c \
    's/const double beta = step->block.first ? step->item.beta : 1.0;/const double beta = step->item.beta;/' \
    'check/precision|check/kernels'
defect "the term of signed A has the wrong sign" cpu/packing.c \
    's/: 0u - signs->za,/: signs->za,/' \
    'check/semantics|check/memory|check/precision'
defect "rows that stay where they are: subnormals are looked for in the first panel alone" cpu/gemm.c \
    's/take_rows(x, p, group, NULL)/take_rows(x, p, 0, NULL)/' 'check/levels'
defect "rows that stay where they are lie as many lanes apart as elements" cpu/gemm.c \
    's|row_stride / (x->a_stays ? x->u->ku : 1)|row_stride|' 'check/levels'
defect "the terms of few rows of bytes are those of lines that were not flipped" cpu/dots.c \
    's/!widens ? 0u - 128u : 128u/!widens ? 128u : 0u - 128u/' 'check/levels'
defect "few rows of bytes: the last bytes of a line are taken whole" cpu/kernels/avx512_vnni.c \
    's/((__mmask64)1 << (t->steps - p)) - 1/~(__mmask64)0/' 'check/memory|check/levels'
defect "few rows of bytes: beyond the last line D is written" cpu/kernels/avx512_vnni.c \
    's/const int num_lines = (int)min_i64(lines, t->num_lines - first);/const int num_lines = lines;/' 'check/memory|check/levels'
defect "few rows of bytes: all rows have the term of the first one" cpu/kernels/avx512_vnni.c \
    's/(int)t->term\[first_row + i\]/(int)t->term[first_row]/' 'check/levels|check/ways'
defect "lanes of k: a piece of a row of D is whole where lines are missing" cpu/kernels/inner_tmpl.h \
    's/ \&\& some_lines == lines;/;/' 'check/memory|check/levels'
defect "lanes of k: a piece of a row of D is stored without alpha" cpu/kernels/inner_tmpl.h \
    's/ \&\& t->alpha.DOTS_FIELD == 1//' 'check/levels|check/kernels'
defect "few rows: of the last steps of k one is left out" cpu/kernels/dots_tmpl.h \
    's/for (int s = 0; s < count; ++s) {/for (int s = count > 1; s < count; ++s) {/' 'check/levels|check/kernels|check/precision'
defect "few rows: in a crowd the lines that lag behind end too early" cpu/kernels/dots_tmpl.h \
    's/for (int64_t p = 0; p < whole + LAG; p += BURST)/for (int64_t p = 0; p < whole; p += BURST)/' \
    'unit/cpu/dots|amx/unit_cpu_dots'
defect "few rows: an element beyond the last of a line is read" cpu/kernels/avx512_transpose.h \
    's/(__mmask16)((1u << n) - 1u), line/(__mmask16)((2u << n) - 1u), line/' 'check/memory'
defect "few rows of pairs: subnormals of lines are taken for zero" cpu/kernels/avx512_lanes.c \
    's/!is_subnormal(least)/true/' 'unit/cpu/dots|unit/cpu/lanes|check/levels|check/semantics'
defect "few rows in lanes: an odd last element is left out" cpu/kernels/avx512_lanes.c \
    's/(int)(bytes + 3) \/ 4/(int)bytes \/ 4/' 'unit/cpu/dots|check/levels|check/kernels'
defect "rows beside lines: an element beyond the last of a line is read" cpu/kernels/dots_tmpl.h \
    's/LINE_SOME(line\[l\] + p + q, count - q)/LINE_LOAD(line[l] + p + q)/' 'check/memory|unit/cpu/dots'
defect "rows beside lines: a single last step is left out" cpu/kernels/dots_tmpl.h \
    's/    if (p < t->steps) {/    if (p + 1 < t->steps) {/' 'unit/cpu/dots|amx/unit_cpu_dots'
defect "rows beside lanes: an odd last element is left out" cpu/kernels/avx512_lanes.c \
    's/(int)(end - p + 3) \/ 4/(int)(end - p) \/ 4/' 'check/levels|unit/cpu/dots'
defect "rows beside lanes: only eight of sixteen lines are multiplied" cpu/kernels/avx512_lanes.c \
    's/sums_beside_lines(t, line + l, lane/sums_beside_lines(t, line, lane/' 'check/levels|unit/cpu/dots'
defect "lines across k in lanes: a missing last row is the one behind it" cpu/kernels/avx512_lanes.c \
    's/k + i \/ parts < t->steps ? left/k < t->steps ? left/' 'unit/cpu/lanes|check/memory'
defect "lines across k in lanes: sums are stored in the order of the lanes" cpu/kernels/avx512_lanes.c \
    's/transpose_quarters(sums, 1);/;/' 'unit/cpu/lanes|check/levels'
defect "few rows of tf32: lines are not rounded" cpu/kernels/dots_f32_tmpl.h \
    's/TF32_OF_FLOATS(DOTS_GET(p))/DOTS_GET(p)/' 'unit/cpu/dots|check/levels|check/kernels'
defect "few rows of tf32: NaN is rounded" cpu/kernels/avx2_dots.c \
    's/_mm256_blendv_ps(_mm256_castsi256_ps(rounded), x,/_mm256_blendv_ps(_mm256_castsi256_ps(rounded), _mm256_castsi256_ps(rounded),/' 'unit/cpu/dots'
defect "one row of tf32 is its own panel" cpu/dots.c \
    's/if (g->type->type == TCGEMM_TF32_F32 ||/if (/' 'check/levels|check/prepack'
defect "tiles along rows of D: each has the first rows of A" cpu/gemm.c \
    's/a += some \* g->a.row_stride \* bytes;/(void)a;/' 'check/kernels|check/levels'
defect "D's transposed: the last columns of it are the first ones again" cpu/gemm.c \
    's/tile.b = a + i \* bytes;/tile.b = a;/' 'check/kernels|check/levels'
defect "D's transposed: a C is forgotten" cpu/gemm.c \
    's/plan->cpu.small_turned \&\& !call->c;/plan->cpu.small_turned;/' 'check/kernels|check/levels'
defect "D's transposed: alpha is counted twice" cpu/gemm.c \
    's/set_scalars(g, 1.0, 0.0, \&tile);/set_scalars(g, x->call->alpha, 0.0, \&tile);/' 'check/kernels|check/levels'
defect "sixteen lines turned at once: the third quarter is the second one" cpu/kernels/turn.h \
    's/_mm512_extractf32x4_ps(x\[w\], 2)/_mm512_extractf32x4_ps(x[w], 1)/' 'unit/cpu/dots|check/levels'
defect "rows of B with gaps are their own panel" cpu/dots.c \
    's/line_stride == 1 \&\& k_stride == few;/line_stride == 1;/' 'check/kernels|check/levels'
defect "parts of vectors: the last lines begin behind the others" cpu/kernels/parts_tmpl.h \
    's/(int)min_i64(first, t->num_lines - at_once)/first/' 'unit/cpu/dots|check/levels'
defect "parts of vectors: D with gaps is written without" cpu/kernels/parts_tmpl.h \
    's/t->d_line == width \&\& t->num_rows/t->num_rows/' 'unit/cpu/dots|check/levels'
defect "parts of vectors: C is that of other lines" cpu/kernels/parts_tmpl.h \
    's/olds\[(l - from) \* width + i\]/olds[(l - first) * width + i]/' 'unit/cpu/dots|check/levels'
defect "parts of vectors: the last steps have no end" cpu/kernels/parts_tmpl.h \
    's/            if (s < count)$/            if (count > 0)/' 'unit/cpu/dots|check/levels'
defect "lanes of k: an element beyond the last of a line is read" cpu/kernels/inner_tmpl.h \
    's/LINE_SOME(line\[l\] + p, left)/LINE_LOAD(line[l] + p)/' 'unit/cpu/dots|check/memory'
defect "lanes of k: the last rows are left out" cpu/kernels/inner_tmpl.h \
    's/rows; passes > 0;/rows; passes > 1;/' 'unit/cpu/dots|check/ways'
defect "lanes of k: the last lines are four where they are five" cpu/kernels/inner_tmpl.h \
    's/t->num_lines - first <= 4/t->num_lines - first <= 5/' 'unit/cpu/dots|check/ways'
defect "lanes of k: numbers across it become rows without their begin" cpu/dots.c \
    's/\.d = number_of_x(run, 0, k)/.d = number_of_x(run, 0, 0)/' 'check/kernels|check/ways'
defect "lanes of k: rows that lie across it begin with those before" cpu/dots.c \
    's/gather_words(panel + i, WIDTH, part.k, number/gather_words(panel, WIDTH, part.k, number/' 'check/kernels|check/levels'
defect "few rows of a batch: all items read the first B" cpu/dots.c \
    's/tcgemm_element_at(call->b, item \* g->b.batch_stride/tcgemm_element_at(call->b, 0 * g->b.batch_stride/' \
    'check/kernels|check/levels|check/epilogue'
defect "few columns: the third of three is not stored" cpu/kernels/turn.h \
    's/if (rows == 3)/if (rows == 9)/' 'unit/cpu/dots|check/kernels'
defect "tall products: all rows are the first ones" cpu/gemm.c \
    's/ + x->row \* g->a.row_stride;/;/' 'check/levels|check/kernels'
defect "4-bit numbers: the first one is always the low half of a byte" cpu/kernels/convert.h \
    's/((element \& 1) \* 4)/0/' 'unit/cpu/pack|check/kernels'
defect "few rows of bytes across k: terms are those of the last elements alone" cpu/dots.c \
    's/all_terms\[row + i\] += /all_terms[row + i] = /' 'check/levels|check/ways'
defect "few rows of bytes across k: what lies behind k is not cleared" cpu/dots.c \
    's/if (end == run->whole.steps)/if (end < run->whole.steps)/' 'check/ways|check/kernels'
defect "a row of signed bytes is summed as u8" cpu/kernels/pack_tmpl.h \
    's/const uint8_t sign = is_signed ? 0x80 : 0;/const uint8_t sign = is_signed ? 0 : 0;/' 'check/levels|check/ways'
defect "four rows of bytes that are columns of D: two lines change places" cpu/kernels/avx512_vnni.c \
    's/_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13,/_mm512_setr_epi32(1, 5, 9, 13, 0, 4, 8, 12,/' \
    'unit/cpu/dots|check/ways'
defect "rows of pairs of bf16 lie as far apart as they have elements" cpu/gemm.c \
    's/x->a_is_rows      ? tcgemm_panel_steps(step->block.ks, x->u->ku)/x->a_is_rows      ? step->block.ks/' 'check/levels|check/kernels'
defect "panels converted at once: later rows of k overwrite the first ones" cpu/kernels/pack_tmpl.h \
    's/out + p \* step_bytes, pack->k \* step_bytes/out, pack->k * step_bytes/' 'unit/cpu/pack|check/levels|check/kernels'
defect "few rows of quads: an item of x has no terms" cpu/dots.c \
    's/int64_t i = each; i < items_of_x(run)/int64_t i = 2 * each; i < items_of_x(run)/' 'check/levels|check/prepack'
defect "bf16 subnormals are not noticed" cpu/kernels/convert.h \
    's/subnormal |= (unsigned)((uint16_t)/subnormal |= 0u \& (unsigned)((uint16_t)/' \
    'unit/cpu/pack|amx/unit_cpu_pack|check/semantics'
defect "fp8: a subnormal is half of what it is" cpu/kernels/fp8_rows.h \
    's/^     : (i) == 1    ? 0x3B00 /     : (i) == 1    ? 0x3A80 /' 'unit/cpu/pack|check/levels|check/kernels'
defect "fp8: one number too many is none, with AVX2" cpu/kernels/fp8_rows.h \
    's/is_e4m3 ? 0x7E : 0x7B/is_e4m3 ? 0x7D : 0x7B/' 'check/precision|check/semantics'
defect "fp8: lines of one format are read as the other" cpu/kernels/dots_f32_tmpl.h \
    's/(t->dtype == TCGEMM_DTYPE_E4M3)/(t->dtype != TCGEMM_DTYPE_E4M3)/' 'check/levels|check/kernels|check/threads'
defect "panels of A that are packed together all begin at the first step" cpu/gemm.c \
    's/part.origin = p->pack.origin + k \* p->pack.k_stride;/part.origin = p->pack.origin;/' \
    'check/levels|amx/check_levels'
defect "k is cut by the number of threads" cpu/model.c \
    's/^    plan->num_threads = threads;/    plan->cpu.kc = even_part(plan->g.k, plan->kernel->cpu->kc \/ (threads > 1 ? 2 : 1), plan->kernel->cpu->ku);\n    plan->num_threads = threads;/' \
    'unit/plan/planner|check/threads'
defect "a phase ends before its last item is done" host/pool.c \
    's/if (atomic_fetch_sub(&pool.undone, 1) == 1)/if (atomic_fetch_sub(\&pool.undone, 1) == (pool.count > 1 ? 2 : 1))/' \
    'unit/host/pool_threads|check/threads'
defect "A's panels of a row of units are those of the first row" cpu/gemm.c \
    's/panel = at.row \/ a.width; panel < a.count/panel = 0; panel < a.count - at.row \/ a.width/; s/^    a.base = at.row;$/    a.base = 0;/' \
    'check/threads|check/prepack|check/kernels|check/levels'
defect "rows of f32: all panels have the first rows" cpu/gemm.c 's/take_rows(x, p, i, panel)/take_rows(x, p, 0, panel)/' \
    'check/kernels|check/levels|check/precision'
defect "rows of f32 are read as panels" cpu/gemm.c 's/^    return reads_rows_of_a(x) && x->u->strided ?/    return x->a_stays \&\& x->u->strided ?/' \
    'check/kernels|check/levels|check/precision'
defect "terms of a panel are those of the steps packed last" cpu/gemm.c \
    's/part->adds_terms = true;/part->adds_terms = false;/' 'check/levels|check/prepack'
defect "lines along k, 16 at a time: the last steps are not theirs" cpu/kernels/pack_tmpl.h \
    's/load_some_f32(at, q, some, r)/load_some_f32(at, some < 16 ? 0 : q, some, r)/' \
    'unit/cpu/pack|check/kernels|check/levels'
defect "eight lines of f64 along k: one step of the last ones is left out" cpu/kernels/pack_tmpl.h \
    's/load_some_f64(rows + line, q, some, r)/load_some_f64(rows + line, q, some < 8 ? some - 1 : some, r)/' \
    'unit/cpu/pack|check/kernels|check/levels'
defect "16 lines of bf16 along k: subnormals are overlooked" cpu/kernels/pack_tmpl.h \
    's/^            least = least_bf16(least, x);/            least = _mm512_set1_epi16(-1);/' \
    'unit/cpu/pack|check/kernels|check/levels'
defect "panels of bf16 packed at once: subnormals of a last step are overlooked" cpu/kernels/pack_tmpl.h \
    's/least = least_bf16(least_bf16(least, low), high);/least = least_bf16(least, low);/' \
    'unit/cpu/pack|check/kernels|check/levels'
defect "panels of bytes packed at once: terms of the second are those of the third" cpu/kernels/pack_tmpl.h \
    's/put_panels(sum\[2\], sum\[3\], 1, 2, panels/put_panels(sum[0], sum[1], 1, 2, panels/' \
    'unit/cpu/pack|check/kernels|check/levels'
defect "panels packed at once: none is asked for its subnormals" cpu/gemm.c \
    's/^    if (u->pack(.* in which one? .*$/    if (u->pack(pack, first, (int)panels * u->mr, u->mr, to, terms) \&\& false)/' \
    'check/kernels|check/levels|check/semantics'
defect "bytes side by side: of the last rows none is flipped" cpu/kernels/pack_tmpl.h \
    's/x = _mm512_maskz_xor_epi32(some, x, .*/x = rows == 4 ? _mm512_xor_si512(x, _mm512_set1_epi32((int)flips)) : _mm512_maskz_mov_epi32(some, x);/' \
    'check/kernels|check/levels'
defect "bytes along k: steps beyond fours are in no sum" cpu/kernels/pack_tmpl.h \
    's/^    for (; q < steps; ++q) {$/    if (quads)\n        quads->has_sums = false;\n&/' \
    'check/kernels|check/levels'
defect "pairs of bytes side by side: an odd last row has the one behind it" cpu/kernels/pack_tmpl.h \
    's/const bool has_two = p + 1 < k;/const bool has_two = p < k;/' 'unit/cpu/pack|check/kernels'
defect "terms of columns stay where they were while tiles go on" cpu/gemm.c \
    's/tile->col_term += by->terms;/tile->col_term += 0 * by->terms;/' \
    'check/kernels|check/levels|check/semantics'
defect "C stays where it was while tiles go on" cpu/gemm.c \
    's/tile->c = (const char \*)tile->c + by->c;/tile->c = (const char *)tile->c + 0 * by->c;/' \
    'check/kernels|check/levels|check/precision'
defect "panels are packed over those in use" cpu/gemm.c \
    's/^    x->a_buffer ^= 1;//' \
    'unit/cpu/overlap_threads|check/threads'
defect "panels of B are packed over those in use" cpu/gemm.c \
    's/^        x->b_buffer ^= 1;/        x->b_buffer ^= 0;/' \
    'unit/cpu/overlap_threads|check/threads'
defect "tiles begin anew where they were to go on" cpu/kernels/amx.c \
    's/^        load_sums(t->partial, SUMS_PITCH);/        zero_sums();/' \
    'check/levels|amx/check_levels'
defect "late subnormals are forgotten" cpu/gemm.c \
    's/own->is_special\[j\] |= b.special\[j\];/own->is_special[j] |= b.special[j] \&\& k == 0;/' \
    'check/levels|amx/check_levels'
defect "narrow results do not wait for tiles with late subnormals" cpu/gemm.c \
    's/    for (int64_t k = 0; k < ks \&\& is_special; k += kb) {/    if (!x->plan->cpu.direct_output) is_special = false;\n&/' \
    'check/levels|amx/check_levels'
defect "the bias of a product in columns lies along its rows" problem/check.c \
    's/\.is_of_rows = g->swapped/.is_of_rows = false/' 'check/epilogue|amx/check_epilogue'
defect "the bias of a block begins with D" cpu/gemm.c \
    's/tcgemm_epilogue_at(&step->item.epilogue, bytes, row, col)/tcgemm_epilogue_at(\&step->item.epilogue, bytes, i, j)/' \
    'check/epilogue|amx/check_epilogue'
defect "D is finished at each step of k" cpu/gemm.c \
    's/if (is_done || !step->block.last)/if (is_done)/' 'check/epilogue|amx/check_epilogue'
defect "one column that is written as a row has its bias by columns" cpu/dots.c \
    's/finish.epilogue.is_of_rows ^= is_turned;/(void)is_turned;/' 'check/epilogue|amx/check_epilogue'
defect "narrow results: each 64 columns have the bias of the first" cpu/kernels/epilogue_tmpl.h \
    's/e->is_of_rows ? i : j + at/e->is_of_rows ? i : at/' 'check/epilogue|amx/check_epilogue'
defect "the last elements of a row are not activated" cpu/kernels/epilogue_tmpl.h \
    's/if (j < count) {  /if (j < 0) {  /' 'check/epilogue|unit/cpu/activation'
defect "gelu: far below zero nothing is left" cpu/kernels/epilogue_tmpl.h \
    's/at_most_f32(abs_f32(x), 14.0F)/at_most_f32(abs_f32(x), 4.0F)/' 'check/epilogue|unit/cpu/activation'
defect "D without a product has no bias" cpu/scale.c \
    's/x += e->bias ? tcgemm_load_float(dtype, e->bias, at) : 0.0;/x += 0.0;/' 'check/epilogue|amx/check_epilogue'
defect "items of a batch start at the first item" cpu/gemm.c \
    's/step->b_offset = item \* g->b.batch_stride;/step->b_offset = 0;/' \
    'check/memory|check/threads'

defect "small items of a batch all read the first B" cpu/gemm.c \
    's/element_at(call->b, item \* g->b.batch_stride, u->lane_bytes)/element_at(call->b, 0, u->lane_bytes)/' \
    'check/kernels|check/memory'

defect "matrix tiles: the last of four products takes the wrong half of B" cpu/kernels/amx.c \
    's/DOT(kind, 3, 5, 7);/DOT(kind, 3, 5, 6);/' 'amx/unit_cpu_tile|amx/check_kernels|amx/check_precision'
defect "matrix tiles: signed by unsigned is taken for unsigned by signed" cpu/kernels/amx.c \
    's/^        tile(t, S8U8);/        tile(t, U8S8);/' 'amx/unit_cpu_tile|amx/check_kernels|amx/check_precision'
defect "matrix tiles: f16 are taken for bf16" cpu/kernels/amx.c \
    's/^    tile(t, F16);/    tile(t, BF16);/' 'amx/unit_cpu_tile|amx/check_kernels|amx/check_precision'
defect "matrix tiles: the second half of rows in place is that of a panel" cpu/kernels/amx.c \
    's/AMX_LOAD(5, a + 16 \* a_pitch, a_pitch);/AMX_LOAD(5, a + 1024, a_pitch);/' 'amx/check_levels|amx/check_precision'
defect "matrix tiles: rows in place are not looked at for subnormals" cpu/kernels/amx.c \
    's/            note_subnormals(&x, &found);/            (void)x;/' 'amx/check_levels|amx/unit_cpu_pack'
defect "who packs both operands takes A of the first unit" cpu/gemm.c \
    's/    own.block.row += at.row;/    own.block.row += 0;/' 'amx/check_levels|amx/check_threads'
defect "who packs both operands packs B for its first unit alone" cpu/gemm.c \
    's/if (last < 0 || before.col != at.col)/if (last < 0)/' 'amx/check_levels|check/threads'
defect "who packs both operands packs where another thread does" cpu/gemm.c \
    's/    own.buffers.a += rows \* line_bytes;/    own.buffers.a += 0;/' 'amx/check_levels|amx/check_threads'
defect "matrix tiles: f16 of few rows are taken for bf16" cpu/kernels/amx_dots.h \
    's/multiply_groups(t, F16);/multiply_groups(t, BF16);/' 'amx/unit_cpu_dots|amx/check_levels'
defect "matrix tiles: the signs of few rows of bytes are those of the lines" cpu/kernels/amx_dots.h \
    's/are_lines_signed \&\& t->x_is_signed/are_lines_signed/' 'amx/unit_cpu_dots|amx/check_levels'
defect "matrix tiles: few rows do not look at lines for subnormals" cpu/kernels/amx_dots.h \
    's/note_subnormals(&line, found);/(void)found;/' 'amx/unit_cpu_dots|amx/check_levels'
defect "matrix tiles: sums of earlier steps of k are lost at the edge of D" cpu/kernels/amx.c \
    's/^    load_sums(sums, SUMS_PITCH);/    zero_sums();/' \
    'check/levels|amx/check_levels'
defect "matrix tiles: subnormals are not noticed" cpu/kernels/pack_amx_tmpl.h \
    's/\*found |= (halves_t)/*found |= 0 * (halves_t)/' \
    'unit/cpu/pack|amx/unit_cpu_pack|check/semantics'

# Defects of GPU kernels: kernel_mutation.sh.
defect "the lanes of a panel are off by one step" cpu/panel.h \
    's/return line \* steps \* lane_bytes;/return line * (steps + 1) * lane_bytes;/' \
    'unit/cpu/panel|check/semantics'

exit $status
