package forward

import "math"

// epsilon is added to the variance of a row, as PyTorch and ONNX do by default.
const epsilon = 1e-5

// LayerNorm sets y = gain·(x − mean)/√(variance + 1e-5) + bias, with the mean and the
// variance of each row (Ba et al. 2016), on all cores: x and y [rows, width].
func LayerNorm[T float](gain, bias, x, y []T) {
	width := len(gain)
	eachRow(len(x)/width, width, func(from, to int) {
		NormalizeRows(gain, bias, x[from*width:to*width], y[from*width:to*width])
	})
}

// NormalizeRows computes LayerNorm on the calling goroutine. y may be x.
func NormalizeRows[T float](gain, bias, x, y []T) {
	width := len(gain)
	for at := 0; at < len(x); at += width {
		x, y := x[at:at+width], y[at:at+width]
		mean, share := moments(x)
		for i, v := range x {
			y[i] = gain[i]*((v-mean)*share) + bias[i]
		}
	}
}

// moments are the mean of a row, and 1/√(variance + epsilon).
func moments[T float](x []T) (mean, share T) {
	var sum, squares float64
	for _, v := range x {
		sum += float64(v)
	}
	sum /= float64(len(x))
	for _, v := range x {
		d := float64(v) - sum
		squares += d * d
	}
	return T(sum), T(1 / math.Sqrt(squares/float64(len(x))+epsilon))
}

// LayerNormInputVJP sets dx, given dy: with n_i = (x_i − mean)·share and d_i = gain_i·dy_i,
// share·(d_i − mean(d) − n_i·mean(d·n)).
func LayerNormInputVJP[T float](gain, x, dy, dx []T) {
	width := len(gain)
	eachRow(len(x)/width, width, func(from, to int) {
		for r := from; r < to; r++ {
			x, dy, dx := x[r*width:(r+1)*width], dy[r*width:(r+1)*width], dx[r*width:(r+1)*width]
			mean, share := moments(x)
			var sum, along float64
			for i, v := range x {
				d := float64(gain[i] * dy[i])
				sum += d
				along += d * float64((v-mean)*share)
			}
			m, a := T(sum/float64(width)), T(along/float64(width))
			for i, v := range x {
				dx[i] = share * (gain[i]*dy[i] - m - (v-mean)*share*a)
			}
		}
	})
}

// LayerNormGainVJP sets dgain to the sums over rows of dy·(x − mean)·share.
func LayerNormGainVJP[T float](x, dy, dgain []T) {
	width := len(dgain)
	sumRows(len(x)/width, dgain, func(r int, sums []T) {
		x := x[r*width : (r+1)*width]
		mean, share := moments(x)
		for i, v := range dy[r*width : (r+1)*width] {
			sums[i] += v * ((x[i] - mean) * share)
		}
	})
}
