package trainer

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
)

// writeJudged writes 10 queries of two documents, labels of a judge who says 1 of all but the last query, whose documents it does not
// know, and people's labels, 0 and 2, of the first four queries. It returns the flags that name them.
func writeJudged(t *testing.T) []string {
	folder := t.TempDir()
	var data, judge, people strings.Builder
	data.WriteString("query,document,x\n")
	for q := range 10 {
		for d := range 2 {
			fmt.Fprintf(&data, "q%d,d%d,%d\n", q, d, q+d)
			if q < 9 {
				fmt.Fprintf(&judge, "q%d 0 d%d 1\n", q, d)
			}
			if q < 4 {
				fmt.Fprintf(&people, "q%d 0 d%d %d\n", q, d, 2*d)
			}
		}
	}
	var args []string
	for flag, text := range map[string]string{"data": data.String(), "judge": judge.String(), "qrels": people.String()} {
		path := filepath.Join(folder, flag+map[string]string{"data": ".csv"}[flag])
		write(t, path, text)
		args = append(args, "-"+flag, path)
	}
	return append(args, "-cache", "off")
}

// Documents that people judged keep their labels; the others get the label whose gain is the mean of people's gains, where the judge gave
// one grade alone; and 0 where the judge gave none.
func TestLabelsByAJudgeAreExpectedGains(t *testing.T) {
	for gain, expected := range map[string]float64{"exp2": math.Log2(1 + 1.5), "linear": 1} {
		o, err := parse(append(writeJudged(t), "-gain", gain))
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		s, err := open(context.Background(), o, nil, &said)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []*datasets.Dataset{s.Train, s.Vali} {
			for q, id := range d.QueryIDs {
				for i := range 2 {
					want := expected
					switch {
					case id < "q4":
						want = float64(2 * i)
					case id == "q9":
						want = 0
					}
					if got := d.Labels[d.Offsets[q]+i]; math.Abs(float64(got)-want) > 1e-6 {
						t.Errorf("-gain %s: query %s, document %d: label %v, want %v", gain, id, i, got, want)
					}
				}
			}
		}
		if text := said.String(); !strings.Contains(text, "8 by people; 10 are the gain") || !strings.Contains(text, "2 documents have no label") {
			t.Errorf("said %q", text)
		}
	}
}

func TestJudgeErrorsSayWhatIsRight(t *testing.T) {
	good := writeJudged(t)
	other, headless := filepath.Join(t.TempDir(), "other"), filepath.Join(t.TempDir(), "data.csv")
	write(t, other, "Q1 0 d0 1\nQ2 0 d0 0\n")
	write(t, headless, "query,x,label\n1,2,1\n1,3,0\n2,2,1\n2,3,0\n")
	for want, args := range map[string][]string{
		"-qrels needs -judge":           {"-data", headless, "-qrels", other},
		"-judge is for -data with":      {"-judge", other},
		"want -gain exp2 or linear":     append([]string{"-gain", "binary"}, good...),
		"must be spelt as in the data":  append(good, "-qrels", other),
		"has no ids of documents":       {"-data", headless, "-judge", other},
		"no such file or directory":     append(good, "-judge", other+"x"),
		"fewer than two pairs are judg": append(good, "-judge", other),
	} {
		if status, _, stderr := call(args...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d, %s: want %q", args, status, stderr, want)
		}
	}
}
