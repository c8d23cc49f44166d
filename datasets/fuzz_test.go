package datasets

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

// readBytes reads text as if it were a file with sizes beside it.
func readBytes(b []byte, sizes string, o ReadOptions) (*Dataset, error) {
	var parsed *querySizes
	if sizes != "" {
		list, err := parseSizes(sizes)
		if err != nil {
			return nil, err
		}
		parsed = &querySizes{"f.query", list}
	}
	r, stop, err := decompress(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	defer stop()
	t, err := newTable("f", r, parsed, o)
	if err != nil {
		return nil, err
	}
	return t.dataset(t.ids, nil)
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
		defer func(old int) { chunkSize = old }(chunkSize)
		chunkSize = 1 << 20
		d, err := readBytes(b, sizes, o)
		chunkSize = 1 + len(b)/3
		inParts, errInParts := readBytes(b, sizes, o)
		if (err == nil) != (errInParts == nil) {
			t.Fatalf("error %v, in parts %v", err, errInParts)
		}
		if err != nil {
			if n := strings.Count(err.Error(), "\n"); n > maxFaults {
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
		back, err := readBytes(text.Bytes(), "", ReadOptions{})
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

// Numbers are those of strconv, and nothing else is a number.
func FuzzParseFloat32(f *testing.F) {
	for _, s := range []string{"1", "-0.1e+5", "340282356779733661637539395458142568447.9", ".5", "5.", "1e", "nan", "0x1p-2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkNumber(t, s) })
}
