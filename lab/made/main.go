// Command made writes made problems of ten kinds, each with a truth that another kind of model finds, for ../recipe.md. Every seed
// is another truth.
package main

import (
	"cmp"
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
)

func main() {
	out := flag.String("out", "made", "`folder` for a folder of each problem and seed")
	seeds := flag.Int("seeds", 3, "`number` of truths of each kind")
	flag.Parse()
	for _, p := range problems {
		for seed := 1; seed <= *seeds; seed++ {
			if err := p.write(filepath.Join(*out, fmt.Sprintf("%s-%d", p.name, seed)), uint64(seed)); err != nil {
				fmt.Fprintln(os.Stderr, "made:", err)
				os.Exit(1)
			}
		}
	}
}

// A problem is a kind of data. Its truth returns the features of the documents of a query, and what their labels are by.
type problem struct {
	name      string
	queries   [3]int // of training, validation and test
	documents int    // of a query
	columns   []string
	quantiles []float64 // of what labels are by, above which they are 1, 2, …
	truth     func(r *rand.Rand) func(documents int) (features [][]float64, values []float64)
	random    float64 // part of the training labels that are drawn at random, and have a weight of 0.05
}

var (
	usual = []float64{.5, .75, .9, .97}
	rare  = []float64{.85, .93, .97, .99}
)

// Columns that end in _c are categories.
var problems = []problem{
	{name: "a", queries: [3]int{100, 40, 600}, documents: 12, columns: numbered(10), quantiles: usual, truth: thresholds(10, 12, .5)},
	{name: "b", queries: [3]int{600, 200, 600}, documents: 15, columns: numbered(10), quantiles: usual, truth: thresholds(10, 16, .1),
		random: .5},
	{name: "c", queries: [3]int{36, 12, 60}, documents: 2000, columns: numbered(20), quantiles: rare, truth: thresholds(20, 60, .5)},
	{name: "d", queries: [3]int{600, 200, 600}, documents: 15, columns: numbered(12), quantiles: usual, truth: missing},
	{name: "e", queries: [3]int{600, 200, 600}, documents: 15, columns: append(numbered(8), "segment_c"), quantiles: usual, truth: segments},
	{name: "f", queries: [3]int{600, 200, 600}, documents: 15, columns: numbered(10), quantiles: usual, truth: smooth},
	{name: "g", queries: [3]int{2400, 600, 1200}, documents: 20, columns: []string{"user_c", "item_c", "genre_c", "age", "price", "year"},
		quantiles: usual, truth: users},
	{name: "h", queries: [3]int{300, 100, 600}, documents: 12, columns: []string{"price", "days", "rating", "reviews", "stock", "brand_c"},
		quantiles: usual, truth: offers},
	{name: "i", queries: [3]int{2400, 600, 1200}, documents: 20, columns: []string{"user_c", "film_c", "director_c", "year", "length"},
		quantiles: usual, truth: films},
	{name: "j", queries: [3]int{900, 150, 300}, documents: 20, columns: []string{"driver_c", "team_c", "circuit_c", "season", "age", "grid"},
		quantiles: usual, truth: races},
}

func numbered(n int) (columns []string) {
	for i := range n {
		columns = append(columns, fmt.Sprintf("x%d", i+1))
	}
	return columns
}

// write writes the splits, with grades by quantiles over the training split.
func (p problem) write(folder string, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, uint64(p.name[0])))
	truth := p.truth(r)
	var bounds []float64
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for i, split := range []string{"train", "vali", "test"} {
		f, err := os.Create(filepath.Join(folder, split+".csv"))
		if err != nil {
			return err
		}
		defer f.Close()
		header := append([]string{"query", "label"}, p.columns...)
		if p.random > 0 {
			header = append(header, "weight")
		}
		rows := [][]string{header}
		var features [][]float64
		var values []float64
		for range p.queries[i] {
			x, y := truth(p.documents)
			features, values = append(features, x...), append(values, y...)
		}
		if bounds == nil {
			sorted := slices.Sorted(slices.Values(values))
			for _, q := range p.quantiles {
				bounds = append(bounds, stat.Quantile(q, stat.Empirical, sorted, nil))
			}
		}
		for row, x := range features {
			rows = append(rows, p.row(r, split == "train", fmt.Sprint(split, row/p.documents), x, values[row], bounds))
		}
		if err := csv.NewWriter(f).WriteAll(rows); err != nil {
			return err
		}
	}
	return nil
}

func (p problem) row(r *rand.Rand, training bool, query string, features []float64, value float64, bounds []float64) []string {
	grade := func(value float64) int {
		g, _ := slices.BinarySearch(bounds, value)
		return g
	}
	label, weight := grade(value), "1"
	if training && r.Float64() < p.random {
		label, weight = r.IntN(len(bounds)+1), "0.05"
	}
	row := []string{query, strconv.Itoa(label)}
	for _, v := range features {
		text := strconv.FormatFloat(v, 'g', 6, 64)
		if math.IsNaN(v) {
			text = ""
		}
		row = append(row, text)
	}
	if p.random > 0 {
		row = append(row, weight)
	}
	return row
}

