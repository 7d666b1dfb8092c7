/* option_table.c - the commands and options themselves. Adding an option is adding a row. */
#include "options/options.h"
#include "tcgemm/tcgemm.h"

const command_t command_table[NUM_COMMANDS] = {
    [COMMAND_RUN] =
        {"run", "[A B]", "multiply two matrices and prove the result",
         "Multiplies two matrices from files, or random ones of the sizes given by -m, -n and -k, "
         "verifies the result and reports what was done (eOPS: multiplications and additions, "
         "counted one by one). A and B are .npy files, arrays of .npz files "
         "or tensors of .safetensors files, written FILE:NAME, Matrix Market arrays (.mtx) or rows "
         "of numbers (.csv, .tsv, .txt). Arrays multiply as in NumPy: one of one "
         "dimension is a row of A or a column of B, one of three is a batch, for which a single "
         "matrix serves as a whole. Raw bytes of ml_dtypes need a word for what "
         "they are: FILE.npy:int4. - is the standard input. The type follows from the files unless "
         "--type "
         "is given; then elements are converted, to nearest, ties to even.",
         "tcgemm run A.npy B.npy -o D.npy  # real matrices\n"
         "tcgemm run w.safetensors:layer.weight x.npy -o y.npy --trans-b --type bf16_f32"
         "  # a tensor\n"
         "tcgemm run model.npz:w x.csv --type f32_f32  # an array of several, rows of numbers\n"
         "tcgemm run - B.npy -o - --quiet < A.npy > D.npy  # between pipes\n"
         "tcgemm run -m 1000 -n 1001 -k 999 --type s8_s32 --trans-b --beta 3  # random data\n"
         "tcgemm run -m 3 -n 4 -k 5 --type u8_s32 --print python  # to paste into Python\n"},
    [COMMAND_VERIFY] =
        {"verify", "", "check every kernel against the reference",
         "Runs every kernel that this machine can run, on every type it does, through transposes, "
         "orders, sizes around its tile, scalars, padded leading dimensions, batches and in-place "
         "results, and compares each element with the reference. Prints one line that reproduces "
         "each failure.",
         "tcgemm verify --quick  # a few seconds\n"
         "tcgemm verify --full --type bf16_f32  # everything, for one type\n"
         "tcgemm verify --device 0 --full  # the kernels of a GPU\n"},
    [COMMAND_BENCH] =
        {"bench", "", "measure speed, alone or beside a peer",
         "Times products of random data. Candidates run in turns (A B A B), so that a change of "
         "clock or load meets them alike. The first result of every shape is verified; a wrong "
         "kernel is not timed. Sizes are lists and ranges: 64,128  128:1024:128  128:4096:*2.",
         "tcgemm bench --type f32_f32 --shape 256:2048:*2 --vs openblas  # cubes\n"
         "tcgemm bench --type bf16_f32,s8_s32 --shape 1024 --vs f32  # against our own f32\n"
         "tcgemm bench --type f32_f32 --shapes shapes.txt --csv out.csv  # a file of shapes\n"
         "tcgemm bench --type f32_f32 --shapes shapes.txt --resume out.csv  # and on after Ctrl-C\n"
         "tcgemm bench --device 0 --type f16_f32 --shape 8192 --vs cublaslt  # on a GPU\n"
         "tcgemm bench --suite h200 --vs cublaslt --csv h200.csv  # a line for each class\n"
         "tcgemm bench --suite cpu --threads 1 --vs openblas,onednn --csv cpu.csv  # several "
         "peers\n"
         "tcgemm bench --shape 64:2048:*2 --vs openblas --plot out.svg  # throughput over size\n"
         "tcgemm bench -m 512 -n 512 -k 64:8192:*2 --plot out.html  # over k\n"},
    [COMMAND_PLOT] =
        {"plot", "FILE...", "draw what bench has measured",
         "Draws the tables that bench --csv has written, without measuring again: throughput over "
         "size, over k, by kernel and tile, beside a peer, or as a roofline, whichever suits what "
         "varies in them. --type, --algo, --kernel, --shape, --class and --threads choose among "
         "their "
         "rows. Needs gnuplot.",
         "tcgemm plot sizes.csv -o sizes.svg  # what suits the table\n"
         "tcgemm plot a.csv b.csv --algo wmma-shared --plot-kind roofline -o roof.html  # "
         "chosen\n"},
    [COMMAND_EXPLAIN] =
        {"explain", "[M N K]", "show what a product does on a machine",
         "Shows for the plan that would run: the work, the peak and the memory's roof, the "
         "hierarchy of tiles and how often each element is read, occupancy, padding, balance, the "
         "predicted time and the next best kernels. --gpu explains a GPU that need not be here; "
         "--html "
         "and --svg draw it.",
         "tcgemm explain 8192 8192 8192 --type bf16_f32 --gpu h200 --html h200.html  # a page\n"
         "tcgemm explain 200 300 100 --type f16_f32 --gpu h200 --simulate  # on the CPU\n"
         "tcgemm explain 10000 10000 10000 --type s8_s32 --gpu orin\n"
         "tcgemm explain 1000 1001 999 --type f64_f64 --json  # on this machine\n"},
    [COMMAND_INFO] = {"info", "", "show this machine",
                      "Shows the processor, its caches, the GPUs, and for each type the peak speed "
                      "in theory and as measured.",
                      "tcgemm info --json  # for a bug report\n"},
    [COMMAND_LIST] = {"list", "", "list the kernels",
                      "Lists the kernel table: name, family, device, instruction set, tile (of "
                      "registers; for a GPU of a block), types, and whether it runs here.",
                      "tcgemm list --format md\n"},
};

