package plackett

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/plrank/plrank/internal/num"
	"github.com/plrank/plrank/plackett/internal/lanes"
)

// Similarity writes λ_d = dR/dm_d to lambda and returns the expected similarity of each document to those above it,
//
//	R = E_y[Σ_l φ_l v_{y_l} · Σ_{k<l} v_{y_k}],
//
// with the vectors v, [documents, dimension] row after row, of any sign, and the discounts φ, of the lower rank of a
// pair. With vectors of length 1 and φ_l = 2/(K(K−1)) it is the mean cosine of the pairs of the first K documents; with a 1 for its
// group in the vector of each document, it is the share of pairs of one group. If lambda is nil, it computes R alone.
//
// A pair contributes to λ_i, with s_S the sum over e ∈ S of v_e p_e z Π_{j∈S, j≠e} (q_j + p_j z),
//
//	(v_i − v_j) · ∫ t f_i f_j Σ_l φ_l [z^{l−1}] (1 − z) s_{−i,−j} dt.
//
// The errors of R and λ are at most Tolerance times max|v|²·Σ|φ|. All dimensions share a quadrature, and what depends on the
// dimension are products of matrices: docs/exact.md, section 7. Similarity returns the errors of [Expectation.Gradient], and an error
// for a dimension below 1.
func (e *Expectation) Similarity(scores, vectors []float64, dimension int, discounts, lambda []float64) (value float64, err error) {
	tolerance, err := e.begin(scores)
	if err := cmp.Or(err, checkVectors(vectors, dimension, scores), checkDiscounts(discounts), checkLambda(lambda, scores)); err != nil {
		return 0, err
	}
	clear(lambda)
	discounts = discounts[:min(len(discounts), len(scores))]
	for len(discounts) > 0 && discounts[len(discounts)-1] == 0 {
		discounts = discounts[:len(discounts)-1]
	}
	_, total := magnitudes(discounts)
	length := 0.0
	for d := range scores {
		v := vectors[d*dimension : (d+1)*dimension]
		length = max(length, floats.Dot(v, v))
	}
	length = math.Sqrt(length)
	if _, err := checkScale("max |vector|² · Σ |discount|", length*length*total); err != nil || len(discounts) < 2 || length == 0 {
		return 0, err
	}
	pairs := 0.0 // Σ |φ_l| (l−1), the bound of R
	for k, phi := range discounts {
		pairs += math.Abs(phi) / total * float64(k)
	}
	_, halvings := math.Frexp(pairs) // by powers of 2, for rules to be used again
	tolerance = max(math.Ldexp(tolerance, -max(0, halvings)), 1e-15)
	e.ofSimilarity.set(dimension, discounts, total, nil)
	return e.runSimilarity(scores, tolerance, length*length*total, lambda, func(d int, v []float64) {
		floats.ScaleTo(v, 1/length, vectors[d*dimension:(d+1)*dimension])
	})
}

// runSimilarity computes the value and λ, times scale, of what e.ofSimilarity is set to; vector sets the vector of a document.
func (e *Expectation) runSimilarity(scores []float64, tolerance, scale float64, lambda []float64,
	vector func(d int, v []float64)) (value float64, err error) {
	x, s := &e.quadrature, &e.ofSimilarity
	x.discounts, x.valueOnly, x.similarity = s.discounts, lambda == nil, s
	defer func() { x.similarity = nil }()
	x.sort(scores)
	x.prepare(tolerance, scores)
	s.vectors, s.squares = lanes.NewMatrix(s.vectors.Numbers, len(scores), len(s.above)), num.Sized(s.squares, len(scores))
	for i, d := range x.order {
		v := s.vectors.Row(i)
		vector(d, v)
		s.squares[i] = floats.Dot(v, v)
	}
	value = x.integrate(nil, false) * scale
	if lambda != nil {
		for i, d := range x.order {
			lambda[d] = x.result[i] * scale
		}
		flushNegligible(lambda, scale)
	}
	return value, x.err
}

func checkVectors(vectors []float64, dimension int, scores []float64) error {
	if dimension < 1 {
		return fmt.Errorf("vectors of dimension %d: it must be 1 or more", dimension)
	}
	if err := checkLength("vectors", len(vectors), len(scores)*dimension); err != nil {
		return err
	}
	for i, v := range vectors {
		if v-v != 0 {
			return &NumberError{What: "vector component", Position: i / dimension, Value: v}
		}
	}
	return nil
}

