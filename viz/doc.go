// Package viz shows results: tables of metrics, and plots of curves and points.
//
// The last value of a notebook cell is displayed; in a program, print a table and save a
// picture:
//
//	fmt.Print(viz.Table{Columns: []string{"", "NDCG@5"}, Rows: []viz.Row{{"PL-Rank-RB", 0.47}}})
//	err := viz.Plot{X: "epoch", Y: "NDCG@5", Series: curves}.Save("curves.png")
//
// Colour-blind readers can tell the curves apart: the palette is by Okabe & Ito (2008).
package viz
