//go:build !bls_plain

// The final exponentiation, the same map as blst_final_exp but faster by the
// compressed squarings of Karabina (eprint 2010/542). Its steps are the same for
// every input but the degenerate ones below, which the pairing of a secret point
// meets with negligible chance. It serves encryption and opening, where a wrong
// result cannot be accepted as a right one; signatures are verified with blst's.

#include "native.h"

// times_xi multiplies by xi = 1 + u, the cubic nonresidue of the tower.
static void times_xi(fp2 *out, const fp2 *a) {
    fp re;
    blst_fp_sub(&re, &a->c[0], &a->c[1]);
    blst_fp_add(&out->c[1], &a->c[0], &a->c[1]);
    out->c[0] = re;
}

static void twice(fp2 *a) { blst_fp2_add(a, a, a); }

// An element of the cyclotomic subgroup, the sum of a[i] v^i and b[i] v^i w, is
// determined by these four of its six coefficients.
typedef struct { fp2 a1, a2, b0, b2; } compressed;

// square_pair gives x^2 + xi y^2 and 2 x y.
static void square_pair(fp2 *sum, fp2 *product, const fp2 *x, const fp2 *y) {
    fp2 xx, yy;
    blst_fp2_sqr(&xx, x);
    blst_fp2_sqr(&yy, y);
    blst_fp2_add(product, x, y);
    blst_fp2_sqr(product, product);
    blst_fp2_sub(product, product, &xx);
    blst_fp2_sub(product, product, &yy);
    times_xi(&yy, &yy);
    blst_fp2_add(sum, &xx, &yy);
}

// a1' = 3 (b0^2 + xi a2^2) - 2 a1      b0' = 6 xi a1 b2 + 2 b0
// a2' = 3 (a1^2 + xi b2^2) - 2 a2      b2' = 6 a2 b0 + 2 b2
static void square_compressed(compressed *c) {
    fp2 s, p, s2, p2;
    square_pair(&s, &p, &c->a1, &c->b2);
    square_pair(&s2, &p2, &c->b0, &c->a2);
    times_xi(&p, &p);

    blst_fp2_sub(&c->a1, &s2, &c->a1);
    twice(&c->a1);
    blst_fp2_add(&c->a1, &c->a1, &s2);
    blst_fp2_sub(&c->a2, &s, &c->a2);
    twice(&c->a2);
    blst_fp2_add(&c->a2, &c->a2, &s);
    blst_fp2_add(&c->b0, &c->b0, &p);
    twice(&c->b0);
    blst_fp2_add(&c->b0, &c->b0, &p);
    blst_fp2_add(&c->b2, &c->b2, &p2);
    twice(&c->b2);
    blst_fp2_add(&c->b2, &c->b2, &p2);
}

// decompress finds the other two, given 1 / (4 b0):
//
//     b1 = (xi b2^2 + 3 a1^2 - 2 a2) / (4 b0)
//     a0 = xi (2 b1^2 + b0 b2 - 3 a1 a2) + 1
static void decompress(fp12 *out, const compressed *c, const fp2 *inv) {
    fp2 t, b1, a0;
    blst_fp2_sqr(&t, &c->b2);
    times_xi(&b1, &t);
    blst_fp2_sqr(&t, &c->a1);
    blst_fp2_mul_by_3(&t, &t);
    blst_fp2_add(&b1, &b1, &t);
    blst_fp2_sub(&b1, &b1, &c->a2);
    blst_fp2_sub(&b1, &b1, &c->a2);
    blst_fp2_mul(&b1, &b1, inv);

    blst_fp2_sqr(&a0, &b1);
    twice(&a0);
    blst_fp2_mul(&t, &c->b0, &c->b2);
    blst_fp2_add(&a0, &a0, &t);
    blst_fp2_mul(&t, &c->a1, &c->a2);
    blst_fp2_mul_by_3(&t, &t);
    blst_fp2_sub(&a0, &a0, &t);
    times_xi(&a0, &a0);
    blst_fp_add(&a0.c[0], &a0.c[0], &blst_fp12_one()->c[0].c[0].c[0]);

    out->c[0] = (fp6){{a0, c->a1, c->a2}};
    out->c[1] = (fp6){{c->b0, b1, c->b2}};
}

