// Package testkit has what tests of several packages share: golden vectors, models and requests for the service,
// memory that must not grow, and processes, in this one or started by mpirun.
package testkit
