package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const recipeFolder = "../../docs/recipe/"

// recipeOf is the recipe in the runs of a row of small-changes.csv.
var recipeOf = map[string]string{
	"a linear path beside each network":    "A linear path",
	"without minmax":                       "A log-standard+quantile",
	"without log-standard":                 "A minmax+quantile",
	"B: the same, 240 steps":               "B",
	"15 epochs":                            "A epochs 15",
	"one network of 64":                    "A 300 steps members 1",
	"softmax in the place of plrank-exact": "A 300 steps softmax",
	"C: 4 queries a step":                  "C",
	"one network of 128":                   "C one network of 128",
	"dropout of inputs, .3":                "C input dropout .3",
	"dropout .25":                          "C dropout .25",
	"dropout .7":                           "C dropout .7",
	"K = 5":                                "C K 5",
	"AdamW, decay 1":                       "C adamw 1",
	"400 steps, 16 epochs at most":         "C 16 epochs",
	"D: rate .006, 300 steps":              "D",
	".006, times .8 an epoch":              "E decay .8",
	"E: .006, times .85 an epoch":          "E",
}

// smallRuns are the means of NDCG@5 and @10 of a file of runs, by recipe, and by fold and seed.
func smallRuns(t *testing.T, file string) map[string]map[string]float64 {
	t.Helper()
	table, err := readTable(recipeFolder+file, "recipe", "fold", "seed", "ndcg5", "ndcg10")
	if err != nil {
		t.Fatal(err)
	}
	five, err := table.floats("ndcg5")
	if err != nil {
		t.Fatal(err)
	}
	ten, err := table.floats("ndcg10")
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]map[string]float64{}
	folds, seeds := table.texts("fold"), table.texts("seed")
	for i, recipe := range table.texts("recipe") {
		if runs[recipe] == nil {
			runs[recipe] = map[string]float64{}
		}
		runs[recipe][folds[i]+" "+seeds[i]] = (five[i] + ten[i]) / 2
	}
	return runs
}

// pairedCell is a recipe less another one on the folds of a set: mean, standard error and number of pairs.
func pairedCell(a, b map[string]float64, set string) []float64 {
	var differences []float64
	for run, v := range a {
		if than, ok := b[run]; ok && strings.HasPrefix(run, set+"-") {
			differences = append(differences, v-than)
		}
	}
	mean, sd := meanSD(differences)
	switch n := float64(len(differences)); n {
	case 0:
		return nil
	case 1:
		return []float64{mean, 1}
	default:
		return []float64{mean, sd / math.Sqrt(n), n}
	}
}

// meanCell is the mean of a recipe on the folds of a set, nothing where there is no run.
func meanCell(runs map[string]float64, set string) []float64 {
	var values []float64
	for run, v := range runs {
		if strings.HasPrefix(run, set+"-") {
			values = append(values, v)
		}
	}
	if values == nil {
		return nil
	}
	return []float64{first(meanSD(values))}
}

// cellNumbers are those of a table's cell; none of –.
func cellNumbers(t *testing.T, cell string) []float64 {
	t.Helper()
	var list []float64
	for _, field := range strings.Fields(strings.NewReplacer("−", "-", "±", " ", "(", " ", ")", " ", "–", "").Replace(cell)) {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			t.Fatalf("%q: %v", cell, err)
		}
		list = append(list, v)
	}
	return list
}

// nearRuns tells whether a cell is what the runs give, which have four digits.
func nearRuns(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 2e-4 })
}

