package clicks

import (
	"errors"
	"hash/fnv"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/internal/parallel"
)

// folds is the number of parts that queries are divided into for cross-fitting.
const folds = 5

// A regression predicts relevance: r̂_d = x·b, where x is 1, the score of the document in
// units of its query, and sign(f)·log(1+|f|) of its features, standardised over the log. It
// is fitted to the clicks of the affine model, c ≈ α_k x·b + β_k, by least squares over the
// documents shown with a ridge of 1e-6 of the mean diagonal. Each fold of queries has its own
// weights, fitted to the other folds. More than mostRegressed features are not used: the equations of 3,000 take minutes.
type regression struct {
	width       int // of x
	mean, scale []float64
	weights     [folds][]float64
}

// fold returns the fold of a query.
func fold(query string) int {
	h := fnv.New64a()
	h.Write([]byte(query))
	return int(h.Sum64() % folds)
}

const mostRegressed = 1000

// newRegression returns a regression on the features of a log, before it is fitted.
func newRegression(situations []situation) *regression {
	r := &regression{width: 2}
	for i := range situations {
		r.width = max(r.width, 2+situations[i].width())
	}
	if r.width > 2+mostRegressed {
		r.width = 2
	}
	if r.width > 2 {
		r.standardise(situations)
	}
	return r
}

// fitRelevance fits the regressions. For the documents of situation i, weigh adds Σ α² to weight, and
// Σ α (c − β) to clicked.
func fitRelevance(situations []situation, weigh func(i int, weight, clicked []float64)) (*regression, error) {
	r := newRegression(situations)
	var squares [folds]*mat.SymDense  // Σ α² x xᵀ
	var products [folds]*mat.VecDense // Σ α (c − β) x
	parallel.For(folds, parallel.Workers(folds), func(_, f int) {
		squares[f], products[f] = r.sums(situations, weigh, f)
	})
	for f := range folds {
		if err := r.solve(f, &squares, &products); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// standardise sets the mean of each feature and 1 over its standard deviation.
func (r *regression) standardise(situations []situation) {
	r.mean, r.scale = make([]float64, r.width-2), make([]float64, r.width-2)
	counts := make([]float64, r.width-2)
	// Welford's recurrence, so that features far from 0 keep their spread.
	for i := range situations {
		for j, v := range situations[i].Features {
			c := j % len(r.mean)
			if x := squash(v); !math.IsNaN(x) {
				counts[c]++
				delta := x - r.mean[c]
				r.mean[c] += delta / counts[c]
				r.scale[c] += delta * (x - r.mean[c])
			}
		}
	}
	for c, s := range r.scale {
		if r.scale[c] = 0; s > 0 {
			r.scale[c] = math.Sqrt(counts[c] / s)
		}
	}
}

// squash returns sign(v)·log(1+|v|).
func squash(v float32) float64 {
	return math.Copysign(math.Log1p(min(math.Abs(float64(v)), math.MaxFloat32)), float64(v))
}

// inputs sets x of document d. The scores of its query have this mean and standard deviation.
func (r *regression) inputs(x []float64, im *Impression, d int, mean, sd float64) {
	clear(x)
	x[0] = 1
	if sd > 0 {
		x[1] = (im.Scores[d] - mean) / sd
	}
	width := im.width()
	if width != len(r.mean) { // the regression was fitted without features, or there are none here
		return
	}
	for c, v := range im.Features[d*width : (d+1)*width] {
		if u := (squash(v) - r.mean[c]) * r.scale[c]; !math.IsNaN(u) {
			x[2+c] = max(-10, min(10, u))
		}
	}
}

// spread returns the mean and the standard deviation of scores, 0 where they are not defined.
func spread(scores []float64) (mean, sd float64) {
	if len(scores) < 2 {
		return 0, 0
	}
	if mean, sd = stat.MeanStdDev(scores, nil); notFinite(sd) {
		return 0, 0
	}
	return mean, sd
}

// sums adds up the normal equations over the queries of a fold.
func (r *regression) sums(situations []situation, weigh func(i int, weight, clicked []float64), f int) (*mat.SymDense, *mat.VecDense) {
	square, product := mat.NewSymDense(r.width, nil), make([]float64, r.width)
	var rows, weight, clicked []float64
	for i := range situations {
		s := &situations[i]
		if fold(s.Query) != f {
			continue
		}
		weight, clicked = resize(weight, len(s.Documents)), resize(clicked, len(s.Documents))
		weigh(i, weight, clicked)
		mean, sd := spread(s.Scores)
		rows = rows[:0]
		for d, w := range weight {
			if w == 0 {
				continue
			}
			rows = append(rows, make([]float64, r.width)...)
			x := rows[len(rows)-r.width:]
			r.inputs(x, s.Impression, d, mean, sd)
			floats.AddScaled(product, clicked[d], x)
			floats.Scale(math.Sqrt(w), x)
		}
		if len(rows) > 0 {
			square.SymRankK(square, 1, mat.NewDense(len(rows)/r.width, r.width, rows).T())
		}
	}
	return square, mat.NewVecDense(r.width, product)
}

// resize returns a slice of n zeros, in the memory of s if that is large enough.
func resize(s []float64, n int) []float64 { return append(s[:0], make([]float64, n)...) }

// solve fits the weights of a fold to the other folds.
func (r *regression) solve(f int, squares *[folds]*mat.SymDense, products *[folds]*mat.VecDense) error {
	a, rhs := mat.NewSymDense(r.width, nil), mat.NewVecDense(r.width, nil)
	for g := range folds {
		if g != f {
			a.AddSym(a, squares[g])
			rhs.AddVec(rhs, products[g])
		}
	}
	r.weights[f] = make([]float64, r.width)
	if mat.Trace(a) == 0 {
		return nil // nothing was shown: r̂ is 0
	}
	var c mat.Cholesky
	if !factorize(&c, a) {
		return errors.New("clicks: the regression of clicks on features has no solution")
	}
	// An ill-conditioned solution is still one, and any r̂ is unbiased.
	solution := mat.NewVecDense(r.width, r.weights[f])
	if err := c.SolveVecTo(solution, rhs); err != nil && !errors.As(err, new(mat.Condition)) {
		return err
	}
	return nil
}

// factorize adds the ridge to the diagonal of a, and sets c to its factors. It returns false if there are none.
func factorize(c *mat.Cholesky, a *mat.SymDense) bool {
	n := a.SymmetricDim()
	ridge := 1e-6 * mat.Trace(a) / float64(n)
	for i := range n {
		a.SetSym(i, i, a.At(i, i)+ridge)
	}
	return c.Factorize(a)
}

// predict returns r̂ of every document of an impression, in the memory of dst.
func (r *regression) predict(dst []float64, im *Impression) []float64 {
	dst = resize(dst, len(im.Documents))
	x := make([]float64, r.width)
	mean, sd := spread(im.Scores)
	for d := range dst {
		r.inputs(x, im, d, mean, sd)
		dst[d] = floats.Dot(x, r.weights[fold(im.Query)])
	}
	return dst
}
