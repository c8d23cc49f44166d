package metrics

import (
	"errors"
	"fmt"
	"math"
)

// rowError is an error in one row of a query, counted from the query's first row.
type rowError struct {
	row int
	err error
}

func (e *rowError) Error() string { return fmt.Sprintf("document %d: %v", e.row, e.err) }
func (e *rowError) Unwrap() error { return e.err }

// located adds to err the number of the query and, if it is a *rowError, of the row.
// first is the query's first row.
func located(err error, query, first int) error {
	if bad := (*rowError)(nil); errors.As(err, &bad) {
		return fmt.Errorf("metrics: query %d, row %d: %w", query, first+bad.row, bad.err)
	}
	return fmt.Errorf("metrics: query %d: %w", query, err)
}

// allFinite returns a *rowError for the first value that is NaN or infinite.
func allFinite(values []float64, what string) error {
	for row, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &rowError{row, fmt.Errorf("%s %v: it must be finite", what, v)}
		}
	}
	return nil
}
