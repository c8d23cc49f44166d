// Command small tries changes of the recipe for small data on nested folds, as reproduce changes does, one member of an
// ensemble at a time, so that ensembles of different members share them, and data with gaps made of those without:
//
//	go run ./small -data SET -runs R -seed SEED -gaps none|random|low|groups -ways FILE
//
// A line of the file is an ensemble: numbers of members, 3 if there is none, with flags of cmd/train, joined by " & ". In it LOSS and VIEWS
// are the loss and the transform of the recipe, query-rmse{8} has the scale 8 / the highest label, -keep SHARE
// trains a member on a share of the queries, and -attributes keeps features that are constant within queries.
// It prints a line for each way: its NDCG@5 less that of the first, and the standard error over queries.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/gob"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/internal/command"
	"github.com/plrank/plrank/internal/recipe"
	"github.com/plrank/plrank/metrics"
	"github.com/plrank/plrank/train"
)

const parts = 5

var (
	data  = flag.String("data", "", "`folder` of a collection")
	runs  = flag.Int("runs", 1, "`number` of divisions into parts")
	first = flag.Uint64("seed", 11000, "`seed` of the first")
	gaps  = flag.String("gaps", "none", "`how` values are made missing")
	file  = flag.String("ways", "", "`file` of ways")
	keep  = flag.String("keep", "", "`folder` for the scores of members")
	spent = map[string]float64{} // processor seconds of training by flags
)

// A member is a number of networks of the same flags.
type member struct {
	n     int
	flags string
}

func main() {
	log.SetFlags(0)
	flag.Parse()
	s, err := datasets.Open(*data, datasets.Options{})
	check(err)
	all := pooled(s.Train, s.Vali)
	makeGaps(all)
	var ways []string
	text, err := os.ReadFile(*file)
	check(err)
	for _, line := range strings.Split(string(text), "\n") {
		if line != "" {
			ways = append(ways, line)
		}
	}
	values := make([]map[int][]float64, len(ways))
	for run := range *runs {
		seed := *first + uint64(run)
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
			held := all.Select(of(0, 1))
			for w, way := range ways {
				if values[w] == nil {
					values[w] = map[int][]float64{}
				}
				sum, n := make([]float64, held.Rows()), 0.0
				for _, m := range members(way) {
					for i := range m.n {
						for j, x := range scores(m.flags, run, part, i, seed, all, of(2, parts), of(1, 2), held) {
							sum[j] += x
						}
						n++
					}
				}
				m, err := metrics.ParseMeasure("ndcg@5")
				check(err)
				v, err := m.PerQuery(metrics.Input{Scores: sum, Labels: held.Labels, Offsets: held.Offsets})
				check(err)
				for i, v := range v {
					if q := of(0, 1)[i]; !math.IsNaN(v) {
						values[w][q] = append(values[w][q], v)
					}
				}
			}
		}
	}
	for w, way := range ways {
		var differences, own []float64
		for q, v := range values[w] {
			differences, own = append(differences, mean(v)-mean(values[0][q])), append(own, mean(v))
		}
		m, squares, n := mean(differences), 0.0, float64(len(differences))
		for _, d := range differences {
			squares += (d - m) * (d - m)
		}
		cost := 0.0
		for _, of := range members(way) {
			cost += float64(of.n) * spent[of.flags] / spent[of.flags+"#"]
		}
		fmt.Printf("%s,%s,%d,%d,%.4f,%+.4f,%.4f,%.2f,%s\n", filepath.Base(strings.TrimSuffix(*data, "/Fold1")), *gaps, *first, *runs, mean(own), m, math.Sqrt(squares/(n-1)/n), cost, way)
	}
}

func members(way string) (all []member) {
	for _, of := range strings.Split(way, "&") {
		words := strings.Fields(of)
		n := 3
		if len(words) > 0 {
			if x, err := strconv.Atoi(words[0]); err == nil {
				n, words = x, words[1:]
			}
		}
		all = append(all, member{n, strings.Join(words, " ")})
	}
	return all
}

var (
	scale   = regexp.MustCompile(`query-rmse\{([0-9.]+)\}`)
	keeping = regexp.MustCompile(`-keep ([0-9.]+)`)
)

// kept is what one network gives the documents held out, and what its training took.
type kept struct {
	Scores  []float64
	Seconds float64
}

