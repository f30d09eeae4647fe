//go:build !bls_plain

// Loops over scalars: a call from Go costs as much as half an operation modulo
// r, so whole polynomials cross at once.

#include "native.h"

static void fr_from_word(fr *out, uint64_t x) {
    const uint64_t words[4] = {x};
    blst_fr_from_uint64(out, words);
}

// The abscissas are public, distinct and not zero. out[i] is N / D[i] with N the
// product of all xs and D[i] = xs[i] times the product of (xs[j] - xs[i]) over
// j != i. Factors are small, so they are collected in a word for as long as they
// fit before the word is multiplied in. scratch holds 2n elements.
void daybreak_lagrange_at_zero(scalar *out, fr *scratch, const uint32_t *xs, size_t n) {
    fr *const d = scratch, *const before = scratch + n;
    fr all, word, acc;

    fr_from_word(&all, 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t packed = xs[i];
        bool negative = false;
        fr_from_word(&acc, 1);
        for (size_t j = 0; j < n; j++) {
            if (j == i)
                continue;
            uint64_t factor = xs[j] > xs[i] ? xs[j] - xs[i] : xs[i] - xs[j], product;
            negative ^= xs[j] < xs[i];
            if (__builtin_mul_overflow(packed, factor, &product)) {
                fr_from_word(&word, packed);
                blst_fr_mul(&acc, &acc, &word);
                product = factor;
            }
            packed = product;
        }
        fr_from_word(&word, packed);
        blst_fr_mul(&acc, &acc, &word);
        blst_fr_cneg(&d[i], &acc, negative);

        fr_from_word(&word, xs[i]);
        blst_fr_mul(&all, &all, &word);
    }

    // One inversion for all: before[i] is the product of D[0 .. i-1], and acc
    // becomes N divided by the product of D[0 .. i].
    fr_from_word(&acc, 1);
    for (size_t i = 0; i < n; i++) {
        before[i] = acc;
        blst_fr_mul(&acc, &acc, &d[i]);
    }
    blst_fr_inverse(&acc, &acc);
    blst_fr_mul(&acc, &acc, &all);
    for (size_t i = n; i-- > 0;) {
        fr l;
        blst_fr_mul(&l, &acc, &before[i]);
        blst_scalar_from_fr(&out[i], &l);
        blst_fr_mul(&acc, &acc, &d[i]);
    }
}

// Constant time in the coefficients.
void daybreak_eval_scalar(scalar *out, const scalar *c, size_t n, uint32_t x) {
    fr acc = {0}, at, term;
    fr_from_word(&at, x);
    while (n-- > 0) {
        blst_fr_from_scalar(&term, &c[n]);
        blst_fr_mul(&acc, &acc, &at);
        blst_fr_add(&acc, &acc, &term);
    }
    blst_scalar_from_fr(out, &acc);
}

// x is public and short: doublings and additions along its bits.
void daybreak_eval_g1(p1_affine *out, const p1_affine *c, size_t n, uint32_t x) {
    p1 acc = {0};
    while (n-- > 0) {
        p1 product = {0};
        for (int bit = 31; bit >= 0; bit--) {
            if (x >> bit >> 1 != 0)
                blst_p1_double(&product, &product);
            if (x >> bit & 1)
                blst_p1_add_or_double(&product, &product, &acc);
        }
        blst_p1_add_or_double_affine(&acc, &product, &c[n]);
    }
    blst_p1_to_affine(out, &acc);
}
