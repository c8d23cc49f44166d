package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/clicks"
)

const form = "application/x-www-form-urlencoded"

// The test binary is the program if this variable is set.
const asProgram = "SEARCH_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		flag.CommandLine = flag.NewFlagSet("search", flag.ExitOnError)
		main()
		return
	}
	os.Exit(m.Run())
}

// startLoop starts a small shop, which draws all rankings.
func startLoop(t *testing.T, folder string) *Loop {
	t.Helper()
	l, err := start(options{listen: "localhost:0", folder: folder, day: 1200, products: 1500, queries: 60, share: 1})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLoopBeatsTheFusion(t *testing.T) {
	l := startLoop(t, t.TempDir())
	for days := 3; days <= 6 && l.last().ByScore <= l.last().Fused; days++ {
		if err := l.run(t.Context(), days); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range *l.records.Load() {
		if r.Passed != (r.Now == filepath.Base(l.candidate(r.Day-1))) || r.Day == 1 && (r.Passed || r.Version != "fused") {
			t.Errorf("day %d: passed %v, and the model is %q", r.Day, r.Passed, r.Now)
		}
		if math.Abs(r.Bias[3]-examined[3]) > .2 {
			t.Errorf("day %d: bias %.2f, want %.2f", r.Day, r.Bias, examined)
		}
		if math.Abs(r.Clicks-r.Drawn) > .2 {
			t.Errorf("day %d: %.2f clicks an impression, of a true value of %.2f", r.Day, r.Clicks, r.Drawn)
		}
	}
	if r := l.last(); r.ByScore < 1.2*r.Fused || r.Fused < r.BM25 || r.ByScore > r.Best {
		t.Errorf("true value %.3f, fused %.3f, of BM25 %.3f, of the best order %.3f", r.ByScore, r.Fused, r.BM25, r.Best)
	}
	if version(l.live.Model()) == "fused" || version(l.live.Model()) == version(l.before.Load()) {
		t.Errorf("today's model is %s, yesterday's %s", version(l.live.Model()), version(l.before.Load()))
	}
	checkRepeatedNight(t, l)
}

// checkRepeatedNight repeats the night of the first deployment, as after a kill just before its end: it decides the same.
func checkRepeatedNight(t *testing.T, l *Loop) {
	t.Helper()
	records := *l.records.Load()
	first := slices.IndexFunc(records, func(r Record) bool { return r.Passed })
	for _, r := range records[first:] {
		if err := os.Remove(filepath.Join(l.folder, "days", prefix(r.Day)+".json")); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.engine.index.Close(); err != nil {
		t.Fatal(err)
	}
	l.http.Close()
	again := startLoop(t, l.folder)
	if err := again.run(t.Context(), first+1); err != nil {
		t.Fatal(err)
	}
	got, want := again.last(), records[first]
	got.Seconds, want.Seconds = 0, 0
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the night again:\n%v, want\n%v", got, want)
	}
}

// A program is the search in a process of its own.
type program struct {
	command *exec.Cmd
	out     bytes.Buffer
	base    string
}

func startProgram(t *testing.T, folder string, days int) *program {
	t.Helper()
	p := &program{command: exec.CommandContext(t.Context(), os.Args[0], "-listen", "localhost:0", "-state", folder,
		"-days", fmt.Sprint(days), "-day", "250", "-products", "500", "-queries", "30", "-share", "1")}
	p.command.Env = append(os.Environ(), asProgram+"=1")
	p.command.Stderr = &p.out
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	var line []byte
	for one := make([]byte, 1); ; line = append(line, one[0]) {
		if _, err := io.ReadFull(stdout, one); err != nil {
			t.Fatalf("the program ended: %v\n%s", err, p.out.String())
		}
		if one[0] == '\n' {
			break
		}
	}
	p.base = regexp.MustCompile(`http://[^:]+:\d+`).FindString(string(line))
	go io.Copy(io.Discard, stdout)
	return p
}

// kill kills the program as kill -9 does.
func (p *program) kill() {
	p.command.Process.Kill()
	p.command.Wait()
}

// records returns a map from the files of the records to their texts.
func records(t *testing.T, folder string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "days", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(text)
	}
	return texts
}

// What the program has answered is in its log, whenever it is killed, and days that are over stay as they are.
func TestKilledAtAnyMomentItGoesOn(t *testing.T) {
	const days = 3
	folder := t.TempDir()
	clicked := map[string]string{} // by impression: what was clicked, and answered
	var before map[string]string
	kills := 0
	for ; len(before) < days; kills++ {
		if kills > 60 {
			t.Fatal("the days do not pass")
		}
		p := startProgram(t, folder, days)
		alive, stop := context.WithTimeout(t.Context(), time.Duration(150+170*kills)*time.Millisecond)
		u := &Users{base: p.base}
		for alive.Err() == nil {
			var a Answer
			if u.do(alive, "/search", form, []byte("q=tent&client=test"), &a) != nil {
				continue
			}
			clicked[a.QueryID] = ""
			click := fmt.Sprintf(`[{"action_name": "click", "query_id": %q, "event_attributes": {"object": {"object_id": %q}}}]`,
				a.QueryID, a.Shown[2].ID)
			if u.do(alive, "/events", "application/json", []byte(click), nil) == nil {
				clicked[a.QueryID] = a.Shown[2].ID
			}
		}
		stop()
		p.kill()
		if kills == 0 { // in the middle of the first line of a file
			if err := os.WriteFile(filepath.Join(folder, "log", "0001-torn.jsonl"), []byte(`{"query_id": "0001-`), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		after := records(t, folder)
		for path, text := range before {
			if after[path] != text {
				t.Errorf("%s has changed", path)
			}
		}
		before = after
	}
	log, err := clicks.Read(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d kills, %d impressions in the log, %d answered to the test; %q", kills, len(log.Impressions), len(clicked), log.Warnings)
	for i := range log.Impressions {
		im := &log.Impressions[i]
		if product, ok := clicked[im.ID]; ok && (product == "" || slices.Contains(clickedProducts(im), product)) {
			delete(clicked, im.ID)
		}
	}
	if len(clicked) > 0 {
		t.Errorf("%d impressions, or their clicks, are lost: %v", len(clicked), clicked)
	}
}

func clickedProducts(im *clicks.Impression) (ids []string) {
	for k, c := range im.Clicks {
		if c > 0 {
			ids = append(ids, im.Documents[im.Shown[k]])
		}
	}
	return ids
}

// The pieces that others copy stay short.
func TestPiecesHaveAtMost60Lines(t *testing.T) {
	for _, piece := range []string{"features.go", "lsa.go", "vectors.go", "fuse.go", "rank.go", "journal.go", "train.go", "gate.go", "trial.go", "drift.go", "reload.go"} {
		text, err := os.ReadFile(piece)
		if err != nil {
			t.Fatal(err)
		}
		_, code, _ := strings.Cut(string(text), "\n)\n") // after the imports
		if n := strings.Count(code, "\n"); n > 60 {
			t.Errorf("%s has %d lines", piece, n)
		}
	}
}

func TestFeaturesFillColumns(t *testing.T) {
	l := startLoop(t, t.TempDir())
	s := Search{Text: "red tent", Segment: "hasty", Facets: Facets{Brand: brands[0]}}
	hits, err := l.engine.Search(t.Context(), s.Text, s.Facets)
	if err != nil {
		t.Fatal(err)
	}
	x := features(s, hits)
	if len(hits) == 0 || len(x) != len(hits)*len(columns.FeatureNames) || len(columns.FeatureIDs) != len(columns.FeatureNames) {
		t.Fatalf("%d features of %d products", len(x), len(hits))
	}
	for i, h := range hits {
		row := x[i*len(columns.FeatureNames):][:len(columns.FeatureNames)]
		if h.Brand != brands[0] {
			t.Errorf("%s is of %s", h.ID, h.Brand)
		}
		if h.Score <= 0 || row[0] != float32(h.Score) || row[1] != float32(h.BM25) || row[2] != float32(h.Meaning) || row[15] != 3 || row[14] != 2 {
			t.Errorf("%s: features %v", h.Title, row)
		}
	}
}

// By hand: of the queries by other names, words find some products of the category, and meaning finds more. A product that both find
// has the sum of its reciprocal ranks.
func TestMeaningFindsOtherNames(t *testing.T) {
	l := startLoop(t, t.TempDir())
	of := func(category string, scores map[*Product]float64) (n int) {
		for p := range scores {
			if p.Category == category || p.For == category {
				n++
			}
		}
		return n
	}
	for category, name := range otherNames {
		words, err := l.engine.byWords(t.Context(), name, Facets{})
		if err != nil {
			t.Fatal(err)
		}
		meaning := l.engine.byMeaning(l.engine.vectors.embed(name), Facets{})
		if n := of(category, meaning); n <= of(category, words) || n < 20 {
			t.Errorf("%s: meaning finds %d of %q, words %d", name, n, category, of(category, words))
		}
	}
	shows := ask(l, "GET", "/?q=red+flask", "").Body.String()
	for _, found := range []string{"words", "meaning", "both"} {
		if !strings.Contains(shows, ">"+found+"</small>") {
			t.Errorf("the page has no product that was found by %s", found)
		}
	}
	a, b, c := &Product{ID: "a"}, &Product{ID: "b"}, &Product{ID: "c"}
	hits := fuse(map[*Product]float64{a: 3, b: 2}, map[*Product]float64{b: .9, c: .8})
	for i, want := range []Hit{{Product: b, Found: "both", Score: .5/62 + .5/61}, {Product: a, Found: "words", Score: .5 / 61}, {Product: c, Found: "meaning", Score: .5 / 62}} {
		if got := hits[i]; got.Product != want.Product || got.Found != want.Found || math.Abs(got.Score-want.Score) > 1e-15 {
			t.Errorf("hit %d: %+v, want %+v", i, got, want)
		}
	}
}

// A file may have vectors of products and of queries; for others, words search alone.
func TestVectorsOfAFileAreTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors.csv")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("p0001,3,4\np0002,0,1\np0003,0,0\nred tent,0,2\n")
	v, err := newVectors(nil, path)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]float64{"p0001": .8, "p0002": 1, "p0003": 0, "p0004": 0} {
		if got := v.Cosine(v.embed(" Red  tent"), &Product{ID: id}); math.Abs(got-want) > 1e-15 {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
	if v.embed("blue tent") != nil {
		t.Error("a query that is not in the file has a vector")
	}
	for text, want := range map[string]string{"a,1\nb,x\n": "vectors.csv:2: ", "a,1\nb,1,2\n": "record on line 2: wrong number of fields",
		"a,1\nb,NaN\n": "vectors.csv:2: want finite numbers", "a,1,Inf\n": "vectors.csv:1: want finite numbers",
		"a,1\na,1\n": `vectors.csv:2: "a" has two vectors`, "": "vectors.csv: no vectors"} {
		write(text)
		if _, err := newVectors(nil, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

func TestPopularityIsWhatUsersDraw(t *testing.T) {
	s := newShop(1, 50, 1)
	sum := 0.
	for i := range s.Queries {
		if got := s.popular(sum + 1e-9); got != i {
			t.Errorf("%v draws query %d, want %d", sum, got, i)
		}
		sum += s.popularity(i)
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("probabilities add up to %v", sum)
	}
}

// After an error, which may leave part of a line, lines go to a new file.
func TestJournalSurvivesErrors(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "log")
	day := "0001"
	j, err := newJournal(folder, func() string { return day })
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Add([]byte("one\n")); err != nil {
		t.Fatal(err)
	}
	j.file.Close() // as if the disk were gone
	if err := j.Add([]byte("lost\n")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a line that is not on the disk: error %v", err)
	}
	if err := j.Add([]byte("two\n")); err != nil {
		t.Error(err)
	}
	day = "0002"
	if err := j.Add([]byte("three\n")); err != nil {
		t.Error(err)
	}
	for day, want := range map[string]int{"0001": 2, "0002": 1} {
		if files, _ := filepath.Glob(filepath.Join(folder, day+"-*.jsonl")); len(files) != want {
			t.Errorf("%d files of day %s, want %d", len(files), day, want)
		}
	}
}

// While the log cannot be written, users get the order of the scores, and nothing is drawn.
func TestSearchGoesOnWithoutLog(t *testing.T) {
	l := startLoop(t, t.TempDir())
	l.journal.folder = filepath.Join(l.folder, "gone")
	a, err := l.answer(httptest.NewRequest("POST", "/search", nil), Search{Text: "tent", Segment: "hasty"})
	if err != nil || a.QueryID != "" || len(a.Shown) != shown || a.Shown[0].ID != a.hits[0].ID {
		t.Errorf("%+v, error %v", a, err)
	}
}

func TestStateOfAnotherShopIsRefused(t *testing.T) {
	folder := t.TempDir()
	e, err := openEngine(folder, newShop(10, 5, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.index.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := openEngine(folder, newShop(11, 5, 1), nil); err == nil || !strings.Contains(err.Error(), "has 10 products, want 11") {
		t.Errorf("error %v", err)
	}
}

func TestReloadKeepsModelIfFileIsUnfit(t *testing.T) {
	l := &Live{path: filepath.Join(t.TempDir(), "model.npz")}
	if err := l.Reload(); err != nil || l.Model() != nil {
		t.Errorf("without a file: %v", err)
	}
	other, err := os.ReadFile("../../ranker/testdata/model.npz")
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range [][]byte{other, other[:100]} {
		if err := os.WriteFile(l.path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := l.Reload(); err == nil || l.Model() != nil {
			t.Errorf("a file that cannot be used: error %v", err)
		}
		if err := l.Reload(); err != nil {
			t.Errorf("the same file again: %v", err)
		}
	}
}

func TestEventsAreChecked(t *testing.T) {
	l := startLoop(t, t.TempDir())
	for body, want := range map[string]int{
		`[{"action_name": "click", "query_id": "q", "event_attributes": {"object": {"object_id": "p0001"}}}]`: http.StatusNoContent,
		`[{"action_name": "click", "query_id": "q"}]`:                                                         http.StatusBadRequest,
		`{"action_name": "click"}`: http.StatusBadRequest,
	} {
		reply, err := http.Post(l.users.base+"/events", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != want {
			t.Errorf("%s: %s, want %d", body, reply.Status, want)
		}
	}
	var a Answer
	if err := l.users.do(t.Context(), "/search", form, []byte("q=nothingofthekind"), &a); err != nil || a.QueryID != "" || len(a.Shown) > 0 {
		t.Errorf("nothing found: %+v, %v", a, err)
	}
}
