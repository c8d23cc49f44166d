package clicks

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Interleaved models are compared, with an interval, and the counterfactual estimate beside it; the log of an
// interleaving serves check, bias and evaluate as well.
func TestCompareFindsTheBetterModel(t *testing.T) {
	data, good, bad := files(t)
	dir := t.TempDir()
	log, bias := filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "bias.json")
	must(t, "simulate", "-data", data, "-model", bad, "-interleave", good, "-cutoff", "4", "-n", "4000", "-out", log)
	must(t, "bias", log, "-out", bias)
	var r comparisons
	stdout, _ := must(t, "compare", log, "-bias", bias, "-json")
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || len(r.Results) != 1 {
		t.Fatal(err, stdout)
	}
	d := r.Results[0]
	if d.Decision != good || d.Model != good || d.Baseline != bad || !(*d.Low > 0) || !(*d.Preference > .5) || d.Counterfactual == nil {
		t.Errorf("%s", stdout)
	}
	var evaluated values
	stdout, _ = must(t, "evaluate", log, good, "-baseline", bad, "-bias", bias, "-estimator", "policy-aware", "-resamples", "100", "-json")
	if err := json.Unmarshal([]byte(stdout), &evaluated); err != nil {
		t.Fatal(err)
	}
	if e := evaluated.Models[0].Estimates[0]; !(e.Difference.Mean > 0) || e.Value.Mean == e.Difference.Mean {
		t.Errorf("%+v", e)
	}
	if stdout, _ := must(t, "check", log); !strings.Contains(stdout, "all are connected") || strings.Contains(stdout, "other policies") {
		t.Error(stdout)
	}
	if stdout, _ := must(t, "compare", log); !strings.Contains(stdout, good+" is better") {
		t.Error(stdout)
	}
	for want, args := range map[string][]string{
		"want a log":                      {},
		"want ACTION=VALUE":               {log, "-weight", "click"},
		"want one of":                     {log, "-baseline", "other"},
		"-level 1: want a number between": {log, "-level", "1"},
	} {
		if status, _, stderr := call(append([]string{"compare"}, args...)...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d, %s", args, status, stderr)
		}
	}
}

// Events count by their weights, once each, within the window, and segments are compared by themselves.
func TestComparedEventsCountByWeight(t *testing.T) {
	var b strings.Builder
	query := func(id, model, segment, hits string) {
		b.WriteString(`{"query_id":"` + id + `","user_query":"q","timestamp":"2026-11-01T00:00:00Z","query_response_hit_ids":["x","y"],` +
			`"query_attributes":{"device":"` + segment + `","plrank":{"model":"` + model + `","seed":"1","cutoff":2}}}` + "\n")
	}
	event := func(id, action, object, at string) {
		b.WriteString(`{"action_name":"` + action + `","query_id":"` + id + `","timestamp":"` + at +
			`","event_attributes":{"object":{"object_id":"` + object + `"}}}` + "\n")
	}
	query("1", "a", "phone", "")
	query("2", "b", "phone", "")
	query("3", "b", "desk", "")
	query("4", "a", "desk", "")
	event("1", "click", "x", "2026-11-01T00:01:00Z")
	event("2", "click", "x", "2026-11-01T00:01:00Z")
	event("2", "click", "x", "2026-11-01T00:02:00Z") // again
	event("2", "purchase", "x", "2026-11-02T00:00:00Z")
	event("3", "purchase", "y", "2026-11-09T00:00:00Z") // too late
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	var r comparisons
	stdout, stderr := must(t, "compare", path, "-weight", "click=1", "-weight", "purchase=10", "-window", "72h", "-segment", "device", "-json")
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || len(r.Results) != 3 {
		t.Fatal(err, stdout)
	}
	want := map[string]float64{"": 11./2 - 1./2, "phone": 11 - 1, "desk": 0}
	for _, d := range r.Results {
		if w, ok := want[d.Segment]; !ok || math.Abs(d.Difference.Difference-w) > 1e-12 || d.Low != nil || d.Decision != "" {
			t.Errorf("%+v, want %v", d, w)
		}
	}
	if !strings.Contains(stderr, "1 clicks after the window") || !strings.Contains(stderr, "1 clicks on a document that was clicked before") {
		t.Error(stderr)
	}
	if _, stderr := must(t, "check", path); strings.Contains(stderr, "left out") {
		t.Error(stderr)
	}
}
