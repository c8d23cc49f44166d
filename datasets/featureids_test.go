package datasets

import (
	"strings"
	"testing"
)

// The largest id is 2147483647 in every file and option. Above it, columns would have their ids by position in one format
// and by number in another, or wrap on 32 bits.
func TestFeatureIDsHaveOneLimit(t *testing.T) {
	const largest = "2147483647"
	for _, id := range []string{"2147483648", "3000000000", "4294967297", "9999999999", "99999999999999999999", "18446744073709551617"} {
		for name, c := range map[string]struct {
			text string
			o    ReadOptions
		}{
			"LETOR text":   {"1 qid:1 1:1 ID:2\n0 qid:1 1:2 ID:1\n", ReadOptions{}},
			"no other":     {"1 qid:1 ID:2\n0 qid:1 ID:1\n", ReadOptions{}},
			"a header":     {"label,qid,1,ID\n1,a,1,2\n", ReadOptions{}},
			"a model":      {"label,qid,ID,7\n1,a,1,2\n", ReadOptions{FeatureIDs: []int{1, 2}}},
			"a choice":     {"1 qid:1 1:1\n", ReadOptions{Features: []string{"ID"}}},
			"what is left": {"1 qid:1 1:1\n", ReadOptions{Ignore: []string{"ID"}}},
		} {
			read := func(id string) error {
				o := c.o
				for _, words := range []*[]string{&o.Features, &o.Ignore} {
					if *words != nil {
						*words = []string{id}
					}
				}
				_, err := ReadFile(dataFile(t, "f", strings.ReplaceAll(c.text, "ID", id)), o)
				return err
			}
			if err := read(id); err == nil || !strings.Contains(err.Error(), id) {
				t.Errorf("%s, %s: error %v", name, id, err)
			}
			if err := read(largest); err != nil && c.o.Features == nil && c.o.FeatureIDs == nil {
				t.Errorf("%s, %s: error %v", name, largest, err)
			}
		}
	}
	// Among names, and where others are wanted, it is a name like any other.
	for text, o := range map[string]ReadOptions{
		"label,qid,price,3000000000\n1,a,2,3\n": {},
		"label,qid,3000000000,1\n1,a,3,2\n":     {FeatureIDs: []int{1}},
		"label,qid,3000000000,2,1\n1,a,3,1,2\n": {FeatureIDs: []int{1}},
		"label,qid,3000000000,1\n1,a,3,2\n\n":   {Ignore: []string{"3000000000"}},
	} {
		d, err := ReadFile(dataFile(t, "f.csv", text), o)
		if err != nil || d.FeatureIDs[0] != 1 || d.Features[0] != 2 {
			t.Errorf("%q: %v, error %v", text, d, err)
		}
	}
	d := &Dataset{Labels: []float32{1}, Offsets: []int{0, 1}, QueryIDs: []string{"a"}, Features: []float32{1}}
	if above := uint(3_000_000_000); int(above) > 0 { // of 64 bits
		d.FeatureIDs = []int{int(above)}
		if err := d.Validate(); err == nil || !strings.Contains(err.Error(), "3000000000") {
			t.Errorf("error %v", err)
		}
	}
}
