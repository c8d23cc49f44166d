package datasets

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// joined is the blocks of a file that is read in chunks of a size, put together again.
func joined(path string, o ReadOptions, size int) (*Dataset, []string, error) {
	all := &Dataset{Offsets: []int{0}}
	warnings, err := readBlocksInChunks(path, o, size, func(d *Dataset, _ int64) error {
		if err := d.Validate(); err != nil {
			return err
		}
		if d.Queries() == 0 {
			return errors.New("a block without queries")
		}
		if d.DocumentIDs != nil || all.DocumentIDs != nil {
			for len(all.DocumentIDs) < all.Rows() {
				all.DocumentIDs = append(all.DocumentIDs, "")
			}
			all.DocumentIDs = append(all.DocumentIDs, d.DocumentIDs...)
		}
		for _, end := range d.Offsets[1:] {
			all.Offsets = append(all.Offsets, all.Rows()+end)
		}
		all.Features, all.Labels = append(all.Features, d.Features...), append(all.Labels, d.Labels...)
		all.QueryIDs, all.Weights, all.Groups = append(all.QueryIDs, d.QueryIDs...), append(all.Weights, d.Weights...), append(all.Groups, d.Groups...)
		all.BaseScores = append(all.BaseScores, d.BaseScores...)
		all.Name, all.FeatureIDs, all.FeatureNames, all.GroupNames = d.Name, d.FeatureIDs, d.FeatureNames, d.GroupNames
		all.origin.Path, all.origin.Lines = d.origin.Path, append(all.origin.Lines, d.origin.Lines...)
		return nil
	})
	for all.DocumentIDs != nil && len(all.DocumentIDs) < all.Rows() {
		all.DocumentIDs = append(all.DocumentIDs, "")
	}
	return all, warnings, err
}

// In blocks, a file has the same queries as when it is read whole, and the same errors and
// warnings: for any size of the chunks, of all formats, with files that belong to it, and with
// damage to any of them.
func TestBlocksAreTheFile(t *testing.T) {
	t.Parallel()
	returned, failed, same := 0, 0, 0
	rapid.Check(t, func(r *rapid.T) {
		folder := t.TempDir()
		o := ReadOptions{FeatureIDs: []int{1, 2, 7, 9}}
		format := rapid.SampledFrom([]string{"letor", "csv", "tsv"}).Draw(r, "format")
		named := rapid.Bool().Draw(r, "named")
		var text, sizes, groups, base strings.Builder
		switch format {
		case "csv":
			o.FeatureNames, o.GroupColumn, o.WeightColumn = []string{"a", "b", "c", "d"}, "brand", "w"
			fmt.Fprintln(&text, map[bool]string{true: "label,qid,d,c,brand,b,a,w,docid", false: "label,d,c,brand,b,a,w,docid"}[named])
		case "tsv":
			o.Headerless = true
			if named {
				o.QueryColumn = "2"
			}
		}
		queries := rapid.SliceOfN(rapid.IntRange(0, 6), 1, 8).Draw(r, "query sizes")
		returns := rapid.Bool().Draw(r, "returns")
		for q, n := range queries {
			id := fmt.Sprintf("q%d", q)
			if returns && q > 2 {
				id = "q1"
			}
			fmt.Fprintln(&sizes, n)
			for d := range n {
				x := rapid.IntRange(0, 5).Draw(r, "x")
				switch {
				case format == "letor":
					qid := ""
					if named {
						qid = "qid:" + id
					}
					fmt.Fprintf(&text, "%d %s 2:%d 9:.%d", d%3, qid, x, d)
					if x == 4 {
						fmt.Fprintf(&text, " 33:2 # docid = D%d", d)
					}
				case named && format == "csv":
					fmt.Fprintf(&text, "%d,%s,%d,,%s,3,.%d,%d,D%d", d%3, id, x, []string{"red", "", "blue"}[x%3], d, x, d)
				case format == "csv":
					fmt.Fprintf(&text, "%d,%d,,%s,3,.%d,%d,D%d", d%3, x, []string{"red", "", "blue"}[x%3], d, x, d)
				case named:
					fmt.Fprintf(&text, "%d\t%s\t%d\t1e%d", d%3, id, d, x)
				default:
					fmt.Fprintf(&text, "%d\t%d\t1e%d\t.5", d%3, d, x)
				}
				fmt.Fprintln(&text)
				fmt.Fprintf(&base, "-.%d\n", x)
				fmt.Fprintln(&groups, []string{"small", "", "large"}[x%3])
				if x == 0 && rapid.Bool().Draw(r, "blank") {
					fmt.Fprintln(&text, "# a comment")
				}
			}
		}
		files := map[string]string{"f": text.String()}
		if !named || rapid.Bool().Draw(r, "sizes") {
			files["f.query"] = sizes.String()
		}
		if format == "tsv" {
			files["f.groups"] = groups.String()
		}
		if rapid.Bool().Draw(r, "unused") {
			files["f.position"] = ""
		}
		if rapid.Bool().Draw(r, "on base scores") {
			files["f.init"] = base.String()
		}
		if rapid.IntRange(0, 2).Draw(r, "damaged") == 0 {
			name := rapid.SampledFrom([]string{"f", "f.query", "f.groups", "f.init"}).Draw(r, "damaged file")
			if old, ok := files[name]; ok {
				at := rapid.IntRange(0, len(old)).Draw(r, "at")
				files[name] = old[:at] + rapid.SampledFrom([]string{"\n", "x", "\t", ",", "7", "\"", " qid:8 ", "1 1:2\n"}).Draw(r, "damage") + old[min(len(old), at+rapid.IntRange(0, 4).Draw(r, "cut")):]
			}
		}
		if rapid.IntRange(0, 3).Draw(r, "packed") == 0 {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write([]byte(files["f"]))
			z.Close()
			files["f"] = b.String()
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
				r.Fatal(err)
			}
		}
		path := filepath.Join(folder, "f")
		want, wantErr := ReadFile(path, o)
		got, warnings, err := joined(path, o, rapid.IntRange(1, 200).Draw(r, "chunk size"))
		switch {
		case errors.Is(err, ErrReturns):
			if wantErr == nil && want.SourceRows == nil {
				r.Fatalf("no query returns, but: %v", err)
			}
			returned++
		case err != nil || wantErr != nil:
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				r.Fatalf("in blocks: %v\nwhole: %v", err, wantErr)
			}
			failed++
		default:
			if err := sameDataset(got, want); err != nil {
				r.Fatalf("%v\n%s", err, files["f"])
			}
			if !slices.Equal(got.Groups, want.Groups) || !slices.Equal(got.GroupNames, want.GroupNames) || !slices.Equal(got.Weights, want.Weights) || !slices.Equal(got.BaseScores, want.BaseScores) ||
				!slices.Equal(got.origin.Lines, want.origin.Lines) || !slices.Equal(got.FeatureNames, want.FeatureNames) || got.Name != want.Name || got.origin.Path != want.origin.Path {
				r.Fatalf("in blocks: %+v\nwhole: %+v", got, want)
			}
			if !slices.Equal(warnings, want.Warnings) {
				r.Fatalf("in blocks: %q\nwhole: %q", warnings, want.Warnings)
			}
			same++
		}
	})
	t.Logf("%d files were the same, %d errors, %d with a query that returns", same, failed, returned)
	if !testing.Short() && (same == 0 || failed == 0 || returned == 0) { // -short draws a fifth as many
		t.Errorf("%d files were the same, %d errors, %d with a query that returns: want some of each", same, failed, returned)
	}
}

