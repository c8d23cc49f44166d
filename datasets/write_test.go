package datasets

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/internal/memory"
	"github.com/plrank/plrank/internal/text"
)

// sameDataset compares all but names and warnings, numbers bit by bit.
func sameDataset(a, b *Dataset) error {
	switch {
	case !bytes.Equal(memory.Bytes(a.Features), memory.Bytes(b.Features)):
		return fmt.Errorf("features %v and %v", a.Features, b.Features)
	case !bytes.Equal(memory.Bytes(a.Labels), memory.Bytes(b.Labels)):
		return fmt.Errorf("labels %v and %v", a.Labels, b.Labels)
	case !slices.Equal(a.Offsets, b.Offsets):
		return fmt.Errorf("offsets %v and %v", a.Offsets, b.Offsets)
	case !slices.Equal(a.QueryIDs, b.QueryIDs):
		return fmt.Errorf("query ids %q and %q", a.QueryIDs, b.QueryIDs)
	case !slices.Equal(a.DocumentIDs, b.DocumentIDs):
		return fmt.Errorf("document ids %q and %q", a.DocumentIDs, b.DocumentIDs)
	case !slices.Equal(a.FeatureIDs, b.FeatureIDs):
		return fmt.Errorf("feature ids %v and %v", a.FeatureIDs, b.FeatureIDs)
	}
	return nil
}

// roundTrip writes a dataset and reads it back.
func roundTrip(d *Dataset, path string) (*Dataset, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := WriteLETOR(f, d); err != nil {
		return nil, err
	}
	return ReadFile(path, ReadOptions{})
}

func TestWrittenLETORReadsBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d")
	rapid.Check(t, func(r *rapid.T) {
		width := rapid.IntRange(0, 5).Draw(r, "width")
		d := &Dataset{Offsets: []int{0}}
		for id := range width {
			d.FeatureIDs = append(d.FeatureIDs, id*id+rapid.IntRange(0, 1).Draw(r, "gap")*id)
		}
		number := func() float32 {
			v := math.Float32frombits(rapid.Uint32().Draw(r, "bits"))
			if v != v || math.IsInf(float64(v), 0) {
				return text.Missing
			}
			return v
		}
		for q := range rapid.IntRange(1, 4).Draw(r, "queries") {
			d.QueryIDs = append(d.QueryIDs, fmt.Sprintf("%s-%d", rapid.StringMatching(`[a-z0-9:]{0,3}`).Draw(r, "id"), q))
			for range rapid.IntRange(1, 3).Draw(r, "documents") {
				label := number()
				if label = max(label, -label); label != label {
					label = 1.5
				}
				d.Labels = append(d.Labels, label)
				for range width {
					d.Features = append(d.Features, number())
				}
			}
			d.Offsets = append(d.Offsets, len(d.Labels))
		}
		if rapid.Bool().Draw(r, "has document ids") {
			for i := range d.Labels {
				d.DocumentIDs = append(d.DocumentIDs, fmt.Sprintf("#doc=%d", i))
			}
		}
		back, err := roundTrip(d, path)
		if err == nil {
			err = sameDataset(back, d)
		}
		if err != nil {
			r.Fatal(err)
		}
	})
}