// A similarity adds up blocks of nodes for [Expectation.Similarity]: docs/exact.md, section 7.
//
// Coefficients of polynomials in z are Fourier sums over points of a circle. At a point, every document contributes by functions of
// its weight. Sources stand for the documents: one for each document, or, for the many that hardly arrive in a block, one for each
// weight at which these functions are interpolated.
type similarity struct {
	vectors   lanes.Matrix // [documents, dimension], in the order of the quadrature, the longest of length 1
	squares   []float64    // their squared lengths
	discounts []float64    // φ/Σ|φ|
	ask       func(x *quadrature) float64
	above     []float64 // the sum of the vectors before aboveEnd
	aboveEnd  int

	nodes          int          // of the block that count
	points, parts  []complex128 // z in the upper half plane, and what a value there counts for Σ_l φ_l [z^{l−1}]
	lasts          []complex128 // the same for the last rank alone
	radius         float64
	pooled         int          // sources after the single documents: they share the other documents
	shares         lanes.Matrix // [other documents, pooled]
	logs           []float64    // coefficients of log G of the other documents at a node
	chances        []float64
	weights        []float64    // of the sources
	counts         []float64    // of their documents
	lengths        []float64    // Σ of the squares of their documents
	sums, mirrored lanes.Matrix // [sources, dimension]: Σ of their vectors; and transposed
	r              []lanes.Vec  // of the sources
	whole          []complex128 // G of every point of every node

	arrives, arrived, met lanes.Matrix // [2 points, sources]: real and imaginary parts of h, u, and Σ h v times the vector of the source
	left, right           lanes.Matrix // [4 points, sources]: their product has the weights of pairs of sources
	fixed, ofSquare       []float64    // λ by source: what all its documents get, and what their squares are multiplied by
	slopes, own, between  lanes.Matrix
}

// set prepares a list: its discounts divided by total, and what the points of a block are asked, nil for the similarity.
func (s *similarity) set(dimension int, discounts []float64, total float64, ask func(x *quadrature) float64) {
	s.above, s.discounts, s.aboveEnd, s.ask = num.Sized(s.above, dimension), num.Sized(s.discounts, len(discounts)), 0, ask
	clear(s.above)
	floats.ScaleTo(s.discounts, 1/total, discounts)
}

// block adds to λ what a block of nodes contributes. It returns its part of the value, and the probability that fewer than K documents
// have arrived at its end.
func (s *similarity) block(x *quadrature) (value, left float64) {
	for ; s.aboveEnd < x.arrivedEnd; s.aboveEnd++ {
		floats.Add(s.above, s.vectors.Row(s.aboveEnd))
	}
	x.exponentials(x.arrivedEnd, x.poolEnd)
	s.nodes, left = lanes.Width, s.fewer(x, lanes.Width-1)
	if left <= x.end() {
		s.nodes = 1 + sort.Search(lanes.Width-1, func(l int) bool { return s.fewer(x, l) <= x.end() })
	}
	s.setPoints(x)
	s.setSources(x)
	n := s.nodes * len(s.points)
	s.arrives, s.arrived = lanes.NewMatrix(s.arrives.Numbers, 2*n, len(s.r)), lanes.NewMatrix(s.arrived.Numbers, 2*n, len(s.r))
	s.whole = num.Sized(s.whole, n)
	s.fixed, s.ofSquare = num.Sized(s.fixed, len(s.r)), num.Sized(s.ofSquare, len(s.r))
	clear(s.fixed)
	clear(s.ofSquare)
	for l := range s.nodes {
		if x.stopped() {
			return 0, 0
		}
		s.visit(x, l)
	}
	s.slopes = lanes.NewMatrix(s.slopes.Numbers, len(s.r), s.sums.Cols)
	if s.ask != nil {
		value = s.ask(x)
	} else {
		value = s.pair(x)
	}
	if !x.valueOnly {
		s.addSlopes(x)
	}
	return value, left
}

// fewer returns the probability that fewer documents than ranks have arrived at a node.
func (s *similarity) fewer(x *quadrature, l int) float64 {
	ranks := len(x.discounts) - x.arrivedEnd
	if ranks > x.poolEnd-x.arrivedEnd {
		return 1 // later documents will take the other ranks
	}
	s.chances = num.Sized(s.chances, ranks)
	clear(s.chances)
	s.chances[0] = 1
	for i := range x.r[x.arrivedEnd:x.poolEnd] {
		r := x.r[x.arrivedEnd+i][l]
		p := r / (1 + r)
		for k := ranks - 1; k > 0; k-- {
			s.chances[k] += p * (s.chances[k-1] - s.chances[k])
		}
		s.chances[0] -= p * s.chances[0]
	}
	return floats.Sum(s.chances)
}

