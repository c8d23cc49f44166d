package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// writeBig writes an MSLR-like LETOR file of at least the given size: the
// queries of the synthetic collection again and again, with new ids.
func writeBig(b *testing.B, size int) string {
	b.Helper()
	d := Synthetic(SyntheticOptions{Train: 100, Vali: 1, Test: 1}).Train
	path := filepath.Join(b.TempDir(), "big.txt")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	defer w.Flush()
	var rows [][]byte // of features, in text
	for r := range d.Rows() {
		var row []byte
		for i, v := range d.Row(r) {
			row = strconv.AppendInt(append(row, ' '), int64(d.FeatureIDs[i]), 10)
			row = strconv.AppendFloat(append(row, ':'), float64(v), 'g', 6, 32)
		}
		rows = append(rows, append(row, ' ', '\n'))
	}
	for query, n := 1, 0; n < size; query++ {
		q := query % d.Queries()
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			head, _ := fmt.Fprintf(w, "%g qid:%d", d.Labels[r], query)
			w.Write(rows[r])
			n += head + len(rows[r])
		}
	}
	return path
}

// bigSize is what the benchmark reads, 64 MB unless PLRANK_BENCH_MB says otherwise.
func bigSize(b *testing.B) int {
	mb := 64
	if s := os.Getenv("PLRANK_BENCH_MB"); s != "" {
		var err error
		if mb, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	return mb << 20
}

// status is a line of what Linux says of this process, in bytes; 0 elsewhere.
func status(line string) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, text, _ = bytes.Cut(text, []byte(line))
	kilobytes := 0.0
	fmt.Sscan(string(text), &kilobytes)
	return kilobytes * 1024
}

// writeCSV writes LETOR text, whose lines have all features, as separated values.
func writeCSV(b *testing.B, path string) (csv string, size int64) {
	b.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	var to bytes.Buffer
	for line := range bytes.Lines(text) {
		words := bytes.Fields(line)
		if to.Len() == 0 {
			to.WriteString("label,qid")
			for _, word := range words[2:] {
				id, _, _ := bytes.Cut(word, []byte(":"))
				fmt.Fprintf(&to, ",f%s", id)
			}
			to.WriteByte('\n')
		}
		to.Write(words[0])
		for _, word := range words[1:] {
			_, value, _ := bytes.Cut(word, []byte(":"))
			to.WriteByte(',')
			to.Write(value)
		}
		to.WriteByte('\n')
	}
	csv = filepath.Join(b.TempDir(), "big.csv")
	if err := os.WriteFile(csv, to.Bytes(), 0o666); err != nil {
		b.Fatal(err)
	}
	return csv, int64(to.Len())
}

// With PLRANK_BENCH_MB=1000, and -benchtime 1x for the peak of one
// reading, this is the file of 1 GB that the documentation speaks of.
func BenchmarkReadFile(b *testing.B) {
	path := writeBig(b, bigSize(b))
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("LETOR", func(b *testing.B) {
		b.SetBytes(info.Size())
		values := 0
		for b.Loop() {
			runtime.GC()
			d, err := ReadFile(path, ReadOptions{})
			if err != nil {
				b.Fatal(err)
			}
			values = len(d.Features)
		}
		b.ReportMetric(float64(values*4)/1e6, "matrix-MB")
		b.ReportMetric(status("VmHWM:")/1e6, "peak-MB")
	})
	b.Run("CSV", func(b *testing.B) {
		path, size := writeCSV(b, path)
		b.SetBytes(size)
		for b.Loop() {
			runtime.GC()
			if _, err := ReadFile(path, ReadOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("wc -l", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			if err := exec.Command("wc", "-l", path).Run(); err != nil {
				b.Skip(err)
			}
		}
	})
}

// A file of 200 columns in three formats, in one run: nanoseconds a value.
func BenchmarkReadWide(b *testing.B) {
	const width = 200
	d := &Dataset{Offsets: []int{0}}
	rng := rand.New(rand.NewPCG(1, 0))
	for c := range width {
		d.FeatureIDs, d.FeatureNames = append(d.FeatureIDs, c+1), append(d.FeatureNames, fmt.Sprint("f", c+1))
	}
	for q := range bigSize(b) / (20 * width * 8) {
		d.Labels = append(d.Labels, make([]float32, 20)...)
		d.Offsets, d.QueryIDs = append(d.Offsets, len(d.Labels)), append(d.QueryIDs, fmt.Sprint(q))
	}
	for range d.Rows() * width {
		v, _ := strconv.ParseFloat(strconv.FormatFloat(rng.NormFloat64(), 'g', 6, 32), 32)
		d.Features = append(d.Features, float32(v))
	}
	folder := b.TempDir()
	for name, write := range map[string]func(io.Writer) error{
		"letor":   func(w io.Writer) error { return WriteLETOR(w, d) },
		"csv":     func(w io.Writer) error { return writeRows(w, d) },
		"parquet": func(w io.Writer) error { return writeColumns(w, d) },
	} {
		f, err := os.Create(filepath.Join(folder, name))
		if err == nil {
			err = errors.Join(write(f), f.Close())
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, name := range []string{"letor", "csv", "parquet"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				got, err := ReadFile(filepath.Join(folder, name), ReadOptions{FeatureIDs: d.FeatureIDs, FeatureNames: d.FeatureNames})
				if err != nil || !slices.Equal(got.Features, d.Features) {
					b.Fatal(got, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(d.Features)), "ns/value")
		})
	}
}

func writeRows(to io.Writer, d *Dataset) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "label,qid,%s\n", strings.Join(d.FeatureNames, ","))
	for q, id := range d.QueryIDs {
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			fmt.Fprintf(w, "%g,%s", d.Labels[r], id)
			for _, v := range d.Row(r) {
				w.Write(strconv.AppendFloat([]byte{','}, float64(v), 'g', -1, 32))
			}
			w.WriteByte('\n')
		}
	}
	return w.Flush()
}

// writeColumns writes Parquet.
func writeColumns(to io.Writer, d *Dataset) error {
	columns := parquet.Group{"label": parquet.Leaf(parquet.FloatType), "qid": parquet.Encoded(parquet.String(), &parquet.Plain)}
	for _, name := range d.FeatureNames {
		columns[name] = parquet.Leaf(parquet.FloatType)
	}
	schema := parquet.NewSchema("data", columns)
	w := parquet.NewGenericWriter[any](to, schema, parquet.Compression(&parquet.Snappy))
	var values []parquet.Value
	for q, id := range d.QueryIDs {
		for r := d.Offsets[q]; r < d.Offsets[q+1]; r++ {
			values = values[:0]
			for at, column := range schema.Columns() {
				v := parquet.ValueOf(d.Labels[r])
				if f := slices.Index(d.FeatureNames, column[0]); f >= 0 {
					v = parquet.ValueOf(d.Row(r)[f])
				} else if column[0] == "qid" {
					v = parquet.ValueOf(id)
				}
				values = append(values, v.Level(0, 0, at))
			}
			if _, err := w.WriteRows([]parquet.Row{values}); err != nil {
				return err
			}
		}
	}
	return w.Close()
}
