// Package worth fits Plackett–Luce models to observed rankings: races, votes, tastings,
// comparisons of models. It estimates the worths of the items, with standard errors. It uses no
// graph.
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
// A ranking may cover some items only, name the first k of many, compare two, or have ties; see [Ranking].
// [Read] reads rankings by name, in text, in CSV and in the formats of PrefLib. [Fit] gives the
// [Model] with the largest likelihood: its log-worths, tie parameters and log-likelihood.
// [Model.Uncertainty] has their standard errors and covariances, [Model.Ranks] has intervals
// of ranks, [LikelihoodRatio] and [Model.EqualWorths] test, and [Model.Evaluate] measures how well a model
// predicts other rankings.
// [ItemFeatures.Dataset] turns rankings of items with features into queries, from which package train learns worths.
//
// There may be no finite maximum: if an item always won, or if no wins connect two groups of items.
// [Connectivity] finds such groups, and Options.Prior is a remedy.
package worth
