package processes_test

import (
	"strings"
	"testing"

	"github.com/plrank/plrank/internal/processes"
	"github.com/plrank/plrank/internal/processes/processtest"
)

func TestRanksMustHaveTheSameText(t *testing.T) {
	if err := processes.Alike(nil, "folds", "1"); err != nil {
		t.Error(err)
	}
	for rank, err := range processtest.OnRanks(2, func(g processes.Group) error { return processes.Alike(g, "folds", "[1 2]") }) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	for rank, err := range processtest.OnRanks(3, func(g processes.Group) error { return processes.Alike(g, "folds", strings.Repeat("1", 1+g.Rank())) }) {
		if err == nil || err.Error() != "rank 1 of 3: train: folds: 11, on rank 0 1" {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
