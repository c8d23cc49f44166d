package clicks

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plrank/plrank/cmd/internal/commandtest"
	"github.com/plrank/plrank/ranker"
)

// Drift is found, named, dated and measured: a price that rises in the middle of the log, and a new brand; a log without drift
// passes, and a model without a reference is refused with what to do.
func TestDriftIsNamedAndHasAStatus(t *testing.T) {
	dir := t.TempDir()
	data, model := filepath.Join(dir, "shop.csv"), filepath.Join(dir, "m", "model.npz")
	random := rand.New(rand.NewPCG(1, 2))
	brands := []string{"acme", "blue", "corp"}
	var text, plain, moved strings.Builder
	text.WriteString("query,label,price,brand\n")
	for q := range 200 {
		for range 6 {
			price, brand := random.Float64()*10, brands[random.IntN(3)]
			fmt.Fprintf(&text, "%d,%d,%.3f,%s\n", q, int(price/4)+len(brand)/5, price, brand)
		}
	}
	write(t, data, text.String())
	fit.Must(t, "-data", data, "-categorical", "brand", "-epochs", "4", "-scorer", "mlp", "-hidden", "8", "-members", "1", "-out", filepath.Join(dir, "m"))
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for i := range 400 {
		line := func(changed bool) string {
			var features, ids, scores []string
			for d := range 6 {
				price, brand := random.Float64()*10, brands[random.IntN(3)]
				if changed && i >= 200 {
					if price *= 1.5; random.IntN(10) == 0 {
						brand = "new\u2019s"
					}
				}
				features = append(features, fmt.Sprintf("%.3f,%q", price, brand))
				ids, scores = append(ids, fmt.Sprintf(`"%d"`, d)), append(scores, "0")
			}
			return fmt.Sprintf(`{"query_id":"%d","user_query":"q %d","timestamp":"%s","query_response_hit_ids":["0"],"query_attributes":{"plrank":{"seed":"1","cutoff":1,"candidates":[%s],"scores":[%s],"features":[%s],"feature_ids":[1,2],"feature_names":["price","brand"]}}}`+"\n",
				i, i, begin.Add(time.Duration(i)*time.Minute).Format(time.RFC3339), strings.Join(ids, ","), strings.Join(scores, ","), strings.Join(features, ","))
		}
		plain.WriteString(line(false))
		moved.WriteString(line(true))
	}
	log, drifting := filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "drifting.jsonl")
	write(t, log, plain.String())
	write(t, drifting, moved.String())
	if status, stdout, stderr := call("drift", "-model", model, log, "-threshold", "0.01"); status != 0 || !strings.Contains(stdout, "0 features drifted") {
		t.Errorf("%d, %s%s", status, stdout, stderr)
	}
	status, stdout, stderr := call("drift", "-model", model, drifting, "-threshold", "0.01", "-group", "brand", "-json")
	var r drifted
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || status != 3 || len(r.Alarms) != 2 || r.Scores == nil {
		t.Fatal(status, err, stdout, stderr)
	}
	for _, a := range r.Alarms {
		if off := a.Since.Sub(begin).Minutes() - 200; off < -40 || off > 40 {
			t.Errorf("%s: since %v", a.Feature, a.Since)
		}
		if a.Feature == "price" && !(a.ScoreChange > .05) || a.Feature == "brand" && (len(a.New) != 1 || a.New[0].Name != "new\u2019s" || a.New[0].Count < 60) {
			t.Errorf("%+v", a)
		}
	}
	if len(r.Exposure) != 4 {
		t.Errorf("%+v", r.Exposure)
	}
	if status, stdout, _ := call("drift", "-model", model, drifting); status != 0 || !strings.Contains(stdout, "2 features drifted") ||
		!strings.Contains(stdout, `brand: new category "new’s", `) {
		t.Errorf("%d, %s", status, stdout)
	}
	old, err := ranker.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	f := *old.File()
	f.Reference = nil
	commandtest.Write(t, model, "")
	if err := f.Save(model); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := call("drift", "-model", model, log); status != 1 || !strings.Contains(stderr, "train it again") {
		t.Errorf("%d, %s", status, stderr)
	}
}
