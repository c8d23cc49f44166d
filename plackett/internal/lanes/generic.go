package lanes

import "unsafe"

// The plain Go of what the exported functions do.

func expm1Go(r []Vec, w []float64, t *Vec, scale float64, halvings int) {
	for i := range r {
		x := w[i] * scale
		for l := range Width {
			y := x * t[l]
			e := inverseFactorials[0]
			for _, c := range inverseFactorials[1:] {
				e = e*y + c
			}
			e *= y
			for range halvings {
				e *= 2 + e
			}
			r[i][l] = min(e, Limit)
		}
	}
}

func sumsGo(s []Sum, r, power []Vec, w, v, x []float64) {
	for i := range power {
		for l := range Width {
			power[i][l] = 1
		}
	}
	for j := range s {
		sum, next := &s[j], &Vec{}
		if j+1 < len(s) {
			next = &s[j+1].W
		}
		for i := range r {
			ri, pi, wi, vi, xi := &r[i], &power[i], w[i], v[i], x[i]
			for l := range Width {
				p := pi[l]
				sum.W[l] += wi * p
				sum.V[l] += vi * p
				next[l] += xi * p
				p *= ri[l]
				sum.Power[l] += p
				pi[l] = p
			}
		}
	}
}

func hornerGo(out []float64, c []Pair, r []Vec, w, g, x []float64) {
	for i := range r {
		ri, gi, xi := &r[i], g[i], x[i]
		var e Vec
		for j := len(c) - 2; j >= 0; j-- {
			a, b, next := &c[j].A, &c[j].B, &c[j+1].A
			for l := range Width {
				e[l] = (gi*b[l] - a[l] + xi*next[l]) - ri[l]*e[l]
			}
		}
		out[i] += w[i] * e.sum()
	}
}

// sum adds the numbers in the order of the vector instructions.
func (v *Vec) sum() float64 {
	return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]))
}

func transitionsGo(chances []Chance, r []Vec, t *Vec, w, c []float64) {
	for i := range r {
		chance := &chances[i]
		for l := range Width {
			q := 1 / (1 + r[i][l])
			chance.Q[l], chance.P[l], chance.F[l] = q, r[i][l]*q*c[i], w[i]*t[l]*q
		}
	}
}

func multiplyGo(states []State, z []float64, chances []Chance, g, c []float64) {
	for m := range states {
		s := &states[m]
		for i := range chances {
			chance, less := &chances[i], 1-c[i]*z[m]
			for l := range Width {
				a := chance.Q[l] + chance.P[l]*z[m]
				fp := chance.F[l] * s.P[l]
				s.B[l] = a*s.B[l] + less*fp
				s.A[l] = a*s.A[l] + g[i]*fp
				s.P[l] *= a
			}
		}
	}
}

func divideGo(out []float64, terms []Pair, z []float64, chances []Chance, g, c []float64) {
	for i := range chances {
		chance := &chances[i]
		var sum Vec
		for m := range terms {
			a, b, less := &terms[m].A, &terms[m].B, 1-c[i]*z[m]
			for l := range Width {
				sum[l] += (g[i]*b[l] - less*a[l]) / (chance.Q[l] + chance.P[l]*z[m])
			}
		}
		for l := range Width {
			sum[l] *= chance.F[l]
		}
		out[i] += sum.sum()
	}
}

func forwardGo(states []State, ranks, size int, chances []Chance, g, c []float64) {
	for i := range chances {
		from, next := states[i*ranks:(i+1)*ranks], states[(i+1)*ranks:(i+2)*ranks]
		if size < ranks {
			from[size] = State{}
			size++
		}
		forwardRow(next[:size], from[:size], &chances[i], g[i], c[i])
	}
}

func forwardRow(next, from []State, chance *Chance, g, c float64) {
	var before State // of one power less
	for k := range from {
		s, n := &from[k], &next[k]
		for l := range Width {
			q, p, f := chance.Q[l], chance.P[l], chance.F[l]
			n.P[l] = q*s.P[l] + p*before.P[l]
			n.B[l] = q*s.B[l] + p*before.B[l] + f*(s.P[l]-c*before.P[l])
			n.A[l] = q*s.A[l] + p*before.A[l] + g*f*s.P[l]
		}
		before = *s
	}
}

