package trainer

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// What docs/scale.md has of data as large as memory, and of larger ones in a cache:
//
//	go test ./cmd/internal/trainer -run TestLarge -v -count 1 -timeout 3h -args -large 20
var (
	largeSize   = flag.Float64("large", 0.004, "`GB` of features to train on")
	largeFolder = flag.String("large-folder", "", "an empty `folder` for them, with room for 2.2 times as much; without it, a temporary one")
)

const (
	largeWidth   = 136 // features, as in MSLR-WEB30K
	largeQuery   = 120 // documents
	largeParts   = 16
	textMemory   = 1.2 // of the features' size, what the process may have of its own and of files at most from text,
	cacheMemory  = 0.2 // and from a cache,
	leastMemory  = 1.2 // and as many GB
	largeTrained = "-epochs 1 -hidden 16 -members 1 -dropout 0 -transform log-standard -batch 32 -loss plrank-exact -metric ndcg@10 -seed 1"
)

// writeParts writes training queries in many parts, and a few for validation, compressed.
// Their texts are drawn from some hundred that are compressed once, so that writing them is
// not what takes the time or the room; so queries have no ids, but sizes.
func writeParts(t *testing.T, folder string, documents int) {
	const queriesOfText, documentsOfText = 4, 64
	ofPart := max(1, documents/(largeQuery*queriesOfText*largeParts)) // texts
	texts := min(200, ofPart*largeParts)
	rng := rand.New(rand.NewPCG(1, 0))
	pack, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var packed [][]byte
	for range texts {
		var lines []string
		for range documentsOfText {
			var line strings.Builder
			sum := 0.0
			for id := 1; id <= largeWidth; id++ {
				x := rng.Float64()
				if id <= 5 {
					sum += x
				}
				fmt.Fprintf(&line, " %d:%.4g", id, x*float64(1+id%7))
			}
			lines = append(lines, fmt.Sprintf("%d%s\n", max(0, min(4, int(sum*2-3))), line.String()))
		}
		var text []byte
		for range queriesOfText * largeQuery {
			text = append(text, lines[rng.IntN(len(lines))]...)
		}
		packed = append(packed, pack.EncodeAll(text, nil))
	}
	part := func(name string, n int) {
		path := filepath.Join(folder, name)
		f, err := os.Create(path + ".zst")
		if err != nil {
			t.Fatal(err)
		}
		out := bufio.NewWriterSize(f, 1<<20)
		for range n {
			out.Write(packed[rng.IntN(texts)]) // a failed write stays failed
		}
		sizes := strings.Repeat(fmt.Sprintln(largeQuery), n*queriesOfText)
		if err := errors.Join(out.Flush(), f.Close(), os.WriteFile(path+".query", []byte(sizes), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(folder, "vali"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range largeParts {
		part(fmt.Sprintf("train-%05d-of-%05d.txt", i, largeParts), ofPart)
	}
	part("vali/part-0.txt", 2)
}

var memoryLine = regexp.MustCompile(`(?m)^(VmHWM|RssAnon|RssFile):\s+(\d+) kB$`)

// TestLarge trains an epoch on data in many parts, from text and then from the cache, and
// measures the memory of the process.
func TestLarge(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("this system does not say how much memory a process has")
	}
	folder := *largeFolder
	if folder == "" {
		folder = t.TempDir()
	}
	documents := int(*largeSize * 1e9 / 4 / largeWidth)
	start := time.Now()
	if _, err := os.Stat(filepath.Join(folder, "data")); err != nil { // else it was written before
		writeParts(t, filepath.Join(folder, "data"), documents)
	}
	t.Logf("%d documents of %d features, %.3g GB of float32; written in %.0f s", documents, largeWidth, float64(documents)*largeWidth*4/1e9, time.Since(start).Seconds())
	for i, from := range []string{"text", "the cache"} {
		p := child(0, append(strings.Fields(largeTrained), "-data", filepath.Join(folder, "data"), "-cache", filepath.Join(folder, "cache"), "-out", filepath.Join(folder, "run from "+from))...)
		var stderr bytes.Buffer
		p.Stderr = &stderr
		p.Env = append(p.Env, "TMPDIR="+folder) // for transformed features, which belong on a disk
		start := time.Now()
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- p.Wait() }()
		most := map[string]float64{} // GB
		for running := true; running; {
			select {
			case err := <-ended:
				if running = false; err != nil {
					t.Fatalf("%v: %s", err, &stderr)
				}
			case <-time.After(20 * time.Millisecond):
				status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
				for _, m := range memoryLine.FindAllStringSubmatch(string(status), -1) {
					kB, _ := strconv.ParseFloat(m[2], 64)
					most[m[1]] = max(most[m[1]], kB*1024/1e9)
				}
			}
		}
		t.Logf("an epoch from %s: %.0f s; resident at most %.2f GB; %.2f GB of its own, %.2f GB of files", from, time.Since(start).Seconds(), most["VmHWM"], most["RssAnon"], most["RssFile"])
		if allowed := leastMemory + []float64{textMemory, cacheMemory}[i]**largeSize; most["VmHWM"] > allowed || most["VmHWM"] == 0 {
			t.Errorf("resident %.2f GB, want %.2f at most\n%s", most["VmHWM"], allowed, &stderr)
		}
	}
	if a, b := read(t, filepath.Join(folder, "run from text", "model.npz")), read(t, filepath.Join(folder, "run from the cache", "model.npz")); a != b {
		t.Error("the two runs have other models")
	}
}
