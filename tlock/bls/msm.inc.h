//go:build !bls_plain

// Multi-scalar multiplication over one group, included by msm.c once for each:
// F is its coordinate field, AFFINE and JACOBIAN its points, FN(x) a name for it
// and F_ONE() the one of the field. All inputs are public.
//
// It is Pippenger's method with signed windows, and every sum of it is a tree
// of affine additions that share one field inversion (Montgomery's trick): 5
// multiplications and a squaring each, against 8 and 2 in projective form.
//
//  1. Each window of each scalar throws its point into the bucket of the digit's
//     magnitude; each bucket is summed by a tree.
//  2. Instead of a running sum over the buckets of a window, for each bit of the
//     magnitude a tree sums the buckets that have it: trees are short and share
//     inversions, a running sum is one long chain.
//  3. So the result is the sum of 2^b S(b) over all bits b: doublings and
//     additions from the top.

static bool FN(is_zero)(const F *a) {
    const uint64_t *w = (const uint64_t *)a;
    uint64_t any = 0;
    for (size_t i = 0; i < sizeof(*a) / 8; i++)
        any |= w[i];
    return any == 0;
}

static bool FN(is_identity)(const AFFINE *p) { return FN(is_zero)(&p->x) && FN(is_zero)(&p->y); }

// slope gives the denominator of the slope of the line through a and b, or its
// tangent if they are equal. It is false if the sum needs no inversion because
// a point or the sum is the identity.
static bool FN(slope)(F *den, const AFFINE *a, const AFFINE *b) {
    if (FN(is_identity)(a) || FN(is_identity)(b))
        return false;
    F_SUB(den, &b->x, &a->x);
    if (!FN(is_zero)(den))
        return true;
    F_SUB(den, &b->y, &a->y);
    if (!FN(is_zero)(den))
        return false; // b = -a
    F_ADD(den, &a->y, &a->y); // not zero: the group has odd order
    return true;
}

// add_sloped sets a to a + b, with inv the inverse of slope's denominator.
static void FN(add_sloped)(AFFINE *a, const AFFINE *b, const F *inv) {
    F lambda, x, t;
    F_SUB(&t, &b->x, &a->x);
    if (FN(is_zero)(&t)) {
        F_SQR(&t, &a->x);
        F_MUL_BY_3(&t, &t);
    } else {
        F_SUB(&t, &b->y, &a->y);
    }
    F_MUL(&lambda, &t, inv);
    F_SQR(&x, &lambda);
    F_SUB(&x, &x, &a->x);
    F_SUB(&x, &x, &b->x);
    F_SUB(&t, &a->x, &x);
    F_MUL(&t, &t, &lambda);
    F_SUB(&a->y, &t, &a->y);
    a->x = x;
}

// add_flat sets a to a + b where slope said false.
static void FN(add_flat)(AFFINE *a, const AFFINE *b) {
    if (FN(is_identity)(a))
        *a = *b;
    else if (!FN(is_identity)(b))
        *a = (AFFINE){0};
}

// sum_segments sums every segment pts[start[s]] .. pts[start[s+1] - 1] into its
// first point. Each round adds neighbours at twice the distance of the last, all
// segments together, with one inversion. prefix has room for half as many
// elements as there are points.
static void FN(sum_segments)(AFFINE *pts, const uint32_t *start, size_t segments, F *prefix) {
    for (size_t stride = 1;; stride *= 2) {
        F product = F_ONE(), den;
        size_t n = 0;
        bool paired = false;
        for (size_t s = 0; s < segments; s++) {
            for (size_t i = start[s]; i + stride < start[s + 1]; i += 2 * stride) {
                paired = true;
                if (!FN(slope)(&den, &pts[i], &pts[i + stride]))
                    continue;
                prefix[n++] = product;
                F_MUL(&product, &product, &den);
            }
        }
        if (!paired)
            return;
        F_INVERSE(&product, &product);
        for (size_t s = segments; s-- > 0;) {
            const size_t len = start[s + 1] - start[s];
            if (len <= stride)
                continue;
            const size_t last = start[s] + (len - stride - 1) / (2 * stride) * (2 * stride);
            for (size_t i = last + 2 * stride; i > start[s];) {
                i -= 2 * stride;
                AFFINE *a = &pts[i], *b = &pts[i + stride];
                if (!FN(slope)(&den, a, b)) {
                    FN(add_flat)(a, b);
                    continue;
                }
                n--;
                F_MUL(&prefix[n], &prefix[n], &product);
                F_MUL(&product, &product, &den);
                FN(add_sloped)(a, b, &prefix[n]);
            }
        }
    }
}

