//go:build !bls_plain

// Declarations of our own for the few types and functions of blst that the C
// files of this package use, and the functions that these files give to Go.
//
// blst itself is compiled by its Go package, which this package imports: the
// linker binds the names below to the objects made there, so nothing of blst is
// compiled twice and no linker flag is needed. native.go compares the sizes of
// the types with those that blst reports.

#ifndef DAYBREAK_BLS_NATIVE_H
#define DAYBREAK_BLS_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct { uint8_t b[32]; } scalar; // little-endian
typedef struct { uint64_t l[4]; } fr;     // Montgomery form, as all below
typedef struct { uint64_t l[6]; } fp;
typedef struct { fp c[2]; } fp2;
typedef struct { fp2 c[3]; } fp6;
typedef struct { fp6 c[2]; } fp12;
typedef struct { fp x, y; } p1_affine;    // x = y = 0 is the identity
typedef struct { fp x, y, z; } p1;        // Jacobian; z = 0 is the identity
typedef struct { fp2 x, y; } p2_affine;
typedef struct { fp2 x, y, z; } p2;

// What we use of blst.

size_t blst_p1_sizeof(void);
size_t blst_p1_affine_sizeof(void);
size_t blst_p2_sizeof(void);
size_t blst_p2_affine_sizeof(void);
size_t blst_fp12_sizeof(void);

void blst_fr_from_scalar(fr *out, const scalar *a);
void blst_scalar_from_fr(scalar *out, const fr *a);
void blst_fr_from_uint64(fr *out, const uint64_t a[4]);
void blst_fr_add(fr *out, const fr *a, const fr *b);
void blst_fr_mul(fr *out, const fr *a, const fr *b);
void blst_fr_cneg(fr *out, const fr *a, bool flag);
void blst_fr_inverse(fr *out, const fr *a);

void blst_fp_add(fp *out, const fp *a, const fp *b);
void blst_fp_sub(fp *out, const fp *a, const fp *b);
void blst_fp_mul(fp *out, const fp *a, const fp *b);
void blst_fp_sqr(fp *out, const fp *a);
void blst_fp_mul_by_3(fp *out, const fp *a);
void blst_fp_cneg(fp *out, const fp *a, bool flag);
void blst_fp_inverse(fp *out, const fp *a);

void blst_fp2_add(fp2 *out, const fp2 *a, const fp2 *b);
void blst_fp2_sub(fp2 *out, const fp2 *a, const fp2 *b);
void blst_fp2_mul(fp2 *out, const fp2 *a, const fp2 *b);
void blst_fp2_sqr(fp2 *out, const fp2 *a);
void blst_fp2_mul_by_3(fp2 *out, const fp2 *a);
void blst_fp2_cneg(fp2 *out, const fp2 *a, bool flag);
void blst_fp2_inverse(fp2 *out, const fp2 *a);

void blst_fp12_sqr(fp12 *out, const fp12 *a);
void blst_fp12_cyclotomic_sqr(fp12 *out, const fp12 *a);
void blst_fp12_mul(fp12 *out, const fp12 *a, const fp12 *b);
void blst_fp12_mul_by_xy00z0(fp12 *out, const fp12 *a, const fp6 *xy00z0);
void blst_fp12_conjugate(fp12 *a);
void blst_fp12_inverse(fp12 *out, const fp12 *a);
void blst_fp12_frobenius_map(fp12 *out, const fp12 *a, size_t n);
bool blst_fp12_is_one(const fp12 *a);
const fp12 *blst_fp12_one(void);

void blst_p1_add_or_double(p1 *out, const p1 *a, const p1 *b);
void blst_p1_add_or_double_affine(p1 *out, const p1 *a, const p1_affine *b);
void blst_p1_double(p1 *out, const p1 *a);
void blst_p1_to_affine(p1_affine *out, const p1 *in);
void blst_p1_from_affine(p1 *out, const p1_affine *in);
void blst_p1s_to_affine(p1_affine out[], const p1 *const in[], size_t n);
const p1_affine *blst_p1_affine_generator(void);

void blst_p2_add_or_double_affine(p2 *out, const p2 *a, const p2_affine *b);
void blst_p2_double(p2 *out, const p2 *a);
void blst_p2_to_affine(p2_affine *out, const p2 *in);

void blst_precompute_lines(fp6 out[68], const p2_affine *q);
void blst_miller_loop_lines(fp12 *out, const fp6 lines[68], const p1_affine *p);
void blst_final_exp(fp12 *out, const fp12 *f);

// What we give to Go. Every pointer is used during the call only.

void daybreak_final_exp(fp12 *out, const fp12 *f);
bool daybreak_verify_lines(const p1_affine *pk, const fp6 lines[68], const p2_affine *sig);

size_t daybreak_g1_table_entries(unsigned w);
void daybreak_g1_table_build(p1_affine *table, p1 *scratch, const p1_affine *p, unsigned w);
void daybreak_g1_table_mul_secret(p1_affine *out, const p1_affine *table, unsigned w, const scalar *s);
void daybreak_g1_table_mul_public(p1_affine *out, const p1_affine *table, unsigned w, const scalar *s);

size_t daybreak_gt_table_entries(void);
void daybreak_gt_table_build(fp12 *table, const fp12 *g);
void daybreak_gt_table_exp_secret(fp12 *out, const fp12 *table, const scalar *s);
void daybreak_gt_table_exp_public(fp12 *out, const fp12 *table, const scalar *s);

void daybreak_lagrange_at_zero(scalar *out, fr *scratch, const uint32_t *xs, size_t n);
void daybreak_eval_scalar(scalar *out, const scalar *c, size_t n, uint32_t x);
void daybreak_eval_g1(p1_affine *out, const p1_affine *c, size_t n, uint32_t x);


// Of n points in groups of parts, only the first of each group is given: each
// other is set to the one before it times m^2 in G1 or m in G2, m = |z|. k holds
// a multiplier of so many bits, little-endian, for every point. The scratch
// functions give the size of the scratch buffer in bytes.
size_t daybreak_msm_g1_scratch(size_t n, unsigned bits);
void daybreak_msm_g1(p1_affine *out, p1_affine *points, unsigned parts, const uint8_t *k, size_t n, unsigned bits, void *scratch);
size_t daybreak_msm_g2_scratch(size_t n, unsigned bits);
void daybreak_msm_g2(p2_affine *out, p2_affine *points, unsigned parts, const uint8_t *k, size_t n, unsigned bits, void *scratch);

#endif