func backwardGo(out []float64, u, states []State, ranks, size int, chances []Chance, g, c []float64) {
	for i := len(out) - 1; i >= 0; i-- {
		n := min(ranks, size+i)
		out[i] += backwardRow(u[:n+1], states[i*ranks:][:n], &chances[i], g[i], c[i])
	}
}

func backwardRow(u, s []State, chance *Chance, g, c float64) float64 {
	var a, b Vec
	for k := range s {
		s, u, above := &s[k], &u[k], &u[k+1]
		for l := range Width {
			less := u.P[l] - c*above.P[l]
			b[l] += s.B[l]*u.P[l] + s.P[l]*u.B[l]
			a[l] += s.A[l]*less + s.P[l]*(u.A[l]-c*above.A[l])
			q, p, f := chance.Q[l], chance.P[l], chance.F[l]
			u.B[l] = q*u.B[l] + p*above.B[l] + f*less
			u.A[l] = q*u.A[l] + p*above.A[l] + g*f*u.P[l]
			u.P[l] = q*u.P[l] + p*above.P[l]
		}
	}
	for l := range Width {
		b[l] = chance.F[l] * (g*b[l] - a[l])
	}
	return b.sum()
}

func seriesGo(s []State, c []Sum) {
	for k := range s {
		n := &s[k]
		if k > 0 {
			var p Vec
			for j := range min(k, len(c)) {
				x, y := &c[j].Power, &s[k-1-j].P
				for l := range Width {
					p[l] += x[l] * y[l]
				}
			}
			for l := range Width {
				n.P[l] = p[l] / float64(k)
			}
		}
		n.B, n.A = Vec{}, Vec{}
		for j := range min(k+1, len(c)) {
			c, p := &c[j], &s[k-j].P
			for l := range Width {
				n.B[l] += c.W[l] * p[l]
				n.A[l] += c.V[l] * p[l]
			}
		}
	}
}

func scaleGo(r []Vec, c []float64) {
	for i := range r {
		for l := range Width {
			r[i][l] *= c[i]
		}
	}
}

func seriesDualGo(sums, states []State, c, d []Sum, found float64) {
	for k := range sums {
		n := &sums[k]
		for l := range Width {
			n.P[l] = found * states[k].P[l]
		}
		for j := range min(k, len(d)) {
			for l := range Width {
				n.P[l] += d[j].Power[l] * states[k-1-j].P[l]
			}
		}
		n.B, n.A = Vec{}, Vec{}
		for j := range min(k+1, len(c)) {
			c, d, h, p := &c[j], &d[j], &sums[k-j].P, &states[k-j].P
			for l := range Width {
				n.B[l] += c.W[l]*h[l] + d.W[l]*p[l]
				n.A[l] += c.V[l]*h[l] + d.V[l]*p[l]
			}
		}
	}
}

func forwardDualGo(sums, states []State, ranks, size int, chances []Chance, d []float64) {
	for i := range chances {
		from, next := sums[i*ranks:(i+1)*ranks], sums[(i+1)*ranks:(i+2)*ranks]
		if size < ranks {
			from[size] = State{}
			size++
		}
		forwardRow(next[:size], from[:size], &chances[i], d[i], 0)
		for k := 1; k < size; k++ {
			n, s := &next[k], &states[i*ranks+k-1]
			for l := range Width {
				p := d[i] * chances[i].P[l]
				n.P[l] += p * s.P[l]
				n.B[l] += p * s.B[l]
				n.A[l] += p * s.A[l]
			}
		}
	}
}

func backwardDualGo(out []float64, u, du, sums, states []State, ranks, size int, chances []Chance, d []float64) {
	for i := len(out) - 1; i >= 0; i-- {
		n := min(ranks, size+i)
		s := states[i*ranks:][:n]
		out[i] += backwardRow(du[:n+1], s, &chances[i], d[i], 0)
		for k := range s {
			n, above := &du[k], &u[k+1]
			for l := range Width {
				p := d[i] * chances[i].P[l]
				n.P[l] += p * above.P[l]
				n.B[l] += p * above.B[l]
				n.A[l] += p * above.A[l]
			}
		}
		out[i] += backwardRow(u[:n+1], sums[i*ranks:][:n], &chances[i], d[i], 0)
	}
}

