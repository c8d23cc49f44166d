package datasets

import (
	"path/filepath"
	"strings"
	"testing"
)

// A document that its query has twice, with labels that contradict each other, is told with both lines.
func TestContradictingLabelsOfADocumentAreWarnedOf(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"columns":      {"label,qid,docid,x\n1,a,d,1\n0,a,e,2\n0,a,d,1\n2,b,d,1\n0,b,e,3\n", `1 documents are in their query more than once, with different labels, such as "d" in query "a": 1 in FILE:2, 0 in FILE:4`},
		"LETOR":        {"2 qid:7 1:1 # docid = D1\n0 qid:7 1:2 # docid = D2\n1 qid:7 1:1 # docid = D1\n1 qid:7 1:2 # docid = D2\n0 qid:7 1:1 # docid = D1\n", `2 documents are in their query more than once, with different labels, such as "D1" in query "7": 2 in FILE:1, 1 in FILE:3`},
		"apart":        {"label,qid,docid,x\n1,a,d,1\n0,b,e,2\n0,a,d,1\n", `such as "d" in query "a": 1 in FILE:2, 0 in FILE:4`},
		"the same":     {"label,qid,docid,x\n1,a,d,1\n1,a,d,2\n0,b,d,2\n", ""},
		"without ids":  {"label,qid,docid,x\n1,a,,1\n0,a,,2\n", ""},
		"not labelled": {"label,qid,docid,x\n1,a,d,1\n,a,d,2\n0,a,e,2\n", ""},
	} {
		path := dataFile(t, "f", c.text)
		d, err := ReadFile(path, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var s *Splits
		for _, o := range []Options{{Vali: path, Cache: filepath.Dir(path)}, {Vali: path, Cache: filepath.Dir(path)}} { // and from the cache
			if s, err = Open(path, o); err != nil {
				t.Fatal(err)
			}
			for from, warnings := range map[string][]string{"ReadFile": d.Warnings, "Open": s.Warnings(), "Describe": Describe("", s.Train).Warnings} {
				told := 0
				for _, w := range warnings {
					if strings.Contains(w, "different labels") {
						told++
						if want := strings.ReplaceAll(c.want, "FILE", path); want == "" || !strings.HasPrefix(w, path+": ") || !strings.HasSuffix(w, want) {
							t.Errorf("%s: %s: %s, want %q", name, from, w, want)
						}
					}
				}
				if (told == 1) != (c.want != "") {
					t.Errorf("%s: %s: %d warnings: %q", name, from, told, warnings)
				}
			}
		}
	}
	// Of parts, and of a split that is held out, all files are looked at once.
	part := func(query string) string {
		return "label,qid,docid,x\n1," + query + ",d,1\n0," + query + ",d,2\n"
	}
	folder := writeFiles(t, map[string]string{"train/1.csv": part("a"), "train/2.csv": part("b"), "train/3.csv": part("c")})
	s, err := Open(folder, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := `: 3 documents are in their query more than once, with different labels, such as "d" in query "`
	if w := s.Warnings(); len(w) != 1 || !strings.HasPrefix(w[0], filepath.Join(folder, "train")+want) {
		t.Errorf("warnings %q", w)
	}
}
