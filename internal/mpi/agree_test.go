package mpi_test

import (
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/mpi"
	"github.com/plrank/plrank/internal/testkit"
)

func TestRanksMustHaveTheSameText(t *testing.T) {
	if err := mpi.Alike(nil, "folds", "1"); err != nil {
		t.Error(err)
	}
	for rank, err := range testkit.OnRanks(2, func(g mpi.Group) error { return mpi.Alike(g, "folds", "[1 2]") }) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	for rank, err := range testkit.OnRanks(3, func(g mpi.Group) error { return mpi.Alike(g, "folds", strings.Repeat("1", 1+g.Rank())) }) {
		if err == nil || err.Error() != "rank 1 of 3: train: folds: 11, on rank 0 1" {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
