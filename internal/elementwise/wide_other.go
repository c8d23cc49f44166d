//go:build purego || !amd64

package elementwise

var wide = false

func sigmoidAVX512(x *float32, n int, table *uint64)                           {}
func sigmoidSlopeAVX512(y, dy, dz *float32, n int, share float32)              {}
func reluSlopeAVX512(y, dy, dz *float32, n int, factor float32)                {}
func dropAVX512(x *float32, n int, key uint64, below uint32, kept float32)     {}
func descendAVX512(w, slope *float32, n int, rate float32)                     {}
func adamAVX512(w, slope, mean, squares *float32, n int, rate, unbias float64) {}
