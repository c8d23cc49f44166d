package serve

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/plrank/plrank/internal/cputime"
	"github.com/plrank/plrank/ranker"
)

// The price of a part of a request estimates how long it takes on a core, in nanoseconds, before it is computed. How long a
// model takes is measured when its file is read. BenchmarkPrices compares prices with times.
const (
	unit         = 200. // in a unit of work
	requestTime  = 6000 // per request
	bodyTime     = 5    // per byte of a body, to read its numbers and texts
	documentTime = 150  // per document, to rank it and to write the answer
	valueTime    = 1    // per feature of a document
	textTime     = 20   // per feature of a document, to write it to the log
	wordTime     = 12   // per byte of documents of words, to write them to the log
	drawTime     = 50   // per document and per rank of a draw
	weighTime    = 30   // per document, rank and policy of a mixture, to choose its weight
	roomTime     = 1.25 // per nanosecond of the exposures of a draw, with making room for them
	leafTime     = 2    // per leaf of the exact explanation of a forest
	orderTime    = 180  // per order of columns of an explanation
	swapTime     = 25   // per two documents of an explanation
	eventTime    = 12.5 // per byte of events
	memberTime   = 60   // per document and rule
	mmrTime      = 1    // per document and component of all vectors
	stepTime     = 2    // per step of the dynamic program of quotas
	targetTimes  = 20   // exposures to solve for an offset
	ruledTimes   = 3    // exposures of a draw under rules: its propensities, and what the rules cost

	ruledPolicies = 6 // times the work of an order is the work of a draw under quotas
)

// A curve is a price by the number of documents n: call + n·(document + n·pair).
type curve struct{ call, document, pair float64 }

func (c curve) at(documents int) float64 {
	n := float64(documents)
	return c.call + n*(c.document+n*c.pair)
}

// sampleSizes are the numbers of documents that are timed; the last one is for models that compare documents. After a size that
// takes long, larger ones are left out.
var sampleSizes = []int{1, 32, 256, 1024}

const (
	long        = 30 * time.Millisecond
	mostSampled = 1 << 22 // numbers
)

// measure returns the curves of functions of a number of documents. It times them in turns, as the speed of a core varies.
func measure(sizes []int, compares bool, fs ...func(documents int)) []curve {
	times := make([][]float64, len(fs))
	for i, n := range sizes {
		if i > 0 && times[0][i-1] > float64(long) {
			break
		}
		for f := range fs {
			times[f] = append(times[f], math.Inf(1))
		}
		for turn := 0; turn < 4 && (turn == 0 || times[0][i] < float64(long)); turn++ {
			for f, call := range fs {
				times[f][i] = min(times[f][i], float64(cputime.Shortest(long/30, func() { call(n) })))
			}
		}
	}
	curves := make([]curve, len(fs))
	for f := range fs {
		curves[f] = fit(compares, times[f])
	}
	return curves
}

// fit returns the curve through the first and the last times, a line unless documents are compared.
func fit(compares bool, times []float64) (c curve) {
	slope := func(i, j int) float64 { return max(0, times[j]-times[i]) / float64(sampleSizes[j]-sampleSizes[i]) }
	last := len(times) - 1
	switch {
	case last == 0:
		return curve{document: times[0]}
	case compares && last > 1:
		c.pair = max(0, slope(last-1, last)-slope(0, last-1)) / float64(sampleSizes[last]-1)
		c.document = max(0, slope(0, last-1)-float64(1+sampleSizes[last-1])*c.pair)
	default:
		c.document = slope(0, last)
	}
	c.call = max(0, times[0]-c.document-c.pair)
	return c
}

