package num

import "math"

// FlushExp returns math.Exp(x), and 0 for x below −700, where that comes near the smallest normal number.
func FlushExp(x float64) float64 {
	if x < -700 {
		return 0
	}
	return math.Exp(x)
}

// FlushFloat32 returns v in float32, and 0 for subnormal results.
func FlushFloat32(v float64) float32 {
	if math.Abs(v) < 0x1p-126 {
		return 0
	}
	return float32(v)
}

// Flush returns v, and 0 for subnormal v. Its branch does not depend on the sign: one that does is
// mispredicted every other time, and takes ten times as long.
func Flush(v float32) float32 {
	if math.Float32bits(v)&^(1<<31) < 1<<23 {
		return 0
	}
	return v
}

// FlushFloat64 returns v, and 0 for subnormal v.
func FlushFloat64(v float64) float64 {
	if math.Abs(v) < 0x1p-1022 {
		return 0
	}
	return v
}