static bool fp2_is_zero(const fp2 *a) {
    uint64_t any = 0;
    for (int i = 0; i < 6; i++)
        any |= a->c[0].l[i] | a->c[1].l[i];
    return any == 0;
}

static void square_n(fp12 *f, int n) {
    while (n-- > 0)
        blst_fp12_cyclotomic_sqr(f, f);
}

// power_16_48 gives f^(2^16) and f^(2^48). Compression cannot represent the few
// elements with b0 = 0, among them one: they take the plain squarings.
static void power_16_48(fp12 *f16, fp12 *f48, const fp12 *f) {
    compressed c = {f->c[0].c[1], f->c[0].c[2], f->c[1].c[0], f->c[1].c[2]}, c16;
    fp2 inv, inv16, inv48, d16, d48;

    for (int i = 0; i < 16; i++)
        square_compressed(&c);
    c16 = c;
    for (int i = 0; i < 32; i++)
        square_compressed(&c);

    blst_fp2_add(&d16, &c16.b0, &c16.b0);
    twice(&d16);
    blst_fp2_add(&d48, &c.b0, &c.b0);
    twice(&d48);
    blst_fp2_mul(&inv, &d16, &d48);
    if (fp2_is_zero(&inv)) {
        *f16 = *f;
        square_n(f16, 16);
        *f48 = *f16;
        square_n(f48, 32);
        return;
    }
    blst_fp2_inverse(&inv, &inv);
    blst_fp2_mul(&inv16, &inv, &d48);
    blst_fp2_mul(&inv48, &inv, &d16);
    decompress(f16, &c16, &inv16);
    decompress(f48, &c, &inv48);
}

// raise_to_z raises to z = -(2^63 + 2^62 + 2^60 + 2^57 + 2^48 + 2^16).
static void raise_to_z(fp12 *out, const fp12 *f) {
    static const int steps[] = {9, 3, 2, 1};
    fp12 power, product;
    power_16_48(&product, &power, f);
    blst_fp12_mul(&product, &product, &power);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        square_n(&power, steps[i]);
        blst_fp12_mul(&product, &product, &power);
    }
    blst_fp12_conjugate(&product);
    *out = product;
}

static void raise_to_z_minus_1(fp12 *f) {
    fp12 t;
    raise_to_z(&t, f);
    blst_fp12_conjugate(f);
    blst_fp12_mul(f, f, &t);
}

// The exponent is (p^6 - 1)(p^2 + 1) times 3 (p^4 - p^2 + 1) / r, and the latter
// is (z - 1)^2 (z + p)(z^2 + p^2 - 1) + 3 (eprint 2020/875).
void daybreak_final_exp(fp12 *out, const fp12 *in) {
    fp12 f, t, u;

    f = *in;
    blst_fp12_conjugate(&f);
    blst_fp12_inverse(&t, in);
    blst_fp12_mul(&f, &f, &t);
    blst_fp12_frobenius_map(&t, &f, 2);
    blst_fp12_mul(&f, &f, &t); // now in the cyclotomic subgroup: 1/f = conjugate

    t = f;
    raise_to_z_minus_1(&t);
    raise_to_z_minus_1(&t);
    blst_fp12_frobenius_map(&u, &t, 1);
    raise_to_z(&t, &t);
    blst_fp12_mul(&t, &t, &u);
    raise_to_z(&u, &t);
    raise_to_z(&u, &u);
    fp12 t2;
    blst_fp12_frobenius_map(&t2, &t, 2);
    blst_fp12_mul(&u, &u, &t2);
    blst_fp12_conjugate(&t);
    blst_fp12_mul(&u, &u, &t);

    blst_fp12_cyclotomic_sqr(&t, &f);
    blst_fp12_mul(&t, &t, &f);
    blst_fp12_mul(out, &u, &t);
}
