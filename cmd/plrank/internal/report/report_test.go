package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/cli"
	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/cmd/internal/trainer"
	"github.com/plrank/plrank/cmd/plrank/internal/compare"
	"github.com/plrank/plrank/ranker"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

var (
	reporting = commandtest.Command(Run)
	training  = commandtest.Command(trainer.Run)
)

// row returns the row of a table of a page, from its first column, and whether there is one. The table is the first below
// a caption.
func row(text, caption, first string) (values []string, there bool) {
	_, text, _ = strings.Cut(text, "<caption>"+caption+"</caption>")
	text, _, _ = strings.Cut(text, "</table>")
	for _, line := range strings.Split(text, "<tr>")[1:] {
		var texts []string
		for _, m := range regexp.MustCompile(`>([^<]*)</t[hd]>`).FindAllStringSubmatch(line, -1) {
			texts = append(texts, html.UnescapeString(m[1]))
		}
		if len(texts) > 0 && texts[0] == first {
			return texts, true
		}
	}
	return nil, false
}

func value(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.4f", v)
}

func TestValuesAreThoseOfTheResult(t *testing.T) {
	_, run, _ := training.Shared(t)
	text := commandtest.Read(t, filepath.Join(run, cli.ReportFile))
	var result cli.RunSummary
	if err := json.Unmarshal([]byte(commandtest.Read(t, filepath.Join(run, cli.ResultFile))), &result); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for split, values := range result.Metrics {
		head, _ := row(text, "Split "+split, "metric")
		for metric, v := range values {
			got, there := row(text, "Split "+split, metric)
			if !there || got[1] != value(float64(v)) {
				t.Errorf("%s, %s: %q, want %v", split, metric, got, v)
			}
			for column, ranker := range head {
				if by, ok := result.Baselines[ranker]; ok {
					want := math.NaN()
					if v, ok := by[split][metric]; ok {
						want = float64(v)
					}
					if got[column] != value(want) {
						t.Errorf("%s, %s, %s: %s, want %v", split, metric, ranker, got[column], want)
					}
					checked++
				}
			}
		}
	}
	if checked < 30 || len(result.Metrics) != 3 || strings.Contains(text, "other values than in the run") {
		t.Errorf("%d values of other rankers, %d splits", checked, len(result.Metrics))
	}
	// The interval of a mean holds it.
	got, _ := row(text, "Split test", "ndcg@10")
	var mean, low, high float64
	if _, err := fmt.Sscanf(got[1]+" "+got[2], "%f %f to %f", &mean, &low, &high); err != nil || !(low < mean && mean < high) {
		t.Errorf("%q: %v", got, err)
	}
}

func TestPageOfTrainingIsThatOfTheCommand(t *testing.T) {
	_, run, _ := training.Shared(t)
	out := filepath.Join(t.TempDir(), "p.html")
	stdout, stderr := reporting.Must(t, run, "-out", out)
	if got, want := commandtest.Read(t, out), commandtest.Read(t, filepath.Join(run, cli.ReportFile)); got != want || stdout != "" || stderr != "" {
		t.Errorf("%d and %d bytes; %s%s", len(got), len(want), stdout, stderr)
	}
	if stdout, _ := reporting.Must(t, run); stdout != commandtest.Read(t, out) {
		t.Error("standard output has another page")
	}
	if status, _, stderr := reporting.Call(run, "-out", out); status != 1 || !strings.Contains(stderr, "exists") {
		t.Error("an existing file:", status, stderr)
	}
}

// hostile are names of queries, documents, features and groups.
var hostile = []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "a\u202eb", strings.Repeat("long", 200)}

func TestNamesFromFilesAreHarmless(t *testing.T) {
	dir := t.TempDir()
	quote := func(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }
	text := "label,qid,docid,brand," + quote(hostile[0]) + "," + quote(hostile[1]) + "," + quote(hostile[2]+"\x01") + "," + quote(hostile[3]) + "\n"
	for q := range 30 {
		for d := range 4 {
			text += fmt.Sprintf("%d,%s,%s,%s,%d,%d,%d,%d\n", d%3, quote(fmt.Sprint(hostile[q%4], q)), quote(hostile[d]), quote(hostile[(q+d)%4]), d, q+d, d*d, (d+q)%3)
		}
	}
	data := filepath.Join(dir, "<b>.csv")
	commandtest.Write(t, data, text)
	training.Quick(t, "-data", data, "-group-column", "brand", "-out", filepath.Join(dir, "run"))
	page := commandtest.Read(t, filepath.Join(dir, "run", cli.ReportFile))
	checkSafe(t, page)
	for _, want := range []string{"&lt;script&gt;alert(1)", `a\u202eb`, "longlong", "Worst queries"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %s", want)
		}
	}
}

