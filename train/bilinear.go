package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/transforms"
)

// FitProducts returns the splits with the bilinear products of vectors learned, see [transforms.Product], and s itself if there are
// none to learn. The matrices begin at the cosine, up to a factor, on the first principal components of the vectors. They and weights
// of all other features, standardised, minimise the softmax loss on the training split by Adam, until the loss on the validation split
// is the least. Models are trained on the result. FitProducts returns the error of the context when that is done.
func FitProducts(ctx context.Context, s *datasets.Splits) (*datasets.Splits, error) {
	for i, p := range s.Train.Products {
		if p.Learned() {
			continue
		}
		m, err := fitBilinear(ctx, s, p)
		if err != nil {
			return nil, err
		}
		products := slices.Clone(s.Train.Products)
		products[i] = m.product(p)
		if s, err = withProducts(s, products); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Bounds of the bilinear products that [ChooseProducts] tries.
const (
	triedRank    = 32
	triedNumbers = 2e7 // of all training documents: more would take minutes
)

// ChooseProducts returns the splits with the products of vectors that the validation split chooses, with those learned that are to be, and
// says why. The ones that the data have are the usual choice. None of them, or a bilinear product of each two vectors beside them, takes
// their place if a linear model of all features has a softmax loss that is less by a thousandth at least, beyond twice its standard
// error over validation queries.
func ChooseProducts(ctx context.Context, s *datasets.Splits) (chosen *datasets.Splits, why string, err error) {
	usual, vectors := s.Train.Products, &s.Train.Vectors
	sets, more := [][]transforms.Product{usual}, slices.Clone(usual)
	if len(usual) < s.Train.Width() {
		sets = append(sets, nil)
	}
	for b, n := range vectors.Dimensions {
		for a := range b {
			if vectors.Dimensions[a] == n && n*s.Train.Rows() <= triedNumbers {
				more = append(more, transforms.Product{Name: fmt.Sprintf("bilinear(%s,%s,%d)", vectors.Names[a], vectors.Names[b], min(n, triedRank))})
			}
		}
	}
	if len(more) > len(usual) {
		sets = append(sets, more)
	}
	var first []float64
	most := 0.
	for i, set := range sets {
		tried, err := withProducts(s, set)
		if err == nil {
			tried, err = FitProducts(ctx, tried)
		}
		if err != nil {
			return nil, "", err
		}
		linear := &bilinearModel{}
		linear.standardise(tried.Train, "")
		linear.numbers, linear.rates = make([]float64, len(linear.others)), slices.Repeat([]float64{1}, len(linear.others))
		if err := linear.descend(ctx, tried); err != nil {
			return nil, "", err
		}
		vali, names := valiOf(tried), []string(nil)
		gains := make([]float64, vali.Queries())
		for q := range gains {
			gains[q] = -linear.loss(vali, nil, []int{q})
		}
		if i == 0 {
			first = slices.Clone(gains)
		}
		for _, p := range set {
			names = append(names, p.Name)
		}
		why += fmt.Sprintf("; %s: %.4g", cmp.Or(strings.Join(names, ", "), "none"), -stat.Mean(gains, nil))
		floats.Sub(gains, first)
		gain, sd := stat.MeanStdDev(gains, nil)
		if gain -= 2 * stat.StdErr(sd, float64(len(gains))); i == 0 || gain > most {
			chosen, most = tried, max(-stat.Mean(first, nil)/1000, gain)
		}
	}
	return chosen, "validation loss of linear models by products of vectors" + strings.Replace(why, ";", ":", 1), nil
}

func withProducts(s *datasets.Splits, products []transforms.Product) (*datasets.Splits, error) {
	own := *s
	for _, d := range []**datasets.Dataset{&own.Train, &own.Vali, &own.Test} {
		if *d == nil {
			continue
		}
		var err error
		if *d, err = (*d).WithProducts(products); err != nil {
			return nil, err
		}
	}
	return &own, nil
}

// checkProducts returns an error if a product of vectors is still to be learned.
func checkProducts(d *datasets.Dataset) error {
	for _, p := range d.Products {
		if !p.Learned() {
			return fmt.Errorf("train: %s: the product %s is not learned: want splits by train.FitProducts", d.Name, p.Name)
		}
	}
	return nil
}

// A bilinearModel has the score w·x + (L a)·(R b).
type bilinearModel struct {
	a, b, rank, dimension int       // a and b are the vectors, by position
	others                []int     // columns of x
	mean, scale           []float64 // of these
	numbers               []float64 // L, R and w
	rates                 []float64 // of steps, by number
}

func (m *bilinearModel) size() int { return m.rank * m.dimension }

// parts returns L, R and w of a list of numbers.
func (m *bilinearModel) parts(numbers []float64) (left, right blas64.General, w []float64) {
	n := m.size()
	of := func(list []float64) blas64.General {
		return blas64.General{Rows: m.rank, Cols: m.dimension, Stride: m.dimension, Data: list}
	}
	return of(numbers[:n]), of(numbers[n : 2*n]), numbers[2*n:]
}

// fitBilinear learns a product.
func fitBilinear(ctx context.Context, s *datasets.Splits, p transforms.Product) (*bilinearModel, error) {
	m, err := newBilinear(s.Train, p)
	if err != nil {
		return nil, err
	}
	err = m.descend(ctx, s) // the weights of the others, so that the matrices do not stand in for them
	if err == nil {
		err = m.begin(s)
	}
	if err == nil {
		err = m.descend(ctx, s)
	}
	return m, err
}

// product returns a product with the matrices that are learned.
func (m *bilinearModel) product(p transforms.Product) transforms.Product {
	left, right, _ := m.parts(m.numbers)
	for k := range m.rank {
		p.Left = append(p.Left, float32s(left.Data[k*m.dimension:][:m.dimension]))
		p.Right = append(p.Right, float32s(right.Data[k*m.dimension:][:m.dimension]))
	}
	return p
}

// valiOf returns the split that says when to end.
func valiOf(s *datasets.Splits) *datasets.Dataset {
	if s.Vali == nil {
		return s.Train
	}
	return s.Vali
}

// descend takes steps by Adam until the loss on the validation split is the least.
func (m *bilinearModel) descend(ctx context.Context, s *datasets.Splits) error {
	const (
		epochs, batch, patience = 100, 16, 3
		first, last             = .02, .001 // steps, relative to the numbers
		decay1, decay2          = .9, .999
	)
	vali := valiOf(s)
	best := slices.Clone(m.numbers)
	least, since, rate, step := m.loss(vali, nil, allQueries(vali)), 0, first, 0
	moment1, moment2, gradient := make([]float64, len(best)), make([]float64, len(best)), make([]float64, len(best))
	random := rand.New(rand.NewPCG(1, 0x62696c69))
	for range epochs {
		for queries := range slices.Chunk(random.Perm(s.Train.Queries()), batch) {
			if err := ctx.Err(); err != nil {
				return err
			}
			step++
			clear(gradient)
			m.loss(s.Train, gradient, queries)
			for i, g := range gradient {
				moment1[i] += (1 - decay1) * (g - moment1[i])
				moment2[i] += (1 - decay2) * (g*g - moment2[i])
				size := moment1[i] / (1 - math.Pow(decay1, float64(step)))
				m.numbers[i] -= rate * m.rates[i] * size / (math.Sqrt(moment2[i]/(1-math.Pow(decay2, float64(step)))) + 1e-12)
			}
		}
		if now := m.loss(vali, nil, allQueries(vali)); now < least {
			least, since = now, 0
			copy(best, m.numbers)
		} else if since++; since == patience {
			if rate /= 4; rate < last {
				break
			}
			since = 0
			copy(m.numbers, best)
		}
	}
	copy(m.numbers, best)
	return nil
}

func float32s(list []float64) (numbers []float32) {
	for _, v := range list {
		numbers = append(numbers, float32(v))
	}
	return numbers
}

func allQueries(d *datasets.Dataset) []int {
	queries := make([]int, d.Queries())
	for q := range queries {
		queries[q] = q
	}
	return queries
}

// newBilinear returns a model with all numbers 0. Only its weights w take steps.
func newBilinear(d *datasets.Dataset, p transforms.Product) (*bilinearModel, error) {
	var vectors []transforms.Vector
	for i, name := range d.Vectors.Names {
		vectors = append(vectors, transforms.Vector{Name: name, Dimension: d.Vectors.Dimensions[i]})
	}
	a, b, err := p.Check(vectors)
	if err != nil {
		return nil, err
	}
	m := &bilinearModel{a: a, b: b, dimension: vectors[a].Dimension}
	m.rank = min(p.Rank(), m.dimension)
	m.standardise(d, p.Name)
	n := 2*m.size() + len(m.others)
	m.numbers, m.rates = make([]float64, n), slices.Repeat([]float64{1}, n)
	clear(m.rates[:2*m.size()])
	return m, nil
}

// begin sets the matrices to the first principal axes of the vectors, times the factor that is best for the validation split.
func (m *bilinearModel) begin(s *datasets.Splits) error {
	axes, length := m.principal(s.Train)
	if length == 0 {
		return fmt.Errorf("train: %s: there are no vectors other than 0 to learn a bilinear product from", s.Train.Name)
	}
	vali, n := valiOf(s), m.size()
	set := func(factor float64) {
		for i, x := range axes {
			m.numbers[i], m.numbers[n+i] = x*math.Sqrt(factor)/length, x*math.Sqrt(factor)/length
		}
	}
	least, best := math.Inf(1), 0.
	for factor := 1. / 64; factor < 200; factor *= 2 {
		if set(factor); m.loss(vali, nil, allQueries(vali)) < least {
			least, best = m.loss(vali, nil, allQueries(vali)), factor
		}
	}
	set(best)
	size := math.Sqrt(best) / length / math.Sqrt(float64(m.dimension)) // of the numbers, in the mean square
	for i := range 2 * n {
		m.rates[i] = size
	}
	return nil
}

// standardise finds the mean and the scale of all features but bilinear products.
func (m *bilinearModel) standardise(d *datasets.Dataset, name string) {
	width := d.Width()
	for c := range width {
		if d.FeatureName(c) == name || d.Levels != nil && d.Levels[c] != nil {
			continue
		}
		n, sum, squares := 0., 0., 0.
		for at := c; at < len(d.Features); at += width {
			if x := float64(d.Features[at]); x == x {
				n, sum, squares = n+1, sum+x, squares+x*x
			}
		}
		mean := sum / max(n, 1)
		if sd := math.Sqrt(squares/max(n, 1) - mean*mean); sd > 1e-6*math.Abs(mean) {
			m.others, m.mean, m.scale = append(m.others, c), append(m.mean, mean), append(m.scale, 1/sd)
		}
	}
}

// principal returns the first principal axes of the vectors of both sides, of some rows, and their root mean square length.
func (m *bilinearModel) principal(d *datasets.Dataset) (axes []float64, length float64) {
	const most = 4000 // rows
	moments := mat.NewSymDense(m.dimension, nil)
	n := 0
	for r := 0; r < d.Rows(); r += max(1, d.Rows()/most) {
		for _, v := range [][]float32{d.Vector(m.a, r), d.Vector(m.b, r)} {
			if v != nil {
				x := make([]float64, len(v))
				for i := range v {
					x[i] = float64(v[i])
				}
				moments.SymRankOne(moments, 1, mat.NewVecDense(len(x), x))
				n++
			}
		}
	}
	length = math.Sqrt(mat.Trace(moments) / float64(max(n, 1)))
	var eigen mat.EigenSym
	if !eigen.Factorize(moments, true) {
		return make([]float64, m.size()), 0
	}
	var all mat.Dense
	eigen.VectorsTo(&all)
	for k := range m.rank { // values ascend
		axes = append(axes, mat.Col(nil, m.dimension-1-k, &all)...)
	}
	return axes, length
}

// loss returns the mean softmax loss of queries, and adds its gradient, unless it is nil.
func (m *bilinearModel) loss(d *datasets.Dataset, gradient []float64, queries []int) (loss float64) {
	var rows []int
	for _, q := range queries {
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return 0
	}
	left, right, w := m.parts(m.numbers)
	var sides, mapped [2]blas64.General
	for i, matrix := range []blas64.General{left, right} {
		if m.rank == 0 {
			break
		}
		sides[i] = m.gather(d, [2]int{m.a, m.b}[i], rows)
		mapped[i] = blas64.General{Rows: len(rows), Cols: m.rank, Stride: m.rank, Data: make([]float64, len(rows)*m.rank)}
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, sides[i], matrix, 0, mapped[i])
	}
	x, scores := make([]float64, len(rows)*len(w)), make([]float64, len(rows))
	for i, r := range rows {
		own, row := x[i*len(w):(i+1)*len(w)], d.Row(r)
		for j, c := range m.others {
			if v := float64(row[c]); v == v {
				own[j] = (v - m.mean[j]) * m.scale[j]
			}
		}
		scores[i] = floats.Dot(w, own) + floats.Dot(mapped[0].Data[i*m.rank:][:m.rank], mapped[1].Data[i*m.rank:][:m.rank])
	}
	slopes, at := make([]float64, len(rows)), 0 // of the loss, by score
	for _, q := range queries {
		n := d.Offsets[q+1] - d.Offsets[q]
		loss += softmaxLoss(d, q, scores[at:at+n], slopes[at:at+n], 1/float64(len(queries)))
		at += n
	}
	if gradient == nil {
		return loss
	}
	gl, gr, gw := m.parts(gradient)
	for i, slope := range slopes {
		floats.AddScaled(gw, slope, x[i*len(w):(i+1)*len(w)])
		for k := i * m.rank; k < (i+1)*m.rank; k++ {
			mapped[0].Data[k], mapped[1].Data[k] = slope*mapped[1].Data[k], slope*mapped[0].Data[k]
		}
	}
	if m.rank > 0 {
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, mapped[0], sides[0], 1, gl)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, mapped[1], sides[1], 1, gr)
	}
	return loss
}

