package num

import "slices"

// Divisions returns all ways to divide 1 among n, at least 1, by multiples of 1/parts, in ascending order.
func Divisions(n, parts int) (all [][]float64) {
	shares := make([]float64, n)
	var divide func(i, left int)
	divide = func(i, left int) {
		if i == n-1 {
			shares[i] = float64(left) / float64(parts)
			all = append(all, slices.Clone(shares))
			return
		}
		for k := range left + 1 {
			shares[i] = float64(k) / float64(parts)
			divide(i+1, left-k)
		}
	}
	divide(0, parts)
	return all
}
