package clicks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Write writes a bias in JSON, for [ReadBias].
func (b Bias) Write(w io.Writer) error {
	if err := b.check(); err != nil {
		return fmt.Errorf("clicks: %w", err)
	}
	return json.NewEncoder(w).Encode(b)
}

// ReadBias reads a bias in JSON, such as {"alpha": [1, 0.6], "beta": [0, 0]}, where beta may be absent. It returns an error
// if there is any other member, or more after the object.
func ReadBias(path string) (Bias, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Bias{}, fmt.Errorf("clicks: %w", err)
	}
	var b Bias
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&b); err != nil {
		err = fmt.Errorf(`want JSON such as {"alpha": [1, 0.6]}: %w`, err)
	} else if _, more := decoder.Token(); more != io.EOF {
		err = errors.New("there is more after the first JSON object: want one")
	} else {
		err = b.check()
	}
	if err != nil {
		return Bias{}, fmt.Errorf("clicks: bias file %s: %w", path, err)
	}
	return b, nil
}