// gather returns a vector of rows, 0 where it is missing.
func (m *bilinearModel) gather(d *datasets.Dataset, vector int, rows []int) blas64.General {
	g := blas64.General{Rows: len(rows), Cols: m.dimension, Stride: m.dimension, Data: make([]float64, len(rows)*m.dimension)}
	for i, r := range rows {
		for j, x := range d.Vector(vector, r) {
			g.Data[i*m.dimension+j] = float64(x)
		}
	}
	return g
}

// softmaxLoss returns the loss −Σ_d ρ_d log p_d of a query, where p is the softmax of the scores and ρ the gains 2^label − 1, whose
// sum is made 1, times a weight, and sets its slopes. It is 0 if nothing is relevant.
func softmaxLoss(d *datasets.Dataset, q int, scores, slopes []float64, weight float64) (loss float64) {
	gains, all := make([]float64, len(scores)), 0.
	for i := range gains {
		gains[i] = math.Exp2(float64(max(0, d.Labels[d.Offsets[q]+i]))) - 1
		all += gains[i]
	}
	if d.QueryWeights != nil {
		weight *= float64(d.QueryWeights[q])
	}
	if all == 0 {
		return 0
	}
	total := floats.LogSumExp(scores)
	for i, s := range scores {
		loss -= weight * gains[i] / all * (s - total)
		slopes[i] = weight * (math.Exp(s-total) - gains[i]/all)
	}
	return loss
}
