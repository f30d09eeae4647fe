// Package tidy holds tests about the tree itself: who may import whom, what the pure packages may not touch, that
// exported names are documented, and that the commands in README.md exist. It exports nothing; `go test` runs it.
package tidy
