package columns_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plrank/plrank/datasets"
	"github.com/plrank/plrank/transforms"
)

// Text that looks like vectors is left out with a warning that says so, and names the flag; as a vector it makes features with others
// of its dimension.
func TestVectorsOfText(t *testing.T) {
	short, err := read(dataFile(t, "g.csv", "label,qid,v,w,x\n1,a,\"[1, 2]\",1 2,4\n0,a,\"[2, 3]\",3 4,5\n"), datasets.ReadOptions{})
	if said := strings.Join(short.Warnings, "\n"); err != nil || !strings.Contains(said, "look like vectors were left out: v:") || !strings.Contains(said, "columns of text were left out: w:") {
		t.Errorf("%q, error %v", said, err)
	}
	path := dataFile(t, "f.csv", "label,qid,price,title,query,d,e\n"+
		"1,a,5,\"red, blue\",\"[1, 0, 0]\",0.1 0.2 0.3,1 2 3 4\n0,a,6,green,\"[1, 0, 0]\",\"0.5,0.5\n,0.5\",4 3 2 1\n")
	d, err := read(path, datasets.ReadOptions{})
	if err != nil || !slices.Equal(d.FeatureNames, []string{"price"}) {
		t.Fatalf("%v, error %v", d, err)
	}
	said := strings.Join(d.Warnings, "\n")
	for _, want := range []string{"columns of text that look like vectors were left out: d, e: -vector COLUMN,… names those that are vectors",
		"columns of text were left out: title: "} {
		if !strings.Contains(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
	}
	o := datasets.ReadOptions{Vectors: []transforms.Vector{{Name: "d"}, {Name: "query"}, {Name: "e"}}, Ignore: []string{"title"}}
	d, err = read(path, o)
	if err != nil || !slices.Equal(d.FeatureNames, []string{"price", "cosine(d,query)", "dot(d,query)"}) || len(d.Warnings) > 0 {
		t.Fatalf("%v, %v, error %v", d, d, err)
	}
	if dot := d.Row(0)[2]; dot != .1 {
		t.Errorf("the inner product is %v", dot)
	}
	o.Products = []transforms.Product{{Name: "distance(d,query)"}}
	if d, err = read(path, o); err != nil || !slices.Equal(d.FeatureNames, []string{"price", "distance(d,query)"}) {
		t.Fatalf("%v, error %v", d, err)
	}
}
