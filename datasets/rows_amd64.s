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

// HALF computes eight of the sixteen scores, of the values in the lower half of X with the
// mask K, whose pieces, times 3, are in Y7; they come to the lower half of X.
#define HALF(X, XY, K) \
	KMOVW     K, K3                   \
	VPXORQ    Z8, Z8, Z8              \
	VGATHERDPD (R11)(Y7*8), K3, Z8    \ // knot
	KMOVW     K, K3                   \
	VPXORQ    Z9, Z9, Z9              \
	VGATHERDPD 8(R11)(Y7*8), K3, Z9   \ // width
	KMOVW     K, K3                   \
	VPXORQ    Z10, Z10, Z10           \
	VPGATHERDQ 16(R11)(Y7*8), K3, Z10 \ // score, rise
	VCVTPS2PD XY, X                   \
	VSUBPD    Z8, X, X                \
	VDIVPD    Z9, X, X                \
	VCVTPD2PS X, XY                   \
	VPMOVQD   Z10, Y8                 \
	VPSRLQ    $32, Z10, Z10           \
	VPMOVQD   Z10, Y9                 \
	VMULPS    Y9, XY, XY              \
	VADDPS    XY, Y8, XY

// func quantileColumn(dst *float32, stride int, rows *float32, inputs int, n int, start *uint8, keys *uint32, pieces *piece, step int)
TEXT ·quantileColumn(SB), NOSPLIT, $0-72
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), DX
	MOVQ rows+16(FP), SI
	MOVQ inputs+24(FP), BX
	MOVQ n+32(FP), CX
	MOVQ start+40(FP), R9
	MOVQ keys+48(FP), R10
	MOVQ pieces+56(FP), R11
	MOVQ step+64(FP), R12
	VBROADCASTSS largest<>(SB), Z31
	VBROADCASTSS least<>(SB), Z30
	VPBROADCASTD top<>(SB), Z29
	VPBROADCASTD byte<>(SB), Z28
	VMOVDQU32    lanes<>(SB), Z20
	VPBROADCASTD DX, Z27
	VPMULLD      Z20, Z27, Z27   // where to store
	VPBROADCASTD BX, Z26
	VPMULLD      Z20, Z26, Z26   // what to load
	SHLQ         $6, DX          // of sixteen rows, in bytes
	SHLQ         $6, BX
	MOVL         $0xffff, R8

quantileLoop:
	CMPQ  CX, $16
	JGE   whole
	MOVL  $1, R8
	SHLL  CX, R8
	DECL  R8

whole:
	KMOVW      R8, K1
	KMOVW      K1, K3
	VPXORQ     Z1, Z1, Z1
	VGATHERDPS (SI)(Z26*4), K3, Z1
	VMINPS     Z1, Z31, Z1       // NaN stays
	VMAXPS     Z1, Z30, Z1
	VCMPPS     $7, Z1, Z1, K2    // those that are not missing
	VPXORQ     Z2, Z2, Z2
	VMOVAPS.Z  Z1, K2, Z1
	VADDPS     Z2, Z1, Z1        // no -0
	VPSRAD     $31, Z1, Z2
	VPORD      Z29, Z2, Z2
	VPXORD     Z2, Z1, Z2        // the key
	VPSRLD     $19, Z2, Z3
	KMOVW      K1, K3
	VPXORQ     Z5, Z5, Z5
	VPGATHERDD (R9)(Z3*1), K3, Z5
	VPANDD     Z28, Z5, Z5       // the piece, at least
	MOVQ       R12, AX

search:
	VPBROADCASTD AX, Z6
	VPADDD       Z6, Z5, Z7
	KMOVW        K1, K3
	VPXORQ       Z8, Z8, Z8
	VPGATHERDD   (R10)(Z7*4), K3, Z8
	VPCMPUD      $2, Z2, Z8, K3
	VMOVDQA32    Z7, K3, Z5
	SHRQ         $1, AX
	JNZ          search

	VPADDD        Z5, Z5, Z6
	VPADDD        Z6, Z5, Z7     // pieces have three words
	VEXTRACTF64X4 $1, Z1, Y4
	VEXTRACTI64X4 $1, Z7, Y11
	KSHIFTRW      $8, K1, K4
	HALF(Z1, Y1, K1)
	VMOVDQA64     Z11, Z7
	HALF(Z4, Y4, K4)
	VINSERTF64X4  $1, Y4, Z1, Z1
	VMOVAPS.Z     Z1, K2, Z1
	KMOVW         K1, K3
	VSCATTERDPS   Z1, K3, (DI)(Z27*4)

	ADDQ DX, DI
	ADDQ BX, SI
	SUBQ $16, CX
	JG   quantileLoop
	VZEROUPPER
	RET
