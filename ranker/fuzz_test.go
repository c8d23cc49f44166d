package ranker

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzRead: no bytes make reading a model panic or allocate more than is in proportion to their
// number, and a model that is read scores or gives an error.
func FuzzRead(f *testing.F) {
	d := queries(3, 2)
	for _, file := range []*File{example(), network(f, "none", "float32", d, 1), network(f, "minmax+quantile", "float64", d, 2, 3)} {
		var b bytes.Buffer
		if err := file.Write(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m *Model
		var err error
		if n, most := allocated(func() { m, err = Read(bytes.NewReader(data)) }), mostAllocated(len(data)); n > most {
			t.Errorf("%d bytes were allocated for a file of %d, want %d at most", n, len(data), most)
		}
		if err != nil {
			return
		}
		if n := len(m.FeatureIDs()); n < 1000 {
			m.Score(nil, make([]float32, 3*n))
		}
		m.WriteONNX(&bytes.Buffer{})
	})
}

// FuzzSettings is FuzzRead past the checksums of the file: any header.
func FuzzSettings(f *testing.F) {
	d := queries(3, 2)
	f.Add([]byte(`{"features":3,"hidden":[4],"activation":"relu","members":1}`), "float32")
	f.Add([]byte(`{"features":3,"hidden":[`+strings.Repeat("1,", 20_000)+`1],"activation":"relu","members":1000}`), "float32")
	f.Add([]byte(`{"features":3,"hidden":[-4],"activation":"relu","members":2}`), "float64")
	f.Fuzz(func(t *testing.T, settings []byte, dtype string) {
		file := network(t, "standard", "float32", d, 1, 4)
		file.Settings, file.Dtype = settings, dtype
		var b bytes.Buffer
		if file.Write(&b) != nil {
			return
		}
		var m *Model
		var err error
		size := b.Len()
		if n, most := allocated(func() { m, err = Read(&b) }), mostAllocated(size); n > most {
			t.Errorf("%d bytes were allocated for a file of %d, want %d at most", n, size, most)
		}
		if err != nil {
			return
		}
		if _, err := m.Score(nil, d.Features); err != nil {
			t.Error(err)
		}
	})
}
