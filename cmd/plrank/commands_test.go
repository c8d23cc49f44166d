//go:build commands

package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/plrank/plrank/cmd/internal/trainer"
	"github.com/plrank/plrank/docs"
	"github.com/plrank/plrank/serve"
)

var (
	commands = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	requests = regexp.MustCompile("(?ms)^```json\n(.*?)^```$")
	outputs  = regexp.MustCompile("(?ms)^```text\n(.*?)^```$")
)

// The commands of the guide work, one after another in an empty folder.
func TestCommandsOfTheGuideWork(t *testing.T) {
	dir := t.TempDir()
	printed := commandsWork(t, dir, docs.Guide, 10)
	for _, want := range []string{"columns of text were left out: title: -categorical", "weights of documents, from 1 to 2, count in the loss", "old.scores", "category"} {
		if !strings.Contains(printed, want) {
			t.Errorf("nothing printed has %q", want)
		}
	}
	answers(t, filepath.Join(dir, "lamps", "model.npz"), requests.FindStringSubmatch(docs.Guide)[1])
}

// answers posts the request of the guide to a service of the model. A lamp of Oslo is worth more.
func answers(t *testing.T, model, request string) {
	t.Helper()
	s, err := serve.New(serve.Options{Models: map[string]string{"lamps": model}})
	if err != nil {
		t.Fatal(err)
	}
	post := func(body string) (status int, order []int, text string) {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", "/v1/rank", strings.NewReader(body)))
		var answer struct{ Order []int }
		json.Unmarshal(w.Body.Bytes(), &answer)
		return w.Code, answer.Order, w.Body.String()
	}
	if status, order, text := post(request); status != 200 || len(order) != 2 {
		t.Errorf("%d %s", status, text)
	}
	if status, order, text := post(strings.NewReplacer("Paris", "Bern", "90", "30", "Oslo", "Bern", "30", "90").Replace(request)); status != 200 || len(order) != 2 || order[0] != 0 {
		t.Errorf("a dear lamp before a cheap one: %d %s", status, text)
	}
	if status, _, text := post(`{"documents": [{"prize": 3}]}`); status != 400 || !strings.Contains(text, `unknown feature \"prize\"`) {
		t.Errorf("an unknown name: %d %s", status, text)
	}
}

// The README has a part of what training prints; other processors may round the model's values in other ways.
func TestReadmeShowsWhatTrainingPrints(t *testing.T) {
	t.Setenv("COLUMNS", "")
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	if status := trainer.Run(nil, nil, &stdout, &stderr); status != 0 {
		t.Fatalf("%d, %s", status, &stderr)
	}
	digit, ofModel := regexp.MustCompile(`\d`), regexp.MustCompile(`(?m)^ +model .*$`)
	masked := func(text string) string {
		return ofModel.ReplaceAllStringFunc(text, func(line string) string { return digit.ReplaceAllString(line, "0") })
	}
	shown := regexp.MustCompile("(?ms)^```\n(test: .*?)^```$").FindStringSubmatch(string(readme))
	if shown == nil || !strings.Contains(masked(stdout.String()), masked(shown[1])) {
		t.Errorf("the README has\n%s\nbut training prints\n%s", shown, &stdout)
	}
}

// The commands of the page on rankings work, and print what it says.
func TestCommandsOfRankingsWork(t *testing.T) {
	page, err := os.ReadFile("../../docs/rankings.md")
	if err != nil {
		t.Fatal(err)
	}
	printed := commandsWork(t, t.TempDir(), string(page), 3)
	for _, want := range outputs.FindAllStringSubmatch(string(page), -1) {
		if !strings.Contains(printed, want[1]) {
			t.Errorf("the page says\n%sbut the commands print\n%s", want[1], printed)
		}
	}
}

