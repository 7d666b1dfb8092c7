#!/bin/sh
# Draws the pictures of the documents anew, from the measurements kept in bench/results.
#
#     bench/plots.sh TOOL          (make plots)
#
# What a suite has measured takes the place of older tables: h200-suite.csv, and cpu-*-suite.csv for each kind of
# processor.
set -eu
tool=$1
results=$(dirname "$0")/results
images=$(dirname "$0")/../docs/images

plot() { # plot PICTURE TABLE... [options]
    picture=$images/$1
    shift
    "$tool" plot "$@" --force --output "$picture"
}

# Throughput over size, ours and the best peer's, of the class `sizes`.
plot_sizes() { # plot_sizes PICTURE TABLE [options]
    picture=$1
    table=$results/$2
    shift 2
    [ -e "$table" ] && plot "$picture" "$table" --class sizes --plot-kind size "$@"
}

plot_sizes h200-vs-cublaslt.svg h200-suite.csv ||
    plot h200-vs-cublaslt.svg "$results/h200-wgmma-vs-cublaslt.csv" --shape 8192
plot_sizes cpu-zen5-vs-openblas.svg cpu-zen5-suite.csv --type f32_f32,f64_f64 --threads 2 ||
    plot cpu-zen5-vs-openblas.svg "$results/cpu-zen5-vs-openblas-avx512.csv" --threads 2
plot h200-roofline.svg "$results/h200-mma-pipelined-vs-cublaslt.csv" --plot-kind roofline
plot h200-simt-outer-over-k.svg "$results/h200-seed-kernels.csv" --algo simt-outer
plot h200-model.svg "$results/h200-model.csv" --plot-kind model
plot cpu-zen5-model.svg "$results/cpu-zen5-model.csv" --plot-kind model
