// Package npzfile keeps a JSON header and some matrices in one NumPy .npz file:
// the form of model files and of training checkpoints.
//
// The header is the uint8 array "header"; the matrices are float64 arrays, of
// one dimension or two. In Python:
//
//	f = numpy.load("model.npz")
//	header = json.loads(bytes(f["header"]))
package npzfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/sbinet/npyio/npy"

	"github.com/plrank/plrank/internal/file"
)

// HeaderName is the name of the array that holds the header.
const HeaderName = "header"

// A Number is what arrays have in memory. A file has float64.
type Number interface{ float32 | float64 }

// An Array is a named vector, or a matrix in row-major order.
type Array = Of[float64]

// Of is an Array in memory of T.
type Of[T Number] struct {
	Name  string
	Shape []int // one length, or rows and columns
	Data  []T
}

// Write writes a file, see [Encode]. It appears complete or not at all, and a file
// that was there is replaced.
func Write[T Number](path string, header any, arrays []Of[T]) error {
	return file.Write(path, func(out io.Writer) error { return Encode(out, header, arrays) })
}

// Encode writes the header, as JSON, and the arrays, whose names must differ. The
// same content gives the same bytes. They are stored, not compressed: weights do not
// get much smaller, and deflating a checkpoint may take as long as an epoch.
func Encode[T Number](out io.Writer, header any, arrays []Of[T]) error {
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	z := zip.NewWriter(out)
	if err := store(z, HeaderName, []int{len(text)}, text); err != nil {
		return err
	}
	for _, a := range arrays {
		if err := store(z, a.Name, a.Shape, a.Data); err != nil {
			return err
		}
	}
	return z.Close()
}

