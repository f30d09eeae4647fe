//go:build !bls_plain

// Verification over the stored lines of the Miller loop of a point of G2.

#include "native.h"

#define LINES 68

// twice_for_lines gives the factors (-2x, 2y) by which blst's stored lines are
// evaluated at (x, y).
static void twice_for_lines(p1_affine *out, const p1_affine *p) {
    blst_fp_add(&out->x, &p->x, &p->x);
    blst_fp_cneg(&out->x, &out->x, 1);
    blst_fp_add(&out->y, &p->y, &p->y);
}

static void line_at(fp6 *out, const fp6 *line, const p1_affine *p2x) {
    out->c[0] = line->c[0];
    for (int i = 0; i < 2; i++) {
        blst_fp_mul(&out->c[1].c[i], &line->c[1].c[i], &p2x->x);
        blst_fp_mul(&out->c[2].c[i], &line->c[2].c[i], &p2x->y);
    }
}

static void mul_line_at(fp12 *f, const fp6 *line, const p1_affine *p2x) {
    fp6 l;
    line_at(&l, line, p2x);
    blst_fp12_mul_by_xy00z0(f, f, &l);
}

// The bits of |z| = 0xd201000000010000 below the first, as the number of
// doublings after each addition.
static const int doublings[] = {2, 3, 9, 32, 16};

bool daybreak_verify_lines(const p1_affine *pk, const fp6 lines[LINES], const p2_affine *sig) {
    fp6 sig_lines[LINES], l;
    p1_affine a, b;
    fp12 f = {0};

    blst_precompute_lines(sig_lines, sig);
    twice_for_lines(&a, pk);
    twice_for_lines(&b, blst_p1_affine_generator());
    blst_fp_cneg(&b.y, &b.y, 1); // e(pk, q) e(-G, sig) is to be one

    // One loop of squarings serves both pairings. It starts at one times the
    // first line, whose three coefficients are those of 1, v and v w.
    line_at(&l, &lines[0], &a);
    f.c[0].c[0] = l.c[0];
    f.c[0].c[1] = l.c[1];
    f.c[1].c[1] = l.c[2];
    mul_line_at(&f, &sig_lines[0], &b);

    size_t k = 1;
    for (size_t i = 0; i < sizeof(doublings) / sizeof(doublings[0]); i++) {
        mul_line_at(&f, &lines[k], &a);
        mul_line_at(&f, &sig_lines[k], &b);
        k++;
        for (int j = 0; j < doublings[i]; j++, k++) {
            blst_fp12_sqr(&f, &f);
            mul_line_at(&f, &lines[k], &a);
            mul_line_at(&f, &sig_lines[k], &b);
        }
    }
    // z is negative: the true value is the conjugate, but that is one exactly
    // if this is. The exponentiation is blst's own, not ours of finalexp.c: here
    // a wrong result could accept a forgery, while who opens a ciphertext checks
    // what comes out by encrypting again.
    blst_final_exp(&f, &f);
    return blst_fp12_is_one(&f);
}
