package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/transforms"
)

// FitProducts returns the splits with the bilinear products of vectors learned, see [transforms.Product], and s itself if there are none
// to learn. They are part of a linear network that minimises the softmax loss on the training split until the loss on the validation
// split is the least. They are then features for models of all kinds. A network without bins needs no FitProducts: it learns them with
// its weights, by its own loss, see [Config.LearnsProducts]. FitProducts returns the error of the context when that is done.
func FitProducts(ctx context.Context, s *datasets.Splits) (*datasets.Splits, error) {
	if !slices.ContainsFunc(s.Train.Products, toLearn) {
		return s, nil
	}
	r, err := trainLinear(ctx, s)
	if err != nil {
		return nil, err
	}
	return s.WithProducts(r.Model.Products())
}

// LearnsProducts reports whether a model of these settings learns bilinear products with its weights, and begins where FitProducts does.
func (c Config) LearnsProducts() bool { return c.Scorer != forestScorer && c.Bins == 0 }

// toLearn reports whether something of a product is to be learned.
func toLearn(p transforms.Product) bool { return !p.Learned() }

// trainLinear trains a linear network of all features, and its bilinear products with it.
func trainLinear(ctx context.Context, s *datasets.Splits) (*Result, error) {
	c := Default()
	c.Loss, c.Transform, c.Metric, c.Hidden, c.Members = "softmax", "standard", LossMetric, nil, 1
	c.LearningRate, c.Batch, c.Epochs, c.Patience = .01, 16, 60, 6
	if s.Train.Gains != nil { // from clicks
		c.Loss, c.NormalizeGains = "plrank-exact", false
	}
	r, err := Run(ctx, c, s, Hooks{})
	if err == nil && r.Interrupted {
		err = ctx.Err()
	}
	return r, err
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
		tried, err := s.WithProducts(set)
		if err != nil {
			return nil, "", err
		}
		r, err := trainLinear(ctx, tried)
		if err != nil {
			return nil, "", err
		}
		scores, err := datasets.Score(r.Model, tried.Vali)
		if err != nil {
			return nil, "", err
		}
		var names []string
		for _, p := range set {
			names = append(names, p.Name)
		}
		gains := softmaxGains(tried.Vali, scores)
		if i == 0 {
			first = slices.Clone(gains)
		}
		why += fmt.Sprintf("; %s: %.4g", cmp.Or(strings.Join(names, ", "), "none"), -stat.Mean(gains, nil))
		floats.Sub(gains, first)
		gain, sd := stat.MeanStdDev(gains, nil)
		if gain -= 2 * stat.StdErr(sd, float64(len(gains))); i == 0 || gain > most {
			most = max(-stat.Mean(first, nil)/1000, gain)
			if chosen, err = s.WithProducts(r.Model.Products()); err != nil {
				return nil, "", err
			}
		}
	}
	return chosen, "validation loss of linear models by products of vectors" + strings.Replace(why, ";", ":", 1), nil
}

// softmaxGains returns the logarithm of the softmax loss's likelihood, Σ_d ρ_d log p_d, where the gains ρ sum to 1, by query.
func softmaxGains(d *datasets.Dataset, scores []float64) []float64 {
	gains := make([]float64, d.Queries())
	for q := range gains {
		from, to := d.Offsets[q], d.Offsets[q+1]
		all, sum := 0., 0.
		for r := from; r < to; r++ {
			gain := math.Exp2(float64(max(0, d.Labels[r]))) - 1
			all, sum = all+gain, sum+gain*scores[r]
		}
		if all > 0 {
			gains[q] = sum/all - floats.LogSumExp(scores[from:to])
		}
	}
	return gains
}

// beginProducts returns the splits with the bilinear products that a network is to learn as they begin, and the positions of these
// products. L and R have the first principal axes of the vectors of both sides as rows, so that the product is the inner product if the
// rank is the dimension, over the mean square of their lengths. It returns an error for a model that cannot learn them.
func beginProducts(p *parsed, s *datasets.Splits) (begun *datasets.Splits, learned []int, err error) {
	if s == nil || s.Train == nil || !slices.ContainsFunc(s.Train.Products, toLearn) {
		return s, nil, nil
	}
	products := slices.Clone(s.Train.Products)
	for i := range products {
		if products[i].Learned() {
			continue
		}
		if !p.config.LearnsProducts() || p.parts.Initial != nil {
			return nil, nil, fmt.Errorf("train: %s: the product %s is not learned: want splits by train.FitProducts", s.Train.Name, products[i].Name)
		}
		rows, err := principalAxes(s.Train, &products[i])
		if err != nil {
			return nil, nil, err
		}
		products[i].Left, products[i].Right, learned = rows, rows, append(learned, i)
	}
	begun, err = s.WithProducts(products)
	return begun, learned, err
}

// principalAxes returns the first principal axes of the vectors of both sides of a product, from some rows, over the root of their mean
// square length.
func principalAxes(d *datasets.Dataset, p *transforms.Product) (axes [][]float32, err error) {
	const most = 4000 // rows
	_, nameA, nameB, err := transforms.ParseProduct(p.Name)
	if err != nil {
		return nil, err
	}
	a, b := slices.Index(d.Vectors.Names, nameA), slices.Index(d.Vectors.Names, nameB)
	n := d.Vectors.Dimensions[a]
	moments, count := mat.NewSymDense(n, nil), 0
	for r := 0; r < d.Rows(); r += max(1, d.Rows()/most) {
		for _, v := range [][]float32{d.Vector(a, r), d.Vector(b, r)} {
			if v != nil {
				x := mat.NewVecDense(n, nil)
				for i := range v {
					x.SetVec(i, float64(v[i]))
				}
				moments.SymRankOne(moments, 1, x)
				count++
			}
		}
	}
	var eigen mat.EigenSym
	length := math.Sqrt(mat.Trace(moments) / float64(max(count, 1)))
	if length == 0 || !eigen.Factorize(moments, true) {
		return nil, fmt.Errorf("train: %s: there are no vectors other than 0 to learn %s from", d.Name, p.Name)
	}
	var all mat.Dense
	eigen.VectorsTo(&all)
	for k := range min(p.Rank(), n) { // values ascend
		axis := make([]float32, n)
		for i := range axis {
			axis[i] = float32(all.At(i, n-1-k) / length)
		}
		axes = append(axes, axis)
	}
	return axes, nil
}
