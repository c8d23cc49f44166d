package forward

import "github.com/viterin/vek/vek32"

// Scale sets y = act(x ⊙ scale + bias), by columns, on all cores: x and y [rows, width].
func Scale[T float](act Activation, scale, bias, x, y []T) {
	width := len(scale)
	eachRow(len(x)/width, width, func(from, to int) {
		ScaleRows(act, scale, bias, x[from*width:to*width], y[from*width:to*width])
	})
}

// ScaleRows computes Scale on the calling goroutine, and returns the outputs as Layer.Run does. y may be x.
func ScaleRows[T float](act Activation, scale, bias, x, y []T) []T {
	width := len(scale)
	for at := 0; at < len(x); at += width {
		row := y[at : at+width]
		product(row, x[at:at+width], scale)
		Add(row, bias)
	}
	return Finish(act, width, y)
}

// ScaleInputVJP sets dx = dz ⊙ scale, by columns.
func ScaleInputVJP[T float](scale, dz, dx []T) {
	width := len(scale)
	eachRow(len(dz)/width, width, func(from, to int) {
		for at := from * width; at < to*width; at += width {
			product(dx[at:at+width], dz[at:at+width], scale)
		}
	})
}

// ScaleVJP sets dscale to the sums over rows of x ⊙ dz.
func ScaleVJP[T float](x, dz, dscale []T) {
	width := len(dscale)
	sumRows(len(x)/width, dscale, func(r int, sums []T) {
		dz := dz[r*width : (r+1)*width]
		for i, v := range x[r*width : (r+1)*width] {
			sums[i] += T(v * dz[i])
		}
	})
}

// product sets y = a ⊙ b.
func product[T float](y, a, b []T) {
	if y, ok := any(y).([]float32); ok {
		copy(y, any(a).([]float32))
		vek32.Mul_Inplace(y, any(b).([]float32))
		return
	}
	for i, v := range a {
		y[i] = v * b[i]
	}
}