// The tables of the recipe for small data are what its runs give.
func TestRecipeOfSmallData(t *testing.T) {
	runs := smallRuns(t, "small.csv")
	sets := []string{"mq", "mslr", "ldr", "builtin"}
	changes, err := readTable(recipeFolder+"small-changes.csv", sets...)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range changes.rows {
		change, known := recipeOf[strings.Trim(row[0], "*")]
		against := runs[strings.ReplaceAll(row[1], ",", "")]
		if !known || runs[change] == nil || against == nil {
			t.Errorf("small-changes.csv: %q against %q is not among the runs: add it to recipeOf", row[0], row[1])
			continue
		}
		for i, set := range sets {
			if want := pairedCell(runs[change], against, set); !nearRuns(cellNumbers(t, row[2+i]), want) {
				t.Errorf("small-changes.csv: %s, %s: %s, want %v", row[0], set, row[2+i], want)
			}
		}
	}
	recipes, err := readTable(recipeFolder+"small-recipes.csv", sets...)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range recipes.rows {
		for i, set := range sets {
			want := meanCell(runs[strings.ReplaceAll(row[0], ",", "")], set)
			if cell := row[len(row)-len(sets)+i]; !nearRuns(cellNumbers(t, cell), want) {
				t.Errorf("small-recipes.csv: %s, %s: %s, want %v", row[0], set, cell, want)
			}
		}
	}
	before := smallRuns(t, "small-before.csv")
	against, err := readTable(recipeFolder + "small-against.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range against.rows {
		for i, recipe := range []string{"now", "now, without log-standard"} {
			if want := pairedCell(before[recipe], before["before"], row[0]); want == nil || !nearRuns(cellNumbers(t, row[1+i]), want) {
				t.Errorf("small-against.csv: %s, %s: %s, want %v", row[0], recipe, row[1+i], want)
			}
		}
	}
}

// The tables of two recipes by cmd/train, of long and of short lists, are what their runs give.
func TestRecipesByLists(t *testing.T) {
	for _, name := range []string{"small-long", "small-ranks"} {
		runs := smallRuns(t, name+"-runs.csv")
		table, err := readTable(recipeFolder + name + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		before, now := table.columns[1], table.columns[2]
		for _, row := range table.rows {
			for i, recipe := range []string{before, now} {
				if want := meanCell(runs[recipe], row[0]); want == nil || !nearRuns(cellNumbers(t, row[1+i]), want) {
					t.Errorf("%s: %s, %s: %s, want %v", name, row[0], recipe, row[1+i], want)
				}
			}
			if want := pairedCell(runs[now], runs[before], row[0]); want == nil || !nearRuns(cellNumbers(t, row[3]), want) {
				t.Errorf("%s: %s: %s, want %v", name, row[0], row[3], want)
			}
		}
	}
}

// The tables of single changes are what the differences of the queries give.
func TestRecipeOfSingleChanges(t *testing.T) {
	for _, name := range []string{"small-again", "small-short", "small-lists"} {
		table, err := readTable(recipeFolder + name + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		queries, err := readTable(recipeFolder+name+"-queries.csv", "set", "query")
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range table.rows {
			column := slices.Index(queries.columns, strings.Trim(row[0], "*"))
			if column < 0 {
				t.Errorf("%s.csv: %s has no column in the file of its queries", name, row[0])
				continue
			}
			for i, set := range table.columns[1:] {
				var runs, differences []float64
				for _, query := range queries.rows {
					switch v := cellNumbers(t, query[column]); {
					case query[0] != set:
					case query[1] == "runs":
						runs = v
					default:
						differences = append(differences, v...)
					}
				}
				var want []float64
				if len(runs) > 0 {
					mean, sd := meanSD(differences)
					want = []float64{mean, sd / math.Sqrt(float64(len(differences))), runs[0]}
				}
				if !nearRuns(cellNumbers(t, row[1+i]), want) {
					t.Errorf("%s.csv: %s, %s: %s, want %v", name, row[0], set, row[1+i], want)
				}
			}
		}
	}
}

// What the tables of the recipe for large data have of NDCG@10 is in the file of its trials.
func TestRecipeOfLargeData(t *testing.T) {
	trials, err := readTable(recipeFolder+"large.csv", "vali ndcg@10", "vali expected-ndcg@10")
	if err != nil {
		t.Fatal(err)
	}
	measured := map[string]bool{}
	for _, column := range []string{"vali ndcg@10", "vali expected-ndcg@10"} {
		values, err := trials.floats(column)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			measured[strings.TrimPrefix(fmt.Sprintf("%.4f", v), "0")] = true
		}
	}
	for _, file := range []string{"large-losses.csv", "large-trials.csv", "large-softmax.csv", "large-sizes.csv"} {
		table, err := readTable(recipeFolder + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range table.rows {
			for _, cell := range row {
				if value, _, _ := strings.Cut(cell, " "); len(value) == len(".1234") && value[0] == '.' && !measured[value] {
					t.Errorf("%s: %s: no trial has %s", file, strings.Join(row, ","), value)
				}
			}
		}
	}
}
