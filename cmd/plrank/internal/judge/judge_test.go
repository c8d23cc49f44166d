package judge

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/cmd/internal/judging"
	"github.com/plrank/plrank/cmd/plrank/internal/compare"
	"github.com/plrank/plrank/cmd/plrank/internal/evaluate"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

var (
	call       = commandtest.Command(Run).Call
	must       = commandtest.Command(Run).Must
	mustMeet   = commandtest.Command(compare.Run).Must
	measure    = commandtest.Command(evaluate.Run).Must
	callScores = commandtest.Command(evaluate.Run).Call
)

// world is a folder with runs a and b, the labels of a judge and of people for all pairs.
type world struct {
	dir    string
	people map[string]string // grade by "query document"
	pairs  []string
}

func newWorld(t *testing.T) *world {
	r := rand.New(rand.NewPCG(1, 2))
	w := &world{dir: t.TempDir(), people: map[string]string{}}
	var judge, people, a, b strings.Builder
	for q := range 12 {
		for d := range 20 {
			grade := r.IntN(4)
			said := max(0, min(3, grade+r.IntN(3)-1))
			name := fmt.Sprintf("q%d d%d", q, d)
			w.people[name], w.pairs = strconv.Itoa(grade), append(w.pairs, name)
			fmt.Fprintf(&judge, "q%d 0 d%d %d\n", q, d, said)
			fmt.Fprintf(&people, "q%d 0 d%d %d\n", q, d, grade)
			fmt.Fprintf(&a, "q%d Q0 d%d 1 %v a\n", q, d, float64(grade)+3*r.Float64())
			fmt.Fprintf(&b, "q%d Q0 d%d 1 %v b\n", q, d, float64(grade)+3*r.Float64())
		}
	}
	for name, text := range map[string]string{"judge": judge.String(), "people": people.String(), "a": a.String(), "b": b.String()} {
		commandtest.Write(t, w.path(name), text)
	}
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) write(t *testing.T, name, text string) string {
	commandtest.Write(t, w.path(name), text)
	return w.path(name)
}

func parse[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func (w *world) compared(t *testing.T, qrels, metric string) judging.Findings {
	stdout, _ := mustMeet(t, w.path("a"), w.path("b"), "-judge", w.path("judge"), "-qrels", qrels, "-metric", metric, "-json")
	return parse[judging.Findings](t, stdout)
}

// Round after round people answer, and the interval gets narrower until everything is judged and the value is the truth.
func TestRoundsEndAtTheTruth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	truth, _ := mustMeet(t, w.path("a"), w.path("b"), "-qrels", w.path("people"), "-metric", "dcg@5", "-json")
	want := parse[struct {
		Pairs []struct{ Difference float64 }
	}](t, truth).Pairs[0].Difference
	var rounds []string
	width := math.Inf(1)
	for round := range 10 {
		args := []string{w.path("a"), w.path("b"), "-judge", w.path("judge"), "-budget", "40", "-metric", "dcg@5", "-width", "0.01", "-json"}
		if rounds != nil {
			args = append(args, "-qrels", strings.Join(rounds, ","))
		}
		out := w.path(fmt.Sprintf("out%d", round))
		stdout, _ := must(t, append(args, "-out", out)...)
		plan := parse[judging.Plan](t, stdout)
		if !(float64(plan.Always.Low) <= want && want <= float64(plan.Always.High)) && plan.Always.Low == plan.Always.Low {
			t.Errorf("round %d: %+v, want %v", round, plan.Always, want)
		}
		if len(plan.Draws) == 0 {
			if plan.Certain && float64(plan.Both.Low) > 0 != (want > 0) || !plan.Certain && math.Abs(float64(plan.Both.Value)-want) > 1e-9 {
				t.Errorf("certain: %v, %+v, want %v", plan.Certain, plan.Both, want)
			}
			if len(rounds) < 2 {
				t.Errorf("certain after %d rounds", len(rounds))
			}
			return
		}
		answers, sum := "", 0.0
		for line := range strings.Lines(commandtest.Read(t, out)) {
			words := strings.Fields(line)
			if len(words) != 3 {
				t.Fatalf("%q", line)
			}
			p, err := strconv.ParseFloat(words[2], 64)
			if sum++; err != nil || p <= 0 || p > 1 {
				t.Fatalf("%q", line)
			}
			answers += strings.TrimSpace(line) + " " + w.people[words[0]+" "+words[1]] + "\n"
		}
		if sum > 40 || round == 0 && sum != 40 {
			t.Fatalf("%v pairs", sum)
		}
		rounds = append(rounds, w.write(t, fmt.Sprintf("round%d", round), answers))
		f := w.compared(t, strings.Join(rounds, ","), "dcg@5")
		for _, r := range f.Runs { // some pairs have the same rank in both runs, and are never drawn
			if !math.IsNaN(float64(r.Both.Value)) || len(r.Notes) != 1 {
				t.Errorf("%+v", r)
			}
		}
		if low, high := float64(f.Both.Low), float64(f.Both.High); high-low > 1.2*width {
			t.Errorf("round %d: %v to %v, after a width of %v", round, low, high, width)
		} else {
			width = high - low
		}
	}
	t.Errorf("%d rounds, and a width of %v", len(rounds), width)
}

