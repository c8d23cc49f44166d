// Package worth fits Plackett–Luce models to observed rankings: races, votes, tastings,
// comparisons of models. It estimates the worths of the items, with standard errors. It knows
// no graph.
//
// Item i has the worth α_i = exp(θ_i). A ranking is a sequence of choices: the best item is
// chosen from all that were compared, the next from the others, and so on. The probability of
// choosing the item c from the set A is
//
//	P(c | A) = α_c / Σ_{i∈A} α_i,
//
// as in Luce (Individual Choice Behavior, 1959) and Plackett (Applied Statistics 24, 1975). If
// items are tied, C is a set of n items, and with Davidson and Luce's extension (Turner, van Etten,
// Firth and Kosmidis, Computational Statistics 35, 2020, equation 1)
//
//	P(C | A) = f(C) / Σ_S f(S),  f(S) = δ_|S| · (Π_{i∈S} α_i)^(1/|S|),  δ_1 = 1,
//
// where S goes over all subsets of A with as many items as a tie in the data has, or with one.
//
// The shape of the package:
//
//	rankings, err := worth.ReadFile("races.txt", worth.ReadOptions{})
//	model, err := worth.Fit(ctx, rankings, worth.Options{})
//	errors, err := model.Uncertainty()
//
//	type Rankings struct{ Items []string }                           // items by number; rankings packed inside
//	func (r *Rankings) Item(name string) int                         // its number, a new one at first mention
//	func (r *Rankings) Add(Ranking) error
//	func (r *Rankings) Len() int
//	func (r *Rankings) At(i int) Ranking
//	type Ranking struct {
//		Places [][]int // items, best place first; several at one place are tied
//		Rest   []int   // items of the set chosen from that come after all places, in unknown order
//		Weight float64 // how often it was observed; zero is once
//	}
//	type ReadOptions struct {
//		Items    []string // the items that there are, by number; nil: every name is a new item
//		Unlisted string   // "omit" (or empty): nothing is known of items that a line leaves out; "last": they are in Rest
//	}
//	func ReadFile(path string, o ReadOptions) (*Rankings, error)              // .soc .soi .toc .toi: PrefLib; .csv; else text
//	func Read(r io.Reader, name string, o ReadOptions) (*Rankings, error)     // name chooses the format, and is in errors
//
//	type Options struct {
//		Prior     float64        // wins and losses of every item against a ghost; 0: maximum likelihood
//		Tolerance float64        // largest change of a parameter in the last step; zero is 1e-9
//		MaxSteps  int            // zero is 100
//		Progress  func(Progress) // after every step: Step, LogLikelihood, Change
//	}
//	func Fit(ctx context.Context, r *Rankings, o Options) (*Model, error)     // ctx ended: the best so far, and its error
//	func Connectivity(r *Rankings) [][]int                                    // strongly connected components, best first
//	type DisconnectedError struct{ … }                                        // names the items; see Options.Prior
//
//	type Model struct {
//		Items         []string
//		LogWorths     []float64 // θ, mean zero
//		TieOrders     []int     // sizes n ≥ 2 of the ties in the data, ascending
//		LogTies       []float64 // log δ_n
//		LogLikelihood float64   // of the rankings, without the prior
//		Steps         int
//		Change        float64 // of the last step
//	}
//	func (m *Model) Worths() []float64                                        // sum one
//	func (m *Model) Parameters() int                                          // free ones
//	func (m *Model) AIC() float64
//	func (m *Model) Uncertainty() (*Uncertainty, error)                       // from the exact Hessian
//	func (m *Model) EqualWorths(ctx context.Context) (Test, error)            // likelihood-ratio test of equal worths
//	func (m *Model) Evaluate(r *Rankings) (Evaluation, error)                 // of other rankings of the same items: LogLikelihood, Tau
//	func LikelihoodRatio(null, alternative float64, freedom int) (Test, error)
//
//	type Uncertainty struct {
//		StdErrs    []float64     // of the log-worths (centred), then of the log δ
//		Covariance *mat.SymDense // of the same; nil above 3,000 parameters, StdErrs are then lower bounds from the diagonal
//	}
//	func (u *Uncertainty) Difference(i, j int) float64                        // standard error of θ_i − θ_j; NaN without Covariance
//	func (u *Uncertainty) QuasiVariances() ([]float64, error)                 // of the log-worths
package worth