var (
	tag     = regexp.MustCompile(`<(/?[a-zA-Z][a-z0-9]*)`)
	picture = regexp.MustCompile(`src="([^"]*)"`)
)

// checkSafe checks that a page has no other elements than the template's, and that its pictures are XML of shapes and texts.
func checkSafe(t *testing.T, page string) {
	t.Helper()
	const elements = " html head meta link title style body a header h1 h2 h3 bdi b nav ul li main section p div table caption thead tbody tr th td figure figcaption img details summary footer "
	for _, m := range tag.FindAllStringSubmatch(page, -1) {
		if !strings.Contains(elements, " "+strings.TrimPrefix(m[1], "/")+" ") {
			t.Errorf("the page has the element %s", m[1])
		}
	}
	if strings.ContainsAny(page, "\u202a\u202b\u202d\u202e\u2066\u2067\u2068") || !strings.Contains(page, "default-src 'none'") {
		t.Error("text that turns around, or no policy")
	}
	pictures := picture.FindAllStringSubmatch(page, -1)
	if len(pictures) < 3 || strings.Count(page, "<img ") != len(pictures) || strings.Contains(page, "http://") || strings.Contains(page, "https://") {
		t.Errorf("%d pictures of %d within the page", len(pictures), strings.Count(page, "<img "))
	}
	for _, p := range pictures {
		data, within := strings.CutPrefix(html.UnescapeString(p[1]), "data:image/svg+xml;base64,")
		svg, err := base64.StdEncoding.DecodeString(data)
		if !within || err != nil || strings.Contains(string(svg), "\u202e") {
			t.Fatal(p[1], err)
		}
		for in := xml.NewDecoder(bytes.NewReader(svg)); ; {
			token, err := in.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := token.(xml.StartElement); ok && !strings.Contains(" svg g path text ", " "+e.Name.Local+" ") {
				t.Errorf("a picture has the element %s", e.Name.Local)
			}
		}
	}
}

func TestWithoutDataThePageSaysSo(t *testing.T) {
	data := commandtest.Fold(t)
	run, _ := training.Trained(t, data)
	if err := os.Rename(data, data+".moved"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Rename(data+".moved", data) })
	page, stderr := reporting.Must(t, run)
	for _, want := range []string{"Data not found", "<caption>Split test</caption>", "Learning curves", "mlp of"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(page, "Which features matter") || !strings.Contains(stderr, "without data") {
		t.Error(stderr)
	}
	if err := os.Remove(filepath.Join(run, cli.ResultFile)); err != nil { // as if it had been killed
		t.Fatal(err)
	}
	moved, _ := reporting.Must(t, run, "-data", data+".moved")
	if !strings.Contains(moved, "Which features matter") || strings.Contains(moved, "Data not found") ||
		!strings.Contains(moved, "The run has not ended") {
		t.Error("-data does not say where the data are now")
	}
}

// The recipe of the paper leaves test queries without a relevant document out.
func TestDataThatHaveChangedAreTold(t *testing.T) {
	const changed = "other values than in the run"
	data := commandtest.Fold(t)
	test := filepath.Join(data, "test.txt")
	text := commandtest.Read(t, test)
	commandtest.Write(t, test, text+"0 qid:99 1:1 2:0.5 4:0\n0 qid:99 1:0 2:0.5 4:0\n")
	run, _ := training.Trained(t, data, "-preset", "paper")
	if page, _ := reporting.Must(t, run); strings.Contains(page, changed) || !strings.Contains(page, "test.txt: 11 queries") {
		t.Error("the data are as they were")
	}
	commandtest.Write(t, test, strings.ReplaceAll(text, "2 qid:", "1 qid:"))
	if page, _ := reporting.Must(t, run); !strings.Contains(page, changed) {
		t.Error("other labels are not told")
	}
	for _, split := range []string{"train", "vali", "test"} {
		commandtest.Write(t, filepath.Join(data, split+".txt"), strings.ReplaceAll(text, " 4:", " 5:"))
	}
	if page, _ := reporting.Must(t, run); !strings.Contains(page, "other feature ids than the model") {
		t.Error("other features are not told")
	}
}