// The commands of the page on clicks work, and the model that was deployed by them ends with the season.
func TestCommandsOfClicksWork(t *testing.T) {
	page, err := os.ReadFile("../../docs/clicks.md")
	if err != nil {
		t.Fatal(err)
	}
	printed := commandsWork(t, t.TempDir(), string(page), 8)
	for _, want := range []string{"passed: better than old/model.npz", "new/model.npz is better", "6000 impressions, 1 features drifted", "passed: better than deployed.npz"} {
		if !strings.Contains(printed, want) {
			t.Errorf("nothing printed has %q", want)
		}
	}
}

// The commands of the page for those who have a model of another library work, and its request is answered.
func TestCommandsOfMigratingWork(t *testing.T) {
	page, err := os.ReadFile("../../docs/migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../forest/foreign/testdata/shop")); err != nil {
		t.Fatal(err)
	}
	commandsWork(t, dir, string(page), 4)
	logs := t.TempDir()
	for _, model := range []string{"lightgbm.txt", "xgboost.ubj", "catboost.json"} {
		s, err := serve.New(serve.Options{Models: map[string]string{"shop": filepath.Join(dir, model)}, Clicks: filepath.Join(logs, model)})
		if err != nil {
			t.Fatal(err)
		}
		_, request, _ := strings.Cut(string(page), "/v1/rank -d '")
		request, _, _ = strings.Cut(request, "'")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", "/v1/rank", strings.NewReader(request)))
		var answer struct {
			Order []int
			Drawn struct{ Ranking []int }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 200 || len(answer.Order) != 2 || answer.Order[0] != 0 || len(answer.Drawn.Ranking) != 2 {
			t.Errorf("%s: %d %s %v", model, w.Code, w.Body, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The commands of the page on hybrid search fuse two exports, for all queries and by kind.
func TestCommandsOfHybridWork(t *testing.T) {
	page, err := os.ReadFile("../../docs/hybrid.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{"bm25.csv": "query,document,score\n", "dense.csv": "query,document,score\n"}
	for q := range 12 {
		files["bm25.csv"] += fmt.Sprintf("q%d,right,%d\nq%[1]d,wrong,6\n", q, 5+q%2*3)
		files["dense.csv"] += fmt.Sprintf("q%d,wrong,%g\nq%[1]d,right,.7\n", q, .6+float64(q%3)/10)
		files["qrels.txt"] += fmt.Sprintf("q%d 0 right 1\n", q)
		files["queries.csv"] += fmt.Sprintf("q%d,red%s shoes\n", q, strings.Repeat(" new", q%2))
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	printed := commandsWork(t, dir, string(page), 2)
	for _, want := range []string{"rrf(tuned)", "learned by kind", "of 12 queries", "PUT /_search/pipeline/fused"} {
		if !strings.Contains(printed, want) {
			t.Errorf("nothing printed has %q", want)
		}
	}
}

// The commands of the page on forests work, and its features by gain are listed.
func TestCommandsOfForestsWork(t *testing.T) {
	page, err := os.ReadFile("../../docs/forests.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../forest/foreign/testdata/shop")); err != nil {
		t.Fatal(err)
	}
	if printed := commandsWork(t, dir, string(page), 2); !strings.Contains(printed, "gain") {
		t.Errorf("no gains in\n%s", printed)
	}
}

// commandsWork runs the blocks of commands of a page in a folder, and returns what they print.
func commandsWork(t *testing.T, dir, page string, atLeast int) (printed string) {
	t.Helper()
	bin := t.TempDir()
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "plrank")); err != nil {
		t.Skip(err)
	}
	blocks := commands.FindAllStringSubmatch(page, -1)
	if len(blocks) < atLeast {
		t.Fatalf("%d blocks of commands", len(blocks))
	}
	for _, block := range blocks {
		shell := exec.Command("sh", "-ec", block[1])
		shell.Dir = dir
		shell.Env = append(os.Environ(), childVariable+"=1", "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Errorf("%v:\n%s%s", err, block[1], out)
		}
		printed += string(out)
	}
	return printed
}
