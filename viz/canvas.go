package viz

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

var (
	// palette has Okabe & Ito's colours, those with the best contrast to white first.
	palette = []color.Color{
		color.RGBA{R: 0, G: 114, B: 178, A: 255},   // blue
		color.RGBA{R: 213, G: 94, B: 0, A: 255},    // vermilion
		color.RGBA{R: 0, G: 158, B: 115, A: 255},   // bluish green
		color.RGBA{R: 204, G: 121, B: 167, A: 255}, // reddish purple
		color.RGBA{R: 86, G: 180, B: 233, A: 255},  // sky blue
		color.RGBA{R: 230, G: 159, B: 0, A: 255},   // orange
		color.RGBA{R: 0, G: 0, B: 0, A: 255},       // black
	}
	glyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{},
		draw.TriangleGlyph{}, draw.CrossGlyph{}}
	grey      = color.Gray{Y: 110}
	lightGrey = color.Gray{Y: 225}
)

// canvases makes a canvas for each ending of a file name.
var canvases = map[string]func(width, height vg.Length) vg.CanvasWriterTo{
	".svg": func(w, h vg.Length) vg.CanvasWriterTo { return vgsvg.New(w, h) },
	".pdf": func(w, h vg.Length) vg.CanvasWriterTo { return vgpdf.New(w, h) },
	".png": func(w, h vg.Length) vg.CanvasWriterTo {
		return pngCanvas{vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(192), vgimg.UseBackgroundColor(color.White))}
	},
}

// A pngCanvas is written at the best speed: a smaller file takes longer to compress than to draw.
type pngCanvas struct{ *vgimg.Canvas }

func (c pngCanvas) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, c.Image()); err != nil {
		return 0, err
	}
	return b.WriteTo(w)
}

// write draws the plot in the format of a file ending. A panic of package plot becomes an
// error.
func (p Plot) write(ending string, w io.Writer) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot be drawn: %v", r)
		}
	}()
	if err := p.check(); err != nil {
		return err
	}
	width, height := p.size()
	c := canvases[ending](width, height)
	if err := p.draw(draw.NewCanvas(c, width, height)); err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	drawn := b.String()
	if ending == ".svg" { // if Liberation is not installed, the others have the same widths
		const font = "font-family:'Liberation Sans',Arial,Helvetica,sans-serif"
		drawn = strings.ReplaceAll(drawn, "font-family:Liberation Sans", font)
	}
	_, err = io.WriteString(w, drawn)
	return err
}
