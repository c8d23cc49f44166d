#include "textflag.h"

// Constants, for all eight lanes each.
DATA one<>+0(SB)/8, $1.0
GLOBL one<>(SB), RODATA|NOPTR, $8
DATA half<>+0(SB)/8, $0.5
GLOBL half<>(SB), RODATA|NOPTR, $8
DATA third<>+0(SB)/8, $0.3333333333333333
GLOBL third<>(SB), RODATA|NOPTR, $8
DATA quarter<>+0(SB)/8, $0.25
GLOBL quarter<>(SB), RODATA|NOPTR, $8
DATA fifth<>+0(SB)/8, $0.2
GLOBL fifth<>(SB), RODATA|NOPTR, $8
DATA ln2<>+0(SB)/8, $0x3fe62e42fefa39ef
GLOBL ln2<>(SB), RODATA|NOPTR, $8
DATA sign<>+0(SB)/8, $0x8000000000000000
GLOBL sign<>(SB), RODATA|NOPTR, $8
DATA mantissa<>+0(SB)/8, $0x000fffffffffffff
GLOBL mantissa<>(SB), RODATA|NOPTR, $8
DATA shifter<>+0(SB)/8, $0x4330000000000000 // 2^52
GLOBL shifter<>(SB), RODATA|NOPTR, $8
DATA shifted<>+0(SB)/8, $0x43300000000003ff // 2^52 + 1023
GLOBL shifted<>(SB), RODATA|NOPTR, $8
DATA low7<>+0(SB)/8, $127
GLOBL low7<>(SB), RODATA|NOPTR, $8
DATA limit<>+0(SB)/8, $10.0
GLOBL limit<>(SB), RODATA|NOPTR, $8
DATA lowest<>+0(SB)/8, $-10.0
GLOBL lowest<>(SB), RODATA|NOPTR, $8
DATA largest<>+0(SB)/4, $0x7f7fffff
GLOBL largest<>(SB), RODATA|NOPTR, $4
DATA least<>+0(SB)/4, $0xff7fffff
GLOBL least<>(SB), RODATA|NOPTR, $4
DATA size<>+0(SB)/4, $0x7fffffff
GLOBL size<>(SB), RODATA|NOPTR, $4
DATA top<>+0(SB)/4, $0x80000000
GLOBL top<>(SB), RODATA|NOPTR, $4
DATA unit<>+0(SB)/4, $1
GLOBL unit<>(SB), RODATA|NOPTR, $4
DATA tiny<>+0(SB)/4, $0x322bcc76 // bits of 1e-8, less 1
GLOBL tiny<>(SB), RODATA|NOPTR, $4
DATA byte<>+0(SB)/4, $255
GLOBL byte<>(SB), RODATA|NOPTR, $4
DATA lanes<>+0(SB)/8, $0x0000000100000000
DATA lanes<>+8(SB)/8, $0x0000000300000002
DATA lanes<>+16(SB)/8, $0x0000000500000004
DATA lanes<>+24(SB)/8, $0x0000000700000006
DATA lanes<>+32(SB)/8, $0x0000000900000008
DATA lanes<>+40(SB)/8, $0x0000000b0000000a
DATA lanes<>+48(SB)/8, $0x0000000d0000000c
DATA lanes<>+56(SB)/8, $0x0000000f0000000e
GLOBL lanes<>(SB), RODATA|NOPTR, $64

// COLUMNS has the next eight columns, or as many as there are, of the row at SI: their
// numbers in Z0, the mask of those that there are in K1, and the finite values in the
// lower half of Z1, with K2 for those that are not missing.
#define COLUMNS \
	MOVQ      $8, AX            \
	CMPQ      CX, AX            \
	CMOVQLT   CX, AX            \
	MOVQ      AX, R8            \
	MOVL      $1, BX            \
	XCHGQ     AX, CX            \
	SHLL      CX, BX            \
	XCHGQ     AX, CX            \
	DECL      BX                \
	KMOVW     BX, K1            \
	VMOVDQU64.Z (DX), K1, Z0    \
	VPXORQ    Z1, Z1, Z1        \
	KMOVW     K1, K3            \
	VGATHERQPS (SI)(Z0*4), K3, Y1 \
	VMINPS    Z1, Z30, Z1       \ // NaN stays
	VMAXPS    Z1, Z31, Z1       \
	VCMPPS    $7, Z1, Z1, K2

