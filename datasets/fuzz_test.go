package datasets

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/plrank/plrank/datasets/internal/reader"
)

// readBytes reads text as if it were a file with a file of sizes.
func readBytes(b []byte, sizes string, o reader.FileOptions) (*Dataset, error) {
	folder, err := os.MkdirTemp("", "plrank-fuzz")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "f")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		return nil, err
	}
	if sizes != "" {
		if err := os.WriteFile(path+".query", []byte(sizes), 0o666); err != nil {
			return nil, err
		}
	}
	t, err := reader.Read(reader.Split{Path: path, Files: []string{path}}, o, reader.NewNames(reader.Options{}))
	if err != nil {
		return nil, err
	}
	return newDataset(t, t.IDs, reader.IsSparse(t.IDs, t))
}

// Whatever the bytes: a consistent dataset or an error, the same for any size of
// the chunks, and the same again when written and read.
func FuzzRead(f *testing.F) {
	for _, seed := range []struct{ text, sizes string }{
		{"2 qid:1 1:0.5 3:-1e-3 # docid = D1\r\n0 qid:1 2:NULL\n1.5 qid:b 10:1.6e8", ""},
		{"0 1:1\n1 2:2\n", "1\n1\n"},
		{"label,qid,a,\"b\"\"c\"\n1,x,.5,\n0,\"y\",?,1e9\n", ""},
		{"label\tqid\tdocid\ta\n1\tx\td\t.5\n", ""},
		{"0 qid:1 1:1\n0 qid:2 1:2\n0 qid:1 70000:3\n", ""},
		{"\ufeff# c\n-1 qid:1\n", "0\n1"},
		{"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff2P(,\xcaL\xb12T0\xb4R0\xe4\x02\x04\x00\x00\xff\xff", ""},
		{"\x28\xb5\x2f\xfd\x04\x00\x61\x00\x000 qid:1 1:1\n", ""},
	} {
		f.Add([]byte(seed.text), seed.sizes, uint8(0))
	}
	f.Fuzz(func(t *testing.T, b []byte, sizes string, option uint8) {
		var o ReadOptions
		if option&1 != 0 {
			o.Duplicates = "last"
		}
		if option&2 != 0 {
			o.FeatureIDs = []int{1, 2, 9, 70000}
		}
		if option&4 != 0 && option&2 != 0 {
			o.FeatureNames = []string{"a", "b", "c", "d"}
		}
		if option&8 != 0 {
			o.MinusOne = "irrelevant"
		}
		if option&16 != 0 {
			o.Headerless, o.QueryColumn, o.WeightColumn = true, "2", "3"
		}
		d, err := readBytes(b, sizes, inChunks(o, 0))
		inParts, errInParts := readBytes(b, sizes, inChunks(o, 1+len(b)/3))
		if (err == nil) != (errInParts == nil) {
			t.Fatalf("error %v, in parts %v", err, errInParts)
		}
		if err != nil {
			if n := strings.Count(err.Error(), "\n"); n > 10 {
				t.Fatalf("an error of %d lines", n+1)
			}
			return
		}
		if err := sameDataset(inParts, d); err != nil {
			t.Fatal(err)
		}
		if err := d.Validate(); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(d.Features, func(v float32) bool { return math.IsInf(float64(v), 0) }) {
			t.Fatal("an infinite feature")
		}
		var text bytes.Buffer
		if err := WriteLETOR(&text, d); err != nil {
			return // ids with blanks, from separated values
		}
		back, err := readBytes(text.Bytes(), "", inChunks(ReadOptions{}, 0))
		if err != nil {
			t.Fatal(err)
		}
		if d.DocumentIDs != nil && back.DocumentIDs == nil && strings.Join(d.DocumentIDs, "") == "" {
			back.DocumentIDs = d.DocumentIDs
		}
		if err := sameDataset(back, d); err != nil {
			t.Fatal(err)
		}
	})
}