// setPoints chooses the circle: its radius such that rounding errors, which grow from the last rank to the first, stay below the
// tolerance, and as many points as leave what is beyond them, and is aliased, below it.
func (s *similarity) setPoints(x *quadrature) {
	const rounding = 4e-16
	docs, discounts := x.poolEnd-x.arrivedEnd, s.discounts[x.arrivedEnd:]
	ranks := min(len(discounts), docs)
	radius := min(1, max(.1, math.Pow(rounding/x.tolerance, 1/float64(max(1, ranks-1)))))
	arriving := (x.mass[x.arrivedEnd] - x.mass[x.poolEnd]) * x.times[s.nodes-1] // at most, on average
	n, beyond := 0, 1.                                                          // the chance that n arrive, times as much as they can add
	for allowed := x.tolerance / 8; n < docs && (n < ranks && beyond > allowed || beyond*math.Pow(radius, float64(n)) > allowed); {
		n += 2
		beyond *= min(1, arriving/float64(n-1)) * min(1, arriving/float64(n)) * float64(n+2) / float64(n)
	}
	s.radius, s.points, s.parts, s.lasts = radius, num.Sized(s.points, n/2), num.Sized(s.parts, n/2), num.Sized(s.lasts, n/2)
	for m := range s.points {
		sin, cos := math.Sincos(math.Pi * float64(2*m+1) / float64(n))
		inverse, power := complex(cos/radius, -sin/radius), complex(2/float64(n), 0)
		s.points[m], s.parts[m], s.lasts[m] = complex(radius*cos, radius*sin), 0, 0
		for k, phi := range discounts[:min(n, ranks)] {
			s.parts[m] += complex(phi, 0) * power
			if k == len(discounts)-1 {
				s.lasts[m] = power
			}
			power *= inverse
		}
	}
}

// setSources sets the sources of a block: the documents that may well arrive in it, the weights that stand for others, and, if
// there are any, the documents that have arrived.
func (s *similarity) setSources(x *quadrature) {
	first, last := x.arrivedEnd, x.times[s.nodes-1]
	x.sweptEnd = first
	for x.sweptEnd < x.poolEnd && x.w[x.sweptEnd]*last > min(1, math.Log1p(1/s.radius))/2 {
		x.sweptEnd++
	}
	low, high := math.Inf(1), 0.0
	for _, w := range x.w[x.sweptEnd:x.poolEnd] {
		low, high = min(low, w), max(high, w)
	}
	middle, half := low/2+high/2, high/2-low/2
	s.pooled = s.interpolated(x, middle*last, half*last)
	if x.poolEnd-x.sweptEnd <= s.pooled {
		x.sweptEnd, s.pooled = x.poolEnd, 0
	}
	swept := x.sweptEnd - first
	sources := swept + s.pooled + min(first, 1)
	s.weights, s.counts, s.lengths = num.Sized(s.weights, sources), num.Sized(s.counts, sources), num.Sized(s.lengths, sources)
	s.r, s.sums = num.Sized(s.r, sources), lanes.NewMatrix(s.sums.Numbers, sources, s.vectors.Cols)
	copy(s.weights, x.w[first:x.sweptEnd])
	copy(s.lengths, s.squares[first:x.sweptEnd])
	copy(s.sums.Numbers, s.vectors.From(first).Numbers[:swept*s.sums.Stride])
	for i := range swept {
		s.counts[i] = 1
	}
	s.interpolate(x, middle, half, swept)
	live := swept + s.pooled
	_, halvings := math.Frexp(floats.Max(s.weights[:live]) * x.times[lanes.Width-1] / lanes.Small)
	lanes.Expm1(s.r[:live], s.weights[:live], &x.times, max(0, halvings))
	for i := live; i < sources; i++ {
		s.weights[i], s.counts[i], s.lengths[i] = 0, 0, 0
		copy(s.sums.Row(i), s.above)
		for l := range s.r[i] {
			s.r[i][l] = lanes.Limit
		}
	}
	s.mirrored = lanes.NewMatrix(s.mirrored.Numbers, s.sums.Cols, sources)
	for i := range sources {
		for j, v := range s.sums.Row(i) {
			s.mirrored.Numbers[j*s.mirrored.Stride+i] = v
		}
	}
}

