package datasets

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// collection is what is published of a collection.
type collection struct {
	folder      string
	width       int
	least, most int   // documents a query
	constant    []int // ids of features that are always 0
	free        int   // queries of the first file without a relevant document
	files       []counts
}

// counts returns the counts of a file. A file rank.… has no query ids, but a file of sizes.
type counts struct {
	name          string
	queries, rows int
}

var mq2008 = collection{"MQ2008/Fold4", 46, 5, 121, []int{6, 7, 8, 9, 10, 43}, 220,
	[]counts{{"train.txt", 471, 9630}, {"vali.txt", 157, 2707}, {"test.txt", 156, 2874}}}

var mslrSample = collection{"MSLR-sample", 136, 15, 337, nil, 3,
	[]counts{{"train.txt", 53, 5488}, {"vali.txt", 18, 1734}, {"test.txt", 18, 1900}}}

// Of these queries Open holds 40 out.
var lightGBM = collection{"lightgbm-lambdarank", 218, 1, 27, nil, 3,
	[]counts{{"rank.train", 201, 3005}, {"rank.test", 50, 768}}}

// write makes the files in a new folder, which it returns. Most features of a document are 0.
func (c collection) write(t testing.TB) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), c.folder)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for f, file := range c.files {
		var text, sizes bytes.Buffer
		row, spread := 0, file.rows-c.least-c.most
		for q := range file.queries {
			size := []int{c.least, c.most, 0}[min(q, 2)]
			if q >= 2 {
				size = spread*(q-1)/(file.queries-2) - spread*(q-2)/(file.queries-2)
			}
			fmt.Fprintln(&sizes, size)
			for d := range size {
				label := 0
				if (f > 0 || q >= c.free) && d < 2 {
					label = 1 + d
				}
				fmt.Fprint(&text, label)
				if !strings.HasPrefix(file.name, "rank.") {
					fmt.Fprintf(&text, " qid:%d", 1000*f+q)
				}
				for id := 1; id <= c.width; id++ {
					if constant := slices.Contains(c.constant, id); row == 0 && constant {
						fmt.Fprintf(&text, " %d:0", id)
					} else if !constant && (row == 0 || (row+id*id)%(c.width/5) == 0) {
						fmt.Fprintf(&text, " %d:%d.%d", id, row%7, 1+id%5)
					}
				}
				text.WriteByte('\n')
				row++
			}
		}
		path := filepath.Join(folder, file.name)
		if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(file.name, "rank.") {
			if err := os.WriteFile(path+".query", sizes.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return folder
}

func TestCollectionsHaveThePublishedCounts(t *testing.T) {
	for _, c := range []collection{mslrSample, mq2008, lightGBM} {
		s, err := Open(c.write(t), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []counts
		for i, d := range s.all() {
			got = append(got, counts{splitNames[i] + ".txt", d.Queries(), d.Rows()})
		}
		want := c.files
		if len(want) == 2 { // 20 % are held out, whose documents depend on the seed
			want = []counts{{"train.txt", 161, 3005 - s.Vali.Rows()}, {"vali.txt", 40, s.Vali.Rows()}, {"test.txt", 50, 768}}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", c.folder, got, want)
		}
		for _, d := range s.all() {
			if checkShape(t, d); d.Width() != c.width {
				t.Errorf("%s has width %d, want %d", d, d.Width(), c.width)
			}
		}
	}
}
