package datasets

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/plrank/plrank/transforms"
)

// sharing shares among a number of goroutines.
func sharing(size int) []transforms.Sharing {
	tell := make([][]chan []byte, size) // from one to another
	for from := range tell {
		for range size {
			tell[from] = append(tell[from], make(chan []byte, 1))
		}
	}
	list := make([]transforms.Sharing, size)
	for rank := range list {
		list[rank] = transforms.Sharing{Rank: rank, Size: size, Allgather: func(dst, src []byte) {
			sent := slices.Clone(src) // as between processes: the caller may write to src when it goes on
			for to := range size {
				tell[rank][to] <- sent
			}
			for from := range size {
				copy(dst[from*len(src):], <-tell[from][rank])
			}
		}}
	}
	return list
}

// Whatever number of processes fits a transform together, each gets what one gets by itself,
// bit for bit; for more blocks of rows than they tell each other sums of, too.
func TestProcessesFitTheTransformOfOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := hard()
	for range 9000 {
		for range 2 {
			for c := range d.Width() {
				x := float32(math.Exp(3 * rng.NormFloat64()))
				if c == 2 || rng.IntN(20) == 0 {
					x = 5
				}
				d.Features = append(d.Features, x)
			}
			d.Labels = append(d.Labels, 0)
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	d.QueryIDs = make([]string, d.Queries())
	for _, data := range []*Dataset{hard(), d} {
		want, err := FitTransform(allParts, data)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{2, 3, 7} {
			got := make([]*transforms.Transform, size)
			var wait sync.WaitGroup
			for rank, s := range sharing(size) {
				wait.Go(func() { got[rank], _ = FitTransformOn(s, allParts, data) })
			}
			wait.Wait()
			for rank := range got {
				if !reflect.DeepEqual(got[rank], want) {
					t.Errorf("%d rows, process %d of %d: another transform", data.Rows(), rank, size)
				}
			}
		}
	}
}
