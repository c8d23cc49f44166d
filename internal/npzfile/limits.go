package npzfile

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A file takes memory in proportion to its length, whoever wrote it: its whole directory is checked
// before the first entry is unpacked.
const (
	// Entries may be compressed, as in files of older versions and of numpy.savez_compressed.
	// Weights deflate to a half; these leave room for arrays that are mostly zeros.
	freeBytes    = 4 << 20 // that any file may unpack to
	maxExpansion = 8       // times the length of the file, besides

	// An object of the header, if only {}, becomes a struct of some hundred bytes.
	freeObjects    = 1000
	bytesPerObject = 16

	maxShapeText = 10_000 // bytes of the header of a .npy array, as in NumPy
)

// checkDirectory checks the entries of a file of a number of bytes: their names are names of arrays and
// differ, their data do not overlap, and they unpack to no more than the file may.
func checkDirectory(entries []*zip.File, size int) error {
	names := map[string]bool{}
	left := freeBytes + maxExpansion*uint64(size)
	type span struct{ from, to uint64 }
	spans := make([]span, len(entries))
	for i, e := range entries {
		name, ok := strings.CutSuffix(e.Name, ".npy")
		switch {
		case !ok:
			return fmt.Errorf("entry %q is not a .npy array", e.Name)
		case names[name]:
			return fmt.Errorf("array %q occurs twice", name)
		case e.UncompressedSize64 > left:
			return fmt.Errorf("its arrays take more than %d bytes and %d times the length of the file", freeBytes, maxExpansion)
		}
		names[name] = true
		left -= e.UncompressedSize64
		from, err := e.DataOffset()
		if err != nil {
			return fmt.Errorf("array %q: %w", name, err)
		}
		if e.CompressedSize64 > uint64(size) {
			return fmt.Errorf("array %q extends past the end of the file", name)
		}
		spans[i] = span{uint64(from), uint64(from) + e.CompressedSize64}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			return errors.New("two of its arrays overlap")
		}
	}
	return nil
}

// checkObjects returns an error if a JSON text has more objects than one of its length may.
func checkObjects(text []byte) error {
	objects, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '{' && !quoted:
			objects++
		}
	}
	if most := freeObjects + len(text)/bytesPerObject; objects > most {
		return fmt.Errorf("%d objects in %d bytes: want %d at most", objects, len(text), most)
	}
	return nil
}
