// Package viz shows results: metric tables, curves, and sampled rankings.
//
// A value that is the last of a notebook cell shows itself; in a program, print a
// table and save a picture:
//
//	fmt.Print(viz.Table{Columns: []string{"", "NDCG@5"}, Rows: []viz.Row{{"PL-Rank-RB", 0.47}}})
//	err := viz.Plot{X: "epoch", Y: "NDCG@5", Series: curves}.Save("curves.png")
//
// The colours can be told apart by the colour-blind: those of Okabe & Ito (2008)
// for curves, shades of one blue for grades of relevance.
package viz
