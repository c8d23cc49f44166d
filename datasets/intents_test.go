package datasets

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/transforms"
)

const subtopics = "7 1 d1 1\n7 1 d2 0\n7 2 d1 2\n7 2 d3 1\n8 5 d1 1\n7 3 d2 -2\n"

// As in TREC's diversity tasks: the second column of judgements is a subtopic of the query.
func TestSubtopicsOfQrelsAreIntents(t *testing.T) {
	d, err := ReadQrels(dataFile(t, "qrels", subtopics))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
	if want := []string{"d1", "d2", "d3", "d1"}; !slices.Equal(d.DocumentIDs, want) {
		t.Errorf("documents %q, want %q", d.DocumentIDs, want)
	}
	if !slices.Equal(d.Intents, []int{3, 0, 2, 1}) || !slices.Equal(d.Labels, []float32{2, 0, 1, 1}) {
		t.Errorf("intents %b, labels %v", d.Intents, d.Labels)
	}
	run, err := ReadRun(dataFile(t, "run", "7 Q0 d3 1 9 x\n7 Q0 d9 2 8 x\n7 Q0 d1 3 7 x\n"), d)
	if err != nil || !slices.Equal(run.Intents, []int{2, 0, 3, 0}) {
		t.Errorf("intents of the run %b, %v", run.Intents, err)
	}
	_, err = ReadQrels(dataFile(t, "twice", "7 1 d1 1\n7 2 d1 1\n7 1 d1 0\n"))
	if err == nil || !strings.Contains(err.Error(), `twice:3: query 7: duplicate document "d1", first in line 1`) {
		t.Errorf("error %v", err)
	}
	many := ""
	for i := range 1009 {
		many += fmt.Sprintf("7 %d d1 1\n", i)
	}
	if _, err := ReadQrels(dataFile(t, "many", many)); err == nil || !strings.Contains(err.Error(), "query 7: more than ") {
		t.Errorf("error %v", err)
	}
}

// A relevance to an intent is like a label.
func TestNegativeIntentsAreRefused(t *testing.T) {
	path := dataFile(t, "f.csv", "label,qid,x,cat\n1,a,5,1\n0,a,6,-1\n0,a,7,-2\n")
	_, err := ReadFile(path, ReadOptions{Intents: []string{"cat"}})
	if err == nil || !strings.Contains(err.Error(), path+`:4: column "cat": the relevance to an intent is "-2": want 0 or more, or −1`) {
		t.Errorf("error %v", err)
	}
}

// A query of 130 subtopics: three ints a document, wherever it goes.
func TestIntentsBeyondAnInt(t *testing.T) {
	var qrels strings.Builder
	for i := range 130 {
		fmt.Fprintf(&qrels, "7 %d d%d 1\n", i, i%2+1)
	}
	path := dataFile(t, "qrels", qrels.String()+"8 1 d1 1\n")
	judged, err := ReadQrels(path)
	if err != nil || judged.Validate() != nil || len(judged.Intents) != 9 {
		t.Fatal(judged, err)
	}
	var odd, even [3]int // d1 has subtopics 0, 2, …, and d2 1, 3, …
	for i := range 130 {
		[]*[3]int{&odd, &even}[i%2][i/63] |= 1 << (i % 63)
	}
	want := slices.Concat(odd[:], even[:], []int{1, 0, 0})
	if !slices.Equal(judged.Intents, want) {
		t.Errorf("intents %b, want %b", judged.Intents, want)
	}
	run, err := ReadRun(dataFile(t, "run", "7 Q0 d9 1 9 x\n7 Q0 d2 2 8 x\n"), judged)
	if want := slices.Concat(even[:], odd[:]); err != nil || !slices.Equal(run.Intents[len(run.Intents)-6:], want) {
		t.Errorf("intents of the run %b, %v, want %b last", run.Intents, err, want)
	}
	data := dataFile(t, "f.txt", "0 qid:8 1:5 # docid = d1\n0 qid:9 1:6 # docid = d1\n0 qid:7 1:7 # docid = d2\n0 qid:7 1:8 # docid = d1\n")
	o := Options{Vali: data, Cache: t.TempDir(), Read: ReadOptions{Subtopics: path}}
	for range 2 { // read, and from the cache
		s, err := Open(data, o)
		if err != nil {
			t.Fatal(err)
		}
		d := s.Train
		if want := slices.Concat([]int{1, 0, 0}, []int{0, 0, 0}, even[:], odd[:]); !slices.Equal(d.Intents, want) || d.Validate() != nil {
			t.Errorf("intents %b, want %b, %v", d.Intents, want, d.Validate())
		}
		both := slices.Concat(even[:], odd[:])
		if got := d.Select([]int{2, 0}).Intents; !slices.Equal(got, slices.Concat(both, []int{1, 0, 0})) {
			t.Errorf("selected: %b", got)
		}
		if got := d.view(2, 3).Intents; !slices.Equal(got, both) {
			t.Errorf("a view: %b", got)
		}
		var b Batch
		b.Pack(d, &transforms.Transform{Spec: "none", Inputs: 1, Columns: []int{0}, Parts: []transforms.Part{{Name: "none"}}}, []int{2}, 3, 1)
		if !slices.Equal(b.Intents, slices.Concat(both, []int{0, 0, 0})) {
			t.Errorf("packed: %b", b.Intents)
		}
	}
	judged.Intents[4] = -1
	if err := judged.Validate(); err == nil || !strings.Contains(err.Error(), "row 1: the intent is -1: want bits of intents") {
		t.Errorf("error %v", err)
	}
	judged.Intents = judged.Intents[:8]
	if err := judged.Validate(); err == nil || !strings.Contains(err.Error(), "8 intents for 6 rows") {
		t.Errorf("error %v", err)
	}
}