// Where people judged everything, or the runs are one, there is nothing to draw, and nothing to be careful about.
func TestWhatIsKnownIsNotDrawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.write(t, "first", "q0 Q0 d0 1 2 a\nq0 Q0 d1 1 1 a\n")
	b := w.write(t, "second", "q0 Q0 d0 1 1 b\nq0 Q0 d1 1 2 b\n")
	for _, args := range [][]string{{a, b, "-qrels", w.path("people")}, {a, a}} {
		stdout, _ := must(t, append(args, "-judge", w.path("judge"), "-budget", "2", "-out", args[1]+".out")...)
		if strings.Contains(stdout, "caution: 2 pairs") || !strings.Contains(stdout, "no pair that is left has an effect; no pairs are drawn") {
			t.Errorf("%v:\n%s", args, stdout)
		}
	}
}

// Who judged everything knows the value, in all forms of files; the judge alone is what evaluate measures on its labels.
func TestFormsOfFilesSayTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	forms := map[string]string{"words": "%[1]s 0 %[2]s %[3]s\n", "drawn": "%[1]s %[2]s 1 %[3]s\n", "last": "%[1]s 0 %[2]s %[3]s 1\n", "prels": "%[1]s %[2]s %[3]s 4 1.0\n"}
	value := func(labels, metric string) float64 {
		stdout, _ := measure(t, "-scores", w.path("a"), "-qrels", labels, "-report", metric, "-json")
		r := parse[struct {
			Splits []struct{ Rows []map[string]float64 }
		}](t, stdout)
		return r.Splits[0].Rows[1][metric]
	}
	for name, form := range forms {
		text := ""
		for _, p := range w.pairs {
			query, document, _ := strings.Cut(p, " ")
			text += fmt.Sprintf(form, query, document, w.people[p])
		}
		stdout, _ := measure(t, "-scores", w.path("a"), "-judge", w.path("judge"), "-qrels", w.write(t, name, text), "-metric", "dcg@5", "-json")
		f := parse[judging.Findings](t, stdout)
		truth, judge := value(w.path("people"), "dcg@5"), value(w.path("judge"), "dcg@5")
		if math.Abs(float64(f.Both.Value)-truth) > 1e-9 || f.Both.Low != f.Both.High || math.Abs(float64(f.Judge.Value)-judge) > 1e-9 || f.Judge.Low != f.Judge.High ||
			math.Abs(float64(f.People.Value)-truth) > 1e-9 {
			t.Errorf("%s: %+v, want %v, and %v by the judge", name, f.Values, truth, judge)
		}
	}
}