// Two hundred and fifty files, each damaged in a few places: an error that names a file and has
// nothing in it that does not print, or a consistent dataset; and of Open the same splits
// again, from the cache.
func TestDamagedTexts(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"train.txt":        "2 qid:1 1:0.5 3:-1e-3 # docid = D1\r\n0 qid:1 2:NULL\n1 qid:b 10:1.6e8\n-1 qid:b 1:2\n0 qid:c 1:7 2:0\n",
		"train.csv":        "label,qid,w,a,\"b\"\"c\"\n1,x,1,.5,\n0,\"y\",2,?,1e9\n,y,0,7,8\n2,z,.5,1,2\n",
		"train.tsv":        "1\tx\t2\t.5\n0\tx\t3\t-7\n2\ty\t0\t1e-9\n",
		"train.txt.query":  "2\n2\n1\n",
		"train.txt.weight": "1\n.5\n2\n",
		"train.txt.groups": "small\nlarge\n\n-1\nsmall\n",
	}
	special := []string{"\x00", "\x1b[2J", "\xff", "\n", "\r", "\t", ",", "\"", "#", ":", "-", "e", "1e999", "nan", "-1", "99999999999999999999", "qid:", " "}
	rng := rand.New(rand.NewPCG(11, 0))
	damage := func(text string) string {
		for range 1 + rng.IntN(4) {
			at := rng.IntN(len(text) + 1)
			to := min(len(text), at+rng.IntN(6))
			switch rng.IntN(4) {
			case 0:
				text = text[:at] + text[to:]
			case 1:
				text = text[:at] + special[rng.IntN(len(special))] + text[at:]
			case 2:
				text = text[:at] + text[at:to] + text[at:]
			case 3:
				if at < len(text) {
					text = text[:at] + string([]byte{text[at] ^ 1<<rng.IntN(8)}) + text[at+1:]
				}
			}
		}
		return text
	}
	failed, folder, cache := 0, t.TempDir(), t.TempDir()
	for i := range 150 {
		name := []string{"train.txt", "train.csv", "train.tsv"}[i%3]
		broken := name
		if i%3 == 0 {
			broken = []string{"train.txt", "train.txt.query", "train.txt.weight", "train.txt.groups"}[rng.IntN(4)]
		}
		for file, text := range texts {
			if file == broken {
				text = damage(text)
			}
			if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		var o Options
		switch name {
		case "train.csv":
			o.Read.WeightColumn = "w"
		case "train.tsv":
			o.Read.Headerless, o.Read.QueryColumn = true, "2"
		}
		path := filepath.Join(folder, name)
		s, err := Open(path, o)
		if err != nil {
			failed++
			text := strings.ReplaceAll(err.Error(), "\n", "")
			if !strings.Contains(text, name) || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("error %q", text)
			}
			continue
		}
		for _, d := range s.all() {
			if d == nil {
				continue
			}
			if err := d.Validate(); err != nil {
				t.Error(err)
			}
		}
		o.Cache = cache
		for range 2 {
			cached, err := Open(path, o)
			if err != nil {
				t.Fatal(err)
			}
			same(t, cached, s)
		}
	}
	if failed < 30 || failed > 135 { // else this does not test both
		t.Errorf("%d of 150 were refused", failed)
	}
}

// In blocks, any bytes are the queries that they are when read whole, or the same error.
func FuzzReadBlocks(f *testing.F) {
	for _, seed := range []struct{ text, sizes string }{
		{"2 qid:1 1:0.5 3:-1e-3 # docid = D1\r\n0 qid:1 2:NULL\n1.5 qid:b 10:1.6e8", ""},
		{"0 1:1\n1 2:2\n", "1\n1\n"},
		{"label,qid,a,\"b\"\"c\"\n1,x,.5,\n0,\"y\",?,1e9\n", ""},
		{"0 qid:1 1:1\n0 qid:2 1:2\n0 qid:1 70000:3\n", "1\n1\n1\n"},
		{"\ufeff# c\n-1 qid:1\n", "0\n1"},
		{"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff2P(,\xcaL\xb12T0\xb4R0\xe4\x02\x04\x00\x00\xff\xff", ""},
	} {
		f.Add([]byte(seed.text), seed.sizes, uint16(7))
	}
	path := filepath.Join(f.TempDir(), "f")
	f.Fuzz(func(t *testing.T, b []byte, sizes string, size uint16) {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		os.Remove(path + ".query")
		if sizes != "" {
			if err := os.WriteFile(path+".query", []byte(sizes), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		o := ReadOptions{FeatureIDs: []int{1, 2, 9, 70000}}
		want, wantErr := ReadFile(path, o)
		got, _, err := joined(path, o, 1+int(size))
		switch {
		case errors.Is(err, ErrReturns):
			if wantErr == nil && want.SourceRows == nil {
				t.Fatalf("no query returns, but: %v", err)
			}
		case (err == nil) != (wantErr == nil):
			t.Fatalf("in blocks: %v, whole: %v", err, wantErr)
		case err == nil:
			if err := sameDataset(got, want); err != nil {
				t.Fatal(err)
			}
		}
	})
}
