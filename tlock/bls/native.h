// Our own declarations of the few types and functions of blst that the C code
// of this package uses. The functions are compiled by blst's Go package, which
// this package imports; the linker brings the two together.

#ifndef DAYBREAK_BLS_NATIVE_H
#define DAYBREAK_BLS_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct { uint64_t l[6]; } fp;
typedef struct { fp c[2]; } fp2;
typedef struct { fp2 c[3]; } fp6;
typedef struct { fp6 c[2]; } fp12;

void blst_fp12_conjugate(fp12 *a);

#endif