func TestSubtopicsJoinAllSplits(t *testing.T) {
	train := dataFile(t, "train.txt", "1 qid:7 1:5 # docid = d1\n0 qid:7 1:6 # docid = d2\n1 qid:9 1:7 # docid = d1\n")
	vali := dataFile(t, "vali.txt", "1 qid:8 1:5 # docid = d1\n")
	o := Options{Vali: vali, Read: ReadOptions{Subtopics: dataFile(t, "qrels", subtopics)}}
	for range 2 { // read, and from the cache
		s, err := Open(train, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := [][]int{s.Train.Intents, s.Vali.Intents}; !reflect.DeepEqual(got, [][]int{{3, 0, 0}, {1}}) {
			t.Errorf("intents %b", got)
		}
		if w := strings.Join(s.Warnings(), "\n"); !strings.Contains(w, "1 of 3 documents with an intent are not in the data") {
			t.Errorf("warnings %q", w)
		}
		o.Cache = t.TempDir()
	}
	o.Read.Subtopics = dataFile(t, "others", "x 1 d1 1\n")
	if _, err := Open(train, o); err == nil || !strings.Contains(err.Error(), "no document of the data has an intent") {
		t.Errorf("error %v", err)
	}
	if _, err := ReadFile(train, ReadOptions{Intents: []string{"1"}, Subtopics: "x"}); err == nil || !strings.Contains(err.Error(), "not in both") {
		t.Errorf("error %v", err)
	}
	if _, err := ReadFile(train, ReadOptions{Intents: make([]string, 100)}); err == nil || !strings.Contains(err.Error(), "100 columns of intents") {
		t.Errorf("error %v", err)
	}
}

// A model remembers the columns of intents, as of all roles.
func TestColumnsOfIntentsAreKnownOfEarlierData(t *testing.T) {
	path := dataFile(t, "f.csv", "label,qid,car,cat,x\n1,a,1,0,5\n1,a,0.5,1,6\n0,a,0,-1,7\n")
	d, err := ReadFile(path, ReadOptions{Intents: []string{"car", "cat"}})
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadFile(path, ReadOptions{FeatureIDs: d.FeatureIDs, FeatureNames: d.FeatureNames, Roles: d.Roles})
	for _, d := range []*Dataset{d, again} {
		if !slices.Equal(d.Intents, []int{1, 3, 0}) || !slices.Equal(d.FeatureNames, []string{"x"}) {
			t.Errorf("intents %b, features %q, %v", d.Intents, d.FeatureNames, err)
		}
	}
}
