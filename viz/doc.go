// Package viz shows results: metric tables, curves, and sampled rankings.
//
// The last value of a notebook cell is displayed; in a program, print a table and save a
// picture:
//
//	fmt.Print(viz.Table{Columns: []string{"", "NDCG@5"}, Rows: []viz.Row{{"PL-Rank-RB", 0.47}}})
//	err := viz.Plot{X: "epoch", Y: "NDCG@5", Series: curves}.Save("curves.png")
//
// Colour-blind readers can tell the colours apart: the palette of Okabe & Ito (2008) for curves,
// shades of one blue for grades of relevance.
package viz
