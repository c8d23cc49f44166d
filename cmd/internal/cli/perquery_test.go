package cli

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/train"
)

// Both forms are read as they were written: CSV with all digits, trec_eval's with four.
func TestTablesAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		queries := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9,"é-]{1,4}`).Filter(func(s string) bool { return s != allQueries }), 1, 6, rapid.ID[string]).Draw(t, "queries")
		metrics := []string{"ndcg@10", "rbp(p=0.9)"}
		report := train.SplitReport{PerQuery: map[string][]float64{}}
		for _, metric := range metrics {
			for range queries {
				v := rapid.Float64Range(-1, 1).Draw(t, "value")
				if rapid.IntRange(0, 4).Draw(t, "left out") == 0 {
					v = math.NaN()
				}
				report.PerQuery[metric] = append(report.PerQuery[metric], v)
			}
		}
		table, err := NewPerQuery(queries, metrics, report)
		if err != nil {
			t.Fatal(err)
		}
		for name, digits := range map[string]float64{"a.csv": 0, "a": 0, "a.trec": 5.1e-5} {
			var text strings.Builder
			if err := table.Write(&text, name); err != nil {
				t.Fatal(err)
			}
			back, err := ReadPerQuery(name, strings.NewReader(text.String()))
			if err != nil {
				if strings.Contains(err.Error(), "has no values") && strings.Count(text.String(), "\n") <= 1 {
					continue
				}
				t.Fatal(err)
			}
			for _, metric := range metrics {
				values, queries := table.Column(metric)
				for i, query := range queries {
					if got := back.Value(query, metric); !(math.Abs(got-values[i]) <= digits) {
						t.Fatalf("%s: %s of %q is %v, want %v in\n%s", name, metric, query, got, values[i], &text)
					}
				}
				if again, _ := back.Column(metric); len(again) != len(values) {
					t.Fatalf("%s: %d values, want %d", name, len(again), len(values))
				}
			}
		}
	})
}

func TestTRECFormIsAsOfTrecEval(t *testing.T) {
	table, err := ReadPerQuery("x", strings.NewReader("runid                 \tall\tmine\nmap                   \t301\t0.1234\nP_5                   \t301\t0.4000\nmap                   \t7\t0.5\n\nmap                   \tall\t0.3117\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if values, queries := table.Column("map"); !slices.Equal(values, []float64{0.1234, 0.5}) || !slices.Equal(queries, []string{"301", "7"}) {
		t.Errorf("%v of %v", values, queries)
	}
	if v := table.Value("7", "P_5"); !math.IsNaN(v) || !slices.Equal(table.Metrics, []string{"map", "P_5"}) {
		t.Errorf("%v, %v", v, table.Metrics)
	}
	var text strings.Builder
	if err := table.Write(&text, "y.trec"); err != nil {
		t.Fatal(err)
	}
	want := "map                   \t301\t0.1234\nP_5                   \t301\t0.4000\nmap                   \t7\t0.5000\nmap                   \tall\t0.3117\nP_5                   \tall\t0.4000\n"
	if text.String() != want {
		t.Errorf("%s\nwant\n%s", &text, want)
	}
}

// Lines of trec_eval 10.0-rc3 -q -m all_trec -m relstring.20, and the same values in CSV.
func TestTextMeasuresAreLeftOut(t *testing.T) {
	for _, text := range []string{
		"map                   \t301\t0.5000\nrelstring             \t301\t'1-.0<>'\nrelstring_20          \t301\t'1-.0<>'\nrunid                 \tall\tmine\nmap                   \tall\t0.5000\n",
		"relstring\t301\t''\nrelstring_20\t301\t10\nmap\t301\t.5\n",
		"query,metric,value\n301,relstring,'10'\n301,relstring_20,'10'\n301,map,0.5\n",
	} {
		table, err := ReadPerQuery("x", strings.NewReader(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if !slices.Equal(table.Texts, []string{"relstring", "relstring_20"}) || !slices.Equal(table.Metrics, []string{"map"}) || table.Value("301", "map") != 0.5 {
			t.Errorf("%q: %+v", text, table)
		}
	}
}

func TestTableErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "x has no values",
		"query,metric,value\n":              "x has no values",
		"map all 1\n":                       "x has no values",
		"relstring 1 '01'\n":                "x has no values",
		"map 1 0.5\nmap 1 0.5\n":            `x:2: query "1" has two values of map`,
		"map 1 much\n":                      `x:1: "much" is not the value of a metric`,
		"map 1\n":                           `x:1: 2 words: want "metric query value"`,
		"query,metric,value\n1,map,NaN\n":   `x:2: "NaN" is not the value`,
		"query,metric,value\n1,map\n":       "x:2: wrong number of fields",
		"query,value\n":                     `x:1: 1 words: want "metric query value"`,
		"query,metric,value\n\"1,map,0.5\n": "x:2: ",
	} {
		if table, err := ReadPerQuery("x", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, table, err, want)
		}
	}
	if _, err := NewPerQuery([]string{"a", "a"}, []string{"map"}, train.SplitReport{PerQuery: map[string][]float64{"map": {1, 2}}}); err == nil || !strings.Contains(err.Error(), `query "a" has two values`) {
		t.Error(err)
	}
}