// interpolated returns how many weights interpolate functions of documents with these w t.
//
// A function is a series in −r z with r = e^{wt} − 1. Only powers below the number of ranks count. Where r^k is analytic and at
// most M inside an ellipse around the interval, whose half axes add up to y times half of it, the error of n weights is about
// M y^−n.
func (s *similarity) interpolated(x *quadrature, middle, half float64) int {
	if half <= 0 {
		return 1
	}
	least, ranks := math.Inf(1), float64(len(x.discounts)-x.arrivedEnd)
	for end := 0.5; end < 4; end += 0.25 { // of the ellipse
		if away := (end - middle) / half; away > 1 {
			least = min(least, (math.Log(10/x.tolerance)+ranks*max(0, math.Log(math.Expm1(end))))/math.Acosh(away))
		}
	}
	return 1 + int(math.Ceil(least))
}

// interpolate sets the pooled sources, from the given one on, to the zeros of a Chebyshev polynomial, and the shares of the documents
// to Lagrange's polynomials, by the barycentric formula.
func (s *similarity) interpolate(x *quadrature, middle, half float64, from int) {
	n, docs := s.pooled, x.poolEnd-x.sweptEnd
	s.shares = lanes.NewMatrix(s.shares.Numbers, docs, n)
	if n == 0 {
		return
	}
	weights, counts, lengths := s.weights[from:from+n], s.counts[from:from+n], s.lengths[from:from+n]
	clear(counts)
	clear(lengths)
	numerators := num.Sized(s.chances, n)
	s.chances = numerators
	sign := 1.0
	for c := range weights {
		sin, cos := math.Sincos(math.Pi * (float64(c) + .5) / float64(n))
		weights[c], numerators[c] = middle+half*cos, sign*sin
		sign = -sign
	}
	for i, w := range x.w[x.sweptEnd:x.poolEnd] {
		share, sum := s.shares.Row(i), 0.0
		for c, at := range weights {
			if w == at {
				clear(share)
				share[c], sum = 1, 1
				break
			}
			share[c] = numerators[c] / (w - at)
			sum += share[c]
		}
		floats.Scale(1/sum, share)
		floats.Add(counts, share)
		floats.AddScaled(lengths, s.squares[x.sweptEnd+i], share)
	}
	sums, vectors := s.sums.From(from), s.vectors.From(x.sweptEnd)
	sums.Rows = n
	lanes.Product(sums, s.shares.T(), vectors)
}

// visit sets h and u of the sources, and G, at the points of a node.
func (s *similarity) visit(x *quadrature, l int) {
	swept := x.sweptEnd - x.arrivedEnd
	s.setLogs(x, l, swept)
	away := num.Sized(s.chances, swept) // q
	s.chances = away
	for i := range away {
		away[i] = 1 / (1 + s.r[i][l])
	}
	for m, z := range s.points {
		p := l*len(s.points) + m
		log := complex(0, 0)
		for _, c := range slices.Backward(s.logs) {
			log = log*z + complex(c, 0)
		}
		sin, cos := math.Sincos(imag(log))
		size := math.Exp(real(log))
		g := complex(size*cos, size*sin)
		hr, hi, ur, ui := s.arrives.Row(2*p), s.arrives.Row(2*p+1), s.arrived.Row(2*p), s.arrived.Row(2*p+1)
		zr, zi := real(z), imag(z)
		for i := range s.r {
			r := s.r[i][l]
			ar, ai := 1+r*zr, r*zi
			if i < swept {
				g *= complex(away[i]*ar, away[i]*ai)
			}
			inverse := 1 / (ar*ar + ai*ai)
			br, bi := ar*inverse, -ai*inverse
			rate := s.weights[i] * x.times[l]
			hr[i], hi[i] = rate*br, rate*bi
			ur[i], ui[i] = r*(zr*br-zi*bi), r*(zr*bi+zi*br)
		}
		s.whole[p] = g
	}
}