func TestWrittenCollectionsReadBack(t *testing.T) {
	files := []string{filepath.Join(mq2008.write(t), "vali.txt"), filepath.Join(mslrSample.write(t), "vali.txt"), filepath.Join(lightGBM.write(t), "rank.test")}
	for _, name := range files {
		d, err := ReadFile(name, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		back, err := roundTrip(d, filepath.Join(t.TempDir(), "d"))
		if err == nil {
			err = sameDataset(back, d)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatLETORCannotHoldIsAnError(t *testing.T) {
	fresh := func() *Dataset {
		return &Dataset{Name: "d", Features: []float32{1, 2}, Labels: []float32{0, 1}, Offsets: []int{0, 1, 2}, QueryIDs: []string{"a", "b"}, FeatureIDs: []int{1}}
	}
	for want, spoil := range map[string]func(d *Dataset){
		`query id "a b"`:    func(d *Dataset) { d.QueryIDs[0] = "a b" },
		`query id "b"`:      func(d *Dataset) { d.QueryIDs[0] = "b" },
		`query id ""`:       func(d *Dataset) { d.QueryIDs[1] = "" },
		"is +Inf":           func(d *Dataset) { d.Features[1] = float32(math.Inf(1)) },
		`document id "x y"`: func(d *Dataset) { d.DocumentIDs = []string{"x y", "z"} },
		"offsets":           func(d *Dataset) { d.Offsets[2] = 1 },
	} {
		d := fresh()
		spoil(d)
		if err := WriteLETOR(&bytes.Buffer{}, d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if err := WriteLETOR(&fullDisk{3}, fresh()); err == nil {
		t.Error("a full disk: no error")
	}
}

func TestTRECFilesHaveRanksAndLabels(t *testing.T) {
	d := &Dataset{Features: []float32{}, Labels: []float32{0, 2, 1, -1}, Offsets: []int{0, 3, 4}, QueryIDs: []string{"7", "x"},
		DocumentIDs: []string{"A", "", "C", "D"}}
	var run, qrels bytes.Buffer
	if err := WriteRun(&run, d, []float64{.5, 1e-7, .5, -3}, "plrank"); err != nil {
		t.Fatal(err)
	}
	if want := "7 Q0 A 1 0.5 plrank\n7 Q0 C 2 0.5 plrank\n7 Q0 7.2 3 1e-07 plrank\nx Q0 D 1 -3 plrank\n"; run.String() != want {
		t.Errorf("run:\n%swant:\n%s", run.String(), want)
	}
	if err := WriteQrels(&qrels, d); err != nil {
		t.Fatal(err)
	}
	if want := "7 0 A 0\n7 0 7.2 2\n7 0 C 1\n"; qrels.String() != want {
		t.Errorf("qrels:\n%swant:\n%s", qrels.String(), want)
	}
	d.Labels[0] = .5
	for what, err := range map[string]error{
		"too few scores":  WriteRun(&run, d, []float64{1}, "t"),
		"NaN":             WriteRun(&run, d, []float64{1, 2, math.NaN(), 3}, "t"),
		"no tag":          WriteRun(&run, d, []float64{1, 2, 3, 4}, ""),
		"fractional gain": WriteQrels(&qrels, d),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// fullDisk takes some bytes, then fails as a full disk does.
type fullDisk struct{ room int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if len(b) > d.room {
		return d.room, os.ErrDeadlineExceeded
	}
	d.room -= len(b)
	return len(b), nil
}

// Ids that trec_eval refuses, or reads as others, are errors that say which they are.
func TestTRECFilesRefuseIDsThatTheyCannotHold(t *testing.T) {
	fresh := func() *Dataset {
		return &Dataset{Name: "d", Features: []float32{}, Labels: []float32{0, 2, 1, 1}, Offsets: []int{0, 3, 3, 4}, QueryIDs: []string{"7", "", "x"},
			DocumentIDs: []string{"A", "", "C", "A"}}
	}
	for want, spoil := range map[string]func(d *Dataset){
		`d: row 2: query 7: duplicate document "A", first at d: row 0`:                func(d *Dataset) { d.DocumentIDs[2] = "A" },
		`d: row 2: query 7: duplicate document "7.2", first at d: row 1`:              func(d *Dataset) { d.DocumentIDs[2] = "7.2" },
		`d: row 0: the query id "#7" begins with #`:                                   func(d *Dataset) { d.QueryIDs[0] = "#7" },
		`d: row 3: duplicate query "7"`:                                               func(d *Dataset) { d.QueryIDs[2] = "7" },
		`d: row 0: the query id is empty`:                                             func(d *Dataset) { d.QueryIDs[0] = "" },
		`d: row 0: the query id "a b" has a blank`:                                    func(d *Dataset) { d.QueryIDs[0] = "a b" },
		`d: row 1: query 7: the document id "a\u00a0b" has a blank`:                   func(d *Dataset) { d.DocumentIDs[1] = "a\u00a0b" },
		`d: row 1: query 7: the document id "a\vb" has a blank`:                       func(d *Dataset) { d.DocumentIDs[1] = "a\vb" },
		`d: row 3: query x: the document id "a\x00" has a blank or a control charact`: func(d *Dataset) { d.DocumentIDs[3] = "a\x00" },
	} {
		d := fresh()
		spoil(d)
		for name, err := range map[string]error{
			"WriteRun":   WriteRun(&bytes.Buffer{}, d, []float64{4, 3, 2, 1}, "t"),
			"WriteQrels": WriteQrels(&bytes.Buffer{}, d),
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want one with %s", name, err, want)
			}
		}
	}
	if err := WriteRun(&bytes.Buffer{}, fresh(), []float64{4, 3, 2, 1}, "t"); err != nil {
		t.Errorf("a query without documents and an id, and a document of two queries: %v", err)
	}
}
