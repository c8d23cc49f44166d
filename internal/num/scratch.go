package num

// Sized returns a slice of length n, with the memory of s if that is large enough. Its contents
// are undefined. New memory has room for a quarter more.
func Sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n+n/4)[:n]
	}
	return s[:n]
}
