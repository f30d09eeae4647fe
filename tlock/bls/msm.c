//go:build !bls_plain

// Multi-scalar multiplication in G1 and G2, of public scalars.

#include "digits.h"

// GROUP_POINTS bounds the points whose additions share inversions: many, for an
// inversion costs as much as thirty multiplications, but not so many that they
// fall out of the second-level cache.
#define GROUP_POINTS 1024

// shape is the plan for n points and scalars of a number of bits.
typedef struct {
    unsigned bits, w, windows; // of a scalar, of a window, per scalar
    unsigned group;            // windows that are worked on together
    uint32_t bit_terms;        // buckets that sum_bits adds up, per window
} shape;

static shape plan(size_t n, unsigned bits) {
    shape best = {0};
    size_t best_cost = 0;
    for (unsigned w = 2; w <= 8; w++) {
        shape s = {.bits = bits, .w = w, .windows = bits / w + 1};
        // Magnitudes are 1 .. 2^(w-1): each lower bit is in half of those below
        // the last, which alone has the top bit.
        s.bit_terms = (w - 1) * (1u << (w - 2)) + 1;
        size_t cost = s.windows * (n + s.bit_terms);
        if (best_cost == 0 || cost < best_cost) {
            best = s;
            best_cost = cost;
        }
    }
    best.group = n == 0 || GROUP_POINTS / n == 0 ? 1 : GROUP_POINTS / n;
    if (best.group > best.windows)
        best.group = best.windows;
    return best;
}

#define SCRATCH(AFFINE, F) \
    struct { \
        AFFINE *pts, *bit_pts, *bits; \
        F *prefix; \
        uint32_t *start, *bit_start; \
        int16_t *digit; \
    }

typedef SCRATCH(p1_affine, fp) g1_scratch;
typedef SCRATCH(p2_affine, fp2) g2_scratch;

#define F fp
#define AFFINE p1_affine
#define JACOBIAN p1
#define FN(x) g1_##x
#define F_ONE() blst_fp12_one()->c[0].c[0].c[0]
#define F_ADD blst_fp_add
#define F_SUB blst_fp_sub
#define F_MUL blst_fp_mul
#define F_SQR blst_fp_sqr
#define F_MUL_BY_3 blst_fp_mul_by_3
#define F_CNEG blst_fp_cneg
#define F_INVERSE blst_fp_inverse
#define DOUBLE blst_p1_double
#define ADD_AFFINE blst_p1_add_or_double_affine
#define TO_AFFINE blst_p1_to_affine
#include "msm.inc.h"
#undef F
#undef AFFINE
#undef JACOBIAN
#undef FN
#undef F_ONE
#undef F_ADD
#undef F_SUB
#undef F_MUL
#undef F_SQR
#undef F_MUL_BY_3
#undef F_CNEG
#undef F_INVERSE
#undef DOUBLE
#undef ADD_AFFINE
#undef TO_AFFINE

#define F fp2
#define AFFINE p2_affine
#define JACOBIAN p2
#define FN(x) g2_##x
#define F_ONE() blst_fp12_one()->c[0].c[0]
#define F_ADD blst_fp2_add
#define F_SUB blst_fp2_sub
#define F_MUL blst_fp2_mul
#define F_SQR blst_fp2_sqr
#define F_MUL_BY_3 blst_fp2_mul_by_3
#define F_CNEG blst_fp2_cneg
#define F_INVERSE blst_fp2_inverse
#define DOUBLE blst_p2_double
#define ADD_AFFINE blst_p2_add_or_double_affine
#define TO_AFFINE blst_p2_to_affine
#include "msm.inc.h"

// In the subgroups of order r two maps are cheap multiplications, with m = |z|:
//
//   G1: (x, y) -> (beta x, -y) is m^2, with beta a cube root of one in Fp.
//   G2: (x, y) -> (conj(x) c, -conj(y) d), the negated Frobenius of the curve
//       over Fp brought to the twist, is m; c = (1+u)^(-(p-1)/3) is imaginary
//       and d = (1+u)^(-(p-1)/2).
//
// The constants are in Montgomery form.

static const fp beta = {{0x30f1361b798a64e8, 0xf3b8ddab7ece5a2a, 0x16a8ca3ac61577f7,
                         0xc26a2ff874fd029b, 0x3636b76660701c6e, 0x051ba4ab241b6160}};

static const fp c_imaginary = {{0x890dc9e4867545c3, 0x2af322533285a5d5, 0x50880866309b7e2c,
                                0xa20d1b8c7e881024, 0x14e4f04fe2db9068, 0x14e56d3f1564853a}};

static const fp2 minus_d = {{{{0x7bcfa7a25aa30fda, 0xdc17dec12a927e7c, 0x2f088dd86b4ebef1,
                               0xd1ca2087da74d4a7, 0x2da2596696cebc1d, 0x0e2b7eedbbfd87d2}},
                             {{0x3e2f585da55c9ad1, 0x4294213d86c18183, 0x382844c88b623732,
                               0x92ad2afd19103e18, 0x1d794e4fac7cf0b9, 0x0bd592fc7d825ec8}}}};

// The identity goes to itself under both.

static void g1_times_m2(p1_affine *out, const p1_affine *p) {
    blst_fp_mul(&out->x, &p->x, &beta);
    out->y = p->y;
    blst_fp_cneg(&out->y, &out->y, 1);
}

static void g2_times_m(p2_affine *out, const p2_affine *p) {
    fp2 y = p->y;
    blst_fp_mul(&out->x.c[0], &p->x.c[1], &c_imaginary);
    blst_fp_mul(&out->x.c[1], &p->x.c[0], &c_imaginary);
    blst_fp_cneg(&y.c[1], &y.c[1], 1);
    blst_fp2_mul(&out->y, &y, &minus_d);
}

size_t daybreak_msm_g1_scratch(size_t n, unsigned bits) {
    shape sh = plan(n, bits);
    g1_scratch m;
    return g1_layout(&m, NULL, &sh, n);
}

size_t daybreak_msm_g2_scratch(size_t n, unsigned bits) {
    shape sh = plan(n, bits);
    g2_scratch m;
    return g2_layout(&m, NULL, &sh, n);
}

void daybreak_msm_g1(p1_affine *out, p1_affine *points, unsigned parts, const uint8_t *k, size_t n, unsigned bits, void *scratch) {
    shape sh = plan(n, bits);
    for (size_t i = 0; i < n; i++)
        if (i % parts != 0)
            g1_times_m2(&points[i], &points[i - 1]);
    g1_msm(out, points, k, n, &sh, scratch);
}

void daybreak_msm_g2(p2_affine *out, p2_affine *points, unsigned parts, const uint8_t *k, size_t n, unsigned bits, void *scratch) {
    shape sh = plan(n, bits);
    for (size_t i = 0; i < n; i++)
        if (i % parts != 0)
            g2_times_m(&points[i], &points[i - 1]);
    g2_msm(out, points, k, n, &sh, scratch);
}