func scores(flags string, run, part, i int, seed uint64, all *datasets.Dataset, training, vali []int, held *datasets.Dataset) []float64 {
	key := sha256.Sum256(fmt.Append(nil, *data, *gaps, run, part, i, seed, flags))
	path := filepath.Join(*keep, fmt.Sprintf("%x", key[:10]))
	var k kept
	if f, err := os.Open(path); err == nil {
		check(gob.NewDecoder(f).Decode(&k))
		f.Close()
	} else {
		k = trained(flags, i, seed, all, training, vali, held)
		f, err := os.Create(path)
		check(err)
		check(gob.NewEncoder(f).Encode(k))
		check(f.Close())
	}
	spent[flags] += k.Seconds
	spent[flags+"#"]++
	return k.Scores
}

func trained(change string, i int, seed uint64, all *datasets.Dataset, training, vali []int, held *datasets.Dataset) kept {
	c, _ := train.DefaultFor(&datasets.Splits{Train: all.Select(training)})
	change = strings.ReplaceAll(strings.ReplaceAll(change, "LOSS", c.Loss), "VIEWS", c.Transform)
	highest := float64(slices.Max(all.Labels))
	change = scale.ReplaceAllStringFunc(change, func(s string) string {
		x, _ := strconv.ParseFloat(scale.FindStringSubmatch(s)[1], 64)
		return fmt.Sprintf("query-rmse(%.3g)", x/highest)
	})
	if m := keeping.FindStringSubmatch(change); m != nil {
		share, err := strconv.ParseFloat(m[1], 64)
		check(err)
		training = slices.Clone(training)
		rand.New(rand.NewPCG(seed, uint64(i))).Shuffle(len(training), func(a, b int) { training[a], training[b] = training[b], training[a] })
		training = training[:int(share*float64(len(training)))]
		slices.Sort(training)
		change = strings.Replace(change, m[0], "", 1)
	}
	of := all.Select(training)
	if strings.Contains(change, "-attributes") {
		change = strings.Replace(change, "-attributes", "", 1)
		for x := range of.Width() { // the least difference in one query has the feature counted as varying
			for r := range of.Rows() {
				if of.Row(r)[x] != of.Row(0)[x] {
					v := &of.Features[of.Offsets[longest(of)]*of.Width()+x]
					*v = math.Nextafter32(*v, float32(math.Inf(1)))
					break
				}
			}
		}
	}
	f := flag.NewFlagSet(change, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	recipe.Define(f, &c)
	check(command.Parse(f, strings.Fields(change)))
	c.Members, c.Seed, c.Patience = 1, seed*100+uint64(i), 0
	before := processor()
	t, err := train.New(c, train.Parts{}, &datasets.Splits{Train: of, Vali: all.Select(vali)})
	check(err)
	_, err = t.Run(context.Background(), train.Hooks{})
	check(err)
	seconds := processor() - before
	best, err := t.Best()
	check(err)
	s, err := best.Scores(held)
	check(err)
	return kept{s, seconds}
}

func longest(d *datasets.Dataset) (best int) {
	for q := range d.Queries() {
		if d.Offsets[q+1]-d.Offsets[q] > d.Offsets[best+1]-d.Offsets[best] {
			best = q
		}
	}
	return best
}

// makeGaps has a third of the values go missing: at random, the more often the lower they are among all, or in five groups of
// features, the more often the lower these are on average.
func makeGaps(d *datasets.Dataset) {
	if *gaps == "none" {
		return
	}
	r := rand.New(rand.NewPCG(77, 7))
	n, w := d.Rows(), d.Width()
	low := make([]float64, n*w) // the share of documents that have a higher value, and half of those with the same
	for c := range w {
		column := make([]float32, n)
		for i := range n {
			column[i] = d.Features[i*w+c]
		}
		slices.Sort(column)
		for i := range n {
			x := d.Features[i*w+c]
			below, _ := slices.BinarySearch(column, x)
			upTo, _ := slices.BinarySearch(column, math.Nextafter32(x, float32(math.Inf(1))))
			low[i*w+c] = 1 - float64(below+upTo)/2/float64(n)
		}
	}
	group := make([]int, w)
	for c := range group {
		group[c] = r.IntN(5)
	}
	for i := range n {
		var sum, number, missing [5]float64
		for c := range w {
			sum[group[c]] += low[i*w+c]
			number[group[c]]++
		}
		for g := range missing {
			missing[g] = r.Float64() * number[g]
		}
		for c := range w {
			gone := false
			switch *gaps {
			case "random":
				gone = r.Float64() < 1./3
			case "low":
				gone = r.Float64() < 2./3*low[i*w+c]
			case "groups":
				gone = missing[group[c]] < 2./3*sum[group[c]]
			default:
				log.Fatalf("unknown gaps %q", *gaps)
			}
			if gone {
				d.Features[i*w+c] = float32(math.NaN())
			}
		}
	}
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

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func processor() float64 {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
