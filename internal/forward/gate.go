package forward

const gateBlock = 128 // columns that are computed at a time

// Gate computes SwiGLU: it sets y = z1·σ(z1)·z2 for rows z of the columns z1 [width] and z2 [width]. y, [rows,
// width], may begin where z begins.
func Gate[T float](width int, z, y []T) {
	var space [gateBlock]T
	for at := 0; at < len(z)/2; at += width {
		first, second := z[2*at:2*at+width], z[2*at+width:2*at+2*width]
		for len(first) > 0 {
			n := min(len(first), gateBlock)
			part := space[:n]
			copy(part, first)
			Activate(Sigmoid, part)
			product(part, part, first[:n])
			product(part, part, second[:n])
			copy(y[at+width-len(first):], part)
			first, second = first[n:], second[n:]
		}
	}
}

// GateInto runs Gate on all cores.
func GateInto[T float](width int, z, y []T) {
	eachRow(len(y)/width, width, func(from, to int) { Gate(width, z[2*from*width:2*to*width], y[from*width:to*width]) })
}

// GateVJP sets dz, of the columns of z: with s = σ(z1), dz1 = dy·z2·s·(1 + z1·(1−s)) and dz2 = dy·z1·s.
func GateVJP[T float](width int, z, dy, dz []T) {
	eachRow(len(dy)/width, width, func(from, to int) {
		for at := from * width; at < to*width; at += width {
			first, second := z[2*at:2*at+width], z[2*at+width:2*at+2*width]
			dfirst, dsecond, dy := dz[2*at:2*at+width], dz[2*at+width:2*at+2*width], dy[at:at+width]
			copy(dfirst, first)
			Activate(Sigmoid, dfirst)
			for i, s := range dfirst {
				gated := first[i] * s
				dfirst[i] = dy[i] * second[i] * (s + T(gated*(1-s)))
				dsecond[i] = dy[i] * gated
			}
		}
	})
}