// sum_buckets fills the buckets of windows [first, first + windows) and sums
// each into the first point of its segment.
static void FN(sum_buckets)(const shape *sh, FN(scratch) *m, const AFFINE *points, size_t n, unsigned first, unsigned windows) {
    const uint32_t buckets = 1u << (sh->w - 1), segments = windows * buckets;
    uint32_t *start = m->start;

    for (uint32_t s = 0; s <= segments; s++)
        start[s] = 0;
    // start[s + 1] first counts segment s, then is where it begins, and after
    // its points are placed, where it ends: which is where s + 1 begins.
    for (size_t i = 0; i < n; i++)
        for (unsigned v = 0; v < windows; v++) {
            int16_t d = m->digit[i * sh->windows + first + v];
            if (d != 0)
                start[v * buckets + (uint32_t)(d < 0 ? -d : d)]++;
        }
    uint32_t sum = 0;
    for (uint32_t s = 1; s <= segments; s++) {
        uint32_t count = start[s];
        start[s] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        for (unsigned v = 0; v < windows; v++) {
            int16_t d = m->digit[i * sh->windows + first + v];
            if (d == 0)
                continue;
            AFFINE *p = &m->pts[start[v * buckets + (uint32_t)(d < 0 ? -d : d)]++];
            *p = points[i];
            if (d < 0)
                F_CNEG(&p->y, &p->y, 1);
        }
    FN(sum_segments)(m->pts, start, segments, m->prefix);
}

// sum_bits sums, for each window and each bit of the magnitude, the buckets that
// have it, into bits[window w + bit].
static void FN(sum_bits)(const shape *sh, FN(scratch) *m, AFFINE *bits, unsigned windows) {
    const uint32_t buckets = 1u << (sh->w - 1);
    uint32_t n = 0, *start = m->bit_start;
    for (unsigned v = 0; v < windows; v++)
        for (unsigned b = 0; b < sh->w; b++) {
            *start++ = n;
            for (uint32_t magnitude = 1u << b; magnitude <= buckets; magnitude++) {
                uint32_t s = v * buckets + magnitude - 1;
                if ((magnitude >> b & 1) && m->start[s] < m->start[s + 1])
                    m->bit_pts[n++] = m->pts[m->start[s]];
            }
        }
    *start = n;
    FN(sum_segments)(m->bit_pts, m->bit_start, windows * sh->w, m->prefix);
    for (uint32_t s = 0; s < windows * sh->w; s++)
        bits[s] = m->bit_start[s] < m->bit_start[s + 1] ? m->bit_pts[m->bit_start[s]] : (AFFINE){0};
}

// layout places the arrays in the scratch buffer, or with no buffer only finds
// their total size in bytes.
static size_t FN(layout)(FN(scratch) *m, void *buffer, const shape *sh, size_t n) {
    const size_t segments = (size_t)sh->group << (sh->w - 1);
    const size_t bit_pts = (size_t)sh->group * sh->bit_terms;
    const size_t pts = sh->group * n;
    size_t at = 0;
#define PLACE(field, count) \
    m->field = (void *)((uintptr_t)buffer + at), at += ((count) * sizeof(*m->field) + 7) / 8 * 8
    PLACE(pts, pts);
    PLACE(bit_pts, bit_pts);
    PLACE(prefix, (pts > bit_pts ? pts : bit_pts) / 2 + 1);
    PLACE(bits, (size_t)sh->windows * sh->w);
    PLACE(start, segments + 1);
    PLACE(bit_start, (size_t)sh->group * sh->w + 1);
    PLACE(digit, n * sh->windows);
#undef PLACE
    return at;
}

// msm is the sum of k[i] points[i]; each k has sh->bits bits.
static void FN(msm)(AFFINE *out, const AFFINE *points, const uint8_t *k, size_t n, const shape *sh, void *buffer) {
    const size_t bytes = sh->bits / 8;
    FN(scratch) m;
    JACOBIAN acc = {0};

    FN(layout)(&m, buffer, sh, n);
    for (size_t i = 0; i < n; i++) {
        recode(m.digit + i * sh->windows, sh->windows, k + i * bytes, bytes, sh->w);
        if (FN(is_identity)(&points[i]))
            for (unsigned v = 0; v < sh->windows; v++)
                m.digit[i * sh->windows + v] = 0;
    }
    for (unsigned v = 0; v < sh->windows; v += sh->group) {
        unsigned windows = sh->windows - v < sh->group ? sh->windows - v : sh->group;
        FN(sum_buckets)(sh, &m, points, n, v, windows);
        FN(sum_bits)(sh, &m, m.bits + v * sh->w, windows);
    }
    for (unsigned b = sh->windows * sh->w; b-- > 0;) {
        DOUBLE(&acc, &acc);
        ADD_AFFINE(&acc, &acc, &m.bits[b]);
    }
    TO_AFFINE(out, &acc);
}
