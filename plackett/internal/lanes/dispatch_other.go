//go:build !amd64 || purego

package lanes

func expm1(r []Vec, w []float64, t *Vec, scale float64, halvings int) {
	expm1Go(r, w, t, scale, halvings)
}
func sums(s []Sum, r, power []Vec, w, v []float64)            { sumsGo(s, r, power, w, v) }
func horner(out []float64, c []Pair, r []Vec, w, g []float64) { hornerGo(out, c, r, w, g) }
func forward(states []State, ranks, size int, chances []Chance, r []Vec, t *Vec, w, g []float64) {
	forwardGo(states, ranks, size, chances, r, t, w, g)
}
func backward(out []float64, u, states []State, ranks, size int, chances []Chance, g []float64) {
	backwardGo(out, u, states, ranks, size, chances, g)
}
func series(s []State, c []Sum)             { seriesGo(s, c) }
func correlate(c []Pair, u, s []State)      { correlateGo(c, u, s) }
func remain(ranks []Rank, totals *[2]Total) { remainGo(ranks, totals) }
func place(out []Vec, ranks []Rank, theta, baseline []float64, c *Credit, ceiling *Vec, s *Shared) {
	placeGo(out, ranks, theta, baseline, c, ceiling, s)
}
func transitions(chances []Chance, r []Vec, t *Vec, w []float64) { transitionsGo(chances, r, t, w) }
func multiply(states []State, z []float64, chances []Chance, g []float64) {
	multiplyGo(states, z, chances, g)
}
func divide(out []float64, terms []Pair, z []float64, chances []Chance, g []float64) {
	divideGo(out, terms, z, chances, g)
}
