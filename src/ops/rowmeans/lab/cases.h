/* What the files of rowmeans's cases share. */
#ifndef RUNG_ROWMEANS_LAB_CASES_H
#define RUNG_ROWMEANS_LAB_CASES_H

#include "lab/case.h"
#include "ops/rowmeans/rowmeans.h"

extern const rung_cases rowmeans_cases;

/* The references, naive (reference.c). `strict` is the contract, mean of one row to the bit;
 * `wide` the same mean by compensated double sums; `magnitude` the mean of |x|, likewise; `sum`
 * the contract's sum of one row, for rooms that sum. */
double rowmeans_reference_sum(const rowmeans_problem *problem, const void *row);
void rowmeans_reference_strict(const rowmeans_problem *problem, const void *row, void *mean);
double rowmeans_reference_wide(const rowmeans_problem *problem, const void *row, double *magnitude);

#endif
