// Package testkit has what tests of several packages share: golden vectors, all rankings of a few documents, models and
// requests for the service, memory that must not grow, and processes, in this one or started by mpirun.
package testkit
