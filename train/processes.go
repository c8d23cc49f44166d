package train

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Processes train one model together; each is a rank. All methods but Rank and Size are
// collective: every rank calls them in the same order, with slices of the same lengths, and
// gets an answer when all have. A rank that cannot be reached is not an error here: who
// implements it ends all processes then.
type Processes interface {
	Rank() int // of this process, from 0
	Size() int // processes

	Broadcast(b []byte)        // b becomes that of rank 0
	Allgather(dst, src []byte) // dst becomes src of rank 0, of rank 1, and so on
	Alltoall(dst, src []byte)  // both have a part for each rank: part r of src goes to rank r, and part r of dst comes from there
}

// alone is one process.
type alone struct{}

func (alone) Rank() int                 { return 0 }
func (alone) Size() int                 { return 1 }
func (alone) Broadcast([]byte)          {}
func (alone) Allgather(dst, src []byte) { copy(dst, src) }
func (alone) Alltoall(dst, src []byte)  { copy(dst, src) }

// Agreed is an error that all ranks know of: they end for the same reason,
// and one of them can say so for all.
type Agreed struct{ error }

// Unwrap is the error itself.
func (e Agreed) Unwrap() error { return e.error }

// longestText is what is passed on of the text of an error.
const longestText = 1000

// Agree is collective. It gives nil where no rank has an error; else every rank gets one:
// its own, if all have the same, or that of the first rank which has one, with its number. Nil
// stands for one process.
func Agree(g Processes, err error) error {
	if g == nil || g.Size() == 1 {
		return err
	}
	var agreed Agreed
	if errors.As(err, &agreed) {
		return err
	}
	record := make([]byte, 2+longestText)
	if err != nil {
		text := err.Error()
		text = text[:min(len(text), longestText)]
		binary.LittleEndian.PutUint16(record, uint16(1+len(text)))
		copy(record[2:], text)
	}
	all := make([]byte, g.Size()*len(record))
	g.Allgather(all, record)
	var texts []string
	first := -1
	for record := range slices.Chunk(all, len(record)) {
		n := int(binary.LittleEndian.Uint16(record))
		if n > 0 && first < 0 {
			first = len(texts)
		}
		texts = append(texts, string(record[2:2+max(0, n-1)]))
	}
	switch {
	case first < 0:
		return nil
	case err != nil && len(slices.Compact(slices.Clone(texts))) == 1:
		return Agreed{err}
	}
	return Agreed{fmt.Errorf("rank %d of %d: %s", first, g.Size(), texts[first])}
}
