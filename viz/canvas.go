package viz

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/plrank/plrank/internal/file"
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
	// shades are ColorBrewer's five Blues (Harrower & Brewer 2003), for grades 0 to 4.
	shades = []color.Color{
		color.RGBA{R: 239, G: 243, B: 255, A: 255},
		color.RGBA{R: 189, G: 215, B: 231, A: 255},
		color.RGBA{R: 107, G: 174, B: 214, A: 255},
		color.RGBA{R: 49, G: 130, B: 189, A: 255},
		color.RGBA{R: 8, G: 81, B: 156, A: 255},
	}
	grey      = color.Gray{Y: 110}
	lightGrey = color.Gray{Y: 225}
)

// A picture can be drawn.
type picture interface {
	check() error
	size() (width, height vg.Length)
	draw(draw.Canvas) error
}

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

// write draws a picture in the format of a file ending. A panic of package plot becomes an
// error.
func write(p picture, ending string, w io.Writer) (err error) {
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

func svg(p picture) string {
	var b bytes.Buffer
	if err := write(p, ".svg", &b); err != nil {
		panic("viz: " + err.Error())
	}
	return b.String()
}

func save(p picture, path string) error {
	ending := strings.ToLower(filepath.Ext(path))
	if canvases[ending] == nil {
		return fmt.Errorf("viz: %s: the name of a picture ends in .svg, .png or .pdf", path)
	}
	if err := file.Write(path, func(w io.Writer) error { return write(p, ending, w) }); err != nil {
		return fmt.Errorf("viz: %w", err)
	}
	return nil
}