// Whole queries are a sample of queries, for every metric; other pairs are a sample of the judge's pairs, or of those that the runs
// show; and what is known is not a sample in judge.
func TestPlainJudgementsAreTakenAsTheyLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pick := func(name string, wanted func(query, document string) bool) string {
		text := ""
		for _, p := range w.pairs {
			if query, document, _ := strings.Cut(p, " "); wanted(query, document) {
				text += query + " 0 " + document + " " + w.people[p] + "\n"
			}
		}
		return w.write(t, name, text)
	}
	shown := map[string]bool{}
	for _, run := range []string{"a", "b"} {
		scores := map[string][]float64{} // by query, and the documents in the same order
		documents := map[string][]string{}
		for line := range strings.Lines(commandtest.Read(t, w.path(run))) {
			words := strings.Fields(line)
			score, _ := strconv.ParseFloat(words[4], 64)
			scores[words[0]], documents[words[0]] = append(scores[words[0]], score), append(documents[words[0]], words[2])
		}
		for q, list := range scores {
			for i, score := range list {
				above := 0
				for _, other := range list {
					if other > score {
						above++
					}
				}
				if above < 3 {
					shown[q+" "+documents[q][i]] = true
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	whole := pick("whole", func(query, _ string) bool { return query < "q4" })
	random := pick("random", func(string, string) bool { return r.IntN(3) == 0 })
	some := pick("some", func(q, d string) bool { return shown[q+" "+d] && r.IntN(2) == 0 })
	pool := pick("pool", func(q, d string) bool { return shown[q+" "+d] && q < "q4" })
	for _, c := range []struct{ file, metric, design string }{
		{whole, "map", "people judged 6 of 12 queries"}, // q0 to q3, q10 and q11
		{pool, "dcg@3", "people judged 6 of 12 queries"},
		{random, "dcg@3", "from the 240 pairs of the judge"},
		{some, "dcg@3", fmt.Sprintf("from the %d pairs of the runs", len(shown))},
	} {
		f := w.compared(t, c.file, c.metric)
		if queries := strings.Contains(c.design, "queries"); queries != strings.Contains(strings.Join(f.Notes, "; "), "caution: people judged 6 queries") {
			t.Errorf("%q", f.Notes)
		}
		if !strings.Contains(f.Design, c.design) || math.IsNaN(float64(f.Both.Low)) || f.Both.Low >= f.Both.High {
			t.Errorf("%q, %+v, want %q", f.Design, f.Values, c.design)
		}
	}
	if status, _, stderr := callScores("-scores", w.path("a"), "-judge", w.path("judge"), "-qrels", random, "-metric", "map"); status != 1 ||
		!strings.Contains(stderr, "map is not a sum over documents: want one of [dcg ndcg") {
		t.Errorf("%d, %s", status, stderr)
	}
	stdout, _ := must(t, w.path("a"), w.path("b"), "-judge", w.path("judge"), "-qrels", random, "-budget", "5", "-out", w.path("next"), "-json", "-metric", "dcg@3")
	if plan := parse[judging.Plan](t, stdout); plan.Certain || !math.IsNaN(float64(plan.Always.Low)) || len(plan.Draws) != 5 {
		t.Errorf("%+v", plan)
	}
}

// Faults of files name the line, and what would be right.
func TestFaultsOfJudgementsAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for text, want := range map[string]string{
		"q1 d1 .5\n":                   "bad:1: 3 words: the pair q1 d1 has no grade",
		"q1 d1 .5 1\nq1 d1 .5 1\n":     `bad:2: query q1: duplicate document "d1", first in line 1`,
		"q1 d1 .5 1\nq1 d2 1.5 1\n":    "bad:2: \"1.5\" is not a probability from 1e-12 to 1",
		"q1 d1 .5 1\nq1 d2 0 1\n":      "bad:2: \"0\" is not a probability from 1e-12 to 1",
		"q1 d1 .5 1\nq1 d2 1e-320 1\n": "bad:2: \"1e-320\" is not a probability from 1e-12 to 1",
		"q1 0 d1 1\nq1 0 d2 high\n":    "bad:2: \"high\" is not a label",
		"q1 0 d1 1\nq1 0 d2 1 .5\n":    "bad:2: 5 words",
		"x1 0 d1 1\n":                  "no pair is judged by",
		"q1 0 d1 1\nq1 0 d2 200\n":     "want grades from 0 to 99",
	} {
		w.write(t, "bad", text)
		status, _, stderr := call(w.path("a"), "-judge", w.path("judge"), "-budget", "3", "-qrels", w.path("bad"))
		if status != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%q: %d, %s, want %q", text, status, stderr, want)
		}
	}
	first := w.write(t, "first", "q1 d1 .5 1\n")
	if status, _, stderr := call(w.path("a"), "-judge", w.path("judge"), "-budget", "3", "-qrels", first+","+first); status != 1 ||
		!strings.Contains(stderr, "query q1, document d1 was judged in "+first+" already") {
		t.Errorf("%d, %s", status, stderr)
	}
}
