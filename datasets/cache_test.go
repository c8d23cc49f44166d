package datasets

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plrank/plrank/datasets/internal/reader"
	"github.com/plrank/plrank/datasets/internal/store"
	"github.com/plrank/plrank/internal/memory"
)

// cached makes a small collection in a folder, and says how to open it.
func cached(t testing.TB) (folder string, o Options) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range map[string]string{
		"train.txt": "1 qid:1 1:1 2:2 # docid = A\n0 qid:1 1:nan 2:2.5\n2 qid:2 1:3\n0 qid:3 9:1\n0 qid:1 1:7\n",
		"test.txt":  "1 qid:9 1:1 4:4\n",

		"train.txt.weight": "1\n.5\n2\n0\n3\n", // of documents
		"test.txt.query":   "1\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return folder, Options{Cache: filepath.Join(t.TempDir(), "a", "b"), Seed: 3}
}

// same compares splits bit by bit (NaN is equal to itself).
func same(t testing.TB, got, want *Splits) {
	t.Helper()
	for i, g := range got.all() {
		w := want.all()[i]
		if g == nil || w == nil {
			if g != w {
				t.Fatalf("split %d: %v, want %v", i, g, w)
			}
			continue
		}
		a, b := *g, *w
		if !bytes.Equal(memory.Bytes(a.Features), memory.Bytes(b.Features)) || !bytes.Equal(memory.Bytes(a.Labels), memory.Bytes(b.Labels)) {
			t.Errorf("split %d: numbers differ", i)
		}
		a.Features, b.Features, a.Labels, b.Labels = nil, nil, nil, nil
		if !reflect.DeepEqual(a, b) {
			t.Errorf("split %d: %+v, want %+v", i, a, b)
		}
	}
}

// cacheFile is the one cache in a folder.
func cacheFile(t testing.TB, folder string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, ".plrank-*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("caches %v, error %v", found, err)
	}
	return found[0]
}

// mapped reports whether Open took the splits from the cache: they can then not
// share memory with a fresh parse, but the file is not written again.
func openAgain(t testing.TB, folder string, o Options) (s *Splits, rebuilt bool) {
	t.Helper()
	path := cacheFile(t, o.Cache)
	old := time.Unix(1e9, 0)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	s, err := Open(folder, o)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(cacheFile(t, o.Cache))
	if err != nil {
		t.Fatal(err)
	}
	return s, !info.ModTime().Equal(old)
}