func TestRunsSideBySideAreTestedInPairs(t *testing.T) {
	data, a, model := training.Shared(t)
	b, other := training.Trained(t, data, "-seed", "5", "-loss", "softmax")
	page, _ := reporting.Must(t, a, b)
	checkSafe(t, page)
	found, _ := commandtest.Command(compare.Run).Must(t, model, other, "-data", data, "-metric", "ndcg@10", "-json")
	var want struct {
		Pairs []struct {
			Difference, Low, High float64
			T, Randomization      struct{ P float64 }
			Wins, Ties, Losses    int
		}
	}
	if err := json.Unmarshal([]byte(found), &want); err != nil {
		t.Fatal(err)
	}
	p := want.Pairs[0]
	got, there := row(page, "Differences of ndcg@10, 10 queries", "A − B")
	expected := []string{"A − B", value(p.Difference), value(p.Low) + ", " + value(p.High), value(p.T.P), value(p.T.P), value(p.Randomization.P), value(p.Randomization.P), fmt.Sprintf("%d/%d/%d", p.Wins, p.Ties, p.Losses)}
	if !there || fmt.Sprint(got) != fmt.Sprint(expected) {
		t.Errorf("%q, want %q", got, expected)
	}
	if strings.Contains(page, "is not tested") {
		t.Error("runs on the same queries are not tested")
	}
	elsewhere, _ := training.Trained(t, commandtest.Folds(t, 1)+"/Fold1")
	if page, _ := reporting.Must(t, a, elsewhere); !strings.Contains(page, "against A: their last splits have different queries or labels") {
		t.Error("runs on different queries are tested")
	}
}

func TestFoldsAreSideBySide(t *testing.T) {
	run, _ := training.Trained(t, commandtest.Folds(t, 2), "-folds", "all")
	if page, _ := reporting.Must(t, run); strings.Count(page, "Run A: ") < 1 || strings.Count(page, "Run B: ") < 1 {
		t.Error("not a run for each fold")
	}
}

func TestModelsOfAllKindsHaveAPage(t *testing.T) {
	data, _, network := training.Shared(t)
	dir := t.TempDir()
	forest, _ := training.Trained(t, data, "-scorer", "forest")
	mixture := filepath.Join(dir, "mixture.npz")
	var parts []*ranker.Model
	for _, path := range []string{network, filepath.Join(forest, cli.ModelFile)} {
		m, err := ranker.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, m)
	}
	both, err := ranker.Mix([]float64{1, 1}, parts...)
	if err != nil || both.Save(mixture) != nil {
		t.Fatal("no mixture:", err)
	}
	page, _ := reporting.Must(t, mixture, forest, "-data", data)
	for _, want := range []string{"mixture: ", "× (mlp of ", "× (forest of ", "Which features matter"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	table := filepath.Join(dir, "table.csv")
	text := "label,qid,1,2,3,4,5,6,7\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%d,%d,%d,%d,%d,%d,%d,%d\n", i%3, i/4, i%7, i%5, i%11, i%3, i%2, i%13, i)
	}
	commandtest.Write(t, table, text)
	page, _ = reporting.Must(t, "../../../../forest/foreign/testdata/lightgbm-numbers.txt", "-data", table)
	if !strings.Contains(page, "leaves, by LightGBM") || !strings.Contains(page, "<caption>Split data</caption>") {
		t.Error("a model of another library")
	}
}

func TestWrongRunsAreErrors(t *testing.T) {
	_, run, model := training.Shared(t)
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, 2, "want one run or more"},
		{[]string{t.TempDir()}, 1, "is not the folder of a run: it has no config.json"},
		{[]string{model}, 2, "needs -data"},
		{[]string{"nowhere"}, 1, "nowhere"},
		{[]string{run, "-vali", "x"}, 2, "-data"},
		{[]string{run, "-headerless"}, 2, "-headerless"},
	} {
		if status, _, stderr := reporting.Call(c.args...); status != c.status || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %s", c.args, status, stderr)
		}
	}
}