// measure measures how long the model takes for documents of random values, and its transform. The values are of all sizes, so
// that they are on both sides of thresholds.
func (m *served) measure() {
	t, levels := m.File().Transform, m.Levels()
	sizes := sampleSizes
	if !m.ComparesDocuments() {
		sizes = sizes[:len(sizes)-1]
	}
	for len(sizes) > 1 && sizes[len(sizes)-1]*(t.Inputs+t.Width()) > mostSampled {
		sizes = sizes[:len(sizes)-1]
	}
	most := sizes[len(sizes)-1]
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]float32, most*t.Inputs)
	for i := range rows {
		if rows[i] = float32(rng.NormFloat64() * math.Exp(4*rng.NormFloat64())); levels != nil && levels[i%t.Inputs] != nil {
			rows[i] = float32(rng.IntN(1 + len(levels[i%t.Inputs])))
		}
	}
	inputs, scores, base := make([]float32, most*t.Width()), make([]float64, 0, most), make([]float32, most)
	curves := measure(sizes, m.ComparesDocuments(), func(n int) {
		own := base[:n]
		if !m.OnBaseScores() {
			own = nil
		}
		_, _ = m.ScoreOn(context.Background(), scores, rows[:n*t.Inputs], own) // a score out of range takes as long as others
	}, func(n int) {
		if !t.Identity() { // which scoring leaves out
			t.Query(inputs[:n*t.Width()], rows[:n*t.Inputs])
		}
	})
	m.scoring, m.transforming = curves[0], curves[1]
	if m.keepsSparse {
		m.measureSparse(rows)
	}
}

// measureSparse measures how long the model takes for documents that have few of its features.
func (m *served) measureSparse(values []float32) {
	few, columns := &ranker.Sparse{}, make([]int32, min(fewValues, len(m.columns)))
	for i := range columns {
		columns[i] = int32(i * len(m.columns) / len(columns))
	}
	sizes, base := sampleSizes[:len(sampleSizes)-1], []float32(nil)
	for range sizes[len(sizes)-1] {
		few.Append(columns, values[:len(columns)])
		if m.OnBaseScores() {
			base = append(base, 0)
		}
	}
	m.sparseScoring = measure(sizes, false, func(n int) {
		part := few.Cut(0, n)
		_, _ = m.ScoreSparse(context.Background(), nil, &part, base[:min(n, len(base))])
	})[0]
}

// fewValues is how many features the documents have by which a model is tried, and scoring of sparse ones is timed. More take more bytes
// of a body.
const fewValues = 64

// price is the price of scoring the documents of a request, of reading them if that was not done with the body, and of the answer.
func (m *served) price(in *request, isSparse bool) float64 {
	perValue, scoring := float64(valueTime*len(m.columns)), m.scoring
	if in.logged {
		perValue += float64(textTime * len(m.columns))
	}
	if isSparse {
		perValue, scoring = 0, m.sparseScoring
	}
	price := requestTime + scoring.at(in.count) + float64(in.count)*(documentTime+perValue)
	if isSparse && in.logged {
		price += wordTime * float64(len(in.documents)+len(in.values))
	}
	for _, v := range in.vectors {
		price += valueTime * float64(2*m.products*v.numbers(in.count))
	}
	if !in.decoded {
		price += bodyTime * float64(len(in.documents))
	}
	return price
}

// price is the price of drawing a ranking of documents with these scores, and of the propensities.
func (d *draw) price(scores []float64) (float64, error) {
	n, k := float64(len(scores)), float64(min(d.cutoff, len(scores)))
	price := drawTime*(n+k) + n*k/18
	if d.all(len(scores)) && d.rules == nil {
		return price, nil
	}
	took, err := d.policy().ExposureTime(scores, int(k))
	if d.rules != nil {
		took *= ruledTimes
	}
	return price + roomTime*float64(took), err
}

// explainPrice is the price of an explanation of documents with these features.
func (m *served) explainPrice(features []float32, c ranker.Comparison) float64 {
	w := m.ExplainWork(features, c)
	price := m.scoring.at(len(features)/len(m.columns)) +
		leafTime*float64(w.Leaves) + orderTime*float64(w.Orders) + swapTime*float64(w.Documents)/2
	if w.Passes == 0 {
		return price
	}
	perPass := float64(w.Documents) / float64(w.Passes)
	pass := curve{ // without the transform
		max(0, m.scoring.call-m.transforming.call), max(0, m.scoring.document-m.transforming.document),
		max(0, m.scoring.pair-m.transforming.pair),
	}
	return price + float64(w.Passes)*(pass.call+perPass*(pass.document+perPass*pass.pair))
}