func TestCacheGivesTheSameSplits(t *testing.T) {
	folder, o := cached(t)
	plain, err := Open(folder, Options{Seed: o.Seed})
	if err != nil {
		t.Fatal(err)
	}
	first, err := Open(folder, o)
	if err != nil {
		t.Fatal(err)
	}
	same(t, first, plain)
	again, rebuilt := openAgain(t, folder, o)
	if rebuilt {
		t.Error("a fresh cache was not used")
	}
	same(t, again, plain)
	data := mslrSample.write(t)
	if plain, err = Open(data, Options{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s, err := Open(data, Options{Cache: o.Cache + "2"})
		if err != nil {
			t.Fatal(err)
		}
		same(t, s, plain)
	}
}

// relative is a path from the working folder.
func relative(t *testing.T, path string) string {
	t.Helper()
	here, err := os.Getwd()
	if err == nil {
		path, err = filepath.Rel(here, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Where the validation file is the training file, both splits are all its documents, and only one has the warnings.
func TestValidationOnTheTrainingFile(t *testing.T) {
	folder, o := cached(t)
	path := filepath.Join(folder, "train.txt")
	want, err := ReadFile(path, ReadOptions{})
	if err != nil || want.Warnings == nil {
		t.Fatal(want, err)
	}
	o.Vali = path
	for range 2 {
		s, err := Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		if !numbers(s.Train.Features, want.Features) || !numbers(s.Vali.Features, want.Features) || s.Vali.Name != path || s.Test != nil {
			t.Errorf("%v, %v, want %v", s.Train, s.Vali, want)
		}
		if !slices.Equal(s.Train.Warnings, want.Warnings) || s.Vali.Warnings != nil {
			t.Errorf("warnings %q and %q, want %q and none", s.Train.Warnings, s.Vali.Warnings, want.Warnings)
		}
	}
	// However its path is spelt; its groups are the groups of the training file then.
	if err := os.WriteFile(path+".groups", []byte(strings.Repeat("a\n", want.Rows())), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, vali := range []string{folder + "/./train.txt", folder + "/../" + filepath.Base(folder) + "/train.txt", relative(t, path)} {
		s, err := Open(path, Options{Vali: vali})
		if err != nil || s.Vali.Rows() != want.Rows() || s.Vali.Groups == nil || s.Vali.Warnings != nil {
			t.Errorf("%s: %v, %v", vali, s, err)
		}
	}
	if s, err := Open(path, Options{Cache: o.Cache, Seed: o.Seed}); err != nil || s.Train.Queries()+s.Vali.Queries() != want.Queries() {
		t.Errorf("with queries held out: %v, %v", s, err)
	}
}

func TestCacheFollowsTheSources(t *testing.T) {
	folder, o := cached(t)
	if _, err := Open(folder, o); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "test.txt")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	// Same size, same time, other content.
	if err := os.WriteFile(path, []byte("1 qid:9 1:1 4:5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	s, rebuilt := openAgain(t, folder, o)
	if !rebuilt || s.Test.Row(0)[2] != 5 || len(s.Train.Warnings) != 1 { // the query that comes back
		t.Errorf("rebuilt %v, features %v, warnings %q", rebuilt, s.Test.Row(0), s.Warnings())
	}
	// Another time only, as of a copy.
	if err := os.Chtimes(path, info.ModTime(), info.ModTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, rebuilt = openAgain(t, folder, o); rebuilt {
		t.Error("the same content was read again")
	}
	// Other options have a cache of their own.
	o.Seed++
	if _, err := Open(folder, o); err != nil {
		t.Fatal(err)
	}
	if found, _ := filepath.Glob(filepath.Join(o.Cache, ".plrank-*")); len(found) != 2 {
		t.Errorf("caches %v", found)
	}
}

// A byte anywhere in a large file, written in its place: size, inode and time of change by
// the clock of files are as before.
func TestCacheFollowsEveryByte(t *testing.T) {
	if testing.Short() {
		t.Skip("16 MB")
	}
	var text bytes.Buffer
	line := strings.Repeat("x", 1<<17)
	var at []int // of the labels
	for i := range 128 {
		at = append(at, text.Len())
		fmt.Fprintf(&text, "0 qid:%d 1:%d # %s\n", i/2, i, line)
	}
	path := dataFile(t, "d.txt", text.String())
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Cache: t.TempDir()}
	if _, err := Open(path, o); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, i := range []int{0, 10, 77, 127} {
		if _, err := f.WriteAt([]byte("3"), int64(at[i])); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		s, rebuilt := openAgain(t, path, o)
		sum := float32(0)
		for _, d := range []*Dataset{s.Train, s.Vali} {
			for r, label := range d.Labels {
				if sum += label; d.Row(r)[0] == float32(i) && label != 3 {
					t.Errorf("label %d is %v", i, label)
				}
			}
		}
		if !rebuilt || sum == 0 {
			t.Errorf("label %d: rebuilt %v, the labels sum to %v", i, rebuilt, sum)
		}
	}
}

// forge returns a file of the same CRC-32 and CRC-32C as text, with another byte at a place: they are linear, so some of
// the letters of a comment can be changed to make up for it.
func forge(t *testing.T, text []byte, place int, other byte, letters []int) []byte {
	t.Helper()
	sums := func(b []byte) uint64 {
		return uint64(crc32.ChecksumIEEE(b))<<32 | uint64(crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	}
	forged := bytes.Clone(text)
	forged[place] = other
	type change struct {
		sum     uint64
		letters map[int]bool
	}
	add := func(to *change, c change) { // both changes: a letter that is changed twice is as before
		to.sum ^= c.sum
		for i := range c.letters {
			if to.letters[i] = !to.letters[i]; !to.letters[i] {
				delete(to.letters, i)
			}
		}
	}
	basis := map[int]change{} // by the highest bit of the sum
	reduce := func(c *change) {
		for bit := 63; bit >= 0; bit-- {
			if b, ok := basis[bit]; ok && c.sum>>bit&1 == 1 {
				add(c, b)
			}
		}
	}
	for _, i := range letters {
		changed := bytes.Clone(text)
		changed[i] ^= 2
		c := change{sums(changed) ^ sums(text), map[int]bool{i: true}}
		if reduce(&c); c.sum != 0 {
			basis[bits.Len64(c.sum)-1] = c
		}
	}
	c := change{sums(forged) ^ sums(text), map[int]bool{}}
	reduce(&c)
	for i := range c.letters {
		forged[i] ^= 2
	}
	if sums(forged) != sums(text) || len(c.letters) == 0 {
		t.Fatal("other checksums")
	}
	return forged
}

// A file that is made to have the checksums, the size and the time of another one has a cache of its own, and other
// fingerprints.
func TestCacheFollowsForgedFiles(t *testing.T) {
	text := []byte("1 qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:3\n0 qid:2 1:4 # " + strings.Repeat("a", 200) + "\n")
	var letters []int
	for i := len(text) - 201; i < len(text)-1; i++ {
		letters = append(letters, i)
	}
	path := dataFile(t, "d.txt", string(text))
	old := time.Unix(1e9, 0)
	o := Options{Vali: path, Cache: t.TempDir()}
	for _, want := range []float32{1, 2} {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Train.Row(0)[0]; got != want {
			t.Errorf("feature %v, want %v", got, want)
		}
		if err := os.WriteFile(path, forge(t, text, 10, '2', letters), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	values := slices.Repeat([]float32{1}, 300)
	letters = nil
	for i := 1; i < len(values); i++ {
		letters = append(letters, 4*i+1) // within the fraction of a number
	}
	forged := memory.Numbers[float32](forge(t, memory.Bytes(values), 2, 0, letters))
	if store.DigestFloats(values).String() == store.DigestFloats(forged).String() {
		t.Errorf("a list that begins with %v has the digest of one that begins with 1", forged[0])
	}
}

// A pipe has another content the next time, under the same name.
func TestPipesAreNotCached(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	path := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip("this system has no names for pipes")
	}
	fmt.Fprint(w, "0 qid:1 1:1\n1 qid:2 1:2\n")
	w.Close()
	o := Options{Cache: t.TempDir()}
	s, err := Open(path, o)
	if err != nil || s.Train.Rows()+s.Vali.Rows() != 2 {
		t.Fatal(s, err)
	}
	if left, _ := os.ReadDir(o.Cache); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Whatever happens to a cache, what Open returns is what the sources say.
func TestDamagedCacheIsBuiltAnew(t *testing.T) {
	t.Parallel()
	folder, o := cached(t)
	plain, err := Open(folder, o)
	if err != nil {
		t.Fatal(err)
	}
	path := cacheFile(t, o.Cache)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(damaged []byte, what string, at int) {
		t.Helper()
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := Open(folder, o)
		if err != nil {
			t.Fatal(err)
		}
		if i := len(s.Train.Warnings) - 1; i >= 0 && strings.Contains(s.Train.Warnings[i], "built anew") {
			s.Train.Warnings = s.Train.Warnings[:i]
		} else if what == "cut" {
			t.Errorf("%s at %d: no warning in %q", what, at, s.Warnings())
		}
		same(t, s, plain)
	}
	for i := 0; i < len(whole); i += 1 + len(whole)/25 {
		check(whole[:i], "cut", i)
		flipped := bytes.Clone(whole)
		flipped[i] ^= 0x10
		check(flipped, "flip", i)
	}
	check(append(bytes.Clone(whole), 0), "cut", len(whole))
}

// A cache whose checksums are right may hold anything.
func TestCacheOfInconsistentListsIsBuiltAnew(t *testing.T) {
	folder, o := cached(t)
	plain, err := Open(folder, Options{Seed: o.Seed})
	if err != nil {
		t.Fatal(err)
	}
	files, err := o.find(folder)
	if err != nil {
		t.Fatal(err)
	}
	c := splitCache{o.cacheKey(files, 0.2), files, o.Cache}
	if err := c.key.Find(files); err != nil {
		t.Fatal(err)
	}
	for what, craft := range map[string]func(s *splits){
		"offsets":     func(s *splits) { s[0].Offsets = []int{0, 9} },
		"no labels":   func(s *splits) { s[1].Labels = nil },
		"labels":      func(s *splits) { s[0].Labels = slices.Repeat([]float32{float32(math.Inf(1))}, s[0].Rows()) },
		"ids":         func(s *splits) { s[2].FeatureIDs = []int{3, 2, 1} },
		"groups":      func(s *splits) { s[0].Groups, s[0].GroupNames = make([]int, s[0].Rows()), []string{} },
		"lines":       func(s *splits) { s[0].origin.Lines = s[0].origin.Lines[1:] },
		"many parts":  func(s *splits) { s[0].origin.Starts = []int{0, 1} },
		"no training": func(s *splits) { s[0] = nil },
	} {
		crafted := splits{}
		for i, d := range plain.all() {
			crafted[i] = d.view(0, d.Queries())
		}
		craft(&crafted)
		if err := os.RemoveAll(o.Cache); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(o.Cache, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := store.Save(t.Context(), filepath.Join(o.Cache, c.key.FileName()), c.key, crafted.lists()); err != nil {
			t.Fatal(err)
		}
		s, err := Open(folder, o)
		if err != nil {
			t.Fatal(err)
		}
		last := len(s.Train.Warnings) - 1
		if last < 0 || !strings.Contains(s.Train.Warnings[last], "built anew") {
			t.Fatalf("%s: warnings %q", what, s.Train.Warnings)
		}
		s.Train.Warnings = s.Train.Warnings[:last]
		same(t, s, plain)
	}
}

func TestWhereStandsCraftedLines(t *testing.T) {
	d := Dataset{Name: "d", Labels: make([]float32, 3)}
	d.origin = reader.Origin{Parts: []string{"a", "b"}, Starts: []int{5, 9}, Lines: []int32{-7, 3, 12}}
	for row, want := range []string{"a:-12", "a:-2", "b:3"} {
		if got := d.Where(row); got != want {
			t.Errorf("row %d: %s, want %s", row, got, want)
		}
	}
}

func TestCacheCannotBeWritten(t *testing.T) {
	folder, o := cached(t)
	o.Cache = filepath.Join(folder, "train.txt") // a file, not a folder
	s, err := Open(folder, o)
	if err != nil {
		t.Fatal(err)
	}
	if w := s.Warnings(); len(w) == 0 || !strings.Contains(w[len(w)-1], "no cache was written") {
		t.Errorf("warnings %q", w)
	}
}

func TestCachesMayBeWrittenAtOnce(t *testing.T) {
	folder, o := cached(t)
	plain, err := Open(folder, Options{Seed: o.Seed})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				s, err := Open(folder, o)
				if err != nil {
					t.Error(err)
					return
				}
				same(t, s, plain)
			}
		})
	}
	wg.Wait()
	if left, _ := filepath.Glob(filepath.Join(o.Cache, "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	cacheFile(t, o.Cache)
}

func TestCacheMayBeBesideTheData(t *testing.T) {
	folder, o := cached(t)
	o.Cache = folder
	if _, err := Open(folder, o); err != nil {
		t.Fatal(err)
	}
	cacheFile(t, folder)
	// A cache next to the data is not a data file.
	if _, err := Open(folder, Options{}); err != nil {
		t.Error(err)
	}
}

// What comes from a cache is not in memory of this process alone.
func BenchmarkCache(b *testing.B) {
	path := writeBig(b, bigSize(b))
	o := Options{Cache: b.TempDir()}
	s, err := Open(path, o)
	if err != nil {
		b.Fatal(err)
	}
	if w := s.Warnings(); len(w) > 0 {
		b.Fatal(w)
	}
	b.SetBytes(int64(4 * (len(s.Train.Features) + len(s.Vali.Features))))
	for b.Loop() {
		if _, err := Open(path, o); err != nil {
			b.Fatal(err)
		}
	}
}
