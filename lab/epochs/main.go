// Command epochs compares ways to choose the epoch of an ensemble, on nested folds as reproduce changes has them:
//
//	go run ./epochs -data SET -runs R -seed SEED
//
// Its members are trained once, by the default recipe, one by one, for each is trained by its own loss; every way takes the
// scores that they have after each epoch. It prints a line for each way: its NDCG@5 less that of the default, and the standard error over
// queries.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/gob"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
)

const parts, members = 5, 3

var cache = flag.String("keep", "", "`folder` for the scores of members, which a run goes on with")

// scores are those after each epoch, of the queries that choose it and of those held out.
type scores struct{ Vali, Held [][]float64 }

func main() {
	log.SetFlags(0)
	data := flag.String("data", "", "`folder` of a collection")
	runs := flag.Int("runs", 1, "`number` of divisions into parts")
	seed := flag.Uint64("seed", 7000, "`seed` of the first")
	flag.Parse()
	s, err := datasets.Open(*data, datasets.Options{})
	check(err)
	all := pooled(s.Train, s.Vali)
	values, ways := map[string]map[int][]float64{}, []string{}
	for run := range *runs {
		seed := *seed + uint64(run)
		var dealt [parts][]int
		for i, q := range rand.New(rand.NewPCG(seed, 0)).Perm(all.Queries()) {
			dealt[i%parts] = append(dealt[i%parts], q)
		}
		for part := range parts {
			of := func(from, to int) (queries []int) {
				for i := from; i < to; i++ {
					queries = append(queries, dealt[(part+i)%parts]...)
				}
				slices.Sort(queries)
				return queries
			}
			held, vali := all.Select(of(0, 1)), all.Select(of(1, 2))
			var networks []scores
			for m := range members {
				networks = append(networks, network(*data, run, part, m, seed, all.Select(of(2, parts)), vali, held))
			}
			choose(networks, vali, func(way string, scores []float64) {
				if values[way] == nil {
					values[way] = map[int][]float64{}
					ways = append(ways, way)
				}
				for i, v := range perQuery("ndcg@5", held, scores) {
					if q := of(0, 1)[i]; !math.IsNaN(v) {
						values[way][q] = append(values[way][q], v)
					}
				}
			})
		}
	}
	for _, way := range ways {
		var differences []float64
		for q, v := range values[way] {
			differences = append(differences, mean(v)-mean(values["the default"][q]))
		}
		m, squares, n := mean(differences), 0.0, float64(len(differences))
		for _, d := range differences {
			squares += (d - m) * (d - m)
		}
		fmt.Printf("%s,%d,%d,%+.4f,%.4f\n", way, len(differences), *runs, m, math.Sqrt(squares/(n-1)/n))
	}
}

// choose calls add with the scores of the queries held out, by each way.
func choose(networks []scores, vali *datasets.Dataset, add func(way string, scores []float64)) {
	var valis, helds [][][]float64
	for _, n := range networks {
		valis, helds = append(valis, n.Vali), append(helds, n.Held)
	}
	v, h := average(valis), average(helds)
	expected, plain, whole := curve("expected-ndcg@10", vali, v), curve("ndcg@10", vali, v), curve("ndcg", vali, v)
	add("the default", h[best(expected)])
	add("by ndcg@10", h[best(plain)])
	add("by ndcg", h[best(whole)])
	add("the best ensemble of members of best epochs", kept(networks, vali))
	for _, width := range []int{3, 5, 9} {
		add(fmt.Sprintf("by the mean of %d epochs", width), h[best(smooth(expected, width/2))])
	}
	for _, metric := range []string{"expected-ndcg@10", "ndcg@10", "ndcg"} {
		var own, smoothed [][]float64
		for _, n := range networks {
			c := curve(metric, vali, n.Vali)
			own, smoothed = append(own, n.Held[best(c)]), append(smoothed, n.Held[best(smooth(c, 1))])
		}
		add("each member by its "+metric, mixed(own))
		add("each member by the mean of 3 epochs of its "+metric, mixed(smoothed))
	}
	b := best(expected)
	add("scores of the best epoch and two on each side", mixed(h[max(0, b-2):min(len(h), b+3)]))
	add("scores of all epochs", mixed(h))
	add("epoch 10", h[9])
	add("epoch 15", h[14])
	add("the last epoch", h[len(h)-1])
}