// attribute draws the value of a column: by its number uniform, lognormal, a count or normal.
func attribute(r *rand.Rand, column int) float64 {
	switch column % 4 {
	case 0:
		return r.Float64()
	case 1:
		return math.Exp(r.NormFloat64())
	case 2:
		return float64(r.IntN(12))
	}
	return r.NormFloat64()
}

func attributes(r *rand.Rand, width int) (x []float64) {
	for c := range width {
		x = append(x, attribute(r, c))
	}
	return x
}

// steps returns a sum of steps: each is a weight where one or two columns are on one side of a value of theirs.
func steps(r *rand.Rand, width, number int) func(x []float64) float64 {
	type step struct {
		column [2]int
		bound  [2]float64
		above  [2]bool
		weight float64
	}
	var all []step
	for range number {
		s := step{weight: r.NormFloat64()}
		for i := range s.column {
			s.column[i] = r.IntN(width)
			s.bound[i], s.above[i] = attribute(r, s.column[i]), r.IntN(2) == 0
		}
		if r.IntN(3) == 0 {
			s.column[1], s.bound[1], s.above[1] = s.column[0], s.bound[0], s.above[0]
		}
		all = append(all, s)
	}
	return func(x []float64) (sum float64) {
		for _, s := range all {
			if (x[s.column[0]] > s.bound[0]) == s.above[0] && (x[s.column[1]] > s.bound[1]) == s.above[1] {
				sum += s.weight
			}
		}
		return sum
	}
}

// thresholds is a sum of steps with noise.
func thresholds(width, number int, noise float64) func(*rand.Rand) func(int) ([][]float64, []float64) {
	return func(r *rand.Rand) func(int) ([][]float64, []float64) {
		sum := steps(r, width, number)
		return each(func() ([]float64, float64) {
			x := attributes(r, width)
			return x, sum(x) + noise*r.NormFloat64()
		})
	}
}

// each makes documents that know nothing of their query.
func each(one func() ([]float64, float64)) func(int) ([][]float64, []float64) {
	return func(documents int) (features [][]float64, values []float64) {
		for range documents {
			x, y := one()
			features, values = append(features, x), append(values, y)
		}
		return features, values
	}
}

// missing has values that are missing the more often the higher they are, and the more often the better the document is.
func missing(r *rand.Rand) func(int) ([][]float64, []float64) {
	weights, sum := attributes(r, 12), steps(r, 12, 6)
	for i := range weights {
		weights[i] = r.NormFloat64()
	}
	return each(func() ([]float64, float64) {
		x := make([]float64, 12)
		y := r.NormFloat64()
		for c := range x {
			x[c] = r.NormFloat64()
			y += .5 * weights[c] * x[c]
		}
		y += sum(x)
		for c := range x {
			if r.Float64() < 1/(1+math.Exp(1.5-x[c]-weights[c]*y/2)) {
				x[c] = math.NaN()
			}
		}
		return x, y
	})
}

// segments has other thresholds for the queries of each segment.
func segments(r *rand.Rand) func(int) ([][]float64, []float64) {
	common := steps(r, 8, 6)
	var own []func([]float64) float64
	for range 6 {
		own = append(own, steps(r, 8, 8))
	}
	return func(documents int) (features [][]float64, values []float64) {
		segment := r.IntN(len(own))
		for range documents {
			x := attributes(r, 8)
			features = append(features, append(x, float64(segment)))
			values = append(values, common(x)+own[segment](x)+.7*r.NormFloat64())
		}
		return features, values
	}
}

// smooth is a sum of waves, products and a hill of normal features.
func smooth(r *rand.Rand) func(int) ([][]float64, []float64) {
	const width = 10
	var weights [4][width]float64
	for i := range weights {
		for c := range width {
			weights[i][c] = r.NormFloat64()
		}
	}
	pairs := r.Perm(width)
	return each(func() ([]float64, float64) {
		x, distance, y := make([]float64, width), 0., .7*r.NormFloat64()
		for c := range x {
			x[c] = r.NormFloat64()
			y += .5*weights[0][c]*x[c] + .5*math.Sin(2*weights[1][c]*x[c])
			distance += (x[c] - weights[2][c]) * (x[c] - weights[2][c]) / width
		}
		for i := 0; i+1 < width; i += 2 {
			y += .7 * weights[3][i] * x[pairs[i]] * x[pairs[i+1]]
		}
		return x, y + 3*math.Exp(-distance)
	})
}

