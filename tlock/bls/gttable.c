//go:build !bls_plain

// Fixed-base exponentiation in GT. The Frobenius map raises an element of order
// r to the power p, and p = z modulo r: so with m = |z| (z is negative),
//
//     phi(x) = conjugate(frobenius(x)) = x^m.
//
// An exponent is written as d0 + d1 m + d2 m^2 + d3 m^3 with digits below m, and
// the four powers share one table of the 64-bit powers of the base, signed
// windows of W bits without squarings: row i holds g^(j 2^(W i)), j = 1 .. 2^(W-1).

#include "digits.h"

#define W 5
#define ROWS (64 / W + 1)
#define ENTRIES (1u << (W - 1))
#define Z_ABS 0xd201000000010000u

size_t daybreak_gt_table_entries(void) { return ROWS * ENTRIES; }

void daybreak_gt_table_build(fp12 *table, const fp12 *g) {
    fp12 base = *g;
    for (unsigned i = 0; i < ROWS; i++, table += ENTRIES) {
        table[0] = base;
        for (unsigned j = 1; j < ENTRIES; j++)
            blst_fp12_mul(&table[j], &table[j - 1], &base);
        blst_fp12_cyclotomic_sqr(&base, &table[ENTRIES - 1]);
    }
}

static void phi(fp12 *x) {
    fp12 y;
    blst_fp12_frobenius_map(&y, x, 1);
    blst_fp12_conjugate(&y);
    *x = y;
}

// divide divides the four words of k, least significant first, by m in place
// and returns the remainder: schoolbook, a bit at a time, without branches,
// because the hardware's division is not constant time.
static uint64_t divide_by_z(uint64_t k[4]) {
    const uint64_t m = Z_ABS;
    uint64_t rem = 0;
    for (int i = 3; i >= 0; i--) {
        uint64_t quotient = 0;
        for (int bit = 63; bit >= 0; bit--) {
            uint64_t top = rem >> 63;
            rem = rem << 1 | (k[i] >> bit & 1);
            uint64_t diff = rem - m;
            uint64_t below = ((~rem & m) | ((~rem | m) & diff)) >> 63; // rem < m
            uint64_t ge = top | (below ^ 1);
            rem -= m & (0 - ge);
            quotient = quotient << 1 | ge;
        }
        k[i] = quotient;
    }
    return rem;
}

// split recodes the four base-m digits of s into windows.
static void split(int16_t digit[4][ROWS], const scalar *s) {
    uint64_t k[4] = {0};
    uint8_t bytes[8];
    for (int i = 0; i < 32; i++)
        k[i / 8] |= (uint64_t)s->b[i] << (8 * (i % 8));
    for (int i = 0; i < 4; i++) {
        uint64_t d = divide_by_z(k);
        for (int j = 0; j < 8; j++)
            bytes[j] = (uint8_t)(d >> (8 * j));
        recode(digit[i], ROWS, bytes, sizeof(bytes), W);
    }
    scrub(k, sizeof(k));
    scrub(bytes, sizeof(bytes));
}

static void conjugate_if(fp12 *x, uint32_t flag) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            blst_fp_cneg(&x->c[1].c[i].c[j], &x->c[1].c[i].c[j], flag);
}

// Constant time: every entry is read, digit zero multiplies by one.
void daybreak_gt_table_exp_secret(fp12 *out, const fp12 *table, const scalar *s) {
    int16_t digit[4][ROWS];
    fp12 acc = *blst_fp12_one(), term;

    split(digit, s);
    for (int i = 3; i >= 0; i--) {
        phi(&acc);
        for (unsigned j = 0; j < ROWS; j++) {
            uint32_t negative, index = magnitude(digit[i][j], &negative);
            uint64_t zero = mask_equal(index, 0);
            term = (fp12){0};
            for (int k = 0; k < 6; k++)
                term.c[0].c[0].c[0].l[k] = blst_fp12_one()->c[0].c[0].c[0].l[k] & zero;
            select_words((uint64_t *)&term, (const uint64_t *)(table + j * ENTRIES), ENTRIES, sizeof(term) / 8, index);
            conjugate_if(&term, negative);
            blst_fp12_mul(&acc, &acc, &term);
        }
    }
    *out = acc;
    scrub(digit, sizeof(digit));
    scrub(&term, sizeof(term));
    scrub(&acc, sizeof(acc));
}

void daybreak_gt_table_exp_public(fp12 *out, const fp12 *table, const scalar *s) {
    int16_t digit[4][ROWS];
    fp12 acc = *blst_fp12_one();

    split(digit, s);
    for (int i = 3; i >= 0; i--) {
        phi(&acc);
        for (unsigned j = 0; j < ROWS; j++) {
            uint32_t negative, index = magnitude(digit[i][j], &negative);
            if (index == 0)
                continue;
            fp12 term = table[j * ENTRIES + index - 1];
            conjugate_if(&term, negative);
            blst_fp12_mul(&acc, &acc, &term);
        }
    }
    *out = acc;
}