// func logStandardRow(dst, row *float32, columns *int, shift, scale *float64, n int, table *logEntry)
TEXT ·logStandardRow(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ row+8(FP), SI
	MOVQ columns+16(FP), DX
	MOVQ shift+24(FP), R9
	MOVQ scale+32(FP), R10
	MOVQ n+40(FP), CX
	MOVQ table+48(FP), R11
	VBROADCASTSS largest<>(SB), Z30
	VBROADCASTSS least<>(SB), Z31
	VBROADCASTSD one<>(SB), Z29
	VBROADCASTSD half<>(SB), Z28
	VBROADCASTSD third<>(SB), Z27
	VBROADCASTSD quarter<>(SB), Z26
	VBROADCASTSD fifth<>(SB), Z25
	VBROADCASTSD ln2<>(SB), Z24
	VBROADCASTSD sign<>(SB), Z23
	VBROADCASTSD mantissa<>(SB), Z22
	VBROADCASTSD shifter<>(SB), Z21
	VBROADCASTSD shifted<>(SB), Z20
	VBROADCASTSD low7<>(SB), Z19
	VBROADCASTSD limit<>(SB), Z18
	VBROADCASTSD lowest<>(SB), Z17
	VPBROADCASTD size<>(SB), Z16
	VPBROADCASTD unit<>(SB), Z15
	VPBROADCASTD tiny<>(SB), Z14

logLoop:
	COLUMNS

	// Those above 0 and below 1e-8 stay as they are.
	VPANDD   Z16, Z1, Z2
	VPSUBD   Z15, Z2, Z2
	VPCMPUD  $1, Z14, Z2, K4
	VCVTPS2PD Y1, Z1             // x
	VPANDNQ  Z1, Z23, Z2         // |x|
	VADDPD   Z2, Z29, Z2         // u = 1 + |x|
	VPSRLQ   $45, Z2, Z3
	VPANDQ   Z19, Z3, Z3
	VPADDQ   Z3, Z3, Z3          // entries have two numbers
	KMOVW    K1, K3
	VPXORQ   Z4, Z4, Z4
	VGATHERQPD (R11)(Z3*8), K3, Z4  // 1/c
	KMOVW    K1, K3
	VPXORQ   Z5, Z5, Z5
	VGATHERQPD 8(R11)(Z3*8), K3, Z5 // log c
	VPANDQ   Z22, Z2, Z6
	VPORQ    Z29, Z6, Z6         // m
	VMULPD   Z4, Z6, Z6
	VSUBPD   Z29, Z6, Z6         // r = m/c - 1
	VMULPD   Z6, Z6, Z7          // r²
	VMULPD   Z27, Z6, Z8
	VSUBPD   Z8, Z28, Z8         // 1/2 - r/3
	VMULPD   Z8, Z7, Z8
	VMULPD   Z25, Z6, Z9
	VSUBPD   Z9, Z26, Z9         // 1/4 - r/5
	VMULPD   Z7, Z7, Z10
	VMULPD   Z9, Z10, Z9
	VSUBPD   Z8, Z6, Z6
	VSUBPD   Z9, Z6, Z6
	VPSRLQ   $52, Z2, Z2
	VPORQ    Z21, Z2, Z2
	VSUBPD   Z20, Z2, Z2         // e
	VMULPD   Z24, Z2, Z2
	VADDPD   Z2, Z5, Z5
	VADDPD   Z5, Z6, Z6
	VPANDQ   Z23, Z1, Z2
	VPORQ    Z2, Z6, Z6
	VMOVAPD  Z1, K4, Z6

	VMOVUPD.Z (R9), K1, Z2
	VMOVUPD.Z (R10), K1, Z3
	VSUBPD   Z2, Z6, Z6
	VMULPD   Z3, Z6, Z6
	VCMPPD   $7, Z6, Z6, K3
	KANDW    K2, K3, K2
	VMINPD   Z6, Z18, Z6
	VMAXPD   Z6, Z17, Z6
	VCVTPD2PS Z6, Y6
	VMOVAPS.Z Z6, K2, Z6
	VMOVUPS  Z6, K1, (DI)

	ADDQ $32, DI
	ADDQ $64, DX
	ADDQ $64, R9
	ADDQ $64, R10
	SUBQ R8, CX
	JNZ  logLoop
	VZEROUPPER
	RET

// func columnLimits(low, high, rows *float32, inputs, n, columns int)
TEXT ·columnLimits(SB), NOSPLIT, $0-48
	MOVQ low+0(FP), DI
	MOVQ high+8(FP), DX
	MOVQ inputs+24(FP), BX
	MOVQ columns+40(FP), CX
	VBROADCASTSS largest<>(SB), Z30
	VBROADCASTSS least<>(SB), Z31
	SHLQ $2, BX
	MOVQ rows+16(FP), SI
	MOVL $0xffff, R8

limitsLoop:
	CMPQ CX, $16
	JGE  limitsWhole
	MOVL $1, R8
	SHLL CX, R8
	DECL R8

limitsWhole:
	KMOVW   R8, K1
	VMOVAPS Z30, Z2
	VMOVAPS Z31, Z3
	MOVQ    SI, R9
	MOVQ    n+32(FP), R10

limitsRow:
	VMOVUPS.Z (R9), K1, Z1
	VMINPS  Z1, Z30, Z1 // NaN stays
	VMAXPS  Z1, Z31, Z1
	VMINPS  Z2, Z1, Z2  // and counts for nothing
	VMAXPS  Z3, Z1, Z3
	ADDQ    BX, R9
	DECQ    R10
	JNZ     limitsRow
	VMOVUPS Z2, K1, (DI)
	VMOVUPS Z3, K1, (DX)
	ADDQ    $64, SI
	ADDQ    $64, DI
	ADDQ    $64, DX
	SUBQ    $16, CX
	JG      limitsLoop
	VZEROUPPER
	RET

// func minMaxRow(dst, row *float32, columns *int, low, scale *float64, n int)
TEXT ·minMaxRow(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ row+8(FP), SI
	MOVQ columns+16(FP), DX
	MOVQ low+24(FP), R9
	MOVQ scale+32(FP), R10
	MOVQ n+40(FP), CX
	VBROADCASTSS largest<>(SB), Z30
	VBROADCASTSS least<>(SB), Z31
	VBROADCASTSD one<>(SB), Z29

minMaxLoop:
	COLUMNS
	VCVTPS2PD Y1, Z1
	VMOVUPD.Z (R9), K1, Z2
	VMOVUPD.Z (R10), K1, Z3
	VSUBPD    Z2, Z1, Z1
	VMULPD    Z3, Z1, Z1
	VMINPD    Z29, Z1, Z1
	VCVTPD2PS Z1, Y1
	VMOVAPS.Z Z1, K2, Z1
	VMOVUPS   Z1, K1, (DI)
	ADDQ      $32, DI
	ADDQ      $64, DX
	ADDQ      $64, R9
	ADDQ      $64, R10
	SUBQ      R8, CX
	JNZ       minMaxLoop
	VZEROUPPER
	RET

// LIMITS are the constants of FIND.
#define LIMITS \
	VBROADCASTSS largest<>(SB), Z31 \
	VBROADCASTSS least<>(SB), Z30   \
	VPBROADCASTD top<>(SB), Z29     \
	VPBROADCASTD byte<>(SB), Z28    \
	VMOVDQU32    lanes<>(SB), Z20

// FIND begins with sixteen values in Z1 and the mask K1 of those that there are. It makes
// them finite, with the mask K2 of those that are not missing, and leaves the least knot
// below each in Z5. The table of a value begins at R9 and as many bytes as Z22 says, its
// knots at R10 and as many as Z23 says.
#define FIND \
	VMINPS     Z1, Z31, Z1       \ // NaN stays
	VMAXPS     Z1, Z30, Z1       \
	VCMPPS     $7, Z1, Z1, K2    \
	VPXORQ     Z2, Z2, Z2        \
	VMOVAPS.Z  Z1, K2, Z1        \
	VADDPS     Z2, Z1, Z1        \ // no -0
	VPSRAD     $31, Z1, Z2       \
	VPORD      Z29, Z2, Z2       \
	VPXORD     Z2, Z1, Z2        \ // the key
	VPSRLD     $19, Z2, Z3       \
	VPADDD     Z22, Z3, Z3       \
	KMOVW      K1, K3            \
	VPXORQ     Z5, Z5, Z5        \
	VPGATHERDD (R9)(Z3*1), K3, Z5 \
	VPANDD     Z28, Z5, Z5       \
	VPADDD     Z23, Z5, Z5       \
	MOVQ       R12, AX

// STEP goes AX knots up where that knot is not above the value.
#define STEP \
	VPBROADCASTD AX, Z6          \
	VPADDD       Z6, Z5, Z7      \
	KMOVW        K1, K3          \
	VPXORQ       Z8, Z8, Z8      \
	VGATHERDPS   (R10)(Z7*4), K3, Z8 \
	VCMPPS       $2, Z1, Z8, K1, K3 \
	VMOVDQA32    Z7, K3, Z5      \
	SHRQ         $1, AX

// HALF computes eight of the sixteen scores, of the values in the lower half of X with the
// mask K, whose knots are in Y7; they come to the lower half of X. A knot and the next are
// loaded together, and so are their scores.
#define HALF(X, XY, K) \
	KMOVW      K, K3                \
	VPXORQ     Z8, Z8, Z8           \
	VGATHERDPD (R10)(Y7*4), K3, Z8  \
	KMOVW      K, K3                \
	VPXORQ     Z11, Z11, Z11        \
	VGATHERDPD (R11)(Y7*4), K3, Z11 \
	VPMOVQD    Z8, Y9               \
	VPSRLQ     $32, Z8, Z8          \
	VPMOVQD    Z8, Y10              \
	VCVTPS2PD  Y9, Z9               \ // the knot
	VCVTPS2PD  Y10, Z10             \ // the next
	VCVTPS2PD  XY, X                \
	VSUBPD     Z9, X, X             \
	VSUBPD     Z9, Z10, Z10         \
	VDIVPD     Z10, X, X            \
	VCVTPD2PS  X, XY                \
	VPMOVQD    Z11, Y9              \
	VPSRLQ     $32, Z11, Z11        \
	VPMOVQD    Z11, Y10             \
	VSUBPS     Y9, Y10, Y10         \
	VMULPS     Y10, XY, XY          \
	VADDPS     XY, Y9, XY

// SCORES replaces the values in Z1 by their scores, given the knots in Z5.
#define SCORES \
	VEXTRACTF64X4 $1, Z1, Y4     \
	VEXTRACTI64X4 $1, Z5, Y6     \
	KSHIFTRW      $8, K1, K4     \
	VMOVDQA64     Z5, Z7         \
	HALF(Z1, Y1, K1)             \
	VMOVDQA64     Z6, Z7         \
	HALF(Z4, Y4, K4)             \
	VINSERTF64X4  $1, Y4, Z1, Z1 \
	VMOVAPS.Z     Z1, K2, Z1

// func quantileColumn(dst *float32, stride int, rows *float32, inputs int, n int, start *uint8, knots, scores *float32, step int)
TEXT ·quantileColumn(SB), NOSPLIT, $0-72
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), DX
	MOVQ rows+16(FP), SI
	MOVQ inputs+24(FP), BX
	MOVQ n+32(FP), CX
	MOVQ start+40(FP), R9
	MOVQ knots+48(FP), R10
	MOVQ scores+56(FP), R11
	MOVQ step+64(FP), R12
	LIMITS
	VPXORQ       Z22, Z22, Z22
	VPXORQ       Z23, Z23, Z23
	VPBROADCASTD DX, Z27
	VPMULLD      Z20, Z27, Z27   // where to store
	VPBROADCASTD BX, Z26
	VPMULLD      Z20, Z26, Z26   // what to load
	SHLQ         $6, DX          // of sixteen rows, in bytes
	SHLQ         $6, BX
	MOVL         $0xffff, R8

columnLoop:
	CMPQ  CX, $16
	JGE   columnWhole
	MOVL  $1, R8
	SHLL  CX, R8
	DECL  R8

columnWhole:
	KMOVW       R8, K1
	KMOVW       K1, K3
	VPXORQ      Z1, Z1, Z1
	VGATHERDPS  (SI)(Z26*4), K3, Z1
	FIND

columnSearch:
	STEP
	JNZ         columnSearch
	SCORES
	KMOVW       K1, K3
	VSCATTERDPS Z1, K3, (DI)(Z27*4)
	ADDQ        DX, DI
	ADDQ        BX, SI
	SUBQ        $16, CX
	JG          columnLoop
	VZEROUPPER
	RET

// func quantileRow(dst, row *float32, columns *int, n int, start *uint8, knots, scores *float32, first *int32, step int)
TEXT ·quantileRow(SB), NOSPLIT, $0-72
	MOVQ dst+0(FP), DI
	MOVQ row+8(FP), SI
	MOVQ columns+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ start+32(FP), R9
	MOVQ knots+40(FP), R10
	MOVQ scores+48(FP), R11
	MOVQ first+56(FP), BX
	MOVQ step+64(FP), R12
	LIMITS
	VPSLLD $13, Z20, Z22         // a table has 8192 bytes
	MOVL   $0xffff, R8

rowLoop:
	CMPQ  CX, $16
	JGE   rowWhole
	MOVL  $1, R8
	SHLL  CX, R8
	DECL  R8

rowWhole:
	KMOVW       R8, K1
	KSHIFTRW    $8, K1, K4
	VMOVDQU64.Z (DX), K1, Z6
	VMOVDQU64.Z 64(DX), K4, Z7
	KMOVW       K1, K3
	VPXORQ      Z1, Z1, Z1
	VPXORQ      Z4, Z4, Z4
	VGATHERQPS  (SI)(Z6*4), K3, Y1
	VGATHERQPS  (SI)(Z7*4), K4, Y4
	VINSERTF64X4 $1, Y4, Z1, Z1
	VMOVDQU32.Z (BX), K1, Z23
	FIND

rowSearch:
	STEP
	JNZ      rowSearch
	SCORES
	VMOVUPS  Z1, K1, (DI)
	ADDQ     $(16*8192), R9
	ADDQ     $64, DI
	ADDQ     $128, DX
	ADDQ     $64, BX
	SUBQ     $16, CX
	JG       rowLoop
	VZEROUPPER
	RET
