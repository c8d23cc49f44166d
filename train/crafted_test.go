package train

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/plrank/plrank/internal/npzfile"
)

// A checkpoint that asks for far more memory than it takes is a damaged one.
func TestCraftedCheckpointAllocatesLittle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.npz")
	header := map[string]any{"format": checkpointFormat, "version": checkpointVersion, "history": make([]struct{}, 1_000_000)}
	if err := npzfile.Write(path, header, nil); err != nil {
		t.Fatal(err)
	}
	tr := mustNew(t, Config{Optimization: Optimization{Epochs: 1}, Model: Model{Hidden: []int{2}}}, tinySplits())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := tr.Restore(path)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 || !errors.Is(err, ErrDamaged) {
		t.Errorf("%d bytes were allocated for 3 MB, error %v", n, err)
	}
}
