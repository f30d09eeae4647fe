//go:build !bls_plain

// Fixed-base multiplication in G1 with signed windows and no doublings: row i
// of a table of window width w holds j 2^(w i) P for j = 1 .. 2^(w-1).

#include "digits.h"

#define MAX_WINDOWS 64

// windows is the number of digits of a scalar, which is below 2^255.
static unsigned windows(unsigned w) { return 255 / w + 1; }

size_t daybreak_g1_table_entries(unsigned w) { return (size_t)windows(w) << (w - 1); }

void daybreak_g1_table_build(p1_affine *table, p1 *scratch, const p1_affine *p, unsigned w) {
    const unsigned rows = windows(w), entries = 1u << (w - 1);
    p1 base;
    blst_p1_from_affine(&base, p);
    for (unsigned i = 0; i < rows; i++) {
        p1 *row = scratch + (size_t)i * entries;
        row[0] = base;
        for (unsigned j = 1; j < entries; j++)
            blst_p1_add_or_double(&row[j], &row[j - 1], &base);
        blst_p1_double(&base, &row[entries - 1]);
    }
    const p1 *const all[] = {scratch, NULL};
    blst_p1s_to_affine(table, all, (size_t)rows * entries);
}

// Constant time: every entry of every row is read, and the addition is the one
// that blst gives for secrets, complete and without branches.
void daybreak_g1_table_mul_secret(p1_affine *out, const p1_affine *table, unsigned w, const scalar *s) {
    const unsigned rows = windows(w), entries = 1u << (w - 1);
    int16_t digit[MAX_WINDOWS];
    p1 acc = {0};
    p1_affine term;

    recode(digit, rows, s->b, sizeof(s->b), w);
    for (unsigned i = 0; i < rows; i++, table += entries) {
        uint32_t negative, index = magnitude(digit[i], &negative);
        term = (p1_affine){0};
        select_words((uint64_t *)&term, (const uint64_t *)table, entries, sizeof(term) / 8, index);
        blst_fp_cneg(&term.y, &term.y, negative);
        blst_p1_add_or_double_affine(&acc, &acc, &term);
    }
    blst_p1_to_affine(out, &acc);
    scrub(digit, sizeof(digit));
    scrub(&term, sizeof(term));
    scrub(&acc, sizeof(acc));
}

void daybreak_g1_table_mul_public(p1_affine *out, const p1_affine *table, unsigned w, const scalar *s) {
    const unsigned rows = windows(w), entries = 1u << (w - 1);
    int16_t digit[MAX_WINDOWS];
    p1 acc = {0};

    recode(digit, rows, s->b, sizeof(s->b), w);
    for (unsigned i = 0; i < rows; i++, table += entries) {
        uint32_t negative, index = magnitude(digit[i], &negative);
        if (index == 0)
            continue;
        p1_affine term = table[index - 1];
        blst_fp_cneg(&term.y, &term.y, negative);
        blst_p1_add_or_double_affine(&acc, &acc, &term);
    }
    blst_p1_to_affine(out, &acc);
}