func multiplyDualGo(sums, states []State, z []float64, chances []Chance, d []float64) {
	for m := range states {
		h, s := &sums[m], &states[m]
		for i := range chances {
			chance := &chances[i]
			for l := range Width {
				pz := chance.P[l] * z[m]
				a, da := chance.Q[l]+pz, d[i]*pz
				fp := chance.F[l] * h.P[l]
				h.B[l] = a*h.B[l] + da*s.B[l] + fp
				h.A[l] = a*h.A[l] + da*s.A[l] + d[i]*fp
				h.P[l] = a*h.P[l] + da*s.P[l]
				fp = chance.F[l] * s.P[l]
				s.B[l] = a*s.B[l] + fp
				s.A[l] = a*s.A[l] + d[i]*fp
				s.P[l] *= a
			}
		}
	}
}

func divideDualGo(out []float64, sums, terms []Pair, z []float64, chances []Chance, d []float64) {
	for i := range chances {
		chance := &chances[i]
		var sum Vec
		for m := range terms {
			h, t := &sums[m], &terms[m]
			for l := range Width {
				pz := chance.P[l] * z[m]
				a := chance.Q[l] + pz
				sum[l] += (a*(d[i]*h.B[l]-h.A[l]) - d[i]*pz*(d[i]*t.B[l]-t.A[l])) / (a * a)
			}
		}
		for l := range Width {
			sum[l] *= chance.F[l]
		}
		out[i] += sum.sum()
	}
}

func correlateGo(c []Pair, u, s []State) {
	for j := range c {
		var a, b Vec
		for k := range len(s) - j {
			u, s := &u[k+j], &s[k]
			for l := range Width {
				b[l] += u.P[l]*s.B[l] + u.B[l]*s.P[l]
				a[l] += u.P[l]*s.A[l] + u.A[l]*s.P[l]
			}
		}
		c[j] = Pair{A: a, B: b}
	}
}

func remainGo(ranks []Rank, massBefore, gainBefore *Total) {
	var mass, gain [Width]Total
	for l := range Width {
		mass[l], gain[l] = *massBefore, *gainBefore
	}
	for p := range ranks {
		r := &ranks[p]
		for l := range Width {
			r.Inverse[l] = 1 / (mass[l].High + mass[l].Low)
			r.Gain[l] = (gain[l].High + gain[l].Low) * r.Inverse[l]
			mass[l].Add(-r.W[l])
			gain[l].Add(-r.V[l])
		}
	}
}

func placeGo(out []Vec, ranks []Rank, theta, baseline []float64, c *Credit, ceiling *Vec, s *Shared) {
	for p := len(ranks) - 1; p >= 0; p-- {
		r, o, t, b := &ranks[p], &out[p], theta[p], baseline[p]
		for l := range Width {
			reward := t * r.Gain[l]
			f := c.Later*s.Reward[l] + (c.Own*reward - b)
			o[l] = f
			s.Reward[l] += reward
			s.A[l] += t * r.Inverse[l]
			s.B[l] += (f + c.Risk*reward) * r.Inverse[l]
		}
	}
	var a, b Vec
	for p := range ranks {
		r, o, t := &ranks[p], &out[p], theta[p]
		for l := range Width {
			f := o[l]
			a[l] += t * r.Inverse[l]
			b[l] += (f + c.Risk*(t*r.Gain[l])) * r.Inverse[l]
			restA, restB := a[l], b[l]
			if r.W[l] <= ceiling[l] {
				restA -= s.A[l]
				restB -= s.B[l]
			}
			o[l] = (f + r.V[l]*restA) - r.W[l]*restB
		}
	}
}

func productGo(c *float64, cRow int, a *float64, aRow, aCol int, b *float64, bRow, inner, panels int) {
	left, right := unsafe.Slice(a, 7*aRow+(inner-1)*aCol+1), unsafe.Slice(b, (inner-1)*bRow+panels*Width)
	for i := range 8 {
		row := unsafe.Slice(c, 7*cRow+panels*Width)[i*cRow:][:panels*Width]
		clear(row)
		for k := range inner {
			v := left[i*aRow+k*aCol]
			for j, x := range right[k*bRow:][:len(row)] {
				row[j] += v * x
			}
		}
	}
}