const char *const option_group_titles[NUM_GROUPS] = {
    [GROUP_PROBLEM] = "What to multiply: D = alpha * op(A) * op(B) + beta * C",
    [GROUP_METHOD] = "How to multiply",
    [GROUP_MEASURE] = "How to measure",
    [GROUP_CHECK] = "How to check",
    [GROUP_OUTPUT] = "What to write",
    [GROUP_HELP] = "Help",
};

#define RUN           (1u << COMMAND_RUN)
#define VERIFY        (1u << COMMAND_VERIFY)
#define BENCH         (1u << COMMAND_BENCH)
#define EXPLAIN       (1u << COMMAND_EXPLAIN)
#define INFO          (1u << COMMAND_INFO)
#define LIST          (1u << COMMAND_LIST)
#define PLOT          (1u << COMMAND_PLOT)
#define TABLES        (RUN | VERIFY | BENCH | EXPLAIN | INFO | LIST)
#define ALL           (TABLES | PLOT)
#define AT(x)         offsetof(settings_t, x)
#define NOWHERE       0, 0, 0
#define ELEMENT_WORDS "bf16|e4m3|e5m2|int4|uint4"

const option_row_t option_table[] = {
    {"m", 'm', OPTION_TEXT, "SIZE", GROUP_PROBLEM, RUN | BENCH | EXPLAIN,
     "rows of op(A), C and D (bench: a list)", NULL, AT(m), 0, 0},
    {"n", 'n', OPTION_TEXT, "SIZE", GROUP_PROBLEM, RUN | BENCH | EXPLAIN,
     "columns of op(B), C and D (bench: a list)", NULL, AT(n), 0, 0},
    {"k", 'k', OPTION_TEXT, "SIZE", GROUP_PROBLEM, RUN | BENCH | EXPLAIN,
     "columns of op(A), rows of op(B) (bench: a list)", NULL, AT(k), 0, 0},
    {"shape", 0, OPTION_TEXT, "MxNxK", GROUP_PROBLEM, RUN | BENCH | EXPLAIN | PLOT,
     "the three sizes in one word; one number is a cube (bench, plot: a list)", NULL, AT(shape), 0,
     0},
    {"shapes", 0, OPTION_TEXT, "FILE", GROUP_PROBLEM, BENCH,
     "one problem a line: [NN|NT|TN|TT,]m,n,k or MxNxK; # starts a comment", "@file", AT(shapes), 0,
     0},
    {"suite", 0, OPTION_TEXT, "NAME", GROUP_PROBLEM, BENCH,
     "the classes of problems of h200 or cpu, or of your own FILE, each judged by its goal; --type "
     "and "
     "--threads choose among them",
     "h200|cpu", AT(suite), 0, 0},
    {"class", 0, OPTION_TEXT, "NAMES", GROUP_PROBLEM, BENCH | PLOT,
     "of the suite these classes alone: a list", NULL, AT(classes), 0, 0},
    {"type", 't', OPTION_TEXT, "TYPE", GROUP_PROBLEM, RUN,
     "types of the inputs and the output, such as bf16_f32 (default: what the files hold, or "
     "f32_f32)",
     "@type", AT(type), 0, 0},
    {"type", 't', OPTION_TEXT, "TYPE", GROUP_PROBLEM, EXPLAIN,
     "types of the inputs and the output, such as bf16_f32 (default: f32_f32)", "@type", AT(type),
     0, 0},
    {"type", 't', OPTION_TEXT, "TYPES", GROUP_PROBLEM, BENCH,
     "types of the inputs and the output, such as bf16_f32: a list, or all (default: f32_f32)",
     "@type", AT(type), 0, 0},
    {"type", 't', OPTION_TEXT, "TYPES", GROUP_PROBLEM, VERIFY | LIST | INFO | PLOT,
     "types of the inputs and the output, such as bf16_f32: a list (default: all)", "@type",
     AT(type), 0, 0},
    {"trans-a", 0, OPTION_FLAG, NULL, GROUP_PROBLEM, RUN | BENCH | EXPLAIN, "op(A) = A^T", NULL,
     AT(trans_a), 0, 0},
    {"trans-b", 0, OPTION_FLAG, NULL, GROUP_PROBLEM, RUN | BENCH | EXPLAIN, "op(B) = B^T", NULL,
     AT(trans_b), 0, 0},
    {"order", 0, OPTION_CHOICE, "ORDER", GROUP_PROBLEM, RUN | BENCH | EXPLAIN,
     "how D is stored (and random A, B, C): row or col (default: row)", "row|col", AT(order), 0, 0},
    {"alpha", 0, OPTION_NUMBER, "X", GROUP_PROBLEM, RUN | BENCH | EXPLAIN,
     "factor of the product "
     "(default: 1)",
     NULL, AT(alpha), 0, 0},
    {"beta", 0, OPTION_NUMBER, "X", GROUP_PROBLEM, RUN | BENCH | EXPLAIN,
     "factor of C (default: 0)", NULL, AT(beta), 0, 0},
    {"c", 'c', OPTION_TEXT, "FILE", GROUP_PROBLEM, RUN,
     "read C from FILE (with random A and B it is random)", "@file", AT(c), 0, 0},
    {"bias", 0, OPTION_TEXT, "FILE", GROUP_PROBLEM, RUN,
     "add the n numbers of FILE, or `random` ones, to each row of D, on the CPU", "@file", AT(bias),
     0, 0},
    {"activation", 0, OPTION_CHOICE, "NAME", GROUP_PROBLEM, RUN,
     "what each element of D is put through, on the CPU: relu, gelu, gelu_tanh, silu, sigmoid or "
     "tanh (default: none)",
     "none|relu|gelu|gelu_tanh|silu|sigmoid|tanh", AT(activation), 0, 0},
    {"a-dtype", 0, OPTION_CHOICE, "DTYPE", GROUP_PROBLEM, RUN,
     "what the raw bytes ('V1', 'V2') of A's .npy file are: bf16, e4m3, e5m2, int4 or uint4; the "
     "same as "
     "FILE:DTYPE",
     ELEMENT_WORDS, AT(a_dtype), 0, 0},
    {"b-dtype", 0, OPTION_CHOICE, "DTYPE", GROUP_PROBLEM, RUN, "those of B", ELEMENT_WORDS,
     AT(b_dtype), 0, 0},
    {"c-dtype", 0, OPTION_CHOICE, "DTYPE", GROUP_PROBLEM, RUN, "those of C", ELEMENT_WORDS,
     AT(c_dtype), 0, 0},
    {"batch", 0, OPTION_COUNT, "N", GROUP_PROBLEM, RUN | BENCH | EXPLAIN,
     "this many products at once, of random data (default: 1); arrays of three dimensions have a "
     "batch of their own",
     NULL, AT(batch), 0, INT64_MAX},
    {"seed", 0, OPTION_COUNT, "N", GROUP_PROBLEM, RUN | VERIFY | BENCH | EXPLAIN,
     "of the random data and of the samples (default: 0)", NULL, AT(seed), 0, INT64_MAX},
    {"pad", 0, OPTION_COUNT, "N", GROUP_PROBLEM, RUN,
     "random data: leading dimensions longer by N elements (default: 0)", NULL, AT(pad), 0,
     1 << 20},
    {"in-place", 0, OPTION_FLAG, NULL, GROUP_PROBLEM, RUN, "D takes the place of C", NULL,
     AT(in_place), 0, 0},
    {"xor", 0, OPTION_FLAG, NULL, GROUP_PROBLEM, RUN | BENCH | EXPLAIN,
     "b1_s32: count the ones of a XOR b instead of a AND b", NULL, AT(xor), 0, 0},
    {"f16-accumulate", 0, OPTION_FLAG, NULL, GROUP_PROBLEM, RUN | BENCH | EXPLAIN,
     "f16_f16: allow sums in f16", NULL, AT(f16_accumulate), 0, 0},
    {"fast-accumulate", 0, OPTION_FLAG, NULL, GROUP_PROBLEM, RUN | BENCH | EXPLAIN,
     "e4m3_*, e5m2_*: allow sums of up to 128 products in the 14 bits of FP8 tensor cores", NULL,
     AT(fast_accumulate), 0, 0},
    {"reproducible", 0, OPTION_FLAG, NULL, GROUP_PROBLEM, RUN | BENCH | EXPLAIN,
     "a row of D has the same bits for any m and batch", NULL, AT(reproducible), 0, 0},

    {"algo", 'a', OPTION_TEXT, "NAME", GROUP_METHOD, RUN | VERIFY | BENCH | EXPLAIN | PLOT,
     "a family of kernels: {@algo} (bench, plot: a list, or all)", "@algo", AT(algo), 0, 0},
    {"kernel", 0, OPTION_TEXT, "NAME", GROUP_METHOD, RUN | VERIFY | BENCH | EXPLAIN | PLOT,
     "one kernel by its name, from tcgemm list (bench, plot: a list)", "@kernel", AT(kernel), 0, 0},
    {"tile", 0, OPTION_TEXT, "MxNxK", GROUP_METHOD, RUN | BENCH | EXPLAIN,
     "only kernels with this tile: of an instruction for wmma-direct, of a block for other GPU "
     "kernels, of registers for the CPU's (bench: a list)",
     NULL, AT(tile), 0, 0},
    {"device", 0, OPTION_TEXT, "DEVICE", GROUP_METHOD, RUN | VERIFY | BENCH | EXPLAIN,
     "auto, cpu, or the number of a GPU (default: auto; bench: cpu)", "auto|cpu|0", AT(device), 0,
     0},
    {"gpu", 0, OPTION_TEXT, "NAME", GROUP_METHOD, EXPLAIN, "a GPU by name, here or not: {@gpu}",
     "@gpu", AT(gpu), 0, 0},
    {"threads", 'j', OPTION_TEXT, "N", GROUP_METHOD, RUN | VERIFY | BENCH | EXPLAIN | INFO | PLOT,
     "threads (bench, plot: a list; default: TCGEMM_NUM_THREADS, OMP_NUM_THREADS, or all "
     "processors)",
     NULL, AT(threads), 0, 0},

    {"repeat", 'r', OPTION_COUNT, "N", GROUP_MEASURE, RUN,
     "run N times and report the median (default: 1)", NULL, AT(repeat), 1, 1000000},
    {"vs", 0, OPTION_TEXT, "PEERS", GROUP_MEASURE, BENCH,
     "run in turns with other libraries, a list of openblas, scipy-openblas, scipy-openblas64, "
     "blis, "
     "onednn, mkl, or the path of any library with the CBLAS interface (its sgemm where it lacks "
     "the "
     "type); on a GPU with cublaslt; or with our own f32. The screen shows the best peer of each "
     "problem, the other formats all",
     "openblas|blis|onednn|mkl|cublaslt|f32", AT(vs), 0, 0},
    {"pause", 0, OPTION_NUMBER, "S", GROUP_MEASURE, BENCH,
     "on several threads beside other libraries, rest this long before each block of samples of a "
     "candidate, so that the waiting threads of another have gone to sleep; 0: take turns sample "
     "by "
     "sample (default: 0.05)",
     NULL, AT(pause), 0, 0},
    {"steady", 0, OPTION_NUMBER, "S", GROUP_MEASURE, BENCH,
     "let each candidate work this long at a time and time the second half of it, for products "
     "that "
     "bring a processor to its limit of power: in short turns each pays for the heat of the other; "
     "0: take turns sample by sample (default: 0)",
     NULL, AT(steady), 0, 0},
    {"min-seconds", 0, OPTION_NUMBER, "S", GROUP_MEASURE, BENCH,
     "time at least this long per candidate (default: 0.5, or what the suite says)", NULL,
     AT(min_seconds), 0, 0},
    {"samples", 0, OPTION_COUNT, "N", GROUP_MEASURE, BENCH,
     "and at least this often (default: 10, or what the suite says)", NULL, AT(samples), 1,
     1000000},
    {"cold", 0, OPTION_FLAG, NULL, GROUP_MEASURE, BENCH,
     "take fresh operands each time, beyond three times the last cache (twice a GPU's L2)", NULL,
     AT(cold), 0, 0},

    {"verify", 0, OPTION_CHOICE, "MODE", GROUP_CHECK, RUN,
     "auto, none, sample or full (default: auto, full while that is cheap)",
     "auto|none|sample|full", AT(verify), 0, 0},
    {"quick", 0, OPTION_FLAG, NULL, GROUP_CHECK, VERIFY, "a selection of cases (the default)", NULL,
     AT(quick), 0, 0},
    {"full", 0, OPTION_FLAG, NULL, GROUP_CHECK, VERIFY, "all cases, in some minutes", NULL,
     AT(full), 0, 0},

    {"simulate", 0, OPTION_FLAG, NULL, GROUP_CHECK, EXPLAIN,
     "run the plan's loops on the CPU instead, level by level down to what each lane holds, and "
     "compare with A @ B (small sizes)",
     NULL, AT(simulate), 0, 0},
    {"trace", 0, OPTION_FLAG, NULL, GROUP_CHECK, EXPLAIN,
     "the same, and tell step by step who loads and computes what", NULL, AT(trace), 0, 0},

    {"output", 'o', OPTION_TEXT, "FILE", GROUP_OUTPUT, RUN | PLOT,
     "write D: .npy, or .safetensors[:NAME]; - is the standard output, the report then goes to "
     "stderr (plot: the picture: .svg, .png or .html)",
     "@file", AT(output), 0, 0},
    {"csv", 0, OPTION_TEXT, "FILE", GROUP_OUTPUT, BENCH,
     "write the table as CSV too, row by row as they are measured", "@file", AT(csv), 0, 0},
    {"resume", 0, OPTION_TEXT, "FILE", GROUP_OUTPUT, BENCH,
     "go on with a table that --csv has begun: what has a row there (same kernel, machine and "
     "commit) "
     "is not measured again, new rows are added; give the other options as before",
     "@file", AT(resume), 0, 0},
    {"plot", 0, OPTION_TEXT, "FILE", GROUP_OUTPUT, BENCH,
     "draw the table too, as .svg, .png or .html (needs gnuplot)", "@file", AT(plot), 0, 0},
    {"plot-kind", 0, OPTION_CHOICE, "KIND", GROUP_OUTPUT, BENCH | PLOT,
     "over size or k, a bar for each tile (kernel), beside the peer, or a roofline: size, k, tile, "
     "peer, roofline, or model, which sets the predicted times against the measured ones "
     "(default: what suits the table)",
     "size|k|tile|peer|roofline|model", AT(plot_kind), 0, 0},
    {"html", 0, OPTION_TEXT, "FILE", GROUP_OUTPUT, EXPLAIN,
     "write a page with pictures, one that lets one walk through the product", "@file", AT(html), 0,
     0},
    {"svg", 0, OPTION_TEXT, "FOLDER", GROUP_OUTPUT, EXPLAIN,
     "write the pictures alone: blocks, warps, walk, edges, memory, roofline", "@file", AT(svg), 0,
     0},
    {"force", 'f', OPTION_FLAG, NULL, GROUP_OUTPUT, RUN | BENCH | EXPLAIN | PLOT,
     "overwrite an output file", NULL, AT(force), 0, 0},
    {"print", 0, OPTION_CHOICE, "STYLE", GROUP_OUTPUT, RUN,
     "print the matrices: python (to be pasted) or table", "python|table", AT(print), 0, 0},
    {"format", 0, OPTION_CHOICE, "FORMAT", GROUP_OUTPUT, TABLES,
     "table, md, csv, tsv, json or jsonl (default: table)", "table|md|csv|tsv|json|jsonl",
     AT(format), 0, 0},
    {"json", 0, OPTION_FLAG, NULL, GROUP_OUTPUT, TABLES, "the same as --format json", NULL,
     AT(json), 0, 0},
    {"quiet", 'q', OPTION_FLAG, NULL, GROUP_OUTPUT, RUN | VERIFY | BENCH | EXPLAIN | PLOT,
     "no report and no notes, only the exit status and faults", NULL, AT(quiet), 0, 0},
    {"no-progress", 0, OPTION_FLAG, NULL, GROUP_OUTPUT, RUN | VERIFY | BENCH, "no progress bar",
     NULL, AT(no_progress), 0, 0},

    {"help", 'h', OPTION_HELP, NULL, GROUP_HELP, ALL, "show this help", NULL, NOWHERE},
    {"version", 'V', OPTION_FLAG, NULL, GROUP_HELP, ALL, "show the version and how it was built",
     NULL, AT(version), 0, 0},
};

const size_t num_options = sizeof option_table / sizeof option_table[0];
