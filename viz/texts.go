package viz

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pointTexts are texts beside points. A text is put, preferably right and above, where it
// is neither cut off nor covers another text. If there is no such spot, it is left out.
type pointTexts struct {
	at    plotter.XYs
	texts []string
	style text.Style
}

func (l pointTexts) Plot(c draw.Canvas, p *plot.Plot) {
	const away = vg.Length(5)
	var taken []vg.Rectangle
	trX, trY := p.Transforms(&c)
	for i, at := range l.at {
		x, y := trX(at.X), trY(at.Y)
		size := l.style.Rectangle(l.texts[i]).Size()
		for _, corner := range []vg.Point{
			{X: x + away, Y: y + away}, {X: x + away, Y: y - away - size.Y},
			{X: x - away - size.X, Y: y + away}, {X: x - away - size.X, Y: y - away - size.Y},
		} {
			box := vg.Rectangle{Min: corner, Max: corner.Add(size)}
			overlaps := func(b vg.Rectangle) bool {
				return box.Min.X < b.Max.X && b.Min.X < box.Max.X && box.Min.Y < b.Max.Y && b.Min.Y < box.Max.Y
			}
			inside := c.Min.X <= box.Min.X && c.Min.Y <= box.Min.Y && box.Max.X <= c.Max.X && box.Max.Y <= c.Max.Y
			if !inside || slices.ContainsFunc(taken, overlaps) {
				continue
			}
			taken = append(taken, box)
			c.FillText(l.style, corner, l.texts[i])
			break
		}
	}
}
