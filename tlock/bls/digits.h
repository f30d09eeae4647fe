//go:build !bls_plain

// Branch-free helpers for tables that are indexed by secrets.

#ifndef DAYBREAK_BLS_DIGITS_H
#define DAYBREAK_BLS_DIGITS_H

#include "native.h"

// mask_equal is all ones if a = b and zero otherwise. Both are below 2^31.
static inline uint64_t mask_equal(uint32_t a, uint32_t b) {
    uint64_t x = a ^ b;
    return 0 - ((x - 1) >> 63);
}

// recode writes the n bytes of k, little-endian, as signed digits of w bits in
// (-2^(w-1), 2^(w-1)]: k = sum of digit[i] 2^(w i). floor(8n/w) + 1 digits always
// suffice: the last has at most w-1 bits of k and the carry.
static inline void recode(int16_t *digit, unsigned digits, const uint8_t *k, size_t n, unsigned w) {
    uint32_t carry = 0;
    for (unsigned i = 0; i < digits; i++) {
        size_t bit = (size_t)i * w, at = bit / 8;
        uint32_t lo = at < n ? k[at] : 0;
        uint32_t hi = at + 1 < n ? k[at + 1] : 0;
        uint32_t d = (((lo | hi << 8) >> (bit % 8)) & ((1u << w) - 1)) + carry;
        carry = (d + (1u << (w - 1)) - 1) >> w;
        digit[i] = (int16_t)((int32_t)d - (int32_t)(carry << w));
    }
}

// magnitude splits a digit into its absolute value and its sign, 1 if negative.
static inline uint32_t magnitude(int16_t digit, uint32_t *negative) {
    uint32_t sign = (uint32_t)((int32_t)digit >> 31);
    *negative = sign & 1;
    return ((uint32_t)(int32_t)digit ^ sign) - sign;
}

// select_words ORs row[index - 1] into out, both rows of n words, reading every
// one of the entries; index 0 leaves out as it is, so out must be zero else.
static inline void select_words(uint64_t *out, const uint64_t *row, uint32_t entries, size_t n, uint32_t index) {
    for (uint32_t i = 1; i <= entries; i++, row += n) {
        uint64_t mask = mask_equal(i, index);
        for (size_t j = 0; j < n; j++)
            out[j] |= row[j] & mask;
    }
}

// scrub overwrites n bytes of a secret in a way the compiler must keep.
static inline void scrub(void *p, size_t n) {
    volatile uint8_t *b = p;
    while (n--)
        *b++ = 0;
}

#endif
