package lanes

// instructions are the inner loops for a set of instructions of a processor.
type instructions struct {
	name         string
	expm1        func(r []Vec, w []float64, t *Vec, scale float64, halvings int)
	sums         func(s []Sum, r, power []Vec, w, v, x []float64)
	horner       func(out []float64, c []Pair, r []Vec, w, g, x []float64)
	transitions  func(chances []Chance, r []Vec, t *Vec, w, c []float64)
	multiply     func(states []State, z []float64, chances []Chance, g, c []float64)
	divide       func(out []float64, terms []Pair, z []float64, chances []Chance, g, c []float64)
	forward      func(states []State, ranks, size int, chances []Chance, g, c []float64)
	backward     func(out []float64, u, states []State, ranks, size int, chances []Chance, g, c []float64)
	series       func(s []State, c []Sum)
	correlate    func(c []Pair, u, s []State)
	scale        func(r []Vec, c []float64)
	seriesDual   func(sums, states []State, c, d []Sum, found float64)
	forwardDual  func(sums, states []State, ranks, size int, chances []Chance, d []float64)
	backwardDual func(out []float64, u, du, sums, states []State, ranks, size int, chances []Chance, d []float64)
	multiplyDual func(sums, states []State, z []float64, chances []Chance, d []float64)
	divideDual   func(out []float64, sums, terms []Pair, z []float64, chances []Chance, d []float64)
	remain       func(ranks []Rank, mass, gain *Total)
	place        func(out []Vec, ranks []Rank, theta, baseline []float64, c *Credit, ceiling *Vec, s *Shared)
	product      func(c *float64, cRow int, a *float64, aRow, aCol int, b *float64, bRow, inner, panels int)
}

var plainGo = instructions{"plain Go", expm1Go, sumsGo, hornerGo, transitionsGo, multiplyGo, divideGo, forwardGo, backwardGo, seriesGo,
	correlateGo, scaleGo, seriesDualGo, forwardDualGo, backwardDualGo, multiplyDualGo, divideDualGo, remainGo, placeGo, productGo}

// available are those that the machine has, the best last.
var available = append([]instructions{plainGo}, vectorInstructions()...)

var inUse = available[len(available)-1]
