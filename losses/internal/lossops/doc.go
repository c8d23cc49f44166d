// Package lossops has the ops on packed lists that only the losses need, beside the
// public ones of package ops. Their arguments are as there: vectors [rows] of the dtype
// of the scores, nodes that do not fit are an error, numbers that are not finite are an
// error of the run that names query and row.
package lossops
