// Package processes is what processes that train one model together have in common, and how
// they come to one mind: about errors, texts and numbers.
package processes

// A Group is the processes that train one model together; each is a rank. All methods but Rank
// and Size are collective: every rank calls them in the same order, with slices of the same
// lengths, and gets an answer when all have. A rank that cannot be reached is not an error here:
// the implementation ends all processes then.
type Group interface {
	Rank() int // of this process, from 0
	Size() int // processes

	Broadcast(b []byte)        // b becomes that of rank 0
	Allgather(dst, src []byte) // dst becomes src of rank 0, of rank 1, and so on
	Alltoall(dst, src []byte)  // both have a part for each rank: part r of src goes to rank r, and part r of dst comes from there
}

// Of is the group itself, or for nil the group of this one process.
func Of(g Group) Group {
	if g == nil {
		return alone{}
	}
	return g
}

// alone is one process.
type alone struct{}

func (alone) Rank() int                 { return 0 }
func (alone) Size() int                 { return 1 }
func (alone) Broadcast([]byte)          {}
func (alone) Allgather(dst, src []byte) { copy(dst, src) }
func (alone) Alltoall(dst, src []byte)  { copy(dst, src) }