// store adds an array to a file, in the bytes of npyio, which looks at each number by reflection.
func store[T byte | float32 | float64](z *zip.Writer, name string, shape []int, numbers []T) error {
	size := 8
	if _, text := any(numbers).([]byte); text {
		size = 1
	}
	entry, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err != nil {
		return err
	}
	dimensions := strconv.Itoa(shape[0]) + ","
	if len(shape) == 2 {
		dimensions += " " + strconv.Itoa(shape[1])
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", types[size], dimensions)
	header += strings.Repeat(" ", (12+len(header)+1)%16) + "\n"
	magic := binary.LittleEndian.AppendUint32([]byte("\x93NUMPY\x02\x00"), uint32(len(header)))
	if _, err := entry.Write(append(magic, header...)); err != nil {
		return err
	}
	var written []byte
	for part := range slices.Chunk(numbers, 1<<13) {
		written = written[:0]
		for _, v := range part {
			if size == 1 {
				written = append(written, byte(v))
			} else {
				written = binary.LittleEndian.AppendUint64(written, math.Float64bits(float64(v)))
			}
		}
		if _, err := entry.Write(written); err != nil {
			return err
		}
	}
	return nil
}

// A File is the content of a file, with numbers in memory of T: all are finite.
type File[T Number] struct {
	Arrays []Of[T] // in the order of the file
	name   string
}

// Read reads a file that Write wrote, and its header into header. A file of another
// format, one that is cut short, one whose checksums do not fit, and numbers that are not finite are errors.
func Read[T Number](path string, header any) (*File[T], error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	return decoded[T](path, in, int(info.Size()), header)
}

// Decode reads what Encode wrote, see [Read]. The name is for errors.
func Decode(name string, data []byte, header any) (*File[float64], error) {
	return decoded[float64](name, bytes.NewReader(data), len(data), header)
}

func decoded[T Number](name string, data io.ReaderAt, size int, header any) (*File[T], error) {
	f := &File[T]{name: name}
	if err := f.parse(data, size, header); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

func (f *File[T]) parse(data io.ReaderAt, length int, header any) error {
	z, err := zip.NewReader(data, int64(length))
	if err != nil {
		return fmt.Errorf("not a complete .npz file: %w", err)
	}
	if err := checkDirectory(z.File, length); err != nil {
		return err
	}
	var text []byte
	for _, entry := range z.File {
		name := strings.TrimSuffix(entry.Name, ".npy")
		raw, err := unpack(entry)
		if err != nil {
			return fmt.Errorf("array %q: %w", name, err)
		}
		size := 8
		if name == HeaderName {
			size = 1
		}
		shape, numbers, _, err := decode(raw, size)
		if n := len(shape); err == nil && (n < 1 || n > 2) {
			err = fmt.Errorf("%d dimensions: want one or two", n)
		}
		if err != nil {
			return fmt.Errorf("array %q: %w", name, err)
		}
		if name == HeaderName {
			text = numbers
			continue
		}
		a := Of[T]{name, shape, make([]T, len(numbers)/size)}
		for i := range a.Data {
			a.Data[i] = T(math.Float64frombits(binary.LittleEndian.Uint64(numbers[8*i:])))
		}
		if err := a.CheckFinite(); err != nil {
			return err
		}
		f.Arrays = append(f.Arrays, a)
	}
	if text == nil {
		return fmt.Errorf("no array %q", HeaderName)
	}
	if err := checkObjects(text); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if err := json.Unmarshal(text, header); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	return nil
}

// unpack is the content of an entry, with its length and checksum verified.
func unpack(entry *zip.File) ([]byte, error) {
	r, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	raw := make([]byte, entry.UncompressedSize64)
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(raw) != entry.CRC32 {
		return nil, zip.ErrChecksum
	}
	return raw, nil
}

// Matrix returns the shape of a .npy file that is a matrix, and its numbers by their index in row-major order. It returns an error for
// other types than float32 and float64.
func Matrix(raw []byte) (rows, columns int, number func(i int) float32, err error) {
	shape, numbers, size, err := decode(raw, 4, 8)
	if err != nil {
		return 0, 0, nil, err
	}
	if len(shape) != 2 {
		return 0, 0, nil, fmt.Errorf("the array has %d dimension(s): want a matrix, with a row for each vector", len(shape))
	}
	if shape[1] == 0 {
		return 0, 0, nil, errors.New("the rows have no numbers: want a vector in each")
	}
	return shape[0], shape[1], func(i int) float32 {
		if size == 4 {
			return math.Float32frombits(binary.LittleEndian.Uint32(numbers[4*i:]))
		}
		return float32(math.Float64frombits(binary.LittleEndian.Uint64(numbers[8*i:])))
	}, nil
}

// types are the NumPy types of numbers by their size in bytes.
var types = map[int]string{1: "|u1", 4: "<f4", 8: "<f8"}

// decode returns the shape of a .npy array and the bytes of its numbers. Each number has one
// of the sizes, which it returns. npyio reads the header, and panics on some that are malformed.
func decode(raw []byte, sizes ...int) (shape []int, numbers []byte, size int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("malformed .npy header")
		}
	}()
	if len(raw) >= 12 && raw[6] == 2 && int64(binary.LittleEndian.Uint32(raw[8:])) > maxShapeText {
		return nil, nil, 0, errors.New("malformed .npy header")
	}
	body := bytes.NewReader(raw)
	r, err := npy.NewReader(body)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("malformed .npy header: %.80s", err)
	}
	d := r.Header.Descr
	d.Type = strings.Trim(d.Type, `'"`) // npyio keeps the quotes of the header
	var want []string
	for _, n := range sizes {
		if want = append(want, types[n]); d.Type == types[n] {
			size = n
		}
	}
	if size == 0 || d.Fortran {
		return nil, nil, 0, fmt.Errorf("type %.20s (Fortran order: %t), want %s in C order", d.Type, d.Fortran, strings.Join(want, " or "))
	}
	bytes := size
	for _, n := range d.Shape {
		if n < 0 || n > 0 && bytes > math.MaxInt/n {
			return nil, nil, 0, fmt.Errorf("impossible shape %v", d.Shape)
		}
		bytes *= n
	}
	if bytes != body.Len() {
		return nil, nil, 0, fmt.Errorf("shape %v takes %d bytes, but there are %d", d.Shape, bytes, body.Len())
	}
	return d.Shape, raw[len(raw)-bytes:], size, nil
}

// Take returns the array of that name, which must have that shape.
func (f *File[T]) Take(name string, shape ...int) ([]T, error) {
	i := slices.IndexFunc(f.Arrays, func(a Of[T]) bool { return a.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%s: no array %q", f.name, name)
	}
	a := f.Arrays[i]
	if !slices.Equal(a.Shape, shape) {
		return nil, fmt.Errorf("%s: array %q has shape %v, want %v", f.name, name, a.Shape, shape)
	}
	return a.Data, nil
}

// CheckFinite returns an error if an entry is not a finite number.
func (a Of[T]) CheckFinite() error {
	for i, v := range a.Data {
		if v-v != 0 {
			return fmt.Errorf("array %q: entry %d is %v, want a finite number", a.Name, i, v)
		}
	}
	return nil
}