// kept is the scores of the ensemble that is the best after an epoch, of those of each member after its best epoch until then.
func kept(networks []scores, vali *datasets.Dataset) []float64 {
	var valis, helds [][][]float64 // by member
	for _, n := range networks {
		c := curve("expected-ndcg@10", vali, n.Vali)
		var v, h [][]float64
		for e := range c {
			b := best(c[:e+1])
			v, h = append(v, n.Vali[b]), append(h, n.Held[b])
		}
		valis, helds = append(valis, v), append(helds, h)
	}
	return average(helds)[best(curve("expected-ndcg@10", vali, average(valis)))]
}

// network is a member's scores.
func network(data string, run, part, member int, seed uint64, training, vali, held *datasets.Dataset) (s scores) {
	key := sha256.Sum256(fmt.Append(nil, data, run, part, member, seed, ""))
	path := filepath.Join(*cache, fmt.Sprintf("%x", key[:10]))
	if f, err := os.Open(path); err == nil {
		defer f.Close()
		check(gob.NewDecoder(f).Decode(&s))
		return s
	}
	c, _ := train.DefaultFor(&datasets.Splits{Train: training})
	c.Members, c.Seed, c.Patience = 1, seed*100+uint64(member), 0
	_, err := train.Run(context.Background(), c, &datasets.Splits{Train: training, Vali: vali}, train.Hooks{Epoch: func(t *train.Trainer, _ train.Epoch) error {
		m, err := t.Current()
		check(err)
		v, err := m.Scores(vali)
		check(err)
		h, err := m.Scores(held)
		s.Vali, s.Held = append(s.Vali, v), append(s.Held, h)
		return err
	}})
	check(err)
	if *cache != "" {
		f, err := os.Create(path)
		check(err)
		check(gob.NewEncoder(f).Encode(s))
		check(f.Close())
	}
	return s
}

func pooled(a, b *datasets.Dataset) *datasets.Dataset {
	d := &datasets.Dataset{Name: a.Name, FeatureIDs: a.FeatureIDs, Features: slices.Concat(a.Features, b.Features),
		Labels: slices.Concat(a.Labels, b.Labels), Offsets: slices.Clone(a.Offsets)}
	for _, end := range b.Offsets[1:] {
		d.Offsets = append(d.Offsets, a.Rows()+end)
	}
	for q := range d.Queries() {
		d.QueryIDs = append(d.QueryIDs, strconv.Itoa(q+1))
	}
	return d
}

func perQuery(metric string, d *datasets.Dataset, scores []float64) []float64 {
	m, err := metrics.ParseMeasure(metric)
	check(err)
	v, err := m.PerQuery(metrics.Input{Scores: scores, Labels: d.Labels, Offsets: d.Offsets})
	check(err)
	return v
}

// curve is the mean of a metric by epoch.
func curve(metric string, d *datasets.Dataset, scores [][]float64) (c []float64) {
	for _, s := range scores {
		c = append(c, mean(perQuery(metric, d, s)))
	}
	return c
}

func smooth(v []float64, side int) (c []float64) {
	for i := range v {
		c = append(c, mean(v[max(0, i-side):min(len(v), i+side+1)]))
	}
	return c
}

func best(v []float64) int { return slices.Index(v, slices.Max(v)) }

// mean leaves out NaN.
func mean(v []float64) float64 {
	sum, n := 0.0, 0.0
	for _, x := range v {
		if !math.IsNaN(x) {
			sum, n = sum+x, n+1
		}
	}
	return sum / n
}

// mixed is the mean of several scores of the same documents.
func mixed(scores [][]float64) []float64 {
	sum := make([]float64, len(scores[0]))
	for _, s := range scores {
		for i, x := range s {
			sum[i] += x / float64(len(scores))
		}
	}
	return sum
}

// average is mixed for each epoch.
func average(scores [][][]float64) (all [][]float64) {
	for e := range scores[0] {
		var of [][]float64
		for _, s := range scores {
			of = append(of, s[e])
		}
		all = append(all, mixed(of))
	}
	return all
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
