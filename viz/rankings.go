package viz

import (
	"fmt"
	"image/color"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// RankingTiles is a picture of rankings drawn from policies. Each line is a ranking, from left
// to right, and each tile a document with its number: the darker, the more relevant.
type RankingTiles struct {
	Title  string
	Labels []float32 // grades, by row number of the document
	First  int       // row number of the document shown as 0
	Panels []Panel   // side by side, one for each policy
}

// Panel holds the rankings of one policy, in the layout of ops.Rankings.
type Panel struct {
	Title  string
	Rows   []int // row numbers of documents, ranking after ranking of Cutoff each; −1: absent
	Cutoff int
}

// Lengths of the picture.
const (
	tile       vg.Length = 22
	gutter     vg.Length = 28 // between panels
	header     vg.Length = 22 // for a line of text
	legendText vg.Length = 40
	margin     vg.Length = 2
)

// SVG returns the picture as an SVG document. It panics if a row number has no label, or if the
// rankings of a panel are not as long as its cutoff.
func (r RankingTiles) SVG() string { return svg(r) }

// Save writes the picture to a file, in the format that its name ends in: .svg,
// .png or .pdf.
func (r RankingTiles) Save(path string) error { return save(r, path) }

// String describes the picture in a few words.
func (r RankingTiles) String() string {
	return fmt.Sprintf("rankings by %d policies", len(r.Panels))
}

func (r RankingTiles) check() error {
	for i, p := range r.Panels {
		if p.Cutoff < 1 || len(p.Rows)%p.Cutoff != 0 {
			return fmt.Errorf("panel %d (%q) has %d row numbers, not a multiple of the cutoff %d", i, p.Title, len(p.Rows), p.Cutoff)
		}
		for _, d := range p.Rows {
			if d >= len(r.Labels) || d < -1 {
				return fmt.Errorf("panel %d (%q) has row number %d, but there are %d labels", i, p.Title, d, len(r.Labels))
			}
		}
	}
	return nil
}

func (r RankingTiles) size() (width, height vg.Length) {
	rows := 0
	for i, p := range r.Panels {
		if i > 0 {
			width += gutter
		}
		width += vg.Length(p.Cutoff) * tile
		rows = max(rows, len(p.Rows)/p.Cutoff)
	}
	return max(width, legendText+tile*vg.Length(r.grades())) + 2*margin, 3*header + vg.Length(rows)*tile + 4*margin
}

func (r RankingTiles) draw(c draw.Canvas) error {
	c = draw.Crop(c, margin, -margin, margin, -margin)
	style := text.Style{Color: color.Black, Font: font.From(plot.DefaultFont, 11), XAlign: draw.XLeft, YAlign: draw.YCenter,
		Handler: plot.DefaultTextHandler}
	style.Font.Variant = "Sans"
	top := c.Max.Y
	c.FillText(style, vg.Point{X: c.Min.X, Y: top - header/2}, r.Title)

	x := c.Min.X
	for _, p := range r.Panels {
		c.FillText(style, vg.Point{X: x, Y: top - header*3/2}, p.Title)
		for i, d := range p.Rows {
			if d < 0 {
				continue
			}
			at := vg.Point{X: x + tile*vg.Length(i%p.Cutoff), Y: top - 2*header - tile*vg.Length(i/p.Cutoff+1)}
			r.tile(c, style, at, r.Labels[d], strconv.Itoa(d-r.First))
		}
		x += tile*vg.Length(p.Cutoff) + gutter
	}

	x = c.Min.X
	c.FillText(style, vg.Point{X: x, Y: c.Min.Y + header/2}, "grade")
	x += legendText
	for grade := range r.grades() {
		r.tile(c, style, vg.Point{X: x, Y: c.Min.Y}, float32(grade), strconv.Itoa(grade))
		x += tile
	}
	return nil
}

// grades returns the number of grades from 0 to the highest, but at most one for each shade.
func (r RankingTiles) grades() int {
	highest := slices.Max(append([]float32{0}, r.Labels...))
	return min(int(highest)+1, len(shades))
}

// tile draws a document as a square.
func (r RankingTiles) tile(c draw.Canvas, style text.Style, at vg.Point, label float32, name string) {
	shade := max(0, min(int(label), len(shades)-1))
	side := tile - 2
	c.FillPolygon(shades[shade], []vg.Point{
		at, {X: at.X + side, Y: at.Y}, {X: at.X + side, Y: at.Y + side}, {X: at.X, Y: at.Y + side},
	})
	style.XAlign = draw.XCenter
	style.Font.Size = 9
	if shade > 2 {
		style.Color = color.White
	}
	c.FillText(style, vg.Point{X: at.X + side/2, Y: at.Y + side/2}, name)
}