// setLogs sets the coefficients of log G over z at a node, of the pooled documents.
func (s *similarity) setLogs(x *quadrature, l, from int) {
	s.logs = append(s.logs[:0], 0)
	if s.pooled == 0 {
		return
	}
	s.logs[0] = -x.times[l] * (x.mass[x.sweptEnd] - x.mass[x.poolEnd])
	r := s.r[from : from+s.pooled]
	powers, largest := num.Sized(s.chances, s.pooled), 0.
	s.chances = powers
	for c, n := range s.counts[from : from+s.pooled] {
		powers[c], largest = -n, max(largest, r[c][l])
	}
	// Powers of z beyond the ranks count by the power of the radius, too.
	negligible := math.Log(x.tolerance / 100 / float64(x.poolEnd-x.sweptEnd))
	last := max(negligible/math.Log(largest*s.radius), min(negligible/math.Log(largest), float64(len(x.discounts)-x.arrivedEnd)))
	for k := 1; float64(k) <= math.Ceil(last); k++ {
		sum := 0.0
		for c := range powers {
			powers[c] *= -r[c][l]
			sum += powers[c]
		}
		s.logs = append(s.logs, sum/float64(k))
	}
}

// pair sets what sources get by the weights of their pairs, and returns the value.
func (s *similarity) pair(x *quadrature) (value float64) {
	n := len(s.r)
	s.met = lanes.NewMatrix(s.met.Numbers, s.arrives.Rows, n)
	s.multiply(s.met, s.arrives, s.sums, s.mirrored)
	s.left, s.right = lanes.NewMatrix(s.left.Numbers, 4*len(s.whole), n), lanes.NewMatrix(s.right.Numbers, 4*len(s.whole), n)
	for p, g := range s.whole {
		hr, hi, ur, ui := s.arrives.Row(2*p), s.arrives.Row(2*p+1), s.arrived.Row(2*p), s.arrived.Row(2*p+1)
		mr, mi := s.met.Row(2*p), s.met.Row(2*p+1)
		var f, met complex128
		for i, count := range s.counts {
			h, u := complex(hr[i], hi[i]), complex(ur[i], ui[i])
			f += complex(count*hr[i], count*hi[i])
			met += u * (complex(mr[i], mi[i]) - h*complex(s.lengths[i], 0))
		}
		z := s.points[p%len(s.points)]
		g *= s.parts[p%len(s.points)] * complex(x.weights[p/len(s.points)], 0)
		met *= g
		value += real(met)
		if x.valueOnly {
			continue
		}
		g *= 1 - z
		met *= 1 - z
		var l, r [4][]float64
		for i := range l {
			l[i], r[i] = s.left.Row(4*p+i), s.right.Row(4*p+i)
		}
		copy(r[2], hr)
		copy(r[3], hi)
		for i := range n {
			h, u := complex(hr[i], hi[i]), complex(ur[i], ui[i])
			once, first := (f-h)*u, g*h
			both := first * u
			l[0][i], l[1][i], l[2][i], l[3][i] = real(first), -imag(first), real(both), -imag(both)
			r[0][i], r[1][i] = real(once), imag(once)
			s.fixed[i] -= real(met * h)
			s.ofSquare[i] -= real(both * f)
		}
	}
	if !x.valueOnly {
		s.multiply(s.slopes, s.left.T(), s.right, s.sums)
	}
	return value
}

// addSlopes adds to λ of the documents what their sources have.
func (s *similarity) addSlopes(x *quadrature) {
	swept, docs := x.sweptEnd-x.arrivedEnd, x.poolEnd-x.sweptEnd
	for i := range swept {
		d := x.arrivedEnd + i
		x.result[d] += floats.Dot(s.vectors.Row(d), s.slopes.Row(i)) + s.fixed[i] + s.ofSquare[i]*s.squares[d]
	}
	if docs == 0 {
		return
	}
	s.own = lanes.NewMatrix(s.own.Numbers, docs, s.vectors.Cols)
	lanes.Product(s.own, s.shares, s.slopes.From(swept))
	for i := range docs {
		share, d := s.shares.Row(i), x.sweptEnd+i
		x.result[d] += floats.Dot(s.vectors.Row(d), s.own.Row(i)) + floats.Dot(share, s.fixed[swept:][:s.pooled]) +
			s.squares[d]*floats.Dot(share, s.ofSquare[swept:][:s.pooled])
	}
}

// multiply sets c = a·b·d, in the order that is cheaper.
func (s *similarity) multiply(c, a, b, d lanes.Matrix) {
	if a.Rows*b.Cols*(a.Cols+d.Cols) < b.Rows*d.Cols*(a.Rows+b.Cols) {
		s.between = lanes.NewMatrix(s.between.Numbers, a.Rows, b.Cols)
		lanes.Product(s.between, a, b)
		lanes.Product(c, s.between, d)
		return
	}
	s.between = lanes.NewMatrix(s.between.Numbers, b.Rows, d.Cols)
	lanes.Product(s.between, b, d)
	lanes.Product(c, a, s.between)
}
