package datasets

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plrank/plrank/transforms"
)

// writeFiles makes files in a new folder.
func writeFiles(t testing.TB, files map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// few is the size of chunks of a few lines.
const few = 40

func checkGroups(t *testing.T, d *Dataset, groups []int, names ...string) {
	t.Helper()
	if !slices.Equal(d.Groups, groups) || !slices.Equal(d.GroupNames, names) {
		t.Errorf("%s: groups %v of %q, want %v of %q", d.Name, d.Groups, d.GroupNames, groups, names)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
}

// A column of names, through splits, a query that comes back, and documents
// without labels; numbers are names like others.
func TestGroupsFromAColumn(t *testing.T) {
	folder := writeFiles(t, map[string]string{
		"train.csv": "label,qid,x,group of\n1,a,1,red\n,a,2,blue\n0,b,3,\n2,a,4,green\n0,b,5,-1\n1,b,6,red\n1,b,7,\"blue\"\n",
		"vali.csv":  "qid,group of,label,x\nv,7,0,1\nv,green,1,2\n",
		"test.csv":  "qid,group of,label,x\nw,yellow,0,1\nw,red,1,2\nw,blue,1,2\n",
	})
	s, err := Open(folder, Options{chunkSize: few, Read: ReadOptions{GroupColumn: "group of"}})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"red", "blue", "green", "7", "yellow"}
	checkGroups(t, s.Train, []int{0, 2, -1, -1, 0, 1}, names...) // a, a, b, b, b, b
	checkGroups(t, s.Vali, []int{3, 2}, names...)
	checkGroups(t, s.Test, []int{4, 0, 1}, names...)
	if !slices.Equal(s.Train.FeatureNames, []string{"x"}) {
		t.Errorf("features %q", s.Train.FeatureNames)
	}
	without, err := Open(folder, Options{Read: ReadOptions{Schema: plainNames}})
	if err != nil {
		t.Fatal(err)
	}
	if warnings := strings.Join(without.Warnings(), "\n"); !slices.Equal(without.Train.FeatureNames, []string{"x"}) || strings.Count(warnings, "group of") != 1 {
		t.Errorf("a column of words: features %q, warnings %s, want it left out with one warning", without.Train.FeatureNames, warnings)
	}
}

// Held-out queries take their groups with them.
func TestGroupsOfHeldOutQueries(t *testing.T) {
	var text, groups strings.Builder
	for q := range 10 {
		fmt.Fprintf(&text, "1 qid:%d 1:%d\n0 qid:%d 1:%d\n", q, 2*q, q, 2*q+1)
		fmt.Fprintf(&groups, "g%d\ng%d\n", 2*q, 2*q+1)
	}
	folder := writeFiles(t, map[string]string{"train.txt": text.String(), "train.txt.groups": groups.String()})
	s, err := Open(filepath.Join(folder, "train.txt"), Options{Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Dataset{s.Train, s.Vali} {
		for r := range d.Rows() {
			if want := fmt.Sprintf("g%v", d.Row(r)[0]); d.GroupName(d.Groups[r]) != want {
				t.Errorf("%s, row %d: group %s, want %s", d.Name, r, d.GroupName(d.Groups[r]), want)
			}
		}
	}
}

// Ids beyond 2^24, which float32 would merge, are groups of their own.
func TestGroupsAreExact(t *testing.T) {
	ids := []string{"16777216", "16777217", "9007199254740993", "9007199254740992", "123456789012345678901234567890123456789012", "-16777217"}
	plain, csv := "", "label,qid,x,seller\n"
	for i, id := range ids {
		plain += fmt.Sprintf("1 qid:1 1:%d\n", i)
		csv += fmt.Sprintf("1,1,%d,%s\n", i, id)
	}
	folder := writeFiles(t, map[string]string{"d.csv": csv, "plain.txt": plain, "plain.txt.groups": "\ufeff" + strings.Join(ids, "\n")})
	for _, c := range []struct{ file, column string }{{"d.csv", "seller"}, {"plain.txt", ""}} {
		d, err := readFile(filepath.Join(folder, c.file), inChunks(ReadOptions{GroupColumn: c.column}, few))
		if err != nil {
			t.Fatal(err)
		}
		checkGroups(t, d, rangeOf(len(ids)), ids...)
	}
}

// A column of separated values is a group and a feature where a model wants it.
func TestGroupColumnCanBeAFeatureToo(t *testing.T) {
	o := ReadOptions{GroupColumn: "brand", FeatureIDs: []int{1, 2}, FeatureNames: []string{"brand", "x"}}
	d, err := ReadFile(dataFile(t, "d.csv", "label,qid,x,brand\n1,1,5,7\n0,1,6,8\n"), o)
	if err != nil {
		t.Fatal(err)
	}
	checkGroups(t, d, []int{0, 1}, "7", "8")
	if !slices.Equal(d.Features, []float32{7, 5, 8, 6}) {
		t.Errorf("features %v", d.Features)
	}
	d, err = ReadFile(dataFile(t, "d.csv", "label,qid,2,1\n1,1,5,7\n0,1,6,8\n"), ReadOptions{GroupColumn: "1", FeatureIDs: []int{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	checkGroups(t, d, []int{0, 1}, "7", "8")
	if !slices.Equal(d.Features, []float32{7, 5, 8, 6}) {
		t.Errorf("by id: features %v", d.Features)
	}
}

// A file of groups, in the order of the rows of the data.
func TestGroupsFromAFile(t *testing.T) {
	const text = "# of two queries\n1 qid:1 1:1\n0 qid:2 1:2\n\n-1 qid:1 1:3 # docid = x\n1 qid:2 1:4\n"
	folder := writeFiles(t, map[string]string{"d.txt": text, "d.txt.groups": "a\r\n\r\nb b\r\na", "v.txt": text, "v.txt.groups": "1\n-1\nb b\n1"})
	path := filepath.Join(folder, "d.txt")
	d, err := readFile(path, inChunks(ReadOptions{}, few))
	if err != nil {
		t.Fatal(err)
	}
	checkGroups(t, d, []int{0, 1, -1, 0}, "a", "b b") // rows 1, 3, 2, 4 of the file
	s, err := Open(path, Options{Vali: filepath.Join(folder, "v.txt"), chunkSize: few})
	if err != nil {
		t.Fatal(err)
	}
	checkGroups(t, s.Train, []int{0, -1, 0}, "a", "b b", "1") // one has no label
	checkGroups(t, s.Vali, []int{2, -1, 2}, "a", "b b", "1")

	// Beside compressed data, and compressed itself.
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte("a\nb\nb\na\n"))
	z.Close()
	folder = writeFiles(t, map[string]string{"d.txt.gz": text, "d.txt.groups": packed.String()})
	if d, err = readFile(filepath.Join(folder, "d.txt.gz"), inChunks(ReadOptions{}, few)); err != nil {
		t.Fatal(err)
	}
	checkGroups(t, d, []int{0, 1, 1, 0}, "a", "b")
}

func TestGroupsThatDoNotFitAreErrors(t *testing.T) {
	const threeRows = "1 qid:1 1:1\n0 qid:1 1:2\n0 qid:2 1:2\n"
	folder := writeFiles(t, map[string]string{
		"short": threeRows, "short.groups": "a\nb\n", "long": threeRows, "long.groups": "a\nb\nc\nd\n",
		"endless": threeRows, "endless.groups": "a\n" + strings.Repeat("x", 1<<17),
		"d.csv": "label,qid,doc,x\n1,1,7,1\n",
	})
	in := func(name string) string { return filepath.Join(folder, name) }
	for _, c := range []struct {
		file string
		o    ReadOptions
		want string
	}{
		{"short", ReadOptions{}, "short.groups: 2 lines, but " + in("short") + " has 3 documents: want the group of one document a line"},
		{"long", ReadOptions{}, "long.groups: 4 lines, but "},
		{"endless", ReadOptions{}, "endless.groups:2: "},
		{"d.csv", ReadOptions{GroupColumn: "sex"}, `no group column "sex": there are label, qid, doc, x`},
		{"d.csv", ReadOptions{GroupColumn: "qid"}, `column "qid" is the query id, and cannot be the group as well`},
		{"d.csv", ReadOptions{DocumentColumn: "doc", GroupColumn: "doc"}, `column "doc" is the document id, and cannot be the group as well`},
	} {
		if _, err := ReadFile(in(c.file), c.o); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want one line with %q", c.o, err, c.want)
		}
	}
	d := &Dataset{Name: "d", Labels: []float32{0}, Offsets: []int{0, 1}, QueryIDs: []string{"q"}, Features: []float32{}}
	d.Groups = []int{0, 1}
	if err := d.Validate(); err == nil || !strings.Contains(err.Error(), "2 groups for 1 rows") {
		t.Errorf("too many groups: %v", err)
	}
	d.Groups, d.GroupNames = []int{3}, []string{"a"}
	if err := d.Validate(); err == nil || !strings.Contains(err.Error(), "group 3 of row 0 has no name") {
		t.Errorf("a group without a name: %v", err)
	}
}

// A cache has the groups, and is stale where they have changed.
func TestGroupsInCache(t *testing.T) {
	folder, o := cached(t)
	groups := filepath.Join(folder, "train.txt.groups")
	open := func() *Splits {
		t.Helper()
		s, err := Open(folder, o)
		if err != nil {
			t.Fatal(err)
		}
		plain := o
		plain.Cache = ""
		want, err := Open(folder, plain)
		if err != nil {
			t.Fatal(err)
		}
		same(t, s, want)
		return s
	}
	if s := open(); s.Train.Groups != nil {
		t.Errorf("groups %v", s.Train.Groups)
	}
	for _, text := range []string{"a\nb\n\nb\n-1\n", "a\nb\n\nb\nz\n"} {
		if err := os.WriteFile(groups, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		open()
		if s := open(); s.Train.Groups == nil || s.Test.Groups != nil || len(s.Warnings()) != 1 { // a query that comes back
			t.Errorf("groups %v and %v, warnings %q", s.Train.Groups, s.Test.Groups, s.Warnings())
		}
	}
}

// Groups follow their documents into everything that is made of a dataset, and
// through a file.
func TestGroupsFollowDocuments(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		d := &Dataset{Name: "d", FeatureIDs: []int{1}, Offsets: []int{0}, GroupNames: []string{"x", "y y", "0"}, Groups: []int{}}
		name := map[float32]string{}
		for q := range rapid.IntRange(1, 6).Draw(t, "queries") {
			for range rapid.IntRange(1, 5).Draw(t, "documents") {
				g := rapid.IntRange(-1, 2).Draw(t, "group")
				x := float32(d.Rows() + 1)
				if g >= 0 {
					name[x] = d.GroupNames[g]
				}
				d.Groups, d.Features, d.Labels = append(d.Groups, g), append(d.Features, x), append(d.Labels, 1)
			}
			d.Offsets, d.QueryIDs = append(d.Offsets, d.Rows()), append(d.QueryIDs, fmt.Sprint(q))
		}
		check := func(what string, d *Dataset) {
			t.Helper()
			if err := d.Validate(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for r, g := range d.Groups {
				got := ""
				if g >= 0 {
					got = d.GroupName(g)
				}
				if want := name[d.Row(r)[0]]; got != want {
					t.Fatalf("%s: row %d is of group %q, want %q", what, r, got, want)
				}
			}
		}
		order := rapid.Permutation(rangeOf(d.Queries())).Draw(t, "order")
		some := d.Select(order[:rapid.IntRange(0, len(order)).Draw(t, "selected")])
		check("select", some)
		check("view", d.view(rapid.IntRange(0, d.Queries()).Draw(t, "from"), d.Queries()))
		var b Batch
		transform := &transforms.Transform{Spec: "none", Inputs: 1, Columns: []int{0}, Parts: []transforms.Part{{Name: "none"}}}
		for range 2 { // the second time into the same buffers
			b.Pack(d, transform, order, d.Rows()+3, len(order)+1)
			for r, g := range b.Groups {
				got := ""
				if g >= 0 {
					got = d.GroupName(g)
				}
				if len(b.Groups) != d.Rows()+3 || got != name[b.X[r]] || r >= b.Rows() && g != -1 {
					t.Fatalf("batch: row %d of %d is of group %d", r, len(b.Groups), g)
				}
			}
		}
		plain := *d
		plain.Groups, plain.GroupNames = nil, nil
		if b.Pack(&plain, transform, order, d.Rows(), len(order)); b.Groups != nil {
			t.Fatal("groups of a dataset without")
		}

		path := filepath.Join(dir, "d.txt")
		for to, write := range map[string]func(f *os.File) error{
			path: func(f *os.File) error { return WriteLETOR(f, d) },
			path + ".groups": func(f *os.File) error {
				for _, g := range d.Groups {
					if g >= 0 {
						f.WriteString(d.GroupName(g))
					}
					f.WriteString("\n")
				}
				return nil
			},
		} {
			f, err := os.Create(to)
			if err != nil {
				t.Fatal(err)
			}
			if err := write(f); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		back, err := ReadFile(path, ReadOptions{})
		if err != nil || back.Rows() != d.Rows() {
			t.Fatal(back, err)
		}
		check("file", back)
	})
}

func rangeOf(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Two groups by hand, one with a document that has no label; a number without a
// name is its own.
func TestDescribeCountsDocumentsOfGroups(t *testing.T) {
	a := &Dataset{Labels: []float32{2, -1, 1, 4}, Groups: []int{7, 7, 7, -1}, Offsets: []int{0, 4}, QueryIDs: []string{"1"}}
	b := &Dataset{Labels: []float32{0, 3}, Groups: []int{2, 2}, Offsets: []int{0, 2}, QueryIDs: []string{"2"}}
	d := Describe("d", a, nil, b)
	want := []GroupDescription{{"2", 2, 1.5}, {"7", 3, 1.5}}
	if !slices.Equal(d.Groups, want) {
		t.Errorf("%+v, want %+v", d.Groups, want)
	}
	for _, line := range []string{"group 7 ", "3 (50.0 %), mean label 1.500\n", "documents of no group         1\n"} {
		if !strings.Contains(d.String(), line) {
			t.Errorf("no %q in\n%s", line, d)
		}
	}
	if text := Describe("b", &Dataset{Labels: []float32{0}, Offsets: []int{0, 1}, QueryIDs: []string{"1"}}).String(); strings.Contains(text, "group") {
		t.Errorf("groups of a dataset without:\n%s", text)
	}
}