// users has queries by users, whose tastes meet what items are like.
func users(r *rand.Rand) func(int) ([][]float64, []float64) {
	const people, items, genres, tastes = 300, 400, 12, 3
	draw := func(n, width int, size float64) [][]float64 {
		all := make([][]float64, n)
		for i := range all {
			for range width {
				all[i] = append(all[i], size*r.NormFloat64())
			}
		}
		return all
	}
	user, item, liking := draw(people, tastes+1, 1), draw(items, tastes+2, 1), draw(people, genres, .6)
	genre, price := make([]int, items), make([]float64, items)
	for i := range items {
		genre[i], price[i] = r.IntN(genres), math.Exp(2+.7*item[i][tastes])
	}
	return func(documents int) (features [][]float64, values []float64) {
		u := r.IntN(people)
		age := math.Round(40 + 12*user[u][tastes])
		for _, i := range r.Perm(items)[:documents] {
			y := .8*item[i][tastes+1] + liking[u][genre[i]] + .5*r.NormFloat64()
			for t := range tastes {
				y += .5 * user[u][t] * item[i][t]
			}
			if price[i] > 12 && age < 35 {
				y--
			}
			features = append(features, []float64{float64(u), float64(i), float64(genre[i]), age, price[i], 2000 + 5*math.Round(item[i][0])})
			values = append(values, y)
		}
		return features, values
	}
}

// offers has offers for one product a query: what counts is how dear one is compared with the others.
func offers(r *rand.Rand) func(int) ([][]float64, []float64) {
	const brands = 15
	brand := make([]float64, brands)
	for i := range brand {
		brand[i] = .5 * r.NormFloat64()
	}
	return func(documents int) (features [][]float64, values []float64) {
		level, lowest := math.Exp(3+1.2*r.NormFloat64()), math.Inf(1)
		for range documents {
			x := []float64{level * math.Exp(.25*r.NormFloat64()), float64(1 + r.IntN(10)), math.Round(50-10*r.ExpFloat64()) / 10,
				math.Round(math.Exp(4 + 1.5*r.NormFloat64())), float64(r.IntN(30)), float64(r.IntN(brands))}
			features, lowest = append(features, x), min(lowest, x[0])
		}
		for _, x := range features {
			y := -4*math.Log(x[0]/lowest) + .8*x[2]*min(1, x[3]/50) + brand[int(x[5])] + 1.2*r.NormFloat64()
			if x[1] <= 2 {
				y++
			}
			if x[4] == 0 {
				y -= 2
			}
			values = append(values, y)
		}
		return features, values
	}
}

// films has queries by users. Few films are seen often, and most of what is known about a film is how it was liked.
func films(r *rand.Rand) func(int) ([][]float64, []float64) {
	const people, titles, directors = 1500, 8000, 1200
	normal := func(n int) (x []float64) {
		for range n {
			x = append(x, r.NormFloat64())
		}
		return x
	}
	user, taste, quality, director := normal(people), normal(titles), normal(titles), normal(directors)
	directedBy := make([]int, titles)
	for i := range directedBy {
		directedBy[i] = int(directors * r.Float64() * r.Float64())
	}
	popular := rand.NewZipf(r, 1.2, 60, titles-1)
	return func(documents int) (features [][]float64, values []float64) {
		u, seen := r.IntN(people), map[int]bool{}
		for len(seen) < documents {
			i := int(popular.Uint64())
			if seen[i] {
				continue
			}
			seen[i] = true
			d, year, length := directedBy[i], math.Round(2000+8*taste[i]), math.Round(100+20*quality[(i+1)%titles]) // of another film
			features = append(features, []float64{float64(u), float64(i), float64(d), year, length})
			values = append(values, .8*quality[i]+.5*director[d]+.5*user[u]*taste[i]+.7*r.NormFloat64())
		}
		return features, values
	}
}

// races has a race a query, in the order of time: drivers come and go, teams rise and fall, and both have circuits that suit them.
func races(r *rand.Rand) func(int) ([][]float64, []float64) {
	const teams, circuits, year = 12, 25, 18
	type entrant struct {
		number, team int
		skill, age   float64
	}
	var field []entrant
	strength, suits, drivers := make([]float64, teams), map[[2]int]float64{}, 0
	race := -1
	return func(documents int) (features [][]float64, values []float64) {
		if race++; race%year == 0 {
			for t := range strength {
				strength[t] = .8*strength[t] + .6*r.NormFloat64()
			}
			for i := range field {
				field[i].age++
				if r.IntN(6) == 0 {
					field[i].team = r.IntN(teams)
				}
			}
			field = slices.DeleteFunc(field, func(entrant) bool { return r.IntN(8) == 0 })
			for len(field) < documents {
				drivers++
				field = append(field, entrant{drivers, r.IntN(teams), .9 * r.NormFloat64(), 20 + float64(r.IntN(10))})
			}
		}
		circuit := r.IntN(circuits)
		for _, d := range field[:documents] {
			key := [2]int{d.number, circuit}
			if _, ok := suits[key]; !ok {
				suits[key] = .4 * r.NormFloat64()
			}
			y := d.skill + strength[d.team] + suits[key]
			grid := y + .8*r.NormFloat64()
			features = append(features, []float64{float64(d.number), float64(d.team), float64(circuit), 1950 + float64(race/year), d.age, grid})
			values = append(values, y+1.2*r.NormFloat64()-.02*(d.age-29)*(d.age-29))
		}
		rank := slices.Clone(features)
		slices.SortFunc(rank, func(a, b []float64) int { return cmp.Compare(b[5], a[5]) })
		for i, x := range rank {
			x[5] = float64(i + 1)
		}
		return features, values
	}
}