// What is in memory does not grow with the file: the bound is for 25 times the text.
func TestBlocksInConstantMemory(t *testing.T) {
	highest := func(queries int) (most uint64) {
		path := filepath.Join(t.TempDir(), "f")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriter(f)
		for q := range queries {
			for d := range 20 {
				fmt.Fprintf(w, "1 qid:%d 1:%d 2:0.25 3:1e-3 4:17 # docid = document-%d-%d\n", q, d, q, d)
			}
		}
		if err := errors.Join(w.Flush(), f.Close()); err != nil {
			t.Fatal(err)
		}
		blocks, rows := 0, 0
		var read int64
		if _, err := readBlocksInChunks(path, ReadOptions{FeatureIDs: []int{1, 2, 3, 4}}, 1<<14, func(d *Dataset, n int64) error {
			rows += d.Rows()
			read = n
			if blocks++; blocks%16 == 0 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || rows != 20*queries || read != info.Size() {
			t.Fatalf("%d rows of %d, %d bytes of %v, %v", rows, 20*queries, read, info, err)
		}
		return most
	}
	small, large := highest(300), highest(25*300)
	t.Logf("%d KB at most, and %d KB for 25 times the file", small>>10, large>>10)
	if large > small+2<<20 {
		t.Errorf("%d KB at most, but %d KB for 25 times the file", small>>10, large>>10)
	}
}

// An end of the context, and an error of the caller, end the reading of a pipe on which
// nothing comes any more. Nothing else does: the pipe stays open.
func TestBlocksOfAPipeComeAsItIsWritten(t *testing.T) {
	var text strings.Builder
	for q := range 3 << 20 / 20 {
		fmt.Fprintf(&text, "1 qid:%d 1:1 2:3\n", q)
	}
	for name, stop := range map[string]func(context.CancelFunc) error{
		"interrupted": func(cancel context.CancelFunc) error { cancel(); return nil },
		"failed":      func(context.CancelFunc) error { return errors.New("no room") },
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go io.WriteString(w, text.String())
		_, err = ReadBlocks(fmt.Sprintf("/dev/fd/%d", r.Fd()), ReadOptions{FeatureIDs: []int{1, 2}, Context: ctx}, func(*Dataset, int64) error {
			return stop(cancel)
		})
		if err == nil || name == "interrupted" && !errors.Is(err, context.Canceled) || name == "failed" && err.Error() != "no room" {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		r.Close()
		w.Close()
	}
}

func TestBlocksNeedFeatures(t *testing.T) {
	if _, err := ReadBlocks("f", ReadOptions{}, nil); err == nil || !strings.Contains(err.Error(), "the feature ids must be given") {
		t.Error(err)
	}
}
