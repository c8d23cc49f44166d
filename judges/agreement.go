package judges

import "fmt"

// Agreement counts how often a judge and people gave which grades to the same pairs.
type Agreement struct {
	Counts [][]int // [by the judge][by people]
	Pairs  int
	Same   float64 // the share of pairs with the same grade
	// Kappa is Cohen's κ with weights (i − j)², 1 for full agreement and 0 for what chance would give; NaN if one grade alone occurs.
	Kappa float64
}

// mostGrades bounds the size of Counts.
const mostGrades = 100

// Agree compares the grades of pairs that both judged. It returns an error for grades that are not in [0, 100).
func Agree(judge, people []int) (Agreement, error) {
	highest := 0
	for i, g := range judge {
		if min(g, people[i]) < 0 || max(g, people[i]) >= mostGrades {
			return Agreement{}, fmt.Errorf("judges: pair %d: grades %d and %d: want grades from 0 to %d", i, g, people[i], mostGrades-1)
		}
		highest = max(highest, g, people[i])
	}
	a := Agreement{Counts: make([][]int, highest+1), Pairs: len(judge)}
	for g := range a.Counts {
		a.Counts[g] = make([]int, highest+1)
	}
	rows, columns := make([]float64, highest+1), make([]float64, highest+1)
	for i, g := range judge {
		a.Counts[g][people[i]]++
		rows[g]++
		columns[people[i]]++
	}
	seen, expected := 0.0, 0.0
	for i, row := range a.Counts {
		a.Same += float64(row[i]) / float64(a.Pairs)
		for j, count := range row {
			weight := float64((i - j) * (i - j))
			seen += weight * float64(count)
			expected += weight * rows[i] * columns[j] / float64(a.Pairs)
		}
	}
	a.Kappa = 1 - seen/expected
	return a, nil
}
